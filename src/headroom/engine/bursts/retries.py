"""Pods for which kube-scheduler has preempted, and which it does not retry although there is room.

kube-scheduler 1.36 evicts in the background and retries the pod when its victim is deleted. If
another client deleted the victim (we, or another pod's preemption), kube-scheduler can miss that
moment, and the pod waits for up to five minutes. Every deletion of a bound or nominated pod makes
it retry, so a tiny latch is created, nominated and deleted. `bulk` needs this: it deletes pods that
kube-scheduler may be about to preempt.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta

from headroom.core.actions import CreateLatch, DeletePod, Nominate
from headroom.core.derived_names import dns_label
from headroom.core.holds import PREEMPTIBLE
from headroom.core.index_entries import By
from headroom.core.objects import Key, Parent
from headroom.core.plan import Sequence, Work
from headroom.core.pod_memory import PodMemory
from headroom.core.resources import Resources
from headroom.core.subjects import RETRIES, pod_subject
from headroom.core.waits.backoff import backoff
from headroom.engine.ledger import Ledger
from headroom.scheduling.filters import feasible_on

FIRST_PAUSE = timedelta(seconds=1)
"""How long kube-scheduler may leave a pod alone whose room is there: longer than its backoff."""

LONGEST_PAUSE = timedelta(minutes=1)
NEXT_TO_NOTHING = Resources({"cpu": 1})


def look(ledger: Ledger, now: datetime) -> Iterator[Sequence]:
    """Have kube-scheduler look again, if a pod has waited too long beside its room."""
    parent = _whose(ledger)
    if parent is None:
        return
    stuck: list[str] = []
    due: list[datetime] = []
    for pod in ledger.having(By.PREEMPTING, ""):
        memory = ledger.pod_memory[pod.uid]
        waited = memory.retry_at is not None and memory.retry_at <= now
        fits = waited and feasible_on(pod, pod.nominated, ledger.state) is None
        retry_at, retries = _next(memory, waited, fits, now)
        ledger.pod_memory[pod.uid] = replace(memory, retry_at=retry_at, retries=retries)
        due.append(retry_at)
        stuck += [pod.nominated] if fits else []
    if due:
        ledger.agenda.later(RETRIES, min(due))
    if stuck:
        yield _wake(min(stuck), parent, ledger.policy.namespace)


def _next(memory: PodMemory, waited: bool, fits: bool, now: datetime) -> tuple[datetime, int]:
    """When to look at a pod again, and how often kube-scheduler was made to look by then."""
    retries = memory.retries + fits
    if waited and not fits:  # Its victims are still there, or others are.
        return now + FIRST_PAUSE, retries
    later = now + backoff(FIRST_PAUSE, retries, LONGEST_PAUSE)
    return later if fits else memory.retry_at or later, retries


def _whose(ledger: Ledger) -> Parent | None:
    """The headroom on whose behalf we act; without one, others' preemptions are not ours."""
    headrooms = ledger.slots.headrooms
    names = sorted(name for name, each in headrooms.items() if each.mode == PREEMPTIBLE)
    return headrooms[names[0]].parent if names else None


def _wake(node: str, parent: Parent, namespace: str) -> Sequence:
    key = Key(namespace, dns_label("latch", node, "wake"))
    steps = (
        (CreateLatch(key, parent, NEXT_TO_NOTHING, node),),
        (Nominate(key, "", node),),
        (DeletePod(key, ""),),
    )
    return Sequence(Work.WAKE, (pod_subject(key),), steps)
