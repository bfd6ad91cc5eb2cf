"""ResourceQuotas, and what they leave to headrooms that follow the load.

Admission charges our guardians as it charges any pod, so what they use is taken out of what is
used. `buffers` shares a namespace's room between its buffers; the arithmetic of both is
`core.demand.quotaroom`'s.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from headroom.core.demand.quotaroom import ResourceQuota, Tight, charges, tightest
from headroom.core.holds import PREEMPTIBLE, PodTemplate
from headroom.core.names import LOCKED_CLASS, PREEMPTIBLE_CLASS
from headroom.core.standing.headrooms import Headroom
from headroom.core.waits.stabilization import Stabilization
from headroom.engine.indexes import drop
from headroom.engine.ledger import Ledger

SETTLED = timedelta(seconds=3)


class QuotaRooms:
    """Quotas by namespace, and what each headroom that follows the load believes of them."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._quotas: dict[str, dict[str, ResourceQuota]] = {}
        self._sure: dict[str, Tight | None] = {}  # by headroom: what was believed last
        self._heard: Stabilization[str, int] = Stabilization(SETTLED)  # how many are heard of

    def forget(self, whole: str) -> None:
        """A headroom changed or went."""
        self._sure.pop(whole, None)
        self._heard.forget(whole)

    def see(self, quota: ResourceQuota) -> None:
        self._quotas.setdefault(quota.namespace, {})[quota.name] = quota

    def lose(self, quota: ResourceQuota) -> None:
        drop(self._quotas, quota.namespace, quota.name)

    def quotas(self, namespace: str) -> tuple[ResourceQuota, ...]:
        return tuple(self._quotas.get(namespace, {}).values())

    def tight(
        self, headroom: Headroom, template: PodTemplate, now: datetime
    ) -> tuple[Tight | None, datetime | None]:
        """The quota that allows the fewest slots, and when to ask again.

        What a quota says is used and what we know of our own pods come by different ways, so an
        answer counts once it has lasted; until then nothing is made and nothing given back for it.
        """
        whole, heard = headroom.parent.whole, self.heard(headroom, template)
        if whole not in self._sure:
            self._sure[whole] = heard
        sure_at = self._heard.tell(whole, _count(heard), now)
        sure = self._sure[whole]
        if now >= sure_at or _count(heard) == _count(sure):
            self._sure[whole] = heard
            return heard, None
        standing = len(self._ledger.contention.headcount.of(whole))
        fewer = min((each for each in (sure, heard) if each is not None), key=_count)
        return replace(fewer, count=max(fewer.count, min(standing, _count(sure)))), sure_at

    def heard(self, headroom: Headroom, template: PodTemplate) -> Tight | None:
        """The same as it is now, whether it lasts or not."""
        namespace = headroom.parent.namespace
        name = PREEMPTIBLE_CLASS if headroom.mode == PREEMPTIBLE else LOCKED_CLASS
        name = template.priority_class or name
        charging = [one for one in self.quotas(namespace) if charges(one, template.pod, name)]
        if not charging:
            return None
        ours = self._ledger.contention.headcount.used(headroom.parent.whole)
        return tightest(template.pod.requests, charging, ours)


def _count(tight: Tight | None) -> int:
    """How many it allows; where nothing limits, more than there can be."""
    return tight.count if tight is not None else 2**31
