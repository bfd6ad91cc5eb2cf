"""Every action as one API request, so there is one place per action that knows its JSON.

Preconditions travel in the request itself (uid, resourceVersion, a test on a gate's name): a pod
of the same name made meanwhile is never touched. What comes back is read by the adapters.
"""

from __future__ import annotations

from typing import assert_never

import msgspec

from headroom.core.actions import (
    Action,
    Bind,
    ClaimInPlace,
    CreateFence,
    CreateGuardian,
    CreateLatch,
    CreateSlotObject,
    CreateSlotSet,
    DeleteObject,
    DeletePod,
    Disclaim,
    EndPod,
    LabelPod,
    MarkPreempted,
    MarkUnschedulable,
    MoveLatch,
    Nominate,
    PromiseVolume,
    RestoreObject,
    SelectNode,
    SetFinalizers,
    Tell,
    Ungate,
    WriteHeadroomStatus,
    WriteHoldStatus,
    WriteIndex,
    WriteOverhead,
    WriteQuotaStatus,
)
from headroom.core.allocation import beside_text
from headroom.core.names import (
    CLAIMED_ANNOTATION,
    CLAIMED_BESIDE_ANNOTATION,
    CLAIMED_SLOT_ANNOTATION,
    CLAIMED_UID_ANNOTATION,
    INDEX_NAME,
    PASS_LABEL,
)
from headroom.core.objects import Parent
from headroom.wire.events import event_create
from headroom.wire.guardians import (
    PAUSE_IMAGE,
    fence_json,
    guardian_json,
    latch_json,
    latch_metadata,
)
from headroom.wire.kinds import (
    CLAIM_INDEXES,
    HOLDS,
    PODS,
    VOLUME_CLAIMS,
    VOLUMES,
    Json,
    Resource,
    find_kind,
)
from headroom.wire.objectpatches import deletion, whole_status
from headroom.wire.objects.statuses import HEADROOM_STATUS, HOLD_STATUS
from headroom.wire.objects.volumes import BOUND_BY_CONTROLLER, SELECTED_NODE
from headroom.wire.overheads import companion_write
from headroom.wire.times import format_time
from headroom.wire.writes import APPLY_PATCH, JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH, Write

FIELD_MANAGER = "headroom"


def render(action: Action, image: str = PAUSE_IMAGE) -> Write:
    """Turn an action into the request that does it; `image` is what our pods run."""
    match action:
        case CreateGuardian():
            body = guardian_json(action, image)
            return Write("create", PODS, action.hold.guardian_namespace, "", body)
        case CreateLatch():
            return Write("create", PODS, action.key.namespace, "", latch_json(action, image))
        case CreateFence():
            return Write("create", PODS, action.key.namespace, "", fence_json(action, image))
        case MoveLatch():
            return _move_latch(action)
        case Nominate():
            return _nominate(action)
        case DeletePod():
            return _delete(action, grace={"gracePeriodSeconds": 0})
        case MarkPreempted():
            return _mark_preempted(action)
        case EndPod():
            return _delete(action)
        case Ungate():
            return _ungate(action)
        case LabelPod():
            label = {action.label: action.value}
            return _patch_pod(action, {"metadata": {**_with_uid(action.uid), "labels": label}})
        case Bind():
            return _bind(action)
        case ClaimInPlace():
            claim = {
                **_claim(action.claimed),
                CLAIMED_BESIDE_ANNOTATION: beside_text(action.beside),
            }
            return _patch_pod(action, {"metadata": {**_with_uid(action.uid), "annotations": claim}})
        case Disclaim():
            return _disclaim(action)
        case MarkUnschedulable():
            return _mark_unschedulable(action)
        case SelectNode() | PromiseVolume():
            return volume_write(action)
        case WriteHoldStatus():
            status = HOLD_STATUS.write(action.status)
            return whole_status(_resource(action.parent), action.parent, status, action.version)
        case WriteHeadroomStatus():
            shown = HEADROOM_STATUS.write(action.status)
            return whole_status(_resource(action.parent), action.parent, shown)
        case DeleteObject(parent) if find_kind(parent.api_version, parent.kind) == HOLDS:
            return deletion(_resource(parent), parent)
        case RestoreObject(parent, raw):
            made = msgspec.json.decode(raw)
            return Write("create", _resource(parent), parent.namespace, "", made)
        case CreateSlotObject() | DeleteObject() | SetFinalizers() | WriteQuotaStatus():
            raise LookupError(f"no dialect that is on renders {action!r}")
        case Tell():
            return event_create(action)
        case WriteIndex():
            return _write_index(action)
        case WriteOverhead() | CreateSlotSet():
            return companion_write(action, image)
        case _:
            assert_never(action)


def _move_latch(action: MoveLatch) -> Write:
    metadata = {**_with_uid(action.uid), **latch_metadata(action)}
    body: Json = {"metadata": metadata, "status": {"nominatedNodeName": action.node}}
    return _patch_pod(action, body, "status")


def _nominate(action: Nominate) -> Write:
    metadata = _with_uid(action.uid)
    if action.claimed is not None:
        metadata |= {"annotations": _claim(action.claimed), "labels": {PASS_LABEL: "true"}}
    body: Json = {"status": {"nominatedNodeName": action.node}}
    if metadata:
        body["metadata"] = metadata
    return _patch_pod(action, body, "status")


