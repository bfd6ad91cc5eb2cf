"""What each action makes true once the API server has said yes, before the watch shows it."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from headroom.core.actions import (
    Action,
    Bind,
    CreateGuardian,
    CreateLatch,
    DeletePod,
    Disclaim,
    Done,
    MoveLatch,
    Nominate,
    Ungate,
)
from headroom.core.latches import claims_text
from headroom.core.names import (
    CLAIMS_ANNOTATION,
    LATCH_GATE,
    LOCKED_PRIORITY,
    PARENT_ANNOTATION,
    ROLE_GUARDIAN,
    ROLE_LABEL,
    ROLE_LATCH,
)
from headroom.core.objects import Key, OwnerReference, Pod
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
        case Nominate(key=key, node=node, claimed=claimed):
            _change(ledger, key, now, Assumed(until, nominated=node, claimed=claimed))
        case MoveLatch(key=key, node=node):
            _change(ledger, key, now, Assumed(until, nominated=node, latch=_latch_words(action)))
        case Ungate(key=key, gate=gate):
            _change(ledger, key, now, Assumed(until, without_gate=gate))
        case Bind(key=key, node=node, claimed=claimed):
            _change(ledger, key, now, Assumed(until, node=node, claimed=claimed))
        case Disclaim(key=key, nominated=nominated):
            cleared = "" if nominated else None
            _change(ledger, key, now, Assumed(until, claimed="", nominated=cleared))
        case DeletePod(key=key, uid=uid):
            ledger.lose_pod(key, uid)
            ledger.assumptions.note(uid, now, Assumed(until, gone=True))
        case _:
            pass


def _change(ledger: Ledger, key: Key, now: datetime, change: Assumed) -> None:
    pod = ledger.pods.get(key)
    if pod is not None:
        ledger.assumptions.note(pod.uid, now, change)
        ledger.see_pod(pod, now)


def _guardian(action: CreateGuardian, uid: str, now: datetime) -> Pod:
    parent = action.hold.parent
    template = action.hold.template.pod
    return replace(
        template,
        key=Key(parent.namespace, action.name),
        uid=uid,
        labels={**template.labels, ROLE_LABEL: ROLE_GUARDIAN},
        annotations={PARENT_ANNOTATION: str(parent)},
        owners=(OwnerReference(parent.api_version, parent.kind, parent.name, parent.uid, True),),
        created=now,
        node=action.node if action.bound else "",
        priority=LOCKED_PRIORITY,
        preempts=False,
        requests=action.requests,
    )


def _latch_words(action: CreateLatch | MoveLatch) -> dict[str, str]:
    return {
        PARENT_ANNOTATION: str(action.parent),
        CLAIMS_ANNOTATION: claims_text(action.claims),
    }


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
