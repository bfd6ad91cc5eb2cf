"""A Node manifest at its registration: what its kubelet and admission add."""

from __future__ import annotations

from headroom.sim.api.values import Json, condition_of, dig, put, ref_of

NOT_READY = "node.kubernetes.io/not-ready"
_TOPOLOGY = ("topology.kubernetes.io/region", "topology.kubernetes.io/zone")
_HOSTNAME = "kubernetes.io/hostname"
_MACHINE = {"kubernetes.io/arch": "amd64", "kubernetes.io/os": "linux"}


def kubelet_labels(name: str) -> dict[str, str]:
    """The labels that a kubelet gives to its node."""
    return {_HOSTNAME: name, **_MACHINE}


def topology(node: Json | None) -> dict[str, str]:
    """The zone and region labels that a pod gets from its node when it is bound."""
    labels = (node["metadata"].get("labels") if node is not None else None) or {}
    return {key: labels[key] for key in _TOPOLOGY if key in labels}


def registered(node: Json) -> Json:
    """The node with its kubelet's labels, with allocatable set, and tainted if it is not ready."""
    name = ref_of(node).name
    status = node.get("status") or {}
    capacity = status.get("capacity") or status.get("allocatable") or {}
    if capacity:
        capacity = {"pods": "110", **capacity}
    room = {**capacity, **(status.get("allocatable") or {})}
    labels = {**kubelet_labels(name), **(dig(node, "metadata", "labels") or {})}
    status = {**status, "capacity": capacity, "allocatable": room}
    known = put({**node, "status": status}, labels, "metadata", "labels")
    ready = condition_of(node, "Ready")
    if ready is None or ready.get("status") == "True":
        return known
    # As the admission plugin TaintNodesByCondition does, so that no pod is placed too early.
    taints = [*(dig(node, "spec", "taints") or ()), {"key": NOT_READY, "effect": "NoSchedule"}]
    return put(known, taints, "spec", "taints")
