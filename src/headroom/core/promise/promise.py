"""The promise of one headroom: which owners arrived, which waited too long, and the report.

A promise learns step by step, so it is changed in place, and only its holder does so. Nothing here
has a clock: time is an argument. A report is made at most every few seconds and its record every
few minutes, because each write costs API server time.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import takewhile

from headroom.core.conditions import conditions_of
from headroom.core.headrooms.headrooms import Headroom, HeadroomStatus
from headroom.core.headrooms.readiness import SlotTally
from headroom.core.headrooms.size_limits import Note
from headroom.core.headrooms.wanted_slots import WantedSlots
from headroom.core.holds import LOCKED
from headroom.core.names import API_VERSION
from headroom.core.objects import Condition
from headroom.core.promise.achieved import DAY, HOUR, WEEK
from headroom.core.promise.announced import NOTHING_ANNOUNCED, Expectation, Learnt, LearntMemory
from headroom.core.promise.estimator import Learner
from headroom.core.promise.record import Damaged, History, read, written
from headroom.core.promise.report import (
    PROMISE_KEPT,
    Circumstances,
    PromiseStatus,
    next_nine,
    price,
    verdict,
)
from headroom.core.promise.settings import STEP, settings_for
from headroom.core.promise.stock import SizedStock, Stock
from headroom.core.sizes.kind import Size

REPORT_PAUSE = timedelta(seconds=10)
RECORD_PAUSE = timedelta(minutes=5)
RECORD_GROWTH = 1.2  # A record is renewed early when so many times the owners have come.
LOOK_PAUSE = timedelta(seconds=STEP)
LONGEST_WAIT = 900.0  # A pod that waits longer waits for something else than a machine.
NATIVE = "Headroom"


def makes_promise(headroom: Headroom) -> bool:
    """Whether owners of a headroom are counted; other kinds than ours have no place to say so."""
    native = headroom.parent.kind == NATIVE and headroom.parent.api_version == API_VERSION
    return native and headroom.mode == LOCKED and not headroom.problems and headroom.served


@dataclass(slots=True)
class HeadroomPromise:
    """The state of one headroom's promise; owners by uid, since when they wait."""

    headroom: Headroom
    history: History
    lost: str = ""  # why the record of before could not be read
    open: dict[str, datetime] = field(default_factory=dict)  # owners without a node
    late: dict[str, datetime] = field(default_factory=dict)  # those that missed
    announced: Expectation = NOTHING_ANNOUNCED
    came: int = 0  # owners, since we began
    watched: bool = False  # whether we have looked since we began
    changed: bool = False  # whether there is something new to tell
    sized: SizedStock | None = None
    told: PromiseStatus | None = None
    condition: Condition | None = None
    told_at: datetime | None = None
    recorded_at: datetime | None = None
    recorded: int = 0  # owners of the last week, then

    @property
    def learns(self) -> bool:
        return self.headroom.size.learns

    @property
    def within(self) -> timedelta:
        """How fast owners should start."""
        return self.headroom.size.terms.within

    @property
    def next_late(self) -> datetime | None:
        """When the owner that has waited longest will have waited too long."""
        return next((since + self.within for since in self.open.values()), None)

    @property
    def report_at(self) -> datetime | None:
        """When a report may be made; None: at once."""
        return self.told_at + REPORT_PAUSE if self.told_at is not None else None

    @property
    def lead(self) -> float:
        """The time that slots must cover: an owner that waits as long as promised needs none."""
        return max(self.history.leads.lead() - self.within.total_seconds(), STEP)

    def respecify(self, headroom: Headroom) -> None:
        """The headroom has changed."""
        self.headroom = headroom
        learner, terms = self.history.stock.learner, headroom.size.terms
        learner.ratio = terms.ratio
        learner.settings = settings_for(terms.memory.total_seconds())

    def owner_came(self, uid: str, waits: bool, now: datetime) -> None:
        """An owner has arrived; it waits for a node, or has one already."""
        self.came += 1
        self._count(now, pods=1)
        if waits:
            self.open[uid] = now

    def owner_left(self, uid: str, has_node: bool, now: datetime) -> None:
        """An owner that waited has got a node, or is gone."""
        self.open.pop(uid, None)
        since = self.late.pop(uid, None)
        waited = (now - since).total_seconds() if since is not None and has_node else LONGEST_WAIT
        if waited < LONGEST_WAIT:
            self.history.leads.note(waited)

    def find_late(self, now: datetime) -> bool:
        """Count the owners that have waited too long; return whether there is one.

        Owners are sorted by arrival, so the search ends at the first one that is in time.
        """
        late = list(takewhile(lambda uid: now >= self.open[uid] + self.within, self.open))
        for uid in late:
            self.late[uid] = self.open.pop(uid)
        if late:
            self._count(now, misses=len(late))
        return bool(late)

    def advance(self, now: datetime) -> None:
        """Advance to the current time."""
        if self.learns:
            self._observe(now.timestamp(), 0, 0)

    def size(self, size: Size, announced: int, kept_back: int, there: int, now: datetime) -> Learnt:
        """How many slots there should be now; this changes nothing.

        So many pods are `announced` by workloads, so many owners are `kept_back` by the gates of
        others, and so many slots are `there`.
        """
        coming, expectation = self.announced.updated(announced, self.came, now)
        known = coming + kept_back
        # Who was announced and has come is on its way to a slot: none is given back before.
        known = max(known, min(there, known + len(self.open) + len(self.late)))
        bounds = size.learnt_bounds(known)
        sized, trail = self.history.stock.sized(now.timestamp(), self.lead, bounds)
        notes: tuple[Note, ...] = ()
        measured = self.history.leads
        if measured.lately and measured.lead() <= size.terms.within.total_seconds():
            told = (
                f"spec.size.adaptive.startWithin is not shorter than it takes to get a slot "
                f"({measured.lead():g} s): owners start in time without any"
            )
            notes = (Note("StartWithinTooLong", told),)
        memory = LearntMemory(sized, trail, expectation)
        return Learnt(sized.slots, notes, now + LOOK_PAUSE, memory)

    def decided(self, memory: LearntMemory) -> None:
        """Store what was decided about the number of slots."""
        if self.sized is None or memory.sized.slots != self.sized.slots:
            self.changed = True
        self.sized, self.announced = memory.sized, memory.announced
        self.history.stock.trail = memory.trail

    def report(
        self, status: HeadroomStatus, wished: WantedSlots, tally: SlotTally, now: datetime
    ) -> None:
        """Calculate the report again that the status shows."""
        at, history, terms = now.timestamp(), self.history, self.headroom.size.terms
        measured = round(history.leads.lead()) if history.leads.lately else 0
        promise = PromiseStatus(
            terms.ratio,
            terms.within,
            last_hour=history.achieved.share(HOUR, at),
            last_day=history.achieved.share(DAY, at),
            last_week=history.achieved.share(WEEK, at),
            lead_time=timedelta(seconds=measured),
            record=self._record(now),
        )
        if self.sized is not None:
            promise = replace(
                promise,
                size=self.sized.slots,
                decided_by=self.sized.term,
                why=history.stock.words(self.sized, self.lead),
                next_nine=price(history.stock, next_nine(terms.ratio), at, self.lead),
            )
        limited = wished.asked > wished.count or tally.limited
        about = Circumstances(limited, bool(tally.trouble or tally.refused), self.lost)
        words = verdict(promise, self.sized, history.stock if self.learns else None, about)
        before = (self.condition,) if self.condition is not None else ()
        (self.condition,) = conditions_of((words,), before, status.observed_generation, now)
        self.told, self.told_at, self.changed = promise, now, False

    def shown(self, status: HeadroomStatus) -> HeadroomStatus:
        """The status with what was last reported."""
        if self.told is None:
            return status
        own = (self.condition,) if self.condition is not None else ()
        return replace(status, promise=self.told, conditions=(*status.conditions, *own))

    def _record(self, now: datetime) -> str:
        """The record to show: the one of before, for as long as that is recent enough."""
        record = self.told.record if self.told is not None else ""
        late = self.recorded_at is None or now >= self.recorded_at + RECORD_PAUSE
        week = self.history.achieved.share(WEEK, now.timestamp()).pods
        if late or not record or week > RECORD_GROWTH * self.recorded:
            self.recorded_at, self.recorded = now, week
            return written(self.history)
        return record

    def _count(self, now: datetime, pods: int = 0, misses: int = 0) -> None:
        self.history.achieved.count(now.timestamp(), pods, misses)
        if self.learns:
            self._observe(now.timestamp(), pods, misses)
        self.changed = True

    def _observe(self, at: float, pods: int, misses: int) -> None:
        if not self.watched:  # Nobody watched since the record was written.
            self.watched = True
            self.history.stock.learner.resume(at)
        self.history.stock.observe(at, pods, misses, self.lead)


def first_promise(headroom: Headroom) -> HeadroomPromise:
    """What its object still says from before we knew it."""
    said, terms = headroom.status.promise, headroom.size.terms
    settings = settings_for(terms.memory.total_seconds())
    promise = HeadroomPromise(headroom, History(Stock(Learner(terms.ratio, settings))))
    if said is None or not said.record:
        return promise
    try:
        promise.history = read(said.record, terms.ratio)
    except Damaged as error:
        promise.lost, promise.changed = str(error), True
        return promise
    promise.history.stock.learner.settings = settings
    promise.told = said
    conditions = headroom.status.conditions
    promise.condition = next((each for each in conditions if each.type == PROMISE_KEPT), None)
    return promise
