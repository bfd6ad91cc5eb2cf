"""One hold with all facts that concern it at one moment, and the decision about it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from headroom.core.eviction.preallocation import Succession
from headroom.core.eviction.reclaim import Reclaim
from headroom.core.holds import Hold, HoldStatus
from headroom.core.objects import Pod
from headroom.core.plan import Sequence
from headroom.core.resources import EMPTY, Resources


@dataclass(frozen=True, slots=True)
class HoldView:
    """One hold and all that concerns it at a moment.

    `trouble` is why the last try to make a guardian failed, `not_before` when the next may come;
    `node` is where its guardian was last seen; `promised` whether an owner is on its way into it;
    `latched` is what a latch of its own keeps there, nothing yet while it is too young to trust,
    or all that it may have where a fence keeps strangers off (`fenced`); `taken_over` is the part
    of it that was a guardian's before, so that there is room for it; `passing` whether pods of
    ours count twice there just now; `grows` whether a larger guardian would fit. Of a guardian
    that is to be renewed: `may_renew` whether it is its turn, `beside` whether its successor fits
    beside it, `in_place` whether it fits where it stands, `crowded` whether a limit or a quota
    forbids both at once. `held_up` is why no guardian may be made now, because it would have to
    wait for a node that must not come; `full` that one of another slot has to go first.
    """

    hold: Hold
    guardians: tuple[Pod, ...] = ()
    claimants: tuple[Pod, ...] = ()
    node: str = ""
    promised: bool = False
    latched: Resources | None = None
    taken_over: Resources = EMPTY
    fenced: bool = False
    passing: bool = False
    grows: bool = True
    may_renew: bool = True
    beside: bool = True
    in_place: bool = True
    crowded: bool = False
    held_up: str = ""
    full: bool = False
    trouble: str = ""
    not_before: datetime | None = None
    first: str = ""  # the pod that it is for, and that waits for room without it
    refused: str = ""  # the quota that leaves it no room, in words
    homeless: bool = False  # its node was deleted
    overbooked: Resources = EMPTY  # what pods on its node ask for beyond what there is
    awaited: Succession | None = None  # the pods whose place it is to take
    rest: Resources = EMPTY  # what is left where its guardian was preempted
    left: Pod | None = None  # another controller's guardian of the same object
    heir: bool = False  # its time is over, and another hold is to take its guardian's room over
    lodgers: tuple[Pod, ...] = ()  # of a slot: owners that still use its room on its node
    whole: bool = True  # whether all of it would fit there beside them
    pinned: bool = False  # whether it keeps its claim on what they use
    claimed: bool = False  # whether a latch stands by which it does so
    placeless: bool = False  # its owners left no place for who would keep the rest
    reclaim: Reclaim | None = None  # of a slot whose room others have: who gives way
    estate: Pod | None = None  # the guardian of one that is over, whose room it takes over
    inherits: bool = False  # there is such a guardian, but not to be had in this moment


@dataclass(frozen=True, slots=True)
class Life:
    """What a hold needs now; `status` is what its object should show."""

    status: HoldStatus
    sequence: Sequence | None = None
    wake_at: datetime | None = None
