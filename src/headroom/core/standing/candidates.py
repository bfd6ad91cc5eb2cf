"""What speaks for the growth of each workload, from the objects of a cluster.

Pods are counted for the workload that they belong to in the end: those of a ReplicaSet for its
Deployment. `shapes` ranks what is found here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from datetime import datetime

from headroom.core.demand.autoscalers import Autoscaler
from headroom.core.names import ROLE_LABEL
from headroom.core.objects import Pod
from headroom.core.standing.expecting import expected
from headroom.core.standing.headrooms import Workload
from headroom.core.standing.shapes import SETTLED, Candidate

Made = Callable[[str], Iterable[datetime]]
"""When the controller of a uid made its pods."""
Scaling = Callable[[Workload], Collection[Autoscaler]]
"""The autoscalers of a workload."""


def candidates(
    found: Iterable[Workload],
    workloads: Iterable[Workload],
    pods: Iterable[Pod],
    made: Made,
    scaling: Scaling,
) -> Iterator[Candidate]:
    """The evidence for each of the workloads that were found in scope."""
    parts: dict[str, list[Workload]] = {}
    for each in workloads:
        if each.controller:
            parts.setdefault(each.controller, []).append(each)
    waiting = Counter(
        uid for pod in pods if not pod.node and not pod.finished and (uid := controller_of(pod))
    )
    for each in found:
        scalers = scaling(each)
        most = max((scaler.most for scaler in scalers), default=0)
        makers = [each, *parts.get(each.uid, ())] if each.uid else []
        yield Candidate(
            each,
            coming=expected(each, scalers),
            waiting=sum(waiting[maker.uid] for maker in makers),
            made=tuple(time for maker in makers for time in _later(maker, made(maker.uid))),
            room=max(0, most - each.replicas),
        )


def controller_of(pod: Pod) -> str:
    """The uid of the object that made a pod; nothing for pods of ours."""
    if ROLE_LABEL in pod.labels:
        return ""
    return next((owner.uid for owner in pod.owners if owner.controller), "")


def _later(maker: Workload, made: Iterable[datetime]) -> Iterator[datetime]:
    """When a controller made pods, but for its first ones: a rollout is no growth."""
    for time in made:
        if maker.created is None or time > maker.created + SETTLED:
            yield time
