"""Pods that will certainly be created, for headrooms with a learnt size.

A workload that announces pods has an entry in the index, with their number: a headroom asks often,
and few workloads want pods that they do not have. `core.headrooms.announced_pods` has the rule.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from headroom.core.headrooms.announced_pods import PodAutoscaler, expected, first_pod
from headroom.core.headrooms.dependencies import On
from headroom.core.headrooms.headrooms import Headroom, Workload, WorkloadRef
from headroom.core.headrooms.size_limits import Note
from headroom.core.index_entries import By, Entry
from headroom.core.owners import EVERYWHERE, has_right, reach
from headroom.core.promise.announced import Learnt
from headroom.core.resources import PODS, Resources
from headroom.engine.ledger import Ledger

DEMAND_UNSEEN = "DemandUnseen"
_DEPLOYMENT, _REPLICA_SET = "Deployment", "ReplicaSet"


def see_workload(ledger: Ledger, workload: Workload, gone: bool = False) -> tuple[str, ...]:
    """A workload has changed or is gone; return the headrooms whose learnt size may change."""
    key, slots = (workload.namespace, workload.ref), ledger.slots
    if gone:
        slots.workloads.pop(key, None)
    else:
        slots.workloads[key] = workload
    return _file(ledger, workload)


def see_autoscaler(
    ledger: Ledger, autoscaler: PodAutoscaler, gone: bool = False
) -> tuple[str, ...]:
    """An autoscaler has changed or is gone; return the headrooms whose learnt size may change."""
    key, slots = autoscaler.key, ledger.slots
    old = slots.autoscalers.get(key)
    targets = (_target(ledger, each) for each in (old, None if gone else autoscaler) if each)
    scaled = {(each.namespace, each.ref): each for each in targets if each is not None}
    if gone:
        slots.autoscalers.pop(key, None)
        slots.autoscaler_index.put(key)
    else:
        slots.autoscalers[key] = autoscaler
        named = (key.namespace, autoscaler.kind, autoscaler.target)
        slots.autoscaler_index.put(key, (Entry(By.SCALING, named),))
    return tuple(whole for each in scaled.values() for whole in _file(ledger, each))


def autoscalers_of(ledger: Ledger, workload: Workload) -> tuple[PodAutoscaler, ...]:
    """The autoscalers that scale a workload."""
    named = (workload.namespace, workload.ref.kind, workload.ref.name)
    keys = ledger.slots.autoscaler_index.of(By.SCALING, named)
    return tuple(ledger.slots.autoscalers[key] for key in keys)


def known_demand(ledger: Ledger, headroom: Headroom) -> int:
    """How many pods of workloads will come that are owners of a headroom, or copied by it."""
    if not headroom.size.learns:
        return 0
    index = ledger.slots.workload_index
    return sum(
        index.amount((each.namespace, each.ref))[PODS]
        for each in _within_reach(ledger, headroom)
        if not is_part(ledger, each) and _concerns(ledger, each, headroom)
    )


def told(ledger: Ledger, learnt: Learnt | None) -> Learnt | None:
    """A learnt size with a note on the kinds that could not be seen for it."""
    hidden = ledger.slots.hidden
    if learnt is None or not hidden:
        return learnt
    kinds = " and ".join(f"{kind}s" for kind in sorted(hidden))
    words = (
        f"pods that {kinds} announce are not counted ahead: {hidden[min(hidden)]}; "
        "the operator needs the rights that headroom install grants"
    )
    return replace(learnt, notes=(*learnt.notes, Note(DEMAND_UNSEEN, words)))


def is_part(ledger: Ledger, workload: Workload) -> bool:
    """Whether a workload belongs to a Deployment that is seen itself."""
    deployments = ledger.slots.workload_index.all(By.DEPLOYMENT)
    return workload.ref.kind == _REPLICA_SET and workload.controller in deployments


def _file(ledger: Ledger, workload: Workload) -> tuple[str, ...]:
    """Index a workload; return the concerned headrooms if it announces another number now."""
    key, slots = (workload.namespace, workload.ref), ledger.slots
    there, entries = slots.workloads.get(key), []
    if there is not None:
        if count := expected(there, autoscalers_of(ledger, there)):
            entries.append(Entry(By.EXPECTING, workload.namespace, Resources({PODS: count})))
        if there.ref.kind == _DEPLOYMENT and there.uid:
            entries.append(Entry(By.DEPLOYMENT, there.uid))
    lost, got = slots.workload_index.put(key, tuple(entries))
    if all(each.by is By.DEPLOYMENT for each in (*lost, *got)):
        return ()
    found = slots.depending(On.ARRIVALS)
    return tuple(each for each in found if _concerns(ledger, workload, slots.headrooms[each]))


def _within_reach(ledger: Ledger, headroom: Headroom) -> Iterator[Workload]:
    """Workloads with pods to come that may concern a headroom: others cost it nothing."""
    index, found = ledger.slots.workload_index, reach(headroom, ledger.policy.across_namespaces)
    for namespace in index.all(By.EXPECTING) if EVERYWHERE in found else found:
        for key in index.of(By.EXPECTING, namespace):
            yield ledger.slots.workloads[key]


def _concerns(ledger: Ledger, workload: Workload, headroom: Headroom) -> bool:
    home, across = headroom.parent.namespace, ledger.policy.across_namespaces
    if home and workload.namespace != home and not across:
        return False
    if (workload.namespace, workload.ref) == (home, headroom.slot.source):
        return True
    return has_right(headroom, first_pod(workload), across)


def _target(ledger: Ledger, autoscaler: PodAutoscaler) -> Workload | None:
    group = "batch/v1" if autoscaler.kind == "Job" else "apps/v1"
    ref = WorkloadRef(group, autoscaler.kind, autoscaler.target)
    return ledger.slots.workloads.get((autoscaler.key.namespace, ref))
