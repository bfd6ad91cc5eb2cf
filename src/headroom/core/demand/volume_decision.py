"""Decide what the claims of a pod need that wait for it, before it may be bound to a node.

As kube-scheduler does: a free volume is promised to the claim, or the node is written on it so that
one is made there. Then we wait until the volume controller has bound them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from headroom.core.actions import PromiseVolume, SelectNode
from headroom.core.demand.unbound_claims import MADE, bindings
from headroom.core.demand.volume_constraints import UNBINDABLE, volume_refusal
from headroom.core.demand.volumes import Storage, VolumeClaim
from headroom.core.objects import Key, Node, Pod
from headroom.core.pod_memory import PodMemory

BINDING_LIMIT = timedelta(minutes=10)
"""How long a pod's volumes may take before it is decided anew, as in kube-scheduler."""

PASSING = timedelta(seconds=2)
"""How long what is wrong with a claim may last before a pod on its way is decided anew."""


@dataclass(frozen=True, slots=True)
class BindingView:
    """A pod that is to be on a node. `asked`: claims for which the watch showed a chosen node."""

    pod: Pod
    node: Node | None
    storage: Storage
    memory: PodMemory
    asked: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class BindingDecision:
    """The writes, when to look again, and what to remember of the pod.

    `refusal` is why the claims get no volume there; `failed` is the claim for which none was made.
    """

    memory: PodMemory
    writes: tuple[SelectNode | PromiseVolume, ...] = ()
    wake_at: datetime | None = None
    refusal: str = ""
    failed: VolumeClaim | None = None


def decide(view: BindingView, now: datetime) -> BindingDecision:
    """What the claims that wait for a pod need next: writes, time, or another node."""
    trouble = volume_refusal(view.pod, view.storage)
    if trouble:  # Claims and volumes come by different streams: it may pass.
        since = view.memory.unmounted_since or now
        memory = replace(view.memory, unmounted_since=since)
        if now < since + PASSING:
            return BindingDecision(memory, wake_at=since + PASSING)
        return BindingDecision(memory, refusal=trouble)
    memory = replace(view.memory, unmounted_since=None)
    if not view.pod.late:
        return BindingDecision(memory)
    got = bindings(view.pod.late, view.node) if view.node is not None else None
    if view.node is None or got is None:
        return BindingDecision(memory, refusal=UNBINDABLE)
    until = (memory.binding_since or now) + BINDING_LIMIT
    if now >= until:
        why = f"its volumes were not bound within {BINDING_LIMIT.seconds // 60} minutes"
        return BindingDecision(replace(memory, binding_since=None), refusal=why)
    memory = replace(memory, binding_since=memory.binding_since or now)
    writes = []
    for name, volume in got.items():
        claim = view.storage.claims[Key(view.pod.key.namespace, name)]
        if volume == MADE and not claim.selected and name in view.asked:
            why = f"the volume of claim {name} could not be made for {view.node.name}"
            return BindingDecision(memory, refusal=why, failed=claim)
        write = _write(claim, volume, view.node.name, view.storage)
        writes += [write] if write is not None else []
    return BindingDecision(memory, tuple(writes), None if writes else until)


def _write(
    claim: VolumeClaim, volume: str, node: str, storage: Storage
) -> SelectNode | PromiseVolume | None:
    if volume == MADE:
        return None if claim.selected == node else SelectNode(claim.key, claim.uid, node)
    known = storage.volumes[volume]
    if known.claim == claim.key and known.claim_uid == claim.uid:
        return None
    return PromiseVolume(volume, known.version, claim.key, claim.uid)
