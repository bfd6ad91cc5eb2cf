"""A plan: sequences of writes to perform, and when to decide again if nothing else happens.

A sequence is a list of steps. The actions of a step are sent together, and the next step starts
when all of them are done. If one fails, the rest is dropped and decided again from the current
state. The same happens after a crash, so there is only one way to recover.
While a sequence runs, no other decision is made about its subjects.
"""

from __future__ import annotations

from datetime import datetime
from enum import Enum

from headroom.core.actions import Action, MarkUnschedulable, Tell
from headroom.core.fast_dataclass import dataclass
from headroom.core.subjects import Subject

Step = tuple[Action, ...]


class Work(Enum):
    """The kinds of work: what is done when a sequence ends, and in which lane it is written."""

    DOOR1 = "door1"
    DOOR1_SLOW = "door1-slow"
    DOOR1_FINISH = "door1-finish"
    DOOR2 = "door2"
    DOOR2_SLOW = "door2-slow"
    DOOR2_FINISH = "door2-finish"
    PLACE = "place"
    RELATCH = "relatch"
    UNLATCH = "unlatch"
    PREEMPT = "preempt"
    BURST = "burst"
    WAKE = "wake"
    VOLUMES = "volumes"
    GROW = "grow"
    DISCLAIM = "disclaim"
    TAKE_BACK = "take-back"
    FOLLOW = "follow"
    HOLD = "hold"
    RESIZE = "resize"
    RENEW = "renew"
    RELEASE = "release"
    FENCE = "fence"
    UNFENCE = "unfence"
    OBJECT = "object"
    SLOTSET = "slotset"
    OVERHEAD = "overhead"
    SWEEP = "sweep"
    QUOTA = "quota"
    INDEX = "index"
    STATUS = "status"
    TELL = "tell"


# Handovers that `handover_queue` has started.
HANDOVER_WORK = (Work.DOOR1, Work.DOOR1_SLOW, Work.DOOR2, Work.DOOR2_SLOW)
# Work after whose failure all of its subjects pause, not only the pods.
PAUSING_WORK = (
    Work.RELEASE,
    Work.RESIZE,
    Work.OBJECT,
    Work.BURST,
    Work.FOLLOW,
    Work.FENCE,
    Work.UNFENCE,
)


@dataclass(frozen=True, slots=True)
class Sequence:
    """What to do, about whom, and what kind of work it is."""

    work: Work
    subjects: tuple[Subject, ...]
    steps: tuple[Step, ...]


def event_sequence(*news: Tell | MarkUnschedulable) -> Sequence:
    """A sequence of events and marks for people; no other work waits for it."""
    return Sequence(Work.TELL, (), (news,))


@dataclass(frozen=True, slots=True)
class Plan:
    sequences: tuple[Sequence, ...] = ()
    wake_at: datetime | None = None


def latest(*moments: datetime | None) -> datetime | None:
    """The last of those moments that are set."""
    return max(filter(None, moments), default=None)


def earliest(*moments: datetime | None) -> datetime | None:
    """The first of those moments that are set."""
    return min(filter(None, moments), default=None)
