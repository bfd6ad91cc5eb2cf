"""Pods for which kube-scheduler has preempted, and which it does not retry although there is room.

kube-scheduler 1.36 evicts in the background and retries the pod when its victim is deleted. If
another client deleted the victim (we, or another pod's preemption), kube-scheduler can miss that
moment, and the pod waits for up to five minutes. Every deletion of a bound or nominated pod makes
it retry, so a tiny latch is created, nominated and deleted. `bulk` needs this: it deletes pods that
kube-scheduler may be about to preempt.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from headroom.core.actions import CreateLatch, DeletePod, Nominate
from headroom.core.derived_names import dns_label
from headroom.core.holds import PREEMPTIBLE
from headroom.core.objects import Key, Parent, Pod
from headroom.core.plan import Sequence, Work
from headroom.core.resources import Resources
from headroom.core.subjects import Subject, Topic, pod_subject
from headroom.core.waits.backoff import backoff
from headroom.engine.ledger import Ledger
from headroom.scheduling.filters import feasible_on

SUBJECT = Subject(Topic.WAKING, "preemptors")
FIRST_PAUSE = timedelta(seconds=1)
"""How long kube-scheduler may leave a pod alone whose room is there: longer than its backoff."""

LONGEST_PAUSE = timedelta(minutes=1)
NEXT_TO_NOTHING = Resources({"cpu": 1})


@dataclass(slots=True)
class _Waiting:
    """A pod with a nomination, and when to look whether it still waits."""

    pod: Pod
    due: datetime | None = None
    tries: int = 0

    @property
    def pause(self) -> timedelta:
        return backoff(FIRST_PAUSE, self.tries, LONGEST_PAUSE)


class SchedulerRetries:
    """Pods that kube-scheduler has nominated and not yet bound."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._waiting: dict[Key, _Waiting] = {}

    def see(self, pod: Pod, waits: bool) -> None:
        """A pod is as given; `waits` says whether it is kube-scheduler's to place."""
        if not waits or not pod.nominated:
            self.lose(pod.key)
        elif pod.key in self._waiting:
            self._waiting[pod.key].pod = pod
        else:
            self._waiting[pod.key] = _Waiting(pod)
            self._ledger.agenda.touch(SUBJECT)

    def lose(self, key: Key) -> None:
        """A pod has a node, or is gone."""
        self._waiting.pop(key, None)

    def look(self, now: datetime) -> Iterator[Sequence]:
        """Have kube-scheduler look again, if a pod has waited too long beside its room."""
        parent = self._whose()
        if parent is None:
            return
        stuck = [each for each in self._waiting.values() if self._is_stuck(each, now)]
        for each in stuck:
            each.tries += 1
            each.due = now + each.pause
        due = [each.due for each in self._waiting.values() if each.due is not None]
        if due:
            self._ledger.agenda.later(SUBJECT, min(due))
        if stuck:
            yield self._wake(min(each.pod.nominated for each in stuck), parent)

    def _is_stuck(self, waiting: _Waiting, now: datetime) -> bool:
        if waiting.due is None or waiting.due > now:
            waiting.due = waiting.due or now + waiting.pause
            return False
        pod = waiting.pod
        if feasible_on(pod, pod.nominated, self._ledger.state) is None:
            return True
        waiting.due = now + FIRST_PAUSE  # Its victims are still there, or others are.
        return False

    def _whose(self) -> Parent | None:
        """The headroom on whose behalf we act; without one, others' preemptions are not ours."""
        headrooms = self._ledger.slots.headrooms
        names = sorted(name for name, each in headrooms.items() if each.mode == PREEMPTIBLE)
        return headrooms[names[0]].parent if names else None

    def _wake(self, node: str, parent: Parent) -> Sequence:
        key = Key(self._ledger.policy.namespace, dns_label("latch", node, "wake"))
        steps = (
            (CreateLatch(key, parent, NEXT_TO_NOTHING, node),),
            (Nominate(key, "", node),),
            (DeletePod(key, ""),),
        )
        return Sequence(Work.WAKE, (pod_subject(key),), steps)
