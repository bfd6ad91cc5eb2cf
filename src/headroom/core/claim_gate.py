"""Decide whether a new pod waits at our gate: the one rule for all admission components.

The webhook and the embedded API server call this function. The admission policy of `wire.policy`
says the same in CEL, and tests compare the two. An owner rule may match the pod (in a namespace
with the label), or the pod asks by an annotation of a dialect (in almost any namespace). In both
cases the namespace's claim index must contain it and be fresh. Each refusal has a reason.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import dataclass
from datetime import datetime

from headroom.core.names import CLAIM_GATE, DEFAULT_SCHEDULER_NAME, ROLE_LABEL
from headroom.core.objects import Pod
from headroom.core.owners import asking_key, pod_keys


@dataclass(frozen=True, slots=True)
class ClaimIndex:
    """What admission knows about a namespace, and until when this is valid."""

    keys: Container[str]
    fresh_until: datetime
    priority: int | None = None

    def names(self, pod: Pod) -> bool:
        """Whether an owner rule of the namespace may mean this pod."""
        if self.priority is not None and pod.priority >= self.priority:
            return True
        return any(key in self.keys for key in pod_keys(pod, asked=False))


def claim_refusal(pod: Pod, index: ClaimIndex | None, at: datetime | None) -> str | None:
    """Why a new pod of a namespace that has opted in gets no gate, or None if it gets one.

    `at` is when the pod was created, as far as anybody knows.
    """
    refusal = _unconcerned(pod)
    if refusal is not None:
        return refusal
    if index is None or not _fresh(index, at):
        return _stale(index)
    if index.names(pod):
        return None
    return "no owner rule here could mean it"


def asking_pod_refusal(
    pod: Pod, index: ClaimIndex | None, at: datetime | None, asks: Iterable[str]
) -> str | None:
    """Why a new pod that may ask by one of these annotations gets no gate, or None."""
    asked = [name for name in asks if name in pod.annotations]
    if not asked:
        return "it asks for nothing"
    refusal = _unconcerned(pod)
    if refusal is not None:
        return refusal
    if index is None or not _fresh(index, at):
        return _stale(index)
    if any(asking_key(name) in index.keys for name in asked):
        return None
    return "there is nothing here that could be asked for"


def _unconcerned(pod: Pod) -> str | None:
    if pod.node:
        return f"it has its node, {pod.node}"
    if pod.scheduler != DEFAULT_SCHEDULER_NAME:
        return f"it is for {pod.scheduler}"
    if ROLE_LABEL in pod.labels:
        return "it is one of our own"
    if CLAIM_GATE in pod.gates:
        return "it has the gate already"
    return None


def _fresh(index: ClaimIndex, at: datetime | None) -> bool:
    return at is not None and at < index.fresh_until


def _stale(index: ClaimIndex | None) -> str:
    """An index that has expired gates no pods: the operator may be gone."""
    if index is None:
        return "its namespace has no claim index"
    return f"the claim index is too old: it was good until {index.fresh_until.isoformat()}"
