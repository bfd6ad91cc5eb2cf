"""The slots of a size per node on one node: their names, their shape, and the node's grace period.

The template names the node of a slot, and guardians implement this by affinity. `sizing` calls this
for every node that `eligibility` accepts.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from headroom.core.holds import PodTemplate
from headroom.core.objects import Node, Pod
from headroom.core.requests import ContainerNeed, PodNeed, nonzero_requests
from headroom.core.resources import CPU, MEMORY, PODS, Resources
from headroom.core.standing.eligibility import eligible
from headroom.core.standing.headrooms import PerNode

_WITHOUT_WISHES = (CPU, MEMORY)


@dataclass(frozen=True, slots=True)
class NodeSlots:
    """How slots of a size per node are made, and for how long a node may not be ready."""

    size: PerNode
    template: PodTemplate
    grace: timedelta

    def names(self, node: Node) -> list[str]:
        """The first slot is called like its node, so it stays when there are to be more."""
        more = (f"{node.name}/{number}" for number in range(1, self.size.slots))
        return [node.name, *more]

    def pinned(self, node: Node) -> PodTemplate | None:
        """The slot's shape on this node; None where its part of the node comes to nothing."""
        if self.size.percent is None:
            return replace(self.template, node=node.name)
        pod = _part(self.template.pod, node, self.size.percent)
        return replace(self.template, pod=pod, node=node.name) if pod.requests else None

    def graceful(self, node: Node, standing: frozenset[str], now: datetime) -> datetime | None:
        """Until when a node that keeps a slot is let be, though it is not ready just now."""
        since = node.unready_since
        if since is None or node.deleted is not None or now >= since + self.grace:
            return None
        stands = any(name in standing for name in self.names(node))
        sound = eligible(replace(node, ready=True), self.template.pod) is None
        return since + self.grace if stands and sound else None


def _part(pod: Pod, node: Node, percent: int) -> Pod:
    """The slot with a part of the node's allocatable: of what it asks for, or cpu and memory."""
    names = [name for name in pod.requests if name != PODS] or _WITHOUT_WISHES
    requests = Resources({name: node.allocatable[name] * percent // 100 for name in names})
    need = PodNeed(containers=(ContainerNeed(requests=requests),))
    return replace(pod, requests=requests, nonzero_requests=nonzero_requests(need))
