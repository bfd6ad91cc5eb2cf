"""The admission policy of `wire.policy`, as the embedded API server obeys it.

A new pod in an opted-in namespace gets our gate when the namespace's ClaimIndex is fresh and has
one of the pod's keys. A stale or missing index gates nobody: an operator that is gone stops no
pods.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from headroom.core.names import (
    CLAIM_GATE,
    CLAIMS_NAMESPACE_LABEL,
    DEFAULT_SCHEDULER_NAME,
    INDEX_NAME,
    ROLE_LABEL,
)
from headroom.core.owners import pod_keys
from headroom.sim.api.decoding import pod_of
from headroom.sim.api.values import Json, Ref, dig, put, ref_of
from headroom.wire.times import parse_time


def gated(pod: Json, get: Callable[[Ref], Json | None], now: datetime) -> Json:
    """Return the pod with our gate if the policy would put it there, else as it is."""
    namespace = ref_of(pod).namespace
    labels = dig(get(Ref("Namespace", "", namespace)), "metadata", "labels") or {}
    if labels.get(CLAIMS_NAMESPACE_LABEL) != "enabled":
        return pod
    index = get(Ref("ClaimIndex", namespace, INDEX_NAME))
    if index is None or not _is_concerned(pod):
        return pod
    if now >= parse_time(str(dig(index, "spec", "freshUntil"))):
        return pod
    keys = dig(index, "spec", "keys") or {}
    if not any(key in keys for key in pod_keys(pod_of(pod))):
        return pod
    gates = dig(pod, "spec", "schedulingGates") or []
    return put(pod, [*gates, {"name": CLAIM_GATE}], "spec", "schedulingGates")


def _is_concerned(pod: Json) -> bool:
    spec = pod.get("spec") or {}
    gates = [gate.get("name") for gate in spec.get("schedulingGates") or ()]
    return (
        not spec.get("nodeName")
        and spec.get("schedulerName", DEFAULT_SCHEDULER_NAME) == DEFAULT_SCHEDULER_NAME
        and ROLE_LABEL not in (dig(pod, "metadata", "labels") or {})
        and CLAIM_GATE not in gates
    )
