"""Headrooms that follow the load: collect what their number depends on.

A sum over all pods is expensive, so it is calculated once for all such headrooms and only after a
change; `core.headrooms.decision` says how often each of them is decided. The number itself is pure:
`core.demand.foresight`.
"""

from __future__ import annotations

from datetime import datetime

from headroom.core.demand.foresight import ForeseenDemand, ForesightMemory, Guarded, Observed
from headroom.core.demand.quota_memory import QuotaMemory, tight_now
from headroom.core.demand.utilization import Load, load_on, use_of
from headroom.core.headrooms.headrooms import Headroom, Workload
from headroom.core.headrooms.size_limits import Note
from headroom.core.headrooms.wanted_slots import template_for
from headroom.core.index_entries import By
from headroom.core.names import ROLE_LABEL
from headroom.core.objects import Pod
from headroom.core.resources import EMPTY, Resources
from headroom.core.sizes.kind import Size
from headroom.engine.headrooms import quota_allowance
from headroom.engine.headrooms.slot_pods import guarded, slot_guardians
from headroom.engine.ledger import Ledger


def observed(
    ledger: Ledger,
    headroom: Headroom,
    memory: ForesightMemory | None,
    quotas: QuotaMemory,
    now: datetime,
) -> tuple[Observed | None, QuotaMemory]:
    """What the slots of a headroom depend on now; None where its size is of another kind.

    Also what is to be remembered of quotas.
    """
    workload, size = ledger.slots.workload_of(headroom), headroom.size
    template = template_for(headroom, workload)
    idle = headroom.problems or headroom.paused or headroom.deleted is not None
    if not size.by_load or isinstance(template, Note) or idle:
        return None, quotas
    standing = len(ledger.index.of(By.SLOT_GUARDIAN, headroom.parent.whole))
    heard = quota_allowance.heard(ledger, headroom, template)
    answer, quotas = tight_now(quotas, heard, standing, now)
    demand = ForeseenDemand(
        one=template.pod.requests,
        load=load(ledger, template.pod),
        forthcoming=_forthcoming(ledger, size, workload),
        limits=headroom.limits,
        quota=answer.tight,
        most=ledger.policy.most_slots,
    )
    return Observed(demand, _guarded(ledger, headroom), memory, answer.sure_at), quotas


def load(ledger: Ledger, shape: Pod) -> Load:
    """The load of the cluster as it is now, for slots of this shape."""
    slots = ledger.slots
    if slots.use is None:  # A sum over all pods is expensive: once for all, after each change.
        slots.use = use_of(ledger.pods.values(), _is_placeholder)
        slots.real = slots.use.pods
    return load_on(ledger.nodes.values(), slots.use, shape)


def _forthcoming(ledger: Ledger, size: Size, workload: Workload | None) -> Resources:
    """What pods that are on their way will ask for: of the workload that the slots are like.

    Where the size looks ahead it is of all workloads; a ReplicaSet is mostly a Deployment's.
    """
    asked = EMPTY if workload is None else _coming(workload)
    if size.looks_ahead:
        for each in ledger.slots.workloads.values():
            if each.missing and each.ref.kind != "ReplicaSet":
                asked += _coming(each)
    return asked


def _guarded(ledger: Ledger, headroom: Headroom) -> Guarded:
    bound: dict[str, bool] = {}
    placed: list[str] = []
    since: datetime | None = None
    for slot, guardian in slot_guardians(ledger, headroom):
        bound[slot] = bool(guardian.node)
        if guardian.node:
            placed.append(guardian.uid)
        elif guardian.created is not None:
            since = min(since or guardian.created, guardian.created)
    for slot in guarded(ledger, headroom):  # Of before a restart; not looked at yet.
        bound.setdefault(slot, True)
    return Guarded(bound, frozenset(placed), since)


def _is_placeholder(pod: Pod) -> bool:
    """Whether a pod only keeps room, ours or anybody's: it is not what the capacity is for."""
    return ROLE_LABEL in pod.labels or pod.placeholder


def _coming(workload: Workload) -> Resources:
    requests = workload.template.pod.requests
    return Resources({name: amount * workload.missing for name, amount in requests.items()})
