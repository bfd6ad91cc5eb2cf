"""What each action makes true once the API server has said yes, before the watch shows it.

Also what is about to be made, where a second decision of the same plan must know of the first.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime

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
from headroom.core.fences import fencing
from headroom.core.holds import PREEMPTIBLE
from headroom.core.latches import claims_text
from headroom.core.names import (
    CLAIMED_BESIDE_ANNOTATION,
    CLAIMS_ANNOTATION,
    LATCH_GATE,
    LOCKED_PRIORITY,
    PARENT_ANNOTATION,
    PREEMPTIBLE_PRIORITY,
    ROLE_FENCE,
    ROLE_GUARDIAN,
    ROLE_LABEL,
    ROLE_LATCH,
    SHAPE_ANNOTATION,
    SLOT_ANNOTATION,
)
from headroom.core.naming import shape_of
from headroom.core.objects import Key, OwnerReference, Parent, Pod
from headroom.core.plan import Sequence
from headroom.core.policies import beside_text
from headroom.core.selection import pinned
from headroom.engine.assumptions import LIFETIME, Assumed
from headroom.engine.ledger import Ledger


def assume(ledger: Ledger, action: Action, outcome: Done, now: datetime) -> None:
    """Let the ledger know what this action has changed."""
    until = now + LIFETIME
    match action:
        case CreateGuardian():
            ledger.expect_pod(_guardian(action, outcome.uid, now), now)
        case CreateLatch():
            ledger.expect_pod(_latch(action, outcome.uid, now), now)
        case CreateFence():
            ledger.expect_pod(_fence(action, outcome.uid, now), now)
        case Nominate(key=key, node=node, claimed=claimed):
            _change(ledger, key, now, Assumed(until, nominated=node, claimed=claimed))
        case MoveLatch(key=key, node=node):
            _change(ledger, key, now, Assumed(until, nominated=node, latch=_latch_words(action)))
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
            ledger.lose_pod(key, uid)
            ledger.assumptions.note(uid, now, Assumed(until, gone=True))
        case EndPod(key=key, at=at):
            _change(ledger, key, now, Assumed(until, deleted=at))
        case SelectNode() | PromiseVolume():
            for key in ledger.volumes.wrote(action):
                ledger.see_pod(ledger.pods[key], now)
        case DeleteObject(parent=parent):
            hold = ledger.holds.get(str(parent))
            if hold is not None:
                ledger.holds[str(parent)] = replace(hold, deleted=now)
        case _:
            pass


def intend(ledger: Ledger, sequence: Sequence) -> None:
    """Count the latches that a sequence is about to make, so that the next decision sees them."""
    for latch in _latches(sequence):
        pod = Pod(latch.key, requests=latch.requests, priority=LOCKED_PRIORITY)
        ledger.state.nominate(pod, latch.node)


def give_up(ledger: Ledger, sequence: Sequence) -> None:
    """A sequence has failed: the latches that it did not make count no longer."""
    for latch in _latches(sequence):
        if latch.key not in ledger.pods:
            ledger.state.unnominate(latch.key)


def _latches(sequence: Sequence) -> Iterator[CreateLatch]:
    for step in sequence.steps:
        yield from (action for action in step if isinstance(action, CreateLatch))


def _change(ledger: Ledger, key: Key, now: datetime, change: Assumed) -> None:
    pod = ledger.pods.get(key)
    if pod is not None:
        ledger.assumptions.note(pod.uid, now, change)
        ledger.see_pod(pod, now)


def _guardian(action: CreateGuardian, uid: str, now: datetime) -> Pod:
    parent = action.hold.parent
    template, also = action.hold.template.pod, action.hold.template.owner
    pin = action.node or action.hold.template.node
    placement = pinned(template.placement, pin) if pin else template.placement
    if action.ports is not None:
        placement = replace(placement, ports=action.ports)
    preemptible = action.hold.mode == PREEMPTIBLE
    return replace(
        template,
        key=Key(action.hold.guardian_namespace, action.name),
        on_behalf_of=action.hold.home if action.hold.lodging else "",
        uid=uid,
        labels={**template.labels, ROLE_LABEL: ROLE_GUARDIAN},
        annotations={**_standing_for(parent), SHAPE_ANNOTATION: shape_of(action.hold)},
        owners=(*_owned_by(parent), *((also,) if also is not None else ())),
        created=now,
        placement=placement,
        node=action.node if action.bound else "",
        priority=PREEMPTIBLE_PRIORITY if preemptible else LOCKED_PRIORITY,
        preempts=False,
        gates=(LATCH_GATE,) if action.gated else (),
        requests=action.requests,
    )


def _latch_words(action: CreateLatch | MoveLatch) -> dict[str, str]:
    return {**_standing_for(action.parent), CLAIMS_ANNOTATION: claims_text(action.claims)}


def _standing_for(parent: Parent) -> dict[str, str]:
    """Whose room a pod of ours keeps, as its annotations say it; an empty slot is none."""
    return {PARENT_ANNOTATION: parent.whole, SLOT_ANNOTATION: parent.slot}


def _latch(action: CreateLatch, uid: str, now: datetime) -> Pod:
    return Pod(
        key=action.key,
        uid=uid,
        labels={ROLE_LABEL: ROLE_LATCH},
        annotations=_latch_words(action),
        created=now,
        gates=(LATCH_GATE,),
        priority=LOCKED_PRIORITY,
        preempts=False,
        requests=action.requests,
    )


def _fence(action: CreateFence, uid: str, now: datetime) -> Pod:
    return Pod(
        key=action.key,
        on_behalf_of=action.hold.home if action.hold.lodging else "",
        uid=uid,
        labels={ROLE_LABEL: ROLE_FENCE},
        annotations=_standing_for(action.hold.parent),
        owners=_owned_by(action.hold.parent),
        created=now,
        node=action.node,
        priority=LOCKED_PRIORITY,
        preempts=False,
        placement=fencing(action.hold),
    )


def _owned_by(parent: Parent) -> tuple[OwnerReference, ...]:
    return (OwnerReference(parent.api_version, parent.kind, parent.name, parent.uid, True),)
