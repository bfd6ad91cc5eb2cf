"""How much the ResourceQuotas of a namespace leave for guardians that a plan would create."""

from __future__ import annotations

from collections.abc import Iterable

from headroom.core.demand.resource_quotas import ResourceQuota, charges, less, tightest
from headroom.core.holds import PREEMPTIBLE, Hold
from headroom.core.names import LOCKED_CLASS, PREEMPTIBLE_CLASS
from headroom.core.resources import PODS, Resources


class QuotaRoom:
    """Quotas, and what the guardians of this plan use of each."""

    def __init__(self, quotas: Iterable[ResourceQuota]) -> None:
        self._left: dict[str, list[ResourceQuota]] = {}
        for quota in quotas:
            self._left.setdefault(quota.namespace, []).append(quota)

    def take(self, hold: Hold) -> str:
        """Charge a new guardian to its namespace; return the quota that refuses it, or empty."""
        name = PREEMPTIBLE_CLASS if hold.mode == PREEMPTIBLE else LOCKED_CLASS
        pod, name = hold.template.pod, hold.template.priority_class or name
        here = self._left.get(hold.guardian_namespace, [])
        charging = [quota for quota in here if charges(quota, pod, name)]
        tight = tightest(pod.requests, charging)
        if tight is not None and tight.count < 1:
            return tight.allows(1)
        taken = Resources({**pod.requests, PODS: 1})
        for index, quota in enumerate(here):
            if quota in charging:
                here[index] = less(quota, taken)
        return ""
