"""kube-scheduler: one pod at a time is filtered, scored, assumed and bound, or preempts others.

`headroom.scheduling` has the rules, `view` the observed state, `writer` the writes. This module has
the process: a cycle takes some time, a chosen pod is assumed at once and bound a little later, and
a pod without a node waits until a change could help.
"""

from __future__ import annotations

from asyncio import TimerHandle
from random import Random

from headroom.core.objects import Pod
from headroom.scheduling.choose import ChosenNode, Unschedulable
from headroom.scheduling.filters import refused
from headroom.scheduling.pod_shapes import KnownRefusal, KnownShapes, PodShape
from headroom.scheduling.preempt import Futile, Preemption, explanation, preempt
from headroom.scheduling.reasons import NODE_AFFINITY_CONFLICT
from headroom.sim.actor_context import ActorContext
from headroom.sim.errors import ApiError
from headroom.sim.loop import to_micros
from headroom.sim.scheduler.queue import QueuedPod
from headroom.sim.scheduler.view import View
from headroom.sim.scheduler.writer import SchedulerWriter

_BINDING_POLL = 1.0
_BINDING_TRIES = 600
_OFFSETS = 2**16


class Scheduler:
    """The default scheduler of the embedded cluster."""

    def __init__(self, stage: ActorContext) -> None:
        self._stage = stage
        self._loop = stage.loop
        self._cycle = stage.jitter("scheduler/cycle", stage.settings.cycle)
        self._random = Random(f"{stage.seed}/scheduler/tie")
        self._writer = SchedulerWriter(stage)
        self._start = 0
        self._end = 0.0  # of the cycle that is running
        self._retry: TimerHandle | None = None
        self._flush: TimerHandle | None = None
        self._busy = True  # until everything that existed at the start was received
        self.view = View(stage, self._kick)
        self._shapes = KnownShapes(self.view.state)
        synced = self._loop.now + 2 * stage.settings.watch_delay[1]
        self._loop.call_at(synced, self._next)

    def _next(self) -> None:
        self._busy = False
        self._kick()

    def _kick(self) -> None:
        """Start the next cycle if none is running and a pod can be tried."""
        if self._busy:
            return
        entry = self._begin()
        if entry is not None:
            self._loop.set_timer(self._end, self._decide, entry)

    def _begin(self) -> QueuedPod | None:
        """Begin the cycle of the next pod, which ends at `_end`; None if no pod can be tried."""
        entry = self.view.queue.pop(self._loop.now)
        if entry is None:
            self._arm_retry()
            return None
        self._busy = True
        self.view.freeze()
        self._end = to_micros(self._loop.now + self._cycle())
        return entry

    def _decide(self, entry: QueuedPod) -> None:
        """End a cycle, and go on with the next ones as long as nothing else happens before."""
        upcoming: QueuedPod | None = entry
        while upcoming is not None:
            if self.view.queue.get(upcoming.pod.key) is upcoming:
                self._place(upcoming)
            self.view.thaw()
            self._arm_flush()
            self._busy = False
            upcoming = self._begin()
            if upcoming is not None and not self._loop.jump_to(self._end):
                self._loop.set_timer(self._end, self._decide, upcoming)
                return

    def _place(self, entry: QueuedPod) -> None:
        for what in entry.pod.unsupported:  # Device claims have no effect on its placement.
            self._stage.server.note(f"Pod/{entry.pod.key}: placed as if it had no {what}")
        shape = self._shape_of(entry)
        known = self._shapes.refused(entry.pod, self._start, shape)
        if known is not None:
            self._start = known[1]
            self._random.randrange(_OFFSETS)  # as in preemption: keeps the sequence
            self._put_to_sleep(entry, known[0])
            return
        pod, problem = self.view.volumes.judged(entry.pod)
        answer: ChosenNode | Unschedulable
        if problem:
            answer = Unschedulable(refused(pod, self.view.state, problem), self._start)
        else:
            shape = shape if pod is entry.pod else None
            answer = self._shapes.pick(pod, self._start, self._random.choice, shape)
        self._start = answer.next_start
        if isinstance(answer, ChosenNode):
            self.view.queue.remove(pod.key)
            self.view.assume(pod, answer.node)
            self._writer.later(self._bind, entry, answer.node)
        else:
            self._fail(entry, answer)

    def _shape_of(self, entry: QueuedPod) -> PodShape | None:
        """The own shape of a pod, found once: a pod may be tried thousands of times."""
        if entry.shape is None or entry.shape[0] is not entry.pod:
            entry.shape = entry.pod, self._shapes.own(entry.pod)
        return entry.shape[1]

    def _bind(self, entry: QueuedPod, node: str, tries: int = _BINDING_TRIES) -> None:
        pod = entry.pod
        unbound = self.view.volumes.waiting(pod)
        if unbound and tries and self._still_waits(pod):
            self._writer.select_node(pod, unbound, node)
            self._loop.call_later(_BINDING_POLL, self._bind, entry, node, tries - 1)
            return
        try:
            if not unbound:
                self._writer.bind(pod, node)
                return
        except ApiError:
            pass  # Another client was faster, or it was deleted; the current state is read below.
        self._take_back(entry)

    def _still_waits(self, pod: Pod) -> bool:
        waiting = self.view.pending(pod.key)
        return waiting is not None and waiting.uid == pod.uid

    def _take_back(self, entry: QueuedPod) -> None:
        """Undo a choice that could not be written, and retry the pod if it still waits."""
        pod = entry.pod
        self.view.forget(pod.key)
        waiting = self.view.pending(pod.key)
        if waiting is not None and waiting.uid == pod.uid:
            self.view.queue.restore(entry)
            self.view.queue.retry(entry, self._loop.now)
        elif waiting is not None:  # Another pod with the same name.
            self.view.reconsider(waiting)
        self._kick()

    def _fail(self, entry: QueuedPod, answer: Unschedulable) -> None:
        """Mark a pod as unschedulable, and preempt for it if that helps."""
        pod = entry.pod
        offset = self._random.randrange(_OFFSETS)
        found = answer.feasibility
        outcome = preempt(pod, self.view.state, self.view.budgets(), found, offset)
        message = explanation(found, outcome)
        if found.refused not in ("", NODE_AFFINITY_CONFLICT):
            # Refused for its volumes: later plugins report that they miss the volumes' state.
            message = found.message(after="not found")
        why = KnownRefusal(frozenset(answer.reasons), message)
        if isinstance(outcome, Futile) and not found.refused:
            self._shapes.remember(pod, why)
            entry.shape = None  # the one that was remembered may be another object
        self._put_to_sleep(entry, why, outcome)

    def _put_to_sleep(
        self, entry: QueuedPod, why: KnownRefusal, outcome: Preemption | Futile | None = None
    ) -> None:
        """Let a pod wait for a change; without an outcome no nomination is written."""
        pod = entry.pod
        entry.seen = self.view.changes
        self.view.queue.fail(entry, why.reasons, self._loop.now)
        obj = self._writer.tell_failure(pod, why.message)
        nominated = "" if outcome is None else self._nominate(pod, outcome)
        if not nominated and entry.reported is obj and entry.report == why.message:
            return
        if self._writer.needs_report(pod, why.message, nominated):
            self._writer.later(self._writer.report, pod, why.message, nominated)
        elif not nominated:
            entry.reported, entry.report = obj, why.message

    def _nominate(self, pod: Pod, outcome: Preemption | Futile) -> str:
        """Nominate the pod to the node of its victims, and evict them."""
        if isinstance(outcome, Futile):
            if "terminating pod" in outcome.message:
                return pod.nominated
            self.view.state.unnominate(pod.key)
            return ""
        self.view.state.nominate(pod, outcome.node)
        for loser in outcome.outbid:
            self.view.state.unnominate(loser.key)
            self._writer.later(self._writer.denominate, loser)
        self.view.block(pod.key, (victim.key for victim in outcome.victims))
        for victim in outcome.victims:
            self._writer.later(self._evict, victim, pod, outcome.node)
        return outcome.node

    def _evict(self, victim: Pod, preemptor: Pod, node: str) -> None:
        # Before the last victim is deleted, so that its end is not missed.
        self.view.unblock(preemptor.key, victim.key)
        if not self._writer.evict(victim, preemptor, node):
            self.view.wake(lambda entry: entry.pod.key == preemptor.key)  # No victim will end.

    def _arm_retry(self) -> None:
        due = self.view.queue.next_retry()
        if due is not None and self._retry is None:
            self._retry = self._loop.call_at(max(due, self._loop.now), self._retry_now)

    def _retry_now(self) -> None:
        self._retry = None
        self._kick()

    def _arm_flush(self) -> None:
        """Retry unschedulable pods after five minutes, if anything has changed since."""
        if self._flush is not None:
            return
        oldest = self.view.queue.longest_asleep()
        missed = [entry.failed_at for entry in oldest if self._has_missed(entry)]
        if missed:
            due = max(self._loop.now, min(missed) + self._stage.settings.flush_after)
            self._flush = self._loop.call_at(due, self._flush_now)

    def _flush_now(self) -> None:
        self._flush = None
        oldest = to_micros(self._loop.now - self._stage.settings.flush_after)
        self.view.wake(lambda entry: entry.failed_at <= oldest and self._has_missed(entry))
        self._arm_flush()

    def _has_missed(self, entry: QueuedPod) -> bool:
        return entry.seen != self.view.changes
