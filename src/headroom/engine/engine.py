"""The engine: events in, plans out, outcomes back in.

It connects the ledger, the agenda and the controllers: of holds, headrooms, owners at the two
doors, latches, fences and claim indexes. It does no I/O and reads no clock; the same events, times
and outcomes always give the same plans. `runtime.operator` calls it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial

from headroom.core.actions import (
    Action,
    CreateGuardian,
    CreateSlotObject,
    DeleteObject,
    DeletePod,
    Done,
    Gone,
    MarkUnschedulable,
    Outcome,
    SetFinalizers,
    Stale,
    WriteHeadroomStatus,
    WriteHoldStatus,
    WriteIndex,
    WriteQuotaStatus,
)
from headroom.core.index_entries import By
from headroom.core.latches import kept_for
from headroom.core.names import ROLE_GUARDIAN, ROLE_LABEL
from headroom.core.objects import Pod
from headroom.core.plan import PAUSING_WORK, Plan, Sequence, Work
from headroom.core.policy import Policy
from headroom.core.subjects import (
    Subject,
    Topic,
    hold_subject,
    node_changed,
    node_subject,
    pod_subject,
)
from headroom.engine import (
    fence_controller,
    handover_queue,
    latch_controller,
    owner_controller,
    quotas,
)
from headroom.engine.agenda import OWNER_PAUSE, Agenda
from headroom.engine.bursts import look_at_burst, look_at_retries
from headroom.engine.claim_index import ClaimIndexController, index_subject
from headroom.engine.doors import witnesses
from headroom.engine.doors.claims import (
    is_taken_back,
    missing,
    note_ended,
    note_refused,
    waits_since,
)
from headroom.engine.effects import assume, begin, end, makes_latch
from headroom.engine.error_isolation.error_reporter import ErrorReporter
from headroom.engine.error_isolation.quarantine import Quarantine
from headroom.engine.headrooms import guardian_pace, own_objects
from headroom.engine.headrooms.companions import Concerning, settled
from headroom.engine.headrooms.followers import concerned
from headroom.engine.headrooms.headroom_controller import HeadroomController
from headroom.engine.headrooms.records import reconsider
from headroom.engine.headrooms.slot_events import (
    finalized,
    member_gone,
    object_failed,
    wrote,
)
from headroom.engine.headrooms.slot_takeover import move_in
from headroom.engine.hold_controller import HoldController
from headroom.engine.ledger import Ledger
from headroom.engine.observation.observer import LOST, SEEN, Observers, subject_of, taken_in_by
from headroom.engine.observation.pods import lose_pod
from headroom.engine.status_writer import StatusWriter
from headroom.ports import Event, Lost, Seen, Synced

MOST_LOOKS = 500  # decisions of one plan, so that new events are processed before the next one
MOST_ROUNDS = 5
MOST_AT_ONCE = 500  # Writes begin while the rest is still being decided.
_FIRST = {Topic.HEADROOM: 0, Topic.HOLD: 1}
Controller = Callable[[Subject, datetime], Iterable[Sequence]]


class Engine:
    """Decides what to do next, from everything that was observed."""

    def __init__(self, policy: Policy) -> None:
        self._agenda = Agenda()
        self.ledger = Ledger(policy, self._agenda)
        self._statuses = StatusWriter(self.ledger)
        self._headrooms = HeadroomController(self.ledger, self._statuses)
        self._holds = HoldController(self.ledger, self._statuses)
        self._claim_index = ClaimIndexController(self.ledger)
        self._first: deque[Subject] = deque()  # what was due when we first might act
        self.synced = False
        self.quarantine = Quarantine(self._agenda)
        self._error_reporter = ErrorReporter(self.ledger, self._statuses)
        self._observers = Observers(self.ledger, self._statuses, self._headrooms, self._claim_index)
        self._controllers: Mapping[Topic, Controller] = {
            Topic.POD: self._decide_pod,
            Topic.HOLD: self._decide_hold,
            Topic.STATUS: self._decide_hold,
            Topic.HEADROOM: lambda each, now: self._headrooms.look(each.identity, now),
            Topic.ANNOUNCE: lambda each, now: self._headrooms.look(each.identity, now),
            Topic.NODE: self._wake,
            Topic.FENCE: lambda each, now: fence_controller.look(self.ledger, each.identity, now),
            Topic.INDEX: lambda each, now: self._claim_index.look(each.identity, now),
            Topic.BULK: lambda _, now: look_at_burst(self.ledger, now),
            Topic.WAKING: lambda _, now: look_at_retries(self.ledger, now),
            Topic.DOORS: lambda _, now: witnesses.look(self.ledger, now),
            Topic.QUOTA: lambda each, now: quotas.look(
                self.ledger, each.identity, self._statuses, now
            ),
            Topic.OWN: lambda each, now: own_objects.look(self.ledger, each.identity, now),
            Topic.FOLLOW: self._wake,
            Topic.PACE: self._wake,
            Topic.STATUSES: self._wake,
            **dict.fromkeys(
                (Topic.OBJECT, Topic.OVERHEAD), lambda *_: ()
            ),  # They have only writes.
        }

    def observe(self, event: Event, now: datetime) -> None:
        """Process an event. It says what is true now; a repeated event changes nothing."""
        if isinstance(event, Synced):
            self.synced = True
            return
        table = LOST if isinstance(event, Lost) else SEEN
        what = event.thing if isinstance(event, Seen | Lost) else event
        subject, take_in = partial(subject_of, event), taken_in_by(type(what), table)
        self.quarantine.attempt("observe", subject, now, take_in, self._observers, what, now)

    def sees(self, silent_for: timedelta) -> None:
        """Set how long the watch of pods has been silent; too long means that it may be broken."""
        self._claim_index.blind = silent_for > self.ledger.policy.watch_silence

    def plan(self, now: datetime) -> Plan:
        """Decide what to do now; the sequences of the plan count as started."""
        if not self.synced:
            return Plan()
        planned: list[Sequence] = []
        if not self.ledger.began:
            self._begin(now)
        looks, pauses = MOST_LOOKS, self.quarantine.pauses
        due = self._due(now, looks)
        if not (due or self.ledger.lost or self.ledger.parked or self.quarantine.untold):
            return Plan((), self._agenda.wake_at())
        for _ in range(MOST_ROUNDS):  # One decision may call for another; most do not.
            looks -= len(due)
            left = iter(due)
            for subject in left:
                if self._agenda.is_deferred(subject, now):
                    continue
                if subject in pauses and self.quarantine.postpone(subject, now):
                    continue
                decide = partial(self._controllers[subject.topic], subject, now)
                attempt = self.quarantine.attempt  # What is decided before it raises is done.
                if attempt("decide", subject, now, self._start, planned, decide):
                    pauses.pop(subject, None)
                if len(planned) >= MOST_AT_ONCE:
                    break
            self._follow_up(now, planned)
            due = (*left, *self._due(now, looks))
            if not due and looks > 0:
                return Plan(tuple(planned), self._agenda.wake_at())
            if len(planned) >= MOST_AT_ONCE or looks <= 0:
                break
        for subject in due:
            self._agenda.touch(subject)
        return Plan(tuple(planned), now)

    def _follow_up(self, now: datetime, planned: list[Sequence]) -> None:
        """Do what the decisions of a round have called for, besides further decisions."""
        if self.ledger.lost:
            self._forget_lost(now)
        if self.ledger.parked:
            self._start_handovers(now, planned)
        if self.quarantine.untold:
            self._tell_contained(now, planned)

    def _start_handovers(self, now: datetime, planned: list[Sequence]) -> None:
        for node in tuple(self.ledger.handovers.all(By.PARKED)):
            subject = node_subject(node)
            start = partial(handover_queue.start_handover, self.ledger, node)
            if self.quarantine.postpone(subject, now):
                continue
            if not self.quarantine.attempt("decide", subject, now, self._start, planned, start):
                handover_queue.drop(self.ledger, node, now)

    def _tell_contained(self, now: datetime, planned: list[Sequence]) -> None:
        """Report contained exceptions on the objects that they concern."""
        for contained in self.quarantine.take_untold():
            tell = partial(self._error_reporter.of, contained, now)
            self.quarantine.attempt("tell", contained.subject, now, self._start, planned, tell)

    def withdraw(self, now: datetime) -> tuple[Sequence, ...]:
        """The writes that stop the gating of new pods, before the operator stops."""
        planned: list[Sequence] = []
        self._start(planned, partial(self._claim_index.withdraw, now))
        return tuple(planned)

    def let_go(self, now: datetime) -> None:
        """Release the owners at the gate: none waits any longer for a hold that may come."""
        waits_since(self.ledger, now - self.ledger.policy.patience)
        for key in self.ledger.waiting:
            self._agenda.touch(pod_subject(key))

    def _forget_lost(self, now: datetime) -> None:
        for hold in self.ledger.lost:
            for forget in (self._holds.forget, partial(member_gone, self.ledger)):
                self.quarantine.attempt("forget", hold_subject(hold.parent), now, forget, hold)
        self.ledger.lost.clear()

    def _begin(self, now: datetime) -> None:
        """Collect what is due when the operator may act first: holds before their owners.

        Owners may have existed for long, but no operator served them until now.
        """
        self.ledger.began = True
        self.ledger.note_missing_nodes()
        fence_controller.begin(self.ledger)
        quotas.begin(self.ledger, now)
        own_objects.touch_own(self.ledger)
        self.ledger.slots.began = now
        waits_since(self.ledger, now)
        due = self._agenda.take(now)
        self._first.extend(sorted(due, key=lambda each: _FIRST.get(each.topic, len(_FIRST))))

    def _due(self, now: datetime, most: int) -> tuple[Subject, ...]:
        """The next subjects: those that existed at the start, then those that are due."""
        if not self._first:
            return self._agenda.take(now, most)
        return tuple(self._first.popleft() for _ in range(min(most, len(self._first))))

    def halts(self, sequence: Sequence, step: int, now: datetime) -> str:
        """Why a sequence must not go on with its next step; empty if it may."""
        told: list[str] = []
        whose, attempt = partial(_whose, sequence), self.quarantine.attempt
        judge = partial(missing, self.ledger, sequence, step)
        judged = attempt("decide", whose, now, lambda: told.append(judge()))
        return "".join(told) if judged else "it could not be judged"

    def settle(self, action: Action, outcome: Outcome, now: datetime) -> bool:
        """Process the outcome of an action; return whether its sequence may continue."""
        subject = partial(about, action)
        noted = self.quarantine.attempt("settle", subject, now, self._settle, action, outcome, now)
        return noted and isinstance(outcome, Done)

    def _settle(self, action: Action, outcome: Outcome, now: datetime) -> None:
        if isinstance(action, Concerning):
            settled(self.ledger, action, outcome, now)
        if isinstance(outcome, Done):
            self._done(action, outcome, now)
            return
        note_refused(self.ledger, action, outcome)
        match action:
            case DeletePod(key, uid, version) if isinstance(outcome, Gone | Stale):
                if not version or isinstance(outcome, Gone):  # Else it has changed, and is there.
                    lose_pod(self.ledger, key, uid, now)
            case WriteHoldStatus() | WriteHeadroomStatus() | WriteQuotaStatus():
                self._statuses.failed(action, outcome, now)
            case CreateSlotObject():
                wrote(self.ledger, action, outcome, now)
            case SetFinalizers(parent=parent) | DeleteObject(parent=parent):
                object_failed(self.ledger, parent, now)
            case CreateGuardian():
                guardian_pace.guardian_refused(self.ledger, action, outcome, now)
            case MarkUnschedulable(key, uid):
                memory = self.ledger.pod_memory[uid]
                self.ledger.pod_memory[uid] = replace(memory, told="")
                self._agenda.failed(pod_subject(key), now)
            case WriteIndex(namespace=namespace):
                self._claim_index.forget(namespace)
                self._agenda.failed(index_subject(namespace), now)
            case _:
                pass

    def _done(self, action: Action, outcome: Done, now: datetime) -> None:
        match action:
            case CreateGuardian(hold=hold):
                self._holds.made(hold, outcome.uid, now)
            case WriteHoldStatus() | WriteHeadroomStatus() | WriteQuotaStatus():
                self._statuses.done(action, now)
            case SetFinalizers():
                finalized(self.ledger, action)
            case CreateSlotObject():
                wrote(self.ledger, action, outcome, now)
        assume(self.ledger, action, outcome, now)

    def finish(self, sequence: Sequence, completed: bool, now: datetime) -> None:
        """A sequence has ended: its subjects are decided again, after a pause if it failed."""
        attempt = self.quarantine.attempt
        attempt("finish", partial(_whose, sequence), now, self._ended, sequence, completed)
        self._agenda.finish(sequence.subjects)
        went_well = completed and sequence.work is not Work.TAKE_BACK
        for subject in sequence.subjects:
            if completed and sequence.work is Work.DOOR1_SLOW and subject.topic is Topic.POD:
                continue  # Only half of a handover: the pauses of the other half stay as long.
            if went_well or makes_latch(sequence, subject):
                self._agenda.succeeded(subject)  # A latch from before may be in the way: no pause.
            elif subject.topic is Topic.POD:
                pod = self.ledger.pods.get(subject.key)  # One that is gone needs no pause.
                if pod is not None and not is_taken_back(self.ledger, sequence, pod):
                    self._agenda.failed(subject, now, longest=OWNER_PAUSE)
            elif sequence.work in PAUSING_WORK:
                self._agenda.failed(subject, now)

    def _ended(self, sequence: Sequence, completed: bool) -> None:
        end(self.ledger, sequence, completed)
        note_ended(self.ledger, sequence, completed)

    def _start(self, planned: list[Sequence], decide: Callable[[], Iterable[Sequence]]) -> None:
        """Start each sequence as soon as it is decided: the next decision sees it."""
        for sequence in decide():
            self._agenda.start(sequence.subjects)
            begin(self.ledger, sequence)
            planned.append(sequence)

    def _decide_hold(self, subject: Subject, now: datetime) -> Iterable[Sequence]:
        hold = self.ledger.holds.get(subject.identity)
        if hold is None or self._agenda.busy(hold_subject(hold.parent)):
            return ()
        called = subject.topic is Topic.HOLD or self._statuses.is_due(subject, now)
        return self._holds.look(hold, now) if called else ()

    def _wake(self, subject: Subject, now: datetime) -> Iterable[Sequence]:
        """Subjects without writes of their own: other subjects are decided because of them."""
        if subject.topic is Topic.NODE:  # A handover there is over.
            self._agenda.wake(node_changed(subject.identity))
        elif subject.topic is Topic.FOLLOW:
            pod = self.ledger.pods.get(subject.key)
            reconsider(self.ledger, *concerned(self.ledger, pod))
        elif subject.topic is Topic.PACE:
            guardian_pace.look(self.ledger, subject, now)
        else:
            self._statuses.look(subject.identity, now)
        return ()

    def _decide_pod(self, subject: Subject, now: datetime) -> Iterable[Sequence]:
        ledger, pod = self.ledger, self.ledger.pods.get(subject.key)
        if pod is None or not ledger.policy.serves(pod.key.namespace):
            return ()
        if pod.key in ledger.latches:
            return latch_controller.look(ledger, pod, now)
        if pod.labels.get(ROLE_LABEL) == ROLE_GUARDIAN:
            return self._decide_guardian(pod, now)
        return owner_controller.look(ledger, pod, now)

    def _decide_guardian(self, pod: Pod, now: datetime) -> Iterator[Sequence]:
        """Delete a guardian whose hold is gone for good."""
        parent = kept_for(pod)
        hold = self.ledger.holds.get(parent)
        if hold is None or all(owner.uid != hold.parent.uid for owner in pod.owners):
            whole, _, slot = parent.partition("#")
            served = parent.partition("/")[0] in self.ledger.hold_kinds
            if self._headrooms.abandons(pod, whole) if slot else served:
                delete = DeletePod(pod.key, pod.uid)
                yield Sequence(Work.SWEEP, (pod_subject(pod.key),), ((delete,),))
        move_in(self.ledger, pod, now)


def about(action: Action) -> str:
    """The object that an action is about, as text for the log."""
    for name in ("key", "parent", "about", "name", "namespace"):
        if hasattr(action, name):
            return f"{type(action).__name__} {getattr(action, name)}"
    return type(action).__name__


def _whose(sequence: Sequence) -> Subject | str:
    """The subject that is blamed if the end of a sequence raises an exception."""
    if len(sequence.subjects) == 1:
        return sequence.subjects[0]
    return ", ".join(map(str, sequence.subjects)) or sequence.work.value
