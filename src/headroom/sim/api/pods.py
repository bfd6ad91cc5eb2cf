"""Changes of a pod after its creation: spec changes, binding, graceful deletion.

Each function gets the stored pod and returns its next state, or raises the API server's error.
Nothing is stored here.
"""

from __future__ import annotations

from typing import Any

from headroom.sim.api import kinds
from headroom.sim.api.preconditions import check_version
from headroom.sim.api.values import Json, dig, drop, put, uid_of, with_condition
from headroom.sim.errors import ApiError, conflict, invalid

FINISHED = ("Succeeded", "Failed")
PLACED: Json = {"nominated": "", "unschedulable_since": None, "unschedulable_message": ""}
"""What else a binding changes in the core value of a pod."""

_BINDING = "pods/binding"
_IMMUTABLE = (
    "spec: Forbidden: pod updates may not change fields other than `spec.containers[*].image`,"
    "`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions"
    " to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it"
    " was previously negative)"
)


def check_update(old: Json, new: Json) -> None:
    """Refuse changes of a pod's spec that Kubernetes does not allow."""
    before, after = old["spec"], new.get("spec") or {}
    if before == after:
        return
    name = str(dig(old, "metadata", "name"))
    gates_before, gates_after = _gates(before), _gates(after)
    for index, gate in enumerate(gates_after):
        if gate not in gates_before:
            where = f"spec.schedulingGates[{index}].name"
            words = f"only deletion is allowed, but found new scheduling gate '{gate}'"
            raise invalid(kinds.POD, name, f"{where}: Forbidden: {words}")
    kept = [_without_seconds(each) for each in after.get("tolerations") or ()]
    if any(_without_seconds(each) not in kept for each in before.get("tolerations") or ()):
        words = "existing toleration can not be modified except its tolerationSeconds"
        raise invalid(kinds.POD, name, f"spec.tolerations: Forbidden: {words}")
    if _frozen(before, bool(gates_before)) != _frozen(after, bool(gates_before)):
        raise invalid(kinds.POD, name, _IMMUTABLE)


def _without_seconds(toleration: Json) -> Json:
    return drop(toleration, "tolerationSeconds")


def _gates(spec: Json) -> list[str]:
    return [str(gate["name"]) for gate in spec.get("schedulingGates") or ()]


def _frozen(spec: Json, gated: bool) -> Json:
    """The part of a spec that cannot change; a gated pod may still restrict its nodes."""
    free = {"activeDeadlineSeconds", "tolerations", "schedulingGates"}
    if gated:
        free |= {"nodeSelector", "affinity"}
    frozen: dict[str, Any] = {field: value for field, value in spec.items() if field not in free}
    for field in ("containers", "initContainers"):
        frozen[field] = [drop(container, "image") for container in spec.get(field) or ()]
    return frozen


def bound(old: Json, binding: Json, now: str, labels: Json) -> Json:
    """The pod on the node that the binding names, with the labels that it gets from the node."""
    node, meta = target_of(binding), binding.get("metadata") or {}
    _check_binding(old, meta, node)
    pod: Json = {**old, "spec": {**(old.get("spec") or {}), "nodeName": node}}
    if labels:
        pod = put(pod, {**(dig(old, "metadata", "labels") or {}), **labels}, "metadata", "labels")
    annotations = meta.get("annotations")
    if annotations:
        merged = {**(dig(old, "metadata", "annotations") or {}), **annotations}
        pod = put(pod, merged, "metadata", "annotations")
    status = with_condition(old.get("status"), {"type": "PodScheduled", "status": "True"}, now)
    return {**pod, "status": drop(status, "nominatedNodeName")}


def target_of(binding: Json) -> str:
    """The node that a binding names."""
    return str((binding.get("target") or {}).get("name") or "")


def _check_binding(old: Json, given: Json, node: str) -> None:
    """Refuse a binding with this metadata that is not for the pod, or comes too late or early."""
    if not node:
        raise ApiError(500, "InternalError", "target.name: Required value")
    meta, spec, name = old["metadata"], old.get("spec") or {}, str(old["metadata"].get("name"))
    uid = str(given.get("uid") or "")
    if uid and uid != uid_of(old):
        why = f"Precondition failed: UID in precondition: {uid}, UID in object meta: {uid_of(old)}"
        raise conflict("pods", name, why)
    check_version(kinds.POD, old, given.get("resourceVersion"))
    if meta.get("deletionTimestamp"):
        raise conflict(_BINDING, name, f"pod {name} is being deleted, cannot be assigned to a host")
    if already := spec.get("nodeName"):
        raise conflict(_BINDING, name, f'pod {name} is already assigned to node "{already}"')
    if spec.get("schedulingGates"):
        raise conflict(_BINDING, name, f"pod {name} has non-empty .spec.schedulingGates")


def grace_of(pod: Json, asked: int | None) -> int:
    """The grace period of a deletion in seconds: zero if no kubelet runs the pod."""
    spec = pod.get("spec") or {}
    if not spec.get("nodeName") or (pod.get("status") or {}).get("phase") in FINISHED:
        return 0
    own = spec.get("terminationGracePeriodSeconds")
    return max(0, int(asked if asked is not None else (30 if own is None else own)))
