"""The admission policies of `wire.policy`, applied by the embedded API server.

`core.claim_gate` has the rule. This module says where it applies: to pods of a namespace that has
opted in and, with a dialect whose pods ask by annotation, to pods of almost every namespace.
"""

from __future__ import annotations

from headroom.core.claim_gate import ClaimIndex, asking_pod_refusal, claim_refusal
from headroom.core.names import CLAIM_GATE, CLAIMS_NAMESPACE_LABEL, INDEX_NAME
from headroom.core.objects import Pod
from headroom.sim.api.store import Store
from headroom.sim.api.values import Json, dig, put, ref_of
from headroom.sim.errors import SimulationError
from headroom.wire.kinds import PODS
from headroom.wire.manifests import NAMESPACE
from headroom.wire.policy import never_gated
from headroom.wire.times import parse_time

_NEVER_GATED = never_gated(NAMESPACE)


def gated(pod: Json, store: Store) -> Json:
    """The pod with our gate if a policy adds it, otherwise the pod unchanged."""
    where = ref_of(pod).namespace
    found = store.find("ClaimIndex", where, INDEX_NAME)
    if found is None:
        return pod
    asks = store.registry.codecs.asks if where not in _NEVER_GATED else ()
    opted_in = _has_opted_in(where, store)
    if not (opted_in or asks):
        return pod
    new, index, now = _decoded(pod, store), _index(found), store.now()
    may_own = opted_in and claim_refusal(new, index, now) is None
    if not may_own and asking_pod_refusal(new, index, now, asks) is not None:
        return pod
    gates = dig(pod, "spec", "schedulingGates") or []
    return put(pod, [*gates, {"name": CLAIM_GATE}], "spec", "schedulingGates")


def _has_opted_in(namespace: str, store: Store) -> bool:
    labels = dig(store.find("Namespace", "", namespace), "metadata", "labels") or {}
    return bool(labels.get(CLAIMS_NAMESPACE_LABEL) == "enabled")


def _index(found: Json) -> ClaimIndex:
    fresh_until = parse_time(str(dig(found, "spec", "freshUntil")))
    priority = dig(found, "spec", "priorityAtLeast")
    return ClaimIndex(dig(found, "spec", "keys") or {}, fresh_until, priority)


def _decoded(pod: Json, store: Store) -> Pod:
    """The pod with the annotations that the dialects read."""
    thing = store.registry.codecs.thing_from(PODS, pod)
    if not isinstance(thing, Pod):
        raise SimulationError(f"{ref_of(pod)} is no pod")
    return thing
