"""The evidence for the growth of each workload, from the objects of a cluster.

Pods are counted for the workload that they belong to in the end: those of a ReplicaSet for its
Deployment. An object belongs to others of its own namespace only: whoever writes another uid into
an owner reference says nothing about anybody else's workload. `shapes` ranks what is found here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from datetime import datetime

from headroom.core.headrooms.announced_pods import PodAutoscaler, expected
from headroom.core.headrooms.headrooms import Workload
from headroom.core.headrooms.shapes import SETTLED, ShapeCandidate
from headroom.core.names import ROLE_LABEL
from headroom.core.objects import Pod

Maker = tuple[str, str]  # the namespace and the uid of what makes pods
Made = Callable[[Maker], Iterable[datetime]]
"""When a controller made its pods."""
Scaling = Callable[[Workload], Collection[PodAutoscaler]]
"""The autoscalers of a workload."""


def candidates(
    found: Collection[Workload],
    workloads: Iterable[Workload],
    pods: Iterable[Pod],
    made: Made,
    scaling: Scaling,
) -> Iterator[ShapeCandidate]:
    """The evidence for each of the workloads that were found in scope."""
    homes = {each.namespace for each in found}
    parts: dict[Maker, list[Workload]] = {}
    for each in workloads:
        if each.controller and each.namespace in homes:
            parts.setdefault((each.namespace, each.controller), []).append(each)
    waiting = Counter(
        maker_of(pod)
        for pod in pods
        if not pod.node and pod.key.namespace in homes and not pod.finished
    )
    for each in found:
        scalers = scaling(each)
        most = max((scaler.most for scaler in scalers), default=0)
        makers = [each, *parts.get((each.namespace, each.uid), ())] if each.uid else []
        yield ShapeCandidate(
            each,
            coming=expected(each, scalers),
            waiting=sum(waiting[maker.namespace, maker.uid] for maker in makers),
            made=tuple(time for maker in makers for time in _later(maker, made)),
            room=max(0, most - each.replicas),
        )


def maker_of(pod: Pod) -> Maker | None:
    """The controller of a pod; None for our own pods, and for pods without a controller."""
    if ROLE_LABEL in pod.labels:
        return None
    uid = next((owner.uid for owner in pod.owners if owner.controller), "")
    return (pod.key.namespace, uid) if uid else None


def _later(maker: Workload, made: Made) -> Iterator[datetime]:
    """When a controller created pods, except its first ones: a rollout is no growth."""
    for time in made((maker.namespace, maker.uid)):
        if maker.created is None or time > maker.created + SETTLED:
            yield time
