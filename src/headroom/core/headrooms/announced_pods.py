"""Pods that will certainly be created: workloads want them and do not have them yet.

A Deployment that is scaled up, a suspended Job that will be resumed and an autoscaler that wants
more replicas announce pods. The labels of the template and the workload decide whether such a pod
is an owner of a headroom; its name and its priority are known only when it exists.
"""

from __future__ import annotations

from collections.abc import Iterable

from headroom.core.demand.autoscalers import PodAutoscaler
from headroom.core.headrooms.headrooms import Workload
from headroom.core.objects import Key, OwnerReference, Pod

_DIRECT = ("Job", "ReplicaSet", "StatefulSet")  # Pods of a Deployment belong to its ReplicaSet.


def expected(workload: Workload, autoscalers: Iterable[PodAutoscaler] = ()) -> int:
    """How many pods a workload will make, as its spec and its autoscalers say now."""
    wanted = max((each.desired for each in autoscalers), default=0)
    beyond = max(0, wanted - workload.replicas)
    if workload.in_order:
        return max(workload.missing, min(beyond, 1))
    return workload.missing + workload.suspended + beyond


def first_pod(workload: Workload) -> Pod:
    """A pod of a workload as it will come, as far as owner rules can be asked about it."""
    ref = workload.ref
    owners: tuple[OwnerReference, ...] = ()
    if ref.kind in _DIRECT:
        owners = (OwnerReference(ref.api_version, ref.kind, ref.name, workload.uid, True),)
    return Pod(Key(workload.namespace, ""), labels=workload.pod_labels, owners=owners)
