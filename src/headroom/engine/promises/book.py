"""What each headroom promised, what was achieved, and how many slots this requires.

This is a part of the ledger. The decision is pure: `core.promise`. A report is updated at most
every few seconds, its record every few minutes, because each write costs API server time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import takewhile

from headroom.core.conditions import conditions_of
from headroom.core.headrooms.headrooms import Headroom, HeadroomStatus
from headroom.core.headrooms.readiness import SlotTally
from headroom.core.headrooms.size_inputs import Learnt
from headroom.core.headrooms.size_limits import Note
from headroom.core.headrooms.wanted_slots import WantedSlots
from headroom.core.holds import LOCKED
from headroom.core.latches import kept_for
from headroom.core.names import API_VERSION, ROLE_GUARDIAN, ROLE_LABEL
from headroom.core.objects import Condition, Pod
from headroom.core.promise.achieved import WEEK
from headroom.core.promise.announced import (
    NOTHING_ANNOUNCED,
    Announced,
    Expectation,
    LearntMemory,
)
from headroom.core.promise.estimator import Learner
from headroom.core.promise.record import Damaged, History, read, written
from headroom.core.promise.report import (
    PROMISE_KEPT,
    Circumstances,
    PromiseStatus,
    PromiseTerms,
    next_nine,
    price,
    verdict,
    with_shares,
)
from headroom.core.promise.settings import STEP, EstimatorSettings, settings_for
from headroom.core.promise.stock import SizedStock, Stock
from headroom.core.sizes.kind import Size
from headroom.core.subjects import headroom_subject
from headroom.engine.agenda import Agenda
from headroom.engine.promises.arrivals import Arrivals, kept_back

REPORT_PAUSE = timedelta(seconds=10)
RECORD_PAUSE = timedelta(minutes=5)
RECORD_GROWTH = 1.2  # A record is renewed early when so many times the owners have come.
LOOK_PAUSE = timedelta(seconds=STEP)
LONGEST_WAIT = 900.0  # A pod that waits longer waits for something else than a machine.
NATIVE = "Headroom"


@dataclass(slots=True)
class Kept:
    """What is known of one headroom's promise."""

    headroom: Headroom
    history: History
    lost: str = ""  # why the record of before could not be read
    open: dict[str, datetime] = field(default_factory=dict)  # owners without a node, since when
    late: dict[str, None] = field(default_factory=dict)  # those of them that missed
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
    def terms(self) -> PromiseTerms:
        return self.headroom.size.terms

    @property
    def settings(self) -> EstimatorSettings:
        return settings_for(self.terms.memory.total_seconds())

    @property
    def learns(self) -> bool:
        return self.headroom.size.learns


