"""Pods for which kube-scheduler has preempted, and which it does not retry although there is room.

kube-scheduler 1.36 evicts in the background and retries the pod when its victim is deleted. If
another client deleted the victim (we, or another pod's preemption), kube-scheduler can miss that
moment, and the pod waits for up to five minutes. Every deletion of a bound or nominated pod makes
it retry, so a tiny latch is created, nominated and deleted. Bursts need this: for them we delete
pods that kube-scheduler may be about to preempt.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from headroom.core.actions import CreateLatch, DeletePod, Nominate
from headroom.core.derived_names import dns_label
from headroom.core.objects import Key, Parent, Pod
from headroom.core.plan import Sequence, Work
from headroom.core.pod_memory import PodMemory
from headroom.core.resources import Resources
from headroom.core.subjects import pod_subject
from headroom.core.waits.backoff import backoff

FIRST_PAUSE = timedelta(seconds=1)
"""How long kube-scheduler may leave a pod alone whose room is there: longer than its backoff."""

LONGEST_PAUSE = timedelta(minutes=1)
NEXT_TO_NOTHING = Resources({"cpu": 1})

Fits = Callable[[Pod], bool]
"""Whether a pod has room on the node that it is nominated to."""


@dataclass(frozen=True, slots=True)
class RetryDecision:
    """What to remember of the pods, by uid, and when to look again.

    `node` is where a pod has waited too long beside its room: kube-scheduler is to look again.
    """

    memories: Mapping[str, PodMemory]
    wake_at: datetime | None = None
    node: str = ""


def decide(preempting: Iterable[tuple[Pod, PodMemory]], fits: Fits, now: datetime) -> RetryDecision:
    """Whether kube-scheduler has left a pod alone for too long."""
    memories: dict[str, PodMemory] = {}
    stuck: list[str] = []
    for pod, memory in preempting:
        waited = memory.retry_at is not None and memory.retry_at <= now
        has_room = waited and fits(pod)
        retry_at, retries = _next(memory, waited, has_room, now)
        memories[pod.uid] = replace(memory, retry_at=retry_at, retries=retries)
        stuck += [pod.nominated] if has_room else []
    times = (memory.retry_at for memory in memories.values() if memory.retry_at is not None)
    return RetryDecision(memories, min(times, default=None), min(stuck, default=""))


def wake(node: str, parent: Parent, namespace: str) -> Sequence:
    """Have kube-scheduler look again at a node."""
    key = Key(namespace, dns_label("latch", node, "wake"))
    steps = (
        (CreateLatch(key, parent, NEXT_TO_NOTHING, node),),
        (Nominate(key, "", node),),
        (DeletePod(key, ""),),
    )
    return Sequence(Work.WAKE, (pod_subject(key),), steps)


def _next(memory: PodMemory, waited: bool, fits: bool, now: datetime) -> tuple[datetime, int]:
    """When to look at a pod again, and how often kube-scheduler was made to look by then."""
    retries = memory.retries + fits
    if waited and not fits:  # Its victims are still there, or others are.
        return now + FIRST_PAUSE, retries
    later = now + backoff(FIRST_PAUSE, retries, LONGEST_PAUSE)
    return later if fits else memory.retry_at or later, retries
