"""What must be remembered about one headroom between two decisions: one frozen record.

The engine keeps a record for each headroom and drops it with the headroom. The functions here take
a record and return the next one; none of them changes anything. What each slot told its headroom is
remembered with the slot (`core.hold_state.memory`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from headroom.core.actions import Denied, Done, Gone, Invalid, Outcome, Stale, Taken, Tell
from headroom.core.demand.followers import Followed
from headroom.core.demand.foresight import ForesightMemory
from headroom.core.demand.quota_memory import NOTHING_SAID, QuotaMemory
from headroom.core.headrooms.companions import NOT_MADE, Companion
from headroom.core.headrooms.headrooms import Headroom
from headroom.core.headrooms.shapes import NO_SHAPES, Shapes, first_shapes
from headroom.core.headrooms.wanted_slots import WantedSlots
from headroom.core.headrooms.windows import ActiveWindow
from headroom.core.holds import Hold
from headroom.core.objects import Parent, Pod
from headroom.core.statuses import tell_object
from headroom.core.waits.backoff import backoff
from headroom.core.waits.drops import Drops

OBJECTS_TOLD = 5
MOMENT = timedelta(milliseconds=200)  # the watch is about to bring us the truth
FIRST_PAUSE = timedelta(seconds=1)
LONGEST_PAUSE = timedelta(seconds=30)
NOTHING_WISHED = WantedSlots()


@dataclass(frozen=True, slots=True)
class ObjectsMemory:
    """Of a headroom whose slots are objects of their own: what became of writing them."""

    expected: Mapping[str, tuple[Hold, datetime]] = field(default_factory=dict)  # not seen yet
    taken: tuple[str, ...] = ()  # slots whose names strangers have
    updated: int = 0  # objects of the present template
    refused: str = ""  # the quota that leaves no room for more slots, in words
    beyond: str = ""  # the limit of the namespace that does, in words
    unmade: str = ""  # why an object could not be written
    failures: int = 0  # in a row: we wait longer each time
    paused_until: datetime | None = None
    made: tuple[str, ...] = ()  # names that are not told of yet
    deleted: tuple[str, ...] = ()


NO_OBJECTS = ObjectsMemory()


@dataclass(frozen=True, slots=True)
class Opening:
    """The window that is open; `begun`: each window has its slots anew; what to tell of it."""

    window: ActiveWindow | None
    begun: bool = False
    tells: tuple[Tell, ...] = ()


@dataclass(frozen=True, slots=True)
class HeadroomMemory:
    """What is known of a headroom beyond its object; slots by name."""

    wished: WantedSlots = NOTHING_WISHED
    opened: Opening | None = None  # None: not decided about since the operator started
    stale: bool = False  # which slots are wanted is to be worked out anew
    look_at: datetime | None = None
    not_before: datetime | None = None
    spent: tuple[str, ...] = ()
    drops: Mapping[str, Drops] = field(default_factory=dict)  # slots given back of late
    foresight: ForesightMemory | None = None  # of a size that follows the load
    quotas: QuotaMemory = NOTHING_SAID  # of a size that keeps to ResourceQuotas
    shapes: Shapes = NO_SHAPES  # of one whose shapes are chosen
    followed: tuple[Followed, ...] = ()  # of one that follows gated pods: what each needs
    objects: ObjectsMemory = NO_OBJECTS
    slot_set: Companion = NOT_MADE
    daemon_set: Companion = NOT_MADE
    guardian_refused: bool = False  # the last one that a node was to get
    claimed: int = 0
    hits: int = 0
    misses: int = 0
    seated: tuple[Pod, ...] = ()  # owners that have got a slot, not told of yet

    @property
    def window(self) -> ActiveWindow | None:
        return self.opened.window if self.opened is not None else None

    @property
    def settled(self) -> bool:
        """Whether it was decided which slots there are, and are not."""
        return self.opened is not None and not self.wished.frozen


def first_memory(headroom: Headroom) -> HeadroomMemory:
    """What its object still says from before we knew it."""
    status = headroom.status
    return HeadroomMemory(
        spent=status.spent, claimed=status.claimed, hits=status.hits, misses=status.misses
    )


def respecified(memory: HeadroomMemory, old: Headroom | None, headroom: Headroom) -> HeadroomMemory:
    """The headroom is another: forget what failed, and what quotas said of its slots."""
    shapes = memory.shapes
    if old is None or old.slot.auto is None or headroom.slot.auto is None:
        shapes = first_shapes(headroom)
    elif old.slot != headroom.slot:
        shapes = replace(shapes, chosen_at=None)
    objects = begun_anew(memory.objects)
    return replace(memory, quotas=NOTHING_SAID, shapes=shapes, objects=objects)


def is_due(memory: HeadroomMemory, now: datetime) -> bool:
    """Whether the wanted slots must be calculated again."""
    due = memory.look_at is not None and memory.look_at <= now
    return memory.stale or due or bool(memory.objects.refused or memory.objects.beyond)


def begun_anew(objects: ObjectsMemory) -> ObjectsMemory:
    """What was wrong with the objects of slots may be mended: forget that they failed."""
    return replace(objects, unmade="", failures=0, paused_until=None)


def guardian_settled(
    memory: HeadroomMemory, outcome: Outcome, counted: bool
) -> tuple[HeadroomMemory, bool]:
    """A guardian was created or refused; also whether its headroom is to be decided again.

    That is so if others may follow, or if slots that new nodes are to get are not `counted` ahead
    any more.
    """
    done, refused = isinstance(outcome, Done), isinstance(outcome, Denied | Invalid)
    changed = counted and (done or refused) and refused != memory.guardian_refused
    if changed:
        memory = replace(memory, guardian_refused=refused)
    return memory, changed or (done and bool(memory.wished.later))


def postponed(memory: HeadroomMemory, until: datetime) -> HeadroomMemory:
    """Do not calculate the wanted slots again before this time."""
    return replace(memory, not_before=max(memory.not_before or until, until))


def object_written(
    memory: HeadroomMemory, parent: Parent, outcome: Outcome, now: datetime
) -> HeadroomMemory:
    """The object of a slot was written, or was not: then wait before the next try."""
    objects = memory.objects
    paused = objects.paused_until is not None and now < objects.paused_until
    if isinstance(outcome, Done):
        if not paused:  # Else others failed that were written at the same time.
            objects = begun_anew(objects)
        if not parent.uid:
            objects = replace(objects, made=(*objects.made, parent.name))
        return replace(memory, objects=objects)
    if isinstance(outcome, Taken | Stale | Gone):  # The next look knows what to do.
        return postponed(memory, now + MOMENT)
    why = f"{parent} cannot be written: {outcome.message}"
    objects = replace(objects, unmade=min(objects.unmade or why, why))
    if not paused:
        until = now + backoff(FIRST_PAUSE, objects.failures, LONGEST_PAUSE)
        objects = replace(objects, paused_until=until, failures=objects.failures + 1)
    return postponed(replace(memory, objects=objects), objects.paused_until or now)


def object_events(headroom: Headroom, memory: HeadroomMemory, now: datetime) -> Iterator[Tell]:
    """The events that tell which objects of slots were made and deleted since the last ones."""
    objects, known = headroom.slot_objects, memory.objects
    for word, names in (("Created", known.made), ("Deleted", known.deleted)):
        if names and objects is not None:
            told = ", ".join(list(dict.fromkeys(names))[:OBJECTS_TOLD])
            more = len(names) - OBJECTS_TOLD
            message = f"{word.lower()} {told}" + (f" and {more} more" if more > 0 else "")
            yield tell_object(headroom.parent, f"{objects.kind}{word}", message, now)
