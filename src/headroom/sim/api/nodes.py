"""What becomes of a Node manifest when it registers: what its kubelet and admission would add."""

from __future__ import annotations

from headroom.sim.api.values import Json, condition_of, dig, put, ref_of

NOT_READY = "node.kubernetes.io/not-ready"
HOSTNAME = "kubernetes.io/hostname"


def registered(node: Json) -> Json:
    """Return the node with a host name, with all its capacity to give, tainted if not ready."""
    name = ref_of(node).name
    status = node.get("status") or {}
    capacity = status.get("capacity") or status.get("allocatable") or {}
    if capacity:
        capacity = {"pods": "110", **capacity}
    room = {**capacity, **(status.get("allocatable") or {})}
    labels = {HOSTNAME: name, **(dig(node, "metadata", "labels") or {})}
    status = {**status, "capacity": capacity, "allocatable": room}
    known = put({**node, "status": status}, labels, "metadata", "labels")
    ready = condition_of(node, "Ready")
    if ready is None or ready.get("status") == "True":
        return known
    # As the admission plugin TaintNodesByCondition does, so that nobody is placed too soon.
    taints = [*(dig(node, "spec", "taints") or ()), {"key": NOT_READY, "effect": "NoSchedule"}]
    return put(known, taints, "spec", "taints")
