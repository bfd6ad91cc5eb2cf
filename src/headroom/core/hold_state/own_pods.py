"""The pods that the operator creates, as the watch will show them: guardian, latch and fence.

The engine assumes such a pod from its write until the watch shows it (`engine.effects`); the toy
cluster of the tests creates its pods with the same functions.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from headroom.core.actions import CreateFence, CreateGuardian, CreateLatch, MoveLatch
from headroom.core.derived_names import shape_of
from headroom.core.fences import fencing
from headroom.core.holds import PREEMPTIBLE
from headroom.core.latches import claims_text
from headroom.core.names import (
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
from headroom.core.objects import Key, OwnerReference, Parent, Pod
from headroom.core.selection import pinned

Creation = CreateGuardian | CreateLatch | CreateFence


def pod_made(action: Creation, uid: str, created: datetime | None = None) -> Pod:
    """The pod that a write has made."""
    match action:
        case CreateGuardian():
            return _guardian(action, uid, created)
        case CreateLatch():
            return _latch(action, uid, created)
        case CreateFence():
            return _fence(action, uid, created)


def _guardian(action: CreateGuardian, uid: str, created: datetime | None) -> Pod:
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
        created=created,
        placement=placement,
        node=action.node if action.bound else "",
        priority=PREEMPTIBLE_PRIORITY if preemptible else LOCKED_PRIORITY,
        preempts=False,
        gates=(LATCH_GATE,) if action.gated else (),
        requests=action.requests,
    )


def latch_annotations(action: CreateLatch | MoveLatch) -> dict[str, str]:
    return {**_standing_for(action.parent), CLAIMS_ANNOTATION: claims_text(action.claims)}


def _standing_for(parent: Parent) -> dict[str, str]:
    """The annotations that say for which hold a pod of ours keeps room."""
    return {PARENT_ANNOTATION: parent.whole, SLOT_ANNOTATION: parent.slot}


def _latch(action: CreateLatch, uid: str, created: datetime | None) -> Pod:
    return Pod(
        key=action.key,
        uid=uid,
        labels={ROLE_LABEL: ROLE_LATCH},
        annotations=latch_annotations(action),
        created=created,
        gates=(LATCH_GATE,),
        priority=LOCKED_PRIORITY,
        preempts=False,
        requests=action.requests,
    )


def _fence(action: CreateFence, uid: str, created: datetime | None) -> Pod:
    return Pod(
        key=action.key,
        on_behalf_of=action.hold.home if action.hold.lodging else "",
        uid=uid,
        labels={ROLE_LABEL: ROLE_FENCE},
        annotations=_standing_for(action.hold.parent),
        owners=_owned_by(action.hold.parent),
        created=created,
        node=action.node,
        priority=LOCKED_PRIORITY,
        preempts=False,
        placement=fencing(action.hold),
    )


def _owned_by(parent: Parent) -> tuple[OwnerReference, ...]:
    return (OwnerReference(parent.api_version, parent.kind, parent.name, parent.uid, True),)
