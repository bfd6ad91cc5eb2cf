"""Every action as one API request, so there is one place per action that knows its JSON.

Preconditions travel in the request itself (uid, resourceVersion, a test on a gate's name): a pod
of the same name made meanwhile is never touched. What comes back is read by the adapters.
"""

from __future__ import annotations

from typing import Any, assert_never

import msgspec

from headroom.core import actions, names
from headroom.core.allocation import beside_text
from headroom.core.objects import Key, Parent
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
from headroom.wire.objectpatches import delete_options, deletion, whole_status
from headroom.wire.objects.statuses import HEADROOM_STATUS, HOLD_STATUS
from headroom.wire.objects.volumes import BOUND_BY_CONTROLLER, SELECTED_NODE
from headroom.wire.overheads import companion_write
from headroom.wire.times import format_time
from headroom.wire.writes import (
    APPLY_PATCH,
    JSON_PATCH,
    MERGE_PATCH,
    STRATEGIC_PATCH,
    Verb,
    Write,
)

FIELD_MANAGER = "headroom"
_CLAIM = (
    *(names.CLAIMED_ANNOTATION, names.CLAIMED_UID_ANNOTATION),
    *(names.CLAIMED_SLOT_ANNOTATION, names.CLAIMED_BESIDE_ANNOTATION),
)
PodPatch = (
    actions.MoveLatch
    | actions.Nominate
    | actions.LabelPod
    | actions.ClaimInPlace
    | actions.Disclaim
    | actions.MarkUnschedulable
    | actions.MarkPreempted
)


def render(action: actions.Action, image: str = PAUSE_IMAGE) -> Write:
    """Turn an action into the request that does it; `image` is what our pods run."""
    match action:
        case actions.CreateGuardian():
            body = guardian_json(action, image)
            return Write("create", PODS, action.hold.guardian_namespace, "", body)
        case actions.CreateLatch():
            return Write("create", PODS, action.key.namespace, "", latch_json(action, image))
        case actions.CreateFence():
            return Write("create", PODS, action.key.namespace, "", fence_json(action, image))
        case actions.MoveLatch():
            return _move_latch(action)
        case actions.Nominate():
            return _nominate(action)
        case actions.DeletePod() | actions.EndPod():
            return _delete_pod(action)
        case actions.MarkPreempted():
            return _condition(action, "DisruptionTarget", "True", "PreemptionByScheduler")
        case actions.Ungate():
            return _ungate(action)
        case actions.LabelPod():
            return _patch_metadata(action, labels={action.label: action.value})
        case actions.Bind():
            return _bind(action)
        case actions.ClaimInPlace():
            beside = {names.CLAIMED_BESIDE_ANNOTATION: beside_text(action.beside)}
            return _patch_metadata(action, annotations={**_claim(action.claimed), **beside})
        case actions.Disclaim():
            return _disclaim(action)
        case actions.MarkUnschedulable():
            return _condition(action, "PodScheduled", "False", action.reason)
        case actions.SelectNode() | actions.PromiseVolume():
            return volume_write(action)
        case actions.WriteHoldStatus():
            status = HOLD_STATUS.write(action.status)
            return whole_status(_resource(action.parent), action.parent, status)
        case actions.WriteHeadroomStatus():
            shown = HEADROOM_STATUS.write(action.status)
            return whole_status(_resource(action.parent), action.parent, shown)
        case actions.DeleteObject(parent) if find_kind(parent.api_version, parent.kind) == HOLDS:
            return deletion(_resource(parent), parent)
        case actions.RestoreObject(parent, raw):
            made = msgspec.json.decode(raw)
            return Write("create", _resource(parent), parent.namespace, "", made)
        case (
            actions.CreateSlotObject()
            | actions.DeleteObject()
            | actions.SetFinalizers()
            | actions.WriteQuotaStatus()
        ):
            raise LookupError(f"no dialect that is on renders {action!r}")
        case actions.Tell():
            return event_create(action)
        case actions.WriteIndex():
            return _write_index(action)
        case actions.WriteOverhead() | actions.CreateSlotSet():
            return companion_write(action, image)
        case _:
            assert_never(action)


def _move_latch(action: actions.MoveLatch) -> Write:
    metadata = {**_with_uid(action.uid), **latch_metadata(action)}
    body: Json = {"metadata": metadata, "status": {"nominatedNodeName": action.node}}
    return _patch_pod(action, body, "status")