def _disclaim(action: Disclaim) -> Write:
    annotations = dict.fromkeys(
        (
            CLAIMED_ANNOTATION,
            CLAIMED_UID_ANNOTATION,
            CLAIMED_SLOT_ANNOTATION,
            CLAIMED_BESIDE_ANNOTATION,
        )
    )
    told: Json = {"annotations": annotations, "labels": {PASS_LABEL: None}}
    body: Json = {"metadata": {**_with_uid(action.uid), **told}}
    if not action.nominated:
        return _patch_pod(action, body)
    body["status"] = {"nominatedNodeName": None}
    return _patch_pod(action, body, "status")


def _mark_unschedulable(action: MarkUnschedulable) -> Write:
    condition = {
        "type": "PodScheduled",
        "status": "False",
        "reason": action.reason,
        "message": action.message,
    }
    return _condition(action, condition)


def _mark_preempted(action: MarkPreempted) -> Write:
    condition = {
        "type": "DisruptionTarget",
        "status": "True",
        "reason": "PreemptionByScheduler",
        "message": action.message,
    }
    return _condition(action, condition)


def _condition(action: MarkUnschedulable | MarkPreempted, condition: Json) -> Write:
    told = {**condition, "lastTransitionTime": format_time(action.at)}
    # Only a strategic merge goes by the condition's type and leaves the others alone.
    body: Json = {"status": {"conditions": [told]}}
    if action.uid:
        body["metadata"] = _with_uid(action.uid)
    return _patch_pod(action, body, "status", STRATEGIC_PATCH)


def _patch_pod(
    action: (
        MoveLatch
        | Nominate
        | LabelPod
        | ClaimInPlace
        | Disclaim
        | MarkUnschedulable
        | MarkPreempted
    ),
    body: Json,
    subresource: str = "",
    content_type: str = MERGE_PATCH,
) -> Write:
    return Write(
        "patch",
        PODS,
        action.key.namespace,
        action.key.name,
        body,
        subresource,
        content_type,
        guarded=bool(action.uid),
    )


def _delete(action: DeletePod | EndPod, grace: Json | None = None) -> Write:
    body: Json = {
        "apiVersion": "v1",
        "kind": "DeleteOptions",
        **(grace or {}),
        "propagationPolicy": "Background",
    }
    if action.uid:
        body["preconditions"] = {"uid": action.uid}
    if isinstance(action, DeletePod) and action.version:
        body["preconditions"]["resourceVersion"] = action.version
    return Write("delete", PODS, action.key.namespace, action.key.name, body)


def _ungate(action: Ungate) -> Write:
    gate = f"/spec/schedulingGates/{action.index}"
    tests = [{"op": "test", "path": f"{gate}/name", "value": action.gate}]
    if action.uid:
        tests.insert(0, {"op": "test", "path": "/metadata/uid", "value": action.uid})
    return Write(
        "patch",
        PODS,
        action.key.namespace,
        action.key.name,
        [*tests, {"op": "remove", "path": gate}],
        content_type=JSON_PATCH,
        guarded=True,
    )


def _bind(action: Bind) -> Write:
    metadata: Json = {
        "name": action.key.name,
        "namespace": action.key.namespace,
        **_with_uid(action.uid),
    }
    if action.claimed is not None:
        metadata["annotations"] = _claim(action.claimed)
    body: Json = {
        "apiVersion": "v1",
        "kind": "Binding",
        "metadata": metadata,
        "target": {"apiVersion": "v1", "kind": "Node", "name": action.node},
    }
    return Write("create", PODS, action.key.namespace, action.key.name, body, "binding")


def _resource(parent: Parent) -> Resource:
    return find_kind(parent.api_version, parent.kind) or HOLDS


def _write_index(action: WriteIndex) -> Write:
    spec = {
        "keys": dict.fromkeys(sorted(action.keys), True),
        "freshUntil": format_time(action.fresh_until),
        **({"priorityAtLeast": action.priority} if action.priority is not None else {}),
    }
    metadata = {"name": INDEX_NAME, "namespace": action.namespace}
    body = CLAIM_INDEXES.new(metadata, spec=spec)
    return Write(
        "patch",
        CLAIM_INDEXES,
        action.namespace,
        INDEX_NAME,
        body,
        content_type=APPLY_PATCH,
        query=(("fieldManager", FIELD_MANAGER), ("force", "true")),
    )


def _with_uid(uid: str) -> Json:
    return {"uid": uid} if uid else {}


def _claim(parent: Parent) -> dict[str, str]:
    claim = {CLAIMED_ANNOTATION: parent.whole, CLAIMED_UID_ANNOTATION: parent.uid}
    return {**claim, CLAIMED_SLOT_ANNOTATION: parent.slot} if parent.slot else claim


def volume_write(action: SelectNode | PromiseVolume) -> Write:
    """The request that chooses a claim's node, or promises a volume to a claim."""
    if isinstance(action, SelectNode):
        metadata = {"uid": action.uid, "annotations": {SELECTED_NODE: action.node}}
        namespace, name = action.key.namespace, action.key.name
        body = {"metadata": metadata}
        return Write(
            "patch", VOLUME_CLAIMS, namespace, name, body, content_type=MERGE_PATCH, guarded=True
        )
    claim = {
        "apiVersion": VOLUME_CLAIMS.api_version,
        "kind": VOLUME_CLAIMS.kind,
        "namespace": action.claim.namespace,
        "name": action.claim.name,
        "uid": action.claim_uid,
    }
    notes = {BOUND_BY_CONTROLLER: "yes"}
    promise = {
        "metadata": {"resourceVersion": action.version, "annotations": notes},
        "spec": {"claimRef": claim},
    }
    return Write(
        "patch", VOLUMES, "", action.volume, promise, content_type=MERGE_PATCH, guarded=True
    )
