"""What is known of one headroom beyond its object: wanted slots, states of slots, counts.

Counts are updated when slots change, so that a status costs the same for five and five thousand
slots.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from headroom.core.actions import Done, Gone, Outcome, Stale, Taken, Tell
from headroom.core.demand.foresight import ForesightMemory
from headroom.core.demand.quota_memory import NOTHING_SAID, QuotaMemory
from headroom.core.headrooms.decision import Opening
from headroom.core.headrooms.events import tell_headroom
from headroom.core.headrooms.headrooms import Headroom, HeadroomStatus
from headroom.core.headrooms.readiness import SlotTally
from headroom.core.headrooms.wanted_slots import WantedSlots
from headroom.core.headrooms.windows import ActiveWindow
from headroom.core.holds import HoldStatus
from headroom.core.objects import Parent
from headroom.core.quotas.limits import LIMIT_REACHED
from headroom.core.waits.backoff import backoff
from headroom.core.waits.drops import Drops
from headroom.engine.headrooms.slot_objects import SlotRefusal

TROUBLES_TOLD = 2
OBJECTS_TOLD = 5
MOMENT = timedelta(milliseconds=200)  # the watch is about to bring us the truth
FIRST_PAUSE = timedelta(seconds=1)
LONGEST_PAUSE = timedelta(seconds=30)
NO_STATUS = HeadroomStatus()


@dataclass(slots=True)
class HeadroomState:
    """One headroom's memory; slots by name."""

    wished: WantedSlots = field(default_factory=WantedSlots)
    opened: Opening | None = None  # None: not decided about yet
    look_at: datetime | None = None
    not_before: datetime | None = None
    unseen: dict[str, None] = field(default_factory=dict)  # slots not looked at yet
    phases: dict[str, str] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)
    troubles: dict[str, str] = field(default_factory=dict)
    limited: dict[str, None] = field(default_factory=dict)  # of them, those beyond a limit
    spent: dict[str, None] = field(default_factory=dict)
    drops: dict[str, Drops] = field(default_factory=dict)  # slots given back of late
    foresight: ForesightMemory | None = None  # of a size that follows the load
    quotas: QuotaMemory = NOTHING_SAID  # of a size that keeps to ResourceQuotas
    updated: int = 0  # slots that are objects of the present template
    refused: str = ""  # the quota that leaves no room for more slots, in words
    beyond: str = ""  # the limit of the namespace that does, in words
    unmade: str = ""  # why the object of a slot could not be written
    failures: int = 0  # in a row: we wait longer each time
    rests_until: datetime | None = None
    claimed: int = 0
    hits: int = 0
    misses: int = 0
    made: dict[str, None] = field(default_factory=dict)  # objects of slots, not told of yet
    deleted: dict[str, None] = field(default_factory=dict)

    @property
    def looked(self) -> bool:
        """Whether it was decided about since the operator started."""
        return self.opened is not None

    @property
    def window(self) -> ActiveWindow | None:
        return self.opened.window if self.opened is not None else None

    def refuse(self, refusal: SlotRefusal) -> None:
        """Some objects of slots are not made."""
        if refusal.by_limit:
            self.beyond = refusal.why
        else:
            self.refused = refusal.why

    def differs(self, slot: str, status: HoldStatus) -> bool:
        """Whether a slot is in another state than was noted, or in other trouble."""
        return (self.phases.get(slot), self.troubles.get(slot)) != (status.phase, _trouble(status))

    def tell_objects(self, headroom: Headroom, now: datetime) -> Iterator[Tell]:
        """The events that tell which objects of slots were made and deleted since the last ones."""
        objects = headroom.slot_objects
        for word, names in (("Created", self.made), ("Deleted", self.deleted)):
            if names and objects is not None:
                told = ", ".join(list(names)[:OBJECTS_TOLD])
                more = len(names) - OBJECTS_TOLD
                message = f"{word.lower()} {told}" + (f" and {more} more" if more > 0 else "")
                yield tell_headroom(headroom, f"{objects.kind}{word}", message, now)
            names.clear()

    def note(self, slot: str, status: HoldStatus) -> None:
        """A slot is in this state now."""
        self.forget(slot)
        self.phases[slot] = status.phase
        self.counts[status.phase] += 1
        trouble = _trouble(status)
        if trouble is not None:
            self.troubles[slot] = trouble
            if any(each.reason == LIMIT_REACHED for each in status.conditions):
                self.limited[slot] = None

    def forget(self, slot: str) -> None:
        """A slot is no more."""
        self.unseen.pop(slot, None)
        self.troubles.pop(slot, None)
        self.limited.pop(slot, None)
        phase = self.phases.pop(slot, None)
        if phase is not None:
            self.counts[phase] -= 1

    def wrote(self, parent: Parent, outcome: Outcome, now: datetime) -> None:
        """The object of a slot was written, or was not: then wait before the next try."""
        resting = self.rests_until is not None and now < self.rests_until
        if isinstance(outcome, Done):
            if not resting:  # Else others failed that were written at the same time.
                self.begin_anew()
            return
        if isinstance(outcome, Taken | Stale | Gone):  # The next look knows what to do.
            self.wait_until(now + MOMENT)
            return
        why = f"{parent} cannot be written: {outcome.message}"
        self.unmade = min(self.unmade or why, why)
        if not resting:
            self.rests_until = now + backoff(FIRST_PAUSE, self.failures, LONGEST_PAUSE)
            self.failures += 1
        self.wait_until(self.rests_until or now)

    def wait_until(self, moment: datetime) -> None:
        """Work out nothing anew before this moment."""
        self.not_before = max(self.not_before or moment, moment)

    def respecified(self) -> None:
        """The headroom is another: forget what failed, and what quotas said of its slots."""
        self.begin_anew()
        self.quotas = NOTHING_SAID

    def begin_anew(self) -> None:
        """What was wrong with the objects of slots may be mended: forget that they failed."""
        self.unmade, self.failures, self.rests_until = "", 0, None

    def tally(self, nodes: int, next_start: datetime | None) -> SlotTally:
        """What a status is made from."""
        held = self.counts["Available"]
        told = [f"slot {slot}: {why}" for slot, why in list(self.troubles.items())[:TROUBLES_TOLD]]
        more = len(self.troubles) - len(told)
        if more > 0:
            told.append(f"and {more} more")
        told += [why for why in (self.beyond, self.unmade) if why]
        return SlotTally(
            held=held,
            pending=max(0, self.wished.count - held),
            claimed=self.claimed,
            hits=self.hits,
            misses=self.misses,
            nodes=nodes,
            trouble="; ".join(told),
            limited=bool(told) and len(self.limited) == len(self.troubles) and not self.unmade,
            refused=self.refused,
            next_start=next_start,
        )

    def objects(self) -> dict[str, Any]:
        """What a tally says besides, where slots are objects of their own."""
        return {
            "pending": self.counts["Pending"] + self.counts[""],
            "last_start": self.window.started_at if self.window is not None else None,
            "objects": len(self.phases),
            "ended": self.counts["Failed"],
            "updated": self.updated,
        }


def _trouble(status: HoldStatus) -> str | None:
    """What is wrong with a slot, in words; None when nothing is."""
    degraded = next((each for each in status.conditions if each.type == "Degraded"), None)
    if degraded is None or degraded.status != "True":
        return None
    return degraded.message or degraded.reason


def first_known(headroom: Headroom) -> HeadroomState:
    """What its object still says from before we knew it."""
    status = headroom.status
    return HeadroomState(
        spent=dict.fromkeys(status.spent),
        claimed=status.claimed,
        hits=status.hits,
        misses=status.misses,
    )


def without_status(headroom: Headroom) -> Headroom:
    """The headroom without what says nothing about its wish."""
    return replace(headroom, status=NO_STATUS, version="", finalizers=())
