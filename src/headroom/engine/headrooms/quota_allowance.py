"""ResourceQuotas, and what they leave to headrooms that follow the load and to buffers.

Admission charges our guardians as it charges any pod, so what they use is taken out of what is
used. The buffers of a namespace share its room, the older ones first. The arithmetic is
`core.demand.resource_quotas`'s.
"""

from __future__ import annotations

from datetime import UTC, datetime

from headroom.core.demand.resource_quotas import (
    QuotaAllowance,
    Tight,
    charges,
    in_turn,
    tightest,
)
from headroom.core.headrooms.dependencies import On
from headroom.core.headrooms.headrooms import Headroom, replicas_of
from headroom.core.headrooms.size_limits import Note
from headroom.core.headrooms.wanted_slots import template_for
from headroom.core.holds import PREEMPTIBLE, PodTemplate
from headroom.core.index_entries import By
from headroom.core.names import LOCKED_CLASS, PREEMPTIBLE_CLASS
from headroom.core.resources import EMPTY, PODS, Resources
from headroom.engine.ledger import Ledger

_LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)


def heard(ledger: Ledger, headroom: Headroom, template: PodTemplate) -> Tight | None:
    """The quota that allows the fewest slots now, whether that lasts or not."""
    namespace = headroom.parent.namespace
    name = PREEMPTIBLE_CLASS if headroom.mode == PREEMPTIBLE else LOCKED_CLASS
    name = template.priority_class or name
    quotas = ledger.slots.quotas.get(namespace, {}).values()
    charging = [one for one in quotas if charges(one, template.pod, name)]
    if not charging:
        return None
    ours = ledger.index.total(By.SLOT_GUARDIAN, headroom.parent.whole)
    return tightest(template.pod.requests, charging, ours)


def allowance(ledger: Ledger, headroom: Headroom) -> QuotaAllowance | None:
    """What the quotas leave to a buffer now; None where there is nothing to ask."""
    namespace = headroom.parent.namespace
    quotas = ledger.slots.quotas.get(namespace, {}).values()
    if not quotas or not headroom.size.shares_quotas:
        return None
    wants, charging, names = [], [], []
    for each in sorted(_sharing(ledger, namespace), key=_age):
        wanted, template = _wanted(ledger, each)
        if template is not None:
            wants.append((wanted, template.pod.requests))
            charging.append(
                [one for one in quotas if charges(one, template.pod, PREEMPTIBLE_CLASS)]
            )
            names.append(each.parent.whole)
    if headroom.parent.whole not in names:
        return None
    answers = in_turn(wants, charging, _ours(ledger, namespace))
    return answers[names.index(headroom.parent.whole)]


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


def _age(headroom: Headroom) -> tuple[datetime, str]:
    return headroom.created or _LONG_AGO, headroom.parent.name
