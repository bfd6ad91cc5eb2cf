"""The engine: events in, plans out, outcomes back in.

It ties the ledger, the agenda and those who decide: the keeper of holds, the two doors, the latches
and the claim index. It does no I/O and reads no clock; the same events, times and outcomes always
give the same plans. See `runtime` for who drives it.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from headroom.core.actions import (
    Action,
    CreateGuardian,
    CreateLatch,
    DeletePod,
    Done,
    Gone,
    MarkUnschedulable,
    Outcome,
    Stale,
    Taken,
    WriteHoldStatus,
    WriteIndex,
)
from headroom.core.claims import claim_of
from headroom.core.holds import Hold
from headroom.core.names import PARENT_ANNOTATION, ROLE_GUARDIAN, ROLE_LABEL
from headroom.core.objects import Key, Namespace, Node, Pod
from headroom.core.owners import judged
from headroom.core.plan import Plan, Sequence, hold_subject, pod_subject
from headroom.core.policy import Policy
from headroom.engine.agenda import Agenda
from headroom.engine.claiming import admit, follow
from headroom.engine.effects import assume, give_up
from headroom.engine.indexing import Indexer, index_subject
from headroom.engine.keeping import Keeper
from headroom.engine.latching import Latcher
from headroom.engine.launching import Launcher
from headroom.engine.ledger import Ledger
from headroom.engine.placing import Placer
from headroom.engine.publishing import Publisher, status_subject
from headroom.ports import Event, HoldGone, NamespaceGone, NodeGone, PodGone, Seen, Synced

OWNER_PAUSE = timedelta(seconds=5)  # An owner waits for us; what failed may not be its fault.
LAUNCHED_WORK = ("door1", "door2", "door2-slow")
KEEPERS_WORK = ("release", "resize")


class Engine:
    """Decides, from all that was seen, what to do next."""

    def __init__(self, policy: Policy) -> None:
        self._agenda = Agenda()
        self.ledger = Ledger(policy, self._agenda)
        self._publisher = Publisher(self.ledger)
        self._keeper = Keeper(self.ledger, self._publisher)
        self._launcher = Launcher(self.ledger)
        self._placer = Placer(self.ledger, self._launcher)
        self._latcher = Latcher(self.ledger)
        self._indexer = Indexer(self.ledger)
        self.synced = False
        self._began = False

    def observe(self, event: Event, now: datetime) -> None:
        """Take an event in. Events say what is now true; one told twice changes nothing."""
        ledger = self.ledger
        match event:
            case Seen(Pod() as pod):
                ledger.see_pod(pod, now)
            case Seen(Hold() as hold):
                allowed = judged(hold, ledger.policy.across_namespaces)
                ledger.see_hold(self._publisher.see(allowed))
                self._agenda.touch(index_subject(hold.parent.namespace))
            case Seen(Node() as node):
                ledger.see_node(node)
            case Seen(Namespace() as namespace):
                ledger.namespaces[namespace.name] = namespace
                ledger.state.set_namespace(namespace)
                self._agenda.touch(index_subject(namespace.name))
            case PodGone(key, uid):
                ledger.lose_pod(key, uid)
                self._latcher.forget(uid)
                self._placer.forget(uid)
            case HoldGone(parent):
                ledger.lose_hold(str(parent))
                self._keeper.forget(parent.uid)
                self._publisher.forget(parent.uid)
                self._agenda.forget(status_subject(parent))
                self._agenda.touch(index_subject(parent.namespace))
            case NodeGone(name):
                ledger.lose_node(name)
            case NamespaceGone(name):
                ledger.namespaces.pop(name, None)
                ledger.state.remove_namespace(name)
                self._indexer.forget(name)
            case Synced():
                self.synced = True

    def plan(self, now: datetime) -> Plan:
        """Say what to do now; its sequences count as started."""
        if not self.synced:
            return Plan()
        planned: list[Sequence] = []
        for subject in self._agenda.take(now) if self._began else self._begin(now):
            if self._agenda.busy(subject):
                self._agenda.touch(subject)  # Taken up earlier in this very plan.
                continue
            planned.extend(self._started(self._decide(subject, now)))
        planned.extend(self._started(self._launcher.launch()))
        return Plan(tuple(planned), self._agenda.wake_at())

    def _begin(self, now: datetime) -> tuple[str, ...]:
        """All that is due when we first may act: holds before those who come for them.

        Owners may have been in sight for long, but nobody was there to serve them until now.
        """
        self._began = True
        self.ledger.waiting = dict.fromkeys(self.ledger.waiting, now)
        return tuple(sorted(self._agenda.take(now), key=lambda subject: subject[:5] != "hold "))

    def settle(self, action: Action, outcome: Outcome, now: datetime) -> bool:
        """Take note of what became of an action; say whether its sequence may go on."""
        if isinstance(outcome, Done):
            if isinstance(action, CreateGuardian):
                self._keeper.made(action.hold)
            elif isinstance(action, WriteHoldStatus):
                self._publisher.done(action.parent, now)
            assume(self.ledger, action, outcome, now)
            return True
        match action:
            case DeletePod(key, uid) if isinstance(outcome, Gone | Stale):
                self.ledger.lose_pod(key, uid)
            case CreateGuardian(hold=hold):
                self._guardian_refused(hold, action.name, outcome, now)
            case WriteHoldStatus(parent=parent):
                self._publisher.failed(parent, now)
            case MarkUnschedulable(key, uid):
                self._placer.forget(uid)
                self._agenda.failed(pod_subject(key), now)
            case WriteIndex(namespace=namespace):
                self._indexer.forget(namespace)
                self._agenda.failed(index_subject(namespace), now)
            case _:
                pass
        return False

    def finish(self, sequence: Sequence, completed: bool, now: datetime) -> None:
        """A sequence has ended; its subjects are decided afresh, after a pause if it failed."""
        if sequence.work in LAUNCHED_WORK:
            self._launcher.finished()
        if not completed:
            give_up(self.ledger, sequence)
        self._agenda.finish(sequence.subjects)
        latches = _latches_made(sequence)  # One left from before may be in the way: no pause.
        for subject in sequence.subjects:
            if completed or subject in latches:
                self._agenda.succeeded(subject)
            elif subject.startswith("pod "):
                self._agenda.failed(subject, now, longest=OWNER_PAUSE)
            elif sequence.work in KEEPERS_WORK:
                self._agenda.failed(subject, now)

    def _started(self, sequences: Iterator[Sequence]) -> Iterator[Sequence]:
        for sequence in sequences:
            self._agenda.start(sequence.subjects)
            yield sequence

    def _decide(self, subject: str, now: datetime) -> Iterator[Sequence]:
        kind, _, name = subject.partition(" ")
        if kind in ("hold", "status") and name in self.ledger.holds:
            hold = self.ledger.holds[name]
            if not self._agenda.busy(hold_subject(hold.parent)):
                yield from self._keeper.look(hold, now)
        elif kind == "index" and not self._agenda.resting(subject, now):
            yield from self._indexer.look(name, now)
        elif kind == "pod" and not self._agenda.resting(subject, now):
            namespace, _, pod_name = name.partition("/")
            pod = self.ledger.pods.get(Key(namespace, pod_name))
            if pod is not None:
                yield from self._decide_pod(pod, now)

    def _decide_pod(self, pod: Pod, now: datetime) -> Iterator[Sequence]:
        ledger = self.ledger
        if pod.key in ledger.latches:
            yield from self._latcher.look(pod, now)
        elif pod.labels.get(ROLE_LABEL) == ROLE_GUARDIAN:
            yield from self._stray(pod)
        elif claim_of(pod) is not None and (ledger.door(pod) != 2 or pod.node):
            yield from follow(ledger, pod, now)
        elif ledger.door(pod) == 1:
            yield from admit(ledger, self._launcher, pod, now)
        elif ledger.door(pod) == 2:
            sequence = self._placer.admit(pod, now)
            if sequence is not None:
                yield sequence

    def _stray(self, pod: Pod) -> Iterator[Sequence]:
        """A guardian of ours whose hold is gone for good gives its room back at once."""
        parent = pod.annotations.get(PARENT_ANNOTATION, "")
        hold = self.ledger.holds.get(parent)
        known = hold is not None and any(owner.uid == hold.parent.uid for owner in pod.owners)
        if parent.startswith("Hold/") and not known and pod.deleted is None:
            delete = DeletePod(pod.key, pod.uid)
            yield Sequence("sweep", (pod_subject(pod.key),), ((delete,),))

    def _guardian_refused(self, hold: Hold, name: str, outcome: Outcome, now: datetime) -> None:
        why = getattr(outcome, "message", "")
        if isinstance(outcome, Taken):
            stranger = Key(hold.parent.namespace, name)
            why = f"pod {stranger} has the guardian's name; it is made when that pod is gone"
        self._keeper.refused(hold, why)
        self._agenda.failed(hold_subject(hold.parent), now, self.ledger.policy.guardian_retry)
        self._agenda.touch(hold_subject(hold.parent))


def _latches_made(sequence: Sequence) -> frozenset[str]:
    """The subjects of latches that a sequence begins with."""
    first = sequence.steps[0]
    return frozenset(pod_subject(each.key) for each in first if isinstance(each, CreateLatch))
