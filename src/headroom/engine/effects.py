"""What each action changes when the API server has accepted it, before the watch shows it.

Also what is about to be created, if a second decision of the same plan must know of the first.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from itertools import chain

from headroom.core.actions import (
    Action,
    Bind,
    ClaimInPlace,
    CreateFence,
    CreateGuardian,
    CreateLatch,
    DeleteObject,
    DeletePod,
    Disclaim,
    Done,
    EndPod,
    LabelPod,
    MoveLatch,
    Nominate,
    PromiseVolume,
    SelectNode,
    Ungate,
)
from headroom.core.allocation import beside_text
from headroom.core.fast_dataclass import replace
from headroom.core.hold_state.memory import guardian_deleted
from headroom.core.hold_state.own_pods import latch_annotations, pod_made
from headroom.core.index_entries import guardian_to_place, work_entries
from headroom.core.latches import kept_for
from headroom.core.names import (
    CLAIMED_BESIDE_ANNOTATION,
    LOCKED_PRIORITY,
    ROLE_GUARDIAN,
    ROLE_LABEL,
)
from headroom.core.objects import Key, Pod
from headroom.core.plan import Sequence, Work
from headroom.core.subjects import Subject, pod_subject
from headroom.engine.assumptions import LIFETIME, Assumed
from headroom.engine.doors.taken_over import note_guardian_gone
from headroom.engine.headrooms import guardian_pace
from headroom.engine.latch_controller import remember
from headroom.engine.ledger import Ledger
from headroom.engine.observation.pods import lose_pod, see_pod
from headroom.engine.pending_guardians import expect_no_more
from headroom.engine.volumes import wrote

GATE_WORK = (Work.DOOR1, Work.DOOR1_FINISH)  # Guardians that wait for room give way to owners.


def assume(ledger: Ledger, action: Action, outcome: Done, now: datetime) -> None:
    """Tell the ledger what this action has changed."""
    until = now + LIFETIME
    match action:
        case CreateGuardian() | CreateLatch() | CreateFence():
            expect_pod(ledger, pod_made(action, outcome.uid, now), now)
        case Nominate(key=key, node=node, claimed=claimed):
            _change(ledger, key, now, Assumed(until, nominated=node, claimed=claimed))
        case MoveLatch(key=key, node=node):
            words = latch_annotations(action)
            _change(ledger, key, now, Assumed(until, nominated=node, latch=words))
        case Ungate(key=key, gate=gate):
            _change(ledger, key, now, Assumed(until, without_gate=gate))
        case LabelPod(key=key, label=label, value=value):
            _change(ledger, key, now, Assumed(until, label=(label, value)))
        case Bind(key=key, node=node, claimed=claimed):
            _change(ledger, key, now, Assumed(until, node=node, claimed=claimed))
        case ClaimInPlace(key=key, claimed=claimed, beside=beside):
            words = {CLAIMED_BESIDE_ANNOTATION: beside_text(beside)}
            _change(ledger, key, now, Assumed(until, claimed=claimed, latch=words))
        case Disclaim(key=key, nominated=nominated):
            cleared = "" if nominated else None
            _change(ledger, key, now, Assumed(until, claimed="", nominated=cleared))
        case DeletePod(key=key, uid=uid):
            note_guardian_gone(ledger, key, uid, by_us=True)
            lose_pod(ledger, key, uid, now)
            ledger.assumptions.note(uid, now, Assumed(until, gone=True))
        case EndPod(key=key, at=at):
            _change(ledger, key, now, Assumed(until, deleted=at))
        case SelectNode() | PromiseVolume():
            for key in wrote(ledger, action):
                see_pod(ledger, ledger.pods[key], now)
        case DeleteObject(parent=parent):
            hold = ledger.holds.get(parent.identity)
            if hold is not None:
                ledger.holds[parent.identity] = replace(hold, deleted=now)
        case _:
            pass


def expect_pod(ledger: Ledger, pod: Pod, now: datetime) -> None:
    """Add a pod that we have just created, unless the watch has already shown it."""
    known = ledger.pods.get(pod.key)
    if (known is None or known.uid != pod.uid) and not ledger.assumptions.has_ended(pod.uid):
        see_pod(ledger, pod, now)


def intend(ledger: Ledger, sequence: Sequence) -> None:
    """Count the latches that a sequence will create, so that the next decision sees them."""
    for latch in _latches(sequence):
        pod = Pod(latch.key, requests=latch.requests, priority=LOCKED_PRIORITY)
        ledger.state.nominate(pod, latch.node)


def makes_latch(sequence: Sequence, subject: Subject) -> bool:
    """Whether a subject is a latch that a sequence creates."""
    return any(pod_subject(latch.key) == subject for latch in _latches(sequence))


def begin(ledger: Ledger, sequence: Sequence) -> None:
    """A sequence begins: other decisions count what it is about to do."""
    for subject, entries in work_entries(sequence):
        ledger.work.put(subject, entries)
    for action in chain.from_iterable(sequence.steps):
        match action:
            case MoveLatch(key=key) if key in ledger.pods:  # It is spare no more.
                latch = ledger.pods[key]
                remember(ledger, latch, replace(ledger.latch_memory[latch.uid], reusable=False))
                ledger.agenda.drop_timer(pod_subject(key))
            case DeletePod(key=key) if key in ledger.pods:
                _note_deletion(ledger, ledger.pods[key], sequence.work in GATE_WORK)
            case CreateGuardian(hold=hold, bound=False, gated=False):
                guardian_pace.begun(ledger, hold)


def end(ledger: Ledger, sequence: Sequence, completed: bool) -> None:
    """A sequence has ended: latches that it did not create no longer count."""
    for subject, _ in work_entries(sequence):
        expect_no_more(ledger, subject)
    for latch in () if completed else _latches(sequence):
        if latch.key not in ledger.pods:
            ledger.state.unnominate(latch.key)
    create = guardian_to_place(sequence)
    if create is not None:
        guardian_pace.ended(ledger, create.hold)


def _note_deletion(ledger: Ledger, pod: Pod, at_gate: bool) -> None:
    """A guardian that we delete ourselves is not lost, unless somebody else ended it before.

    This is noted now, because the watch may show the deletion before the API server answers.
    """
    if pod.labels.get(ROLE_LABEL) == ROLE_GUARDIAN and pod.deleted is None:
        parent = kept_for(pod)
        if parent in ledger.holds:
            gives_way = at_gate and not pod.node
            ledger.memory[parent] = guardian_deleted(ledger.memory[parent], gives_way)


def _latches(sequence: Sequence) -> Iterator[CreateLatch]:
    actions = chain.from_iterable(sequence.steps)
    return (action for action in actions if isinstance(action, CreateLatch))


def _change(ledger: Ledger, key: Key, now: datetime, change: Assumed) -> None:
    pod = ledger.pods.get(key)
    if pod is not None:
        ledger.assumptions.note(pod.uid, now, change)
        see_pod(ledger, pod, now)
