"""Headrooms that follow the load, and buffers: collect what their number depends on.

What pods ask for is a total of an index (`load`); `core.headrooms.decision` says how often such a
headroom is decided. The number itself is pure: `core.demand.foresight`.

Admission charges our guardians as it charges any pod, so what they use is taken out of what is used
of a ResourceQuota. The buffers of a namespace share its room, the older ones first. The arithmetic
is `core.demand.resource_quotas`'s.
"""

from __future__ import annotations

from datetime import datetime

from headroom.core.demand import resource_quotas
from headroom.core.demand.foresight import ForesightMemory, LoadView
from headroom.core.demand.quota_memory import QuotaMemory, tight_now
from headroom.core.headrooms.dependencies import On
from headroom.core.headrooms.headrooms import Headroom, Workload, replicas_of
from headroom.core.headrooms.size_limits import Note
from headroom.core.headrooms.wanted_slots import template_for
from headroom.core.holds import PREEMPTIBLE, PodTemplate
from headroom.core.index_entries import By
from headroom.core.names import LOCKED_CLASS, PREEMPTIBLE_CLASS
from headroom.core.quotas.quota import age
from headroom.core.resources import EMPTY, PODS, Resources
from headroom.core.sizes.kind import Size
from headroom.engine.headrooms.load import load_now
from headroom.engine.headrooms.slot_pods import guarded, slot_guardians
from headroom.engine.ledger import Ledger


def load_view(
    ledger: Ledger,
    headroom: Headroom,
    memory: ForesightMemory | None,
    quotas: QuotaMemory,
    now: datetime,
) -> tuple[LoadView | None, datetime | None, QuotaMemory]:
    """The load that a headroom's slots depend on; None if its size does not follow the load.

    Also when to check quotas again, and what to remember of them.
    """
    workload, size = ledger.slots.workload_of(headroom), headroom.size
    template = template_for(headroom, workload)
    idle = headroom.problems or headroom.paused or headroom.deleted is not None
    if not size.by_load or isinstance(template, Note) or idle:
        return None, None, quotas
    standing = len(ledger.index.of(By.SLOT_GUARDIAN, headroom.parent.whole))
    allows_fewest = tightest_quota(ledger, headroom, template)
    tight, again, quotas = tight_now(quotas, allows_fewest, standing, now)
    view = LoadView(
        load=load_now(ledger, template.pod),
        guardians={
            **dict.fromkeys(guarded(ledger, headroom)),  # Of before a restart; not looked at yet.
            **dict(slot_guardians(ledger, headroom)),
        },
        forthcoming=_forthcoming(ledger, size, workload),
        quota=tight,
        most=ledger.policy.most_slots,
        memory=memory,
    )
    return view, again, quotas


def _forthcoming(ledger: Ledger, size: Size, workload: Workload | None) -> Resources:
    """What pods that are on their way will ask for: of the workload that the slots are like.

    Where the size looks ahead it is of all workloads; a ReplicaSet is mostly a Deployment's.
    """
    coming = [] if workload is None else [workload]
    if size.looks_ahead:
        others = ledger.slots.workloads.values()
        coming += [each for each in others if each.missing and each.ref.kind != "ReplicaSet"]
    return sum((each.template.pod.requests * each.missing for each in coming), EMPTY)


def tightest_quota(
    ledger: Ledger, headroom: Headroom, template: PodTemplate
) -> resource_quotas.Tight | None:
    """The quota that allows the fewest slots now, even if this does not last."""
    namespace = headroom.parent.namespace
    name = PREEMPTIBLE_CLASS if headroom.mode == PREEMPTIBLE else LOCKED_CLASS
    charging = _charging(ledger, namespace, template, template.priority_class or name)
    ours = ledger.index.total(By.SLOT_GUARDIAN, headroom.parent.whole)
    return resource_quotas.tightest(template.pod.requests, charging, ours)


def allowance(ledger: Ledger, headroom: Headroom) -> resource_quotas.QuotaAllowance | None:
    """What the quotas leave to a buffer now; None if there are no quotas to check."""
    namespace = headroom.parent.namespace
    if namespace not in ledger.slots.quotas or not headroom.size.shares_quotas:
        return None
    wants = {}
    for each in sorted(_sharing(ledger, namespace), key=age):
        wanted, template = _wanted(ledger, each)
        if template is not None:
            charging = _charging(ledger, namespace, template, PREEMPTIBLE_CLASS)
            want = resource_quotas.Want(wanted, template.pod.requests, charging)
            wants[each.parent.whole] = want
    answers = resource_quotas.in_turn(wants.values(), _ours(ledger, namespace))
    return dict(zip(wants, answers, strict=True)).get(headroom.parent.whole)


def _charging(
    ledger: Ledger, namespace: str, template: PodTemplate, priority_class: str
) -> list[resource_quotas.ResourceQuota]:
    """The quotas of a namespace that a guardian of this shape counts against."""
    quotas = ledger.slots.quotas.get(namespace, {}).values()
    return [one for one in quotas if resource_quotas.charges(one, template.pod, priority_class)]


def _sharing(ledger: Ledger, namespace: str) -> list[Headroom]:
    """The buffers that share a namespace's quotas."""
    slots = ledger.slots
    return [slots.headrooms[each] for each in slots.depending((On.SHARED_QUOTAS, namespace))]


def _wanted(ledger: Ledger, headroom: Headroom) -> tuple[int, PodTemplate | None]:
    workload = ledger.slots.workload_of(headroom)
    template = template_for(headroom, workload)
    if headroom.slot.source is None or headroom.problems or isinstance(template, Note):
        return 0, None
    wanted = headroom.size.quota_share(template.pod.requests, replicas_of(workload))
    return (0, None) if wanted is None else (wanted, template)


def _ours(ledger: Ledger, namespace: str) -> Resources:
    """What the placeholders of a namespace's buffers are charged for."""
    used = EMPTY
    for parent in (each.parent for each in _sharing(ledger, namespace)):
        for name in ledger.hold_index.of(By.SLOT, parent.whole):
            for guardian in ledger.guardians_of(ledger.holds[name]):
                used += Resources({**guardian.requests, PODS: 1})
    return used