def _nominate(action: actions.Nominate) -> Write:
    metadata = _with_uid(action.uid)
    if action.claimed is not None:
        metadata |= {"annotations": _claim(action.claimed), "labels": {names.PASS_LABEL: "true"}}
    body: Json = {"status": {"nominatedNodeName": action.node}}
    if metadata:
        body["metadata"] = metadata
    return _patch_pod(action, body, "status")


def _disclaim(action: actions.Disclaim) -> Write:
    told: Json = {"annotations": dict.fromkeys(_CLAIM), "labels": {names.PASS_LABEL: None}}
    body: Json = {"metadata": {**_with_uid(action.uid), **told}}
    if not action.nominated:
        return _patch_pod(action, body)
    body["status"] = {"nominatedNodeName": None}
    return _patch_pod(action, body, "status")


def _condition(
    action: actions.MarkUnschedulable | actions.MarkPreempted, kind: str, status: str, reason: str
) -> Write:
    since = format_time(action.at)
    told = {"type": kind, "status": status, "reason": reason, "message": action.message}
    told["lastTransitionTime"] = since
    # Only a strategic merge goes by the condition's type and leaves the others alone.
    body: Json = {"status": {"conditions": [told]}}
    if action.uid:
        body["metadata"] = _with_uid(action.uid)
    return _patch_pod(action, body, "status", STRATEGIC_PATCH)


def _patch_pod(
    action: PodPatch, body: Json, subresource: str = "", content_type: str = MERGE_PATCH
) -> Write:
    manner = {"content_type": content_type, "guarded": bool(action.uid)}
    return _pod_write("patch", action.key, body, subresource, **manner)


def _patch_metadata(action: actions.LabelPod | actions.ClaimInPlace, **parts: Json) -> Write:
    return _patch_pod(action, {"metadata": {**_with_uid(action.uid), **parts}})


def _delete_pod(action: actions.DeletePod | actions.EndPod) -> Write:
    """Delete a pod of ours at once, and a pod that gives way with its own grace."""
    options = delete_options(action.uid)
    if isinstance(action, actions.DeletePod):
        options = delete_options(action.uid, action.version, gracePeriodSeconds=0)
    return _pod_write("delete", action.key, options)


def _pod_write(
    verb: Verb, key: Key, body: Json | list[Json], subresource: str = "", **more: Any
) -> Write:
    return Write(verb, PODS, key.namespace, key.name, body, subresource, **more)


def _ungate(action: actions.Ungate) -> Write:
    gate = f"/spec/schedulingGates/{action.index}"
    tests = [{"op": "test", "path": f"{gate}/name", "value": action.gate}]
    if action.uid:
        tests.insert(0, {"op": "test", "path": "/metadata/uid", "value": action.uid})
    steps = [*tests, {"op": "remove", "path": gate}]
    return _pod_write("patch", action.key, steps, content_type=JSON_PATCH, guarded=True)


def _bind(action: actions.Bind) -> Write:
    key = action.key
    metadata: Json = {"name": key.name, "namespace": key.namespace, **_with_uid(action.uid)}
    if action.claimed is not None:
        metadata["annotations"] = _claim(action.claimed)
    target = {"apiVersion": "v1", "kind": "Node", "name": action.node}
    binding = {"apiVersion": "v1", "kind": "Binding", "metadata": metadata, "target": target}
    return _pod_write("create", key, binding, "binding")


def _resource(parent: Parent) -> Resource:
    return find_kind(parent.api_version, parent.kind) or HOLDS


def _write_index(action: actions.WriteIndex) -> Write:
    spec = {
        "keys": dict.fromkeys(sorted(action.keys), True),
        "freshUntil": format_time(action.fresh_until),
        **({"priorityAtLeast": action.priority} if action.priority is not None else {}),
    }
    metadata = {"name": names.INDEX_NAME, "namespace": action.namespace}
    body = CLAIM_INDEXES.new(metadata, spec=spec)
    return Write(
        "patch",
        CLAIM_INDEXES,
        action.namespace,
        names.INDEX_NAME,
        body,
        content_type=APPLY_PATCH,
        query=(("fieldManager", FIELD_MANAGER), ("force", "true")),
    )


def _with_uid(uid: str) -> Json:
    return {"uid": uid} if uid else {}


def _claim(parent: Parent) -> dict[str, str]:
    claim = {names.CLAIMED_ANNOTATION: parent.whole, names.CLAIMED_UID_ANNOTATION: parent.uid}
    return {**claim, names.CLAIMED_SLOT_ANNOTATION: parent.slot} if parent.slot else claim


def volume_write(action: actions.SelectNode | actions.PromiseVolume) -> Write:
    """The request that chooses a claim's node, or promises a volume to a claim."""
    if isinstance(action, actions.SelectNode):
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
