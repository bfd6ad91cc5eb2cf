"""Pods on a node that may have to end: who gets their room, and which of them are spared."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from headroom.core.actions import EndPod, MarkPreempted
from headroom.core.holds import Hold
from headroom.core.names import CLUSTER_NAMESPACES, ROLE_LABEL
from headroom.core.objects import Key, Pod
from headroom.core.plan import Step
from headroom.core.statuses import tell_pod

NOT_STARTED = datetime.max.replace(tzinfo=UTC)
"""A pod without a start time counts as started just now."""


@dataclass(frozen=True, slots=True)
class Occupant:
    """A pod, and the hold that it has a claim on, if its claim stands."""

    pod: Pod
    hold: Hold | None = None

    @property
    def goes_back(self) -> bool:
        """Whether the room of the pod belongs to a hold: it is a guardian, or returns its room."""
        if ROLE_LABEL in self.pod.labels:
            return True
        return self.hold is not None and not (self.hold.terminal or self.hold.allocate_once)


def importance(pod: Pod) -> tuple[int, datetime, Key]:
    """Order pods from the most important: higher priority, then older, then by name."""
    return -pod.priority, pod.started or NOT_STARTED, pod.key


def may_end(pod: Pod, below: int) -> bool:
    """Whether a pod may be ended for something of this priority.

    Never a pod of ours, of the cluster's own namespaces, or one that asks to be spared.
    """
    return (
        pod.priority < below
        and not pod.spared
        and ROLE_LABEL not in pod.labels
        and pod.key.namespace not in CLUSTER_NAMESPACES
    )


def without_spared(
    gone: frozenset[Key], pods: Iterable[Pod], suffices: Callable[[frozenset[Key]], bool]
) -> frozenset[Key]:
    """Spare as many of these as possible, the first ones first."""
    for pod in pods:
        if suffices(gone - {pod.key}):
            gone = gone - {pod.key}
    return gone


def steps_to_end(pods: Iterable[Pod], why: str, now: datetime) -> tuple[Step, ...]:
    """Mark pods as preempted, end each with its own grace period, and tell their users."""
    ending = tuple(pods)
    return (
        tuple(MarkPreempted(pod.key, pod.uid, f"preempted {why}", now) for pod in ending),
        tuple(EndPod(pod.key, pod.uid, now) for pod in ending),
        tuple(tell_pod(pod, "Preempted", why, now) for pod in ending),
    )
