"""What may happen to a pod after its creation: spec changes, binding, graceful deletion.

Each function takes the stored pod and returns its next form, or raises what the API server would
answer. Nothing here stores anything.
"""

from __future__ import annotations

from typing import Any

from headroom.sim.api import kinds
from headroom.sim.api.values import Json, dig, drop, put, uid_of, with_condition
from headroom.sim.errors import ApiError, conflict, invalid

FINISHED = ("Succeeded", "Failed")
_IMMUTABLE = (
    "spec: Forbidden: pod updates may not change fields other than `spec.containers[*].image`,"
    "`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions"
    " to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it"
    " was previously negative)"
)


def check_update(old: Json, new: Json) -> None:
    """Refuse what Kubernetes does not let anyone change in a pod's spec."""
    before, after = old["spec"], new.get("spec") or {}
    if before == after:
        return
    name = str(dig(old, "metadata", "name"))
    gates_before, gates_after = _gates(before), _gates(after)
    if not set(gates_after) <= set(gates_before):
        added = sorted(set(gates_after) - set(gates_before))[0]
        words = "only deletion is allowed, but found new scheduling gate"
        raise invalid(kinds.POD, name, f"spec.schedulingGates: Forbidden: {words} '{added}'")
    kept = after.get("tolerations") or []
    if any(toleration not in kept for toleration in before.get("tolerations") or ()):
        raise invalid(kinds.POD, name, _IMMUTABLE)
    if _frozen(before, bool(gates_before)) != _frozen(after, bool(gates_before)):
        raise invalid(kinds.POD, name, _IMMUTABLE)


def _gates(spec: Json) -> list[str]:
    return [str(gate["name"]) for gate in spec.get("schedulingGates") or ()]


def _frozen(spec: Json, gated: bool) -> Json:
    """The part of a spec that must stay as it is; a gated pod may still narrow its nodes."""
    free = {"activeDeadlineSeconds", "tolerations", "schedulingGates"}
    if gated:
        free |= {"nodeSelector", "affinity"}
    frozen: dict[str, Any] = {field: value for field, value in spec.items() if field not in free}
    for field in ("containers", "initContainers"):
        frozen[field] = [drop(container, "image") for container in spec.get(field) or ()]
    return frozen


def bound(old: Json, binding: Json, now: str) -> Json:
    """Return the pod on the node that the binding names."""
    name = str(dig(old, "metadata", "name"))
    node = str(dig(binding, "target", "name") or "")
    _check_binding(old, binding, name, node)
    pod = put(old, node, "spec", "nodeName")
    annotations = dig(binding, "metadata", "annotations")
    if annotations:
        merged = {**(dig(old, "metadata", "annotations") or {}), **annotations}
        pod = put(pod, merged, "metadata", "annotations")
    status = with_condition(old.get("status"), {"type": "PodScheduled", "status": "True"}, now)
    return {**pod, "status": drop(status, "nominatedNodeName")}


def _check_binding(old: Json, binding: Json, name: str, node: str) -> None:
    if not node:
        raise invalid(kinds.POD, name, "target.name: Required value")
    check_preconditions(
        old,
        dig(binding, "metadata", "uid") or "",
        dig(binding, "metadata", "resourceVersion") or "",
    )
    if dig(old, "metadata", "deletionTimestamp"):
        raise conflict(
            kinds.POD, name, f"pod {name} is being deleted, cannot be assigned to a host"
        )
    if dig(old, "spec", "nodeName"):
        already = dig(old, "spec", "nodeName")
        raise conflict(kinds.POD, name, f'pod {name} is already assigned to node "{already}"')
    if dig(old, "spec", "schedulingGates"):
        raise conflict(kinds.POD, name, f"pod {name} has non-empty .spec.schedulingGates")


def check_preconditions(old: Json, uid: str, version: str) -> None:
    """Refuse when the stored object is not the one that was meant."""
    kind = kinds.KINDS[str(old["kind"])]
    name = str(dig(old, "metadata", "name"))
    if uid and uid != uid_of(old):
        why = f"Precondition failed: UID in precondition: {uid}, UID in object meta: {uid_of(old)}"
        raise conflict(kind, name, why)
    stored = str(dig(old, "metadata", "resourceVersion"))
    if version and version != stored:
        raise stale(old)


def stale(old: Json) -> ApiError:
    """Make the answer to a write that was based on an older version."""
    words = "the object has been modified; please apply your changes to the latest version"
    kind = kinds.KINDS[str(old["kind"])]
    return conflict(kind, str(dig(old, "metadata", "name")), f"{words} and try again")


def grace_of(pod: Json, asked: int | None) -> int:
    """How many seconds a deletion leaves this pod: none if no kubelet has to end it."""
    if not dig(pod, "spec", "nodeName") or dig(pod, "status", "phase") in FINISHED:
        return 0
    own = dig(pod, "spec", "terminationGracePeriodSeconds")
    return max(0, int(asked if asked is not None else (30 if own is None else own)))
