"""The writes of kube-scheduler: bindings, conditions, nominations, evictions and events.

All requests except events share the client limit of the real scheduler (QPS 50, burst 100 by
default), which limits a burst. Messages and reasons are kube-scheduler's own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from headroom.core.objects import Pod
from headroom.sim.actor_context import ActorContext, TokenBucket
from headroom.sim.api.events import NORMAL, WARNING
from headroom.sim.api.values import (
    Json,
    Ref,
    condition_of,
    dig,
    disrupted,
    drop,
    new_condition,
    uid_of,
    with_condition,
)
from headroom.sim.scheduler.view import NAME
from headroom.wire.objects.volumes import SELECTED_NODE


class SchedulerWriter:
    """Sends the scheduler's requests, each after the rate limit and its network delay."""

    def __init__(self, stage: ActorContext) -> None:
        settings = stage.settings
        self._stage = stage
        self._delay = stage.jitter("scheduler/write", settings.write_delay)
        self._limit = TokenBucket(stage.loop, settings.scheduler_qps, settings.scheduler_burst)
        self._recorder = stage.recorder(NAME)

    def later(self, request: Callable[..., None], *args: Any) -> None:
        """Run a request when the rate limit allows it."""
        self._stage.loop.call_later(self._limit.wait() + self._delay(), request, *args)

    def bind(self, pod: Pod, node: str) -> None:
        """Bind a pod and record an event; an ApiError if the API server refuses."""
        binding = {
            "metadata": {"uid": pod.uid},
            "target": {"kind": "Node", "name": node},
        }
        bound = self._stage.server.bind(_ref(pod), binding)
        words = f"Successfully assigned {pod.key} to {node}"
        self._recorder.record(bound, NORMAL, "Scheduled", words)

    def select_node(self, pod: Pod, claims: tuple[str, ...], node: str) -> None:
        """Set the selected node on claims that wait for the first consumer."""
        for name in claims:
            ref = Ref("PersistentVolumeClaim", pod.key.namespace, name)
            claim = self._stage.store.get(ref)
            if claim is not None and dig(claim, "metadata", "annotations", SELECTED_NODE) != node:
                marks = {"metadata": {"annotations": {SELECTED_NODE: node}}}
                self._stage.server.merge_patch(ref, marks)

    def tell_failure(self, pod: Pod, message: str) -> Json | None:
        """Record an event that a pod fits nowhere, and return the pod as it is stored."""
        obj = self._current(pod)
        if obj is not None:
            self._recorder.record(obj, WARNING, "FailedScheduling", message)
        return obj

    def needs_report(self, pod: Pod, message: str, nominated: str) -> bool:
        """Whether the API server does not have this result yet."""
        obj = self._current(pod)
        return obj is not None and _reported(obj, message, nominated, "") != obj.get("status")

    def report(self, pod: Pod, message: str, nominated: str) -> None:
        """Write why a pod is not placed, and its nominated node, if any."""
        obj = self._current(pod)
        if obj is None or dig(obj, "spec", "nodeName"):
            return
        status = _reported(obj, message, nominated, self._stage.store.timestamp())
        self._stage.server.write_pod_status(obj, status)

    def denominate(self, pod: Pod) -> None:
        """Remove the nomination of a pod that a more important pod has displaced."""
        obj = self._current(pod)
        if obj is not None and dig(obj, "status", "nominatedNodeName"):
            self._stage.server.update(drop(obj, "status", "nominatedNodeName"), "status")

    def evict(self, victim: Pod, preemptor: Pod, node: str) -> bool:
        """Delete a victim of preemption; return whether it still existed."""
        obj = self._current(victim)
        if obj is None or dig(obj, "metadata", "deletionTimestamp"):
            return obj is not None
        why = f"{NAME}: preempting to accommodate a higher priority pod"
        now = self._stage.store.timestamp()
        status = disrupted(obj, "PreemptionByScheduler", why, now)
        marked = self._stage.server.write_pod_status(obj, status)
        words = f"Preempted by pod {preemptor.uid} on node {node}"
        self._recorder.record(marked, NORMAL, "Preempted", words)
        self._stage.server.delete(_ref(victim), uid=victim.uid)
        return True

    def _current(self, pod: Pod) -> Json | None:
        obj = self._stage.store.find("Pod", pod.key.namespace, pod.key.name)
        return obj if obj is not None and uid_of(obj) == pod.uid else None


def _reported(obj: Json, message: str, nominated: str, now: str) -> Json:
    condition = new_condition("PodScheduled", False, "Unschedulable", message)
    old = condition_of(obj, "PodScheduled")
    same = old is not None and all(old.get(name) == value for name, value in condition.items())
    status = dict(obj.get("status") or {})
    if not same:
        status = with_condition(status, condition, now)
    status.pop("nominatedNodeName", None)
    if nominated:
        status["nominatedNodeName"] = nominated
    return status


def _ref(pod: Pod) -> Ref:
    return Ref("Pod", pod.key.namespace, pod.key.name)