@dataclass(slots=True)
class PromiseBook:
    """By headroom; `asked` are guardians without a node, since when."""

    agenda: Agenda
    arrivals: Arrivals
    began: datetime | None = None
    kept: dict[str, Kept] = field(default_factory=dict)
    asked: dict[str, datetime] = field(default_factory=dict)

    def want(self, headroom: Headroom, pods: Iterable[Pod]) -> None:
        """A headroom is as given; other kinds than ours have no place to tell of promises."""
        parent = headroom.parent
        native = parent.kind == NATIVE and parent.api_version == API_VERSION
        if not native or headroom.mode != LOCKED or headroom.problems or not headroom.served:
            self.forget(parent.whole)
            return
        self.arrivals.want(headroom)
        known = self.kept.get(parent.whole)
        if known is None or known.headroom.parent.uid != parent.uid:
            self.kept[parent.whole] = _first(headroom)
            for pod in filter(kept_back, pods):
                self.arrivals.gate(pod)
            return
        known.headroom = headroom
        learner = known.history.stock.learner
        learner.ratio, learner.settings = known.terms.ratio, known.settings

    def forget(self, whole: str) -> None:
        self.kept.pop(whole, None)
        self.arrivals.forget(whole)

    def begin(self, now: datetime) -> None:
        """From now on we may act, and what is new is new."""
        self.began = now

    def see(self, before: Pod | None, pod: Pod, now: datetime) -> Iterator[str]:
        """Take a pod as it was and as it now is; name the headrooms whose size it may change."""
        if ROLE_LABEL in pod.labels:
            self._see_guardian(pod, now)
            return
        came = self.arrivals.see(before, pod, now, self.began)
        for whole in came.wholes:
            known = self.kept[whole]
            known.came += 1
            self._count(known, now, pods=1)
            if known.learns:
                yield whole
            if came.waited is None:
                since = known.open[pod.uid] = self.arrivals.waiting[pod.uid].since
                self.agenda.later(
                    headroom_subject(known.headroom.parent), since + known.terms.within
                )
        for whole in came.waited_for:
            self._started(whole, pod.uid, came.waited, now)

    def lose(self, uid: str, now: datetime) -> None:
        """A pod is gone."""
        for whole in self.arrivals.lose(uid):
            self._started(whole, uid, None, now)
        self.asked.pop(uid, None)

    def _started(self, whole: str, uid: str, waited: float | None, now: datetime) -> None:
        """An owner has got its node after so many seconds, or waits no more."""
        known = self.kept.get(whole)
        if known is None:
            return
        self._find_late(known, now)
        known.open.pop(uid, None)
        if uid in known.late:
            del known.late[uid]
            if waited is not None and waited < LONGEST_WAIT:
                known.history.leads.note(waited)

    def advance(self, whole: str, now: datetime) -> None:
        """Let time pass for a headroom whose size is learnt."""
        kept = self.kept.get(whole)
        if kept is not None and kept.learns:
            self._advance(kept, now)

    def size(
        self, headroom: Headroom, size: Size, about: Announced, now: datetime
    ) -> Learnt | None:
        """How many slots a headroom should have now; None where that is not learnt."""
        kept = self.kept.get(headroom.parent.whole)
        if kept is None or not size.learns:
            return None
        gated = self.arrivals.gated_for(headroom.parent.whole)
        coming, announced = kept.announced.updated(about.coming, kept.came, now)
        known = coming + gated
        # Who was announced and has come is on its way to a slot: none is given back before.
        waiting = len(kept.open) + len(kept.late)
        known = max(known, min(about.there, known + waiting))
        stock, bounds = kept.history.stock, size.learnt_bounds(known)
        sized, trail = stock.sized(now.timestamp(), self._lead(kept), bounds)
        notes: tuple[Note, ...] = ()
        measured = kept.history.leads
        if measured.lately and measured.lead() <= size.terms.within.total_seconds():
            told = (
                f"spec.size.adaptive.startWithin is not shorter than it takes to get a slot "
                f"({measured.lead():g} s): owners start in time without any"
            )
            notes = (Note("StartWithinTooLong", told),)
        memory = LearntMemory(sized, trail, announced)
        return Learnt(sized.slots, notes, now + LOOK_PAUSE, memory)

    def sized(self, whole: str, learnt: Learnt | None) -> None:
        """It was decided how many slots a headroom should have."""
        kept, memory = self.kept.get(whole), learnt.memory if learnt is not None else None
        if kept is None or memory is None:
            return
        if kept.sized is None or memory.sized.slots != kept.sized.slots:
            kept.changed = True
        kept.sized, kept.announced = memory.sized, memory.announced
        kept.history.stock.trail = memory.trail

    def shown(
        self,
        shown: Headroom,
        status: HeadroomStatus,
        about: tuple[WantedSlots, SlotTally],
        now: datetime,
    ) -> HeadroomStatus:
        """The status with what is to be told of the promise."""
        kept = self.kept.get(shown.parent.whole)
        if kept is None:
            return status
        self._advance(kept, now)
        due = kept.told_at is None or now >= kept.told_at + REPORT_PAUSE
        if kept.changed and due:
            self._tell(kept, status, about, now)
        elif kept.changed and kept.told_at is not None:
            subject = headroom_subject(shown.parent)
            self.agenda.later(subject, kept.told_at + REPORT_PAUSE)
        if kept.told is None:
            return status
        conditions = (*status.conditions, *((kept.condition,) if kept.condition else ()))
        return replace(status, promise=kept.told, conditions=conditions)

    def _tell(
        self,
        kept: Kept,
        status: HeadroomStatus,
        about: tuple[WantedSlots, SlotTally],
        now: datetime,
    ) -> None:
        wished, tally = about
        at, history = now.timestamp(), kept.history
        record = kept.told.record if kept.told is not None else ""
        late = kept.recorded_at is None or now >= kept.recorded_at + RECORD_PAUSE
        week = history.achieved.share(WEEK, at).pods
        if late or not record or week > RECORD_GROWTH * kept.recorded:
            record, kept.recorded_at, kept.recorded = written(history), now, week
        lead = self._lead(kept)
        measured = round(history.leads.lead()) if history.leads.lately else 0
        promise = PromiseStatus(
            kept.terms.ratio,
            kept.terms.within,
            lead_time=timedelta(seconds=measured),
            record=record,
        )
        promise = with_shares(promise, history.achieved, at)
        if kept.sized is not None:
            promise = replace(
                promise,
                size=kept.sized.slots,
                decided_by=kept.sized.term,
                why=history.stock.words(kept.sized, lead),
                next_nine=price(history.stock, next_nine(kept.terms.ratio), at, lead),
            )
        limited = wished.asked > wished.count or tally.limited
        trouble = bool(tally.trouble or tally.refused)
        found = verdict(
            promise,
            kept.sized,
            history.stock if kept.learns else None,
            Circumstances(limited, trouble, kept.lost),
        )
        words = (PROMISE_KEPT, found.status, found.reason, found.message)
        before = (kept.condition,) if kept.condition is not None else ()
        (kept.condition,) = conditions_of((words,), before, status.observed_generation, now)
        kept.told, kept.told_at, kept.changed = promise, now, False

    def _see_guardian(self, pod: Pod, now: datetime) -> None:
        """Measure how long a slot takes from its guardian's beginning to its node."""
        if pod.labels.get(ROLE_LABEL) != ROLE_GUARDIAN:
            return
        if not pod.node:
            if self.began is not None and not pod.finished:
                self.asked.setdefault(pod.uid, now)
            return
        since = self.asked.pop(pod.uid, None)
        whole, _, slot = kept_for(pod).partition("#")
        if since is not None and slot and whole in self.kept:
            self.kept[whole].history.leads.note((now - since).total_seconds())

    def _count(self, kept: Kept, now: datetime, pods: int = 0, misses: int = 0) -> None:
        at, history = now.timestamp(), kept.history
        history.achieved.count(at, pods, misses)
        if kept.learns:
            self._watch(kept, at)
            history.stock.observe(at, pods, misses, self._lead(kept))
        kept.changed = True
        self.agenda.touch(headroom_subject(kept.headroom.parent))

    def _advance(self, kept: Kept, now: datetime) -> None:
        """Count who has waited too long by now, and let time pass."""
        self._find_late(kept, now)
        if kept.learns and self.began is not None:
            self._watch(kept, now.timestamp())
            kept.history.stock.observe(now.timestamp(), 0, 0, self._lead(kept))

    def _find_late(self, kept: Kept, now: datetime) -> None:
        """Owners wait in the order in which they came, so the first that is in time is enough."""
        late = list(takewhile(lambda uid: now >= kept.open[uid] + kept.terms.within, kept.open))
        for uid in late:
            del kept.open[uid]
            kept.late[uid] = None
        if late:
            self._count(kept, now, misses=len(late))
        if kept.open:
            soonest = next(iter(kept.open.values())) + kept.terms.within
            self.agenda.later(headroom_subject(kept.headroom.parent), soonest)

    def _watch(self, kept: Kept, at: float) -> None:
        """The first look after we began: nobody watched since the record was written."""
        if not kept.watched:
            kept.watched = True
            kept.history.stock.learner.resume(at)

    def _lead(self, kept: Kept) -> float:
        """What slots must cover: who waits no longer than was promised needs none."""
        return max(kept.history.leads.lead() - kept.terms.within.total_seconds(), STEP)


def _first(headroom: Headroom) -> Kept:
    """What its object still says from before we knew it."""
    told = headroom.status.promise
    terms = headroom.size.terms
    settings = settings_for(terms.memory.total_seconds())
    kept = Kept(headroom, History(Stock(Learner(terms.ratio, settings))))
    if told is None or not told.record:
        return kept
    try:
        kept.history = read(told.record, terms.ratio)
    except Damaged as error:
        kept.lost, kept.changed = str(error), True
        return kept
    kept.history.stock.learner.settings = settings
    kept.told = told
    conditions = headroom.status.conditions
    kept.condition = next((each for each in conditions if each.type == PROMISE_KEPT), None)
    return kept
