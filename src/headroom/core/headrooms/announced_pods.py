"""Pods that will certainly be created: workloads want them and do not have them yet.

A Deployment that is scaled up, a suspended Job that will be resumed and an autoscaler that wants
more replicas announce pods. The labels of the template and the workload decide whether such a pod
is an owner of a headroom; its name and its priority are known only when it exists.

Between a decision to scale and the pods there are a controller's queue, its client limit and its
quota. The missing pods will most likely be created next, so their placeholders come before those of
a general rule. A workload that cannot create its pods is no longer counted.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from headroom.core.headrooms.headrooms import Workload
from headroom.core.objects import Key, OwnerReference, Pod

_DIRECT = ("Job", "ReplicaSet", "StatefulSet")  # Pods of a Deployment belong to its ReplicaSet.


@dataclass(frozen=True, slots=True)
class PodAutoscaler:
    """How many pods a HorizontalPodAutoscaler wants its target to have now, and at most.

    `kind` and `target` name the workload, which is in the same namespace.
    """

    key: Key
    kind: str
    target: str
    desired: int = 0
    most: int = 0
    uid: str = ""
    version: str = ""


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


def job_size(parallelism: int | None, completions: int | None, succeeded: int) -> int:
    """How many pods a Job wants at once.

    One without completions is a queue of work: any success says that the queue is empty.
    """
    at_once = 1 if parallelism is None else parallelism
    if completions is None and parallelism is not None:
        return at_once if succeeded == 0 else 0
    left = (1 if completions is None else completions) - succeeded
    return max(0, min(left, at_once))


def missing(desired: int, present: int, *, in_order: bool = False, refused: bool = False) -> int:
    """How many pods of a workload are still to come.

    `present` are its pods that have not ended, gated ones too. Where pods are made `in_order` only
    the next one is on its way. A workload that is `refused` new pods, by a quota for example, gets
    none, or room would be kept for ever.
    """
    if refused:
        return 0
    gap = max(0, desired - present)
    return min(gap, 1) if in_order else gap
