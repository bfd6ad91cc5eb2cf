"""ResourceQuotas: the used amounts in their status.

Admission (`api.quota`) counts by itself; this status is only for readers. Resources that admission
does not model are not in the status.
"""

from __future__ import annotations

from headroom.core.amounts import format_amount
from headroom.core.objects import Pod
from headroom.sim.actor_context import ActorContext
from headroom.sim.api.decoder import pod_of
from headroom.sim.api.quota import PODS, REQUESTS
from headroom.sim.api.store import ObjectChange
from headroom.sim.api.values import Ref, dig, ref_of
from headroom.sim.controllers.base import Controller

KIND = "ResourceQuota"


class QuotaCounts(Controller):
    """Updates the status of every ResourceQuota."""

    name = "resourcequota-controller"

    def __init__(self, stage: ActorContext) -> None:
        super().__init__(stage)
        self.watch(KIND)
        self._quotas = self.store.all_of(KIND)
        self.store.listen("Pod", self._on_pod)

    def _on_pod(self, change: ObjectChange) -> None:
        if not self._quotas:
            return
        for item in self.store.list(KIND, change.ref.namespace):
            self.enqueue(ref_of(item))

    async def sync(self, ref: Ref) -> None:
        quota = self.store.get(ref)
        if quota is None:
            return
        hard = {
            name: most
            for name, most in (dig(quota, "spec", "hard") or {}).items()
            if name in PODS or name in REQUESTS
        }
        pods = [
            pod for pod in map(pod_of, self.store.list("Pod", ref.namespace)) if not pod.finished
        ]
        status = {"hard": hard, "used": {name: _used(name, pods) for name in hard}}
        if quota.get("status") != status:
            self.server.update({**quota, "status": status}, "status")


def _used(name: str, pods: list[Pod]) -> str:
    if name in PODS:
        return str(len(pods))
    resource = REQUESTS[name]
    return format_amount(resource, sum(pod.requests[resource] for pod in pods))
