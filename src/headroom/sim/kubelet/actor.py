"""The kubelets: one for each node; they admit, start, stop and finish pods.

A kubelet receives its pods through a watch and keeps its own list: an admitted pod counts until its
object is deleted or it has ended. A rejection is final for that pod. A stopped kubelet does
nothing, like a machine without power; `controllers.nodes` notices the missing heartbeats.

    bound ──admitted──▶ starting ──▶ Running ──deleted with grace──▶ stopping ──▶ gone
      └──rejected──▶ Failed             └──finish──▶ Succeeded | Failed
"""

from __future__ import annotations

from asyncio import TimerHandle
from collections.abc import Callable
from dataclasses import dataclass, field

from headroom.core.objects import Pod
from headroom.core.resources import EMPTY, Resources
from headroom.sim.actor_context import ActorContext
from headroom.sim.api.decoder import changed_pod, node_of, pod_of
from headroom.sim.api.pods import FINISHED
from headroom.sim.api.store import ObjectChange, Verb
from headroom.sim.api.values import Json, Ref, dig, ref_of, uid_of
from headroom.sim.errors import SimulationError
from headroom.sim.kubelet.admission import rejection
from headroom.sim.kubelet.lifetimes import last_phase, lifetime, sleep_before_stop
from headroom.sim.kubelet.podstatus import failed, finished, reported_again, running


@dataclass(slots=True)
class Kubelet:
    """The state of one kubelet: the admitted pods, what they use, and the pending timers."""

    node: str
    stopped: bool = False
    pods: dict[str, Pod] = field(default_factory=dict)
    used: Resources = EMPTY
    timers: dict[str, TimerHandle] = field(default_factory=dict)

    def admit(self, pod: Pod) -> None:
        self.pods[pod.uid] = pod
        self.used = self.used + pod.requests

    def forget(self, uid: str) -> None:
        """Remove a pod from the list; an unknown pod is ignored."""
        pod = self.pods.pop(uid, None)
        if pod is not None:
            self.used = self.used - pod.requests
        timer = self.timers.pop(uid, None)
        if timer is not None:
            timer.cancel()


Todo = Callable[[Kubelet, Pod], None]


class Kubelets:
    """All kubelets of the cluster, with one watch."""

    def __init__(self, stage: ActorContext) -> None:
        self._stage = stage
        self._recorder = stage.recorder("kubelet")
        self._start_delay = stage.jitter("kubelet/start", stage.settings.pod_start)
        self._stop_delay = stage.jitter("kubelet/stop", stage.settings.pod_stop)
        self._write = stage.server.write_pod_status
        self._kubelets: dict[str, Kubelet] = {}
        stage.feed("kubelet", "Node", self._on_node)
        stage.feed("kubelet", "Pod", self._on_pod, self._concerns)

    def of(self, node: str) -> Kubelet:
        kubelet = self._kubelets.get(node)
        if kubelet is None:
            raise SimulationError(f"there is no node {node}")
        return kubelet

    def all(self) -> list[Kubelet]:
        return [self._kubelets[name] for name in sorted(self._kubelets)]

    def stop(self, node: str) -> None:
        """Stop a kubelet; containers continue, but no status is reported."""
        kubelet = self.of(node)
        kubelet.stopped = True
        for timer in kubelet.timers.values():
            timer.cancel()
        kubelet.timers.clear()

    def resume(self, node: str) -> None:
        """Start a kubelet again: it checks all its pods, and starts or ends what is due."""
        kubelet = self.of(node)
        if not kubelet.stopped:
            return
        kubelet.stopped = False
        here = {uid_of(obj): obj for obj in self._stage.pods.on_node(node)}
        for uid in [uid for uid in kubelet.pods if uid not in here]:
            kubelet.forget(uid)
        for obj in here.values():
            self._look(kubelet, pod_of(obj))

    def finish(self, ref: Ref, phase: str) -> None:
        """Let a pod's containers end."""
        obj = self._stage.server.get(ref)
        node = str(dig(obj, "spec", "nodeName") or "")
        if not node:
            raise SimulationError(f"{ref} cannot finish: it is on no node")
        self._write(obj, finished(obj, phase, self._stage.store.timestamp()))
        self.of(node).forget(uid_of(obj))

    def _on_node(self, change: ObjectChange) -> None:
        name = change.ref.name
        if change.verb is Verb.DELETED:
            kubelet = self._kubelets.pop(name, None)
            for timer in kubelet.timers.values() if kubelet else ():
                timer.cancel()
        elif name not in self._kubelets:
            ready = _ready_status(change.obj)
            self._kubelets[name] = Kubelet(name, stopped=ready in ("False", "Unknown"))
            for obj in self._stage.pods.on_node(name):
                self._look(self._kubelets[name], pod_of(obj))
        elif _ready_status(change.obj) == "True" != _ready_status(change.old or {}):
            self._report_again(self._kubelets[name])

    def _concerns(self, change: ObjectChange) -> bool:
        """Whether a pod is on a node; of one that has ended only a kubelet that counts it hears."""
        pod = changed_pod(change)
        if not pod.finished:
            return pod.node != ""
        kubelet = self._kubelets.get(pod.node)
        gone = change.verb is Verb.DELETED
        return not gone and kubelet is not None and pod.uid in kubelet.pods

    def _on_pod(self, change: ObjectChange) -> None:
        pod = changed_pod(change)
        kubelet = self._kubelets.get(pod.node)
        if kubelet is None or kubelet.stopped:
            return
        if change.verb is Verb.DELETED:
            kubelet.forget(pod.uid)
        else:
            self._look(kubelet, pod)

    def _look(self, kubelet: Kubelet, pod: Pod) -> None:
        """Do what the state of a pod requires of its kubelet."""
        if pod.finished:
            kubelet.forget(pod.uid)
        elif pod.deleted is not None:
            self._stop_pod(kubelet, pod)
        elif pod.uid in kubelet.pods:
            if pod.uid not in kubelet.timers:
                self._go_on(kubelet, pod)
        else:
            self._admit(kubelet, pod)

    def _admit(self, kubelet: Kubelet, pod: Pod) -> None:
        node = self._stage.store.find("Node", "", kubelet.node)
        obj = self._current(pod)
        if node is None or obj is None or pod_of(obj).finished:
            return
        refused = rejection(pod, node_of(node), kubelet.pods.values(), kubelet.used)
        if refused is not None:
            self._write(obj, failed(obj, refused, self._stage.store.timestamp()))
            self._recorder.record(obj, "Warning", refused.reason, refused.message)
            return
        kubelet.admit(pod)
        self._go_on(kubelet, pod)

    def _go_on(self, kubelet: Kubelet, pod: Pod) -> None:
        """Start a pod's containers, or set the timer of their end."""
        if pod.phase == "Pending":
            self._later(kubelet, pod, self._start_delay(), self._run)
            return
        obj = self._current(pod)
        given = lifetime(obj) if obj is not None and pod.phase == "Running" else None
        if given is not None:
            lived = self._stage.clock.now() - (pod.started or self._stage.clock.now())
            left = max(0.0, given - lived.total_seconds())
            self._later(kubelet, pod, left, self._complete)

    def _complete(self, kubelet: Kubelet, pod: Pod) -> None:
        obj = self._current(pod)
        if obj is not None and pod_of(obj).phase == "Running":
            phase = last_phase(obj)
            kubelet.forget(pod.uid)
            self._write(obj, finished(obj, phase, self._stage.store.timestamp()), phase=phase)

    def _report_again(self, kubelet: Kubelet) -> None:
        """Report pods as ready again that were set to not ready meanwhile."""
        if kubelet.stopped:
            return
        for obj in self._stage.pods.on_node(kubelet.node):
            if dig(obj, "status", "phase") == "Running":
                self._write(obj, reported_again(obj, self._stage.store.timestamp()))

    def _run(self, kubelet: Kubelet, pod: Pod) -> None:
        obj = self._current(pod)
        if obj is not None and pod_of(obj).phase == "Pending":
            started = self._stage.clock.now().replace(microsecond=0)
            status = running(obj, self._stage.store.timestamp())
            self._write(obj, status, phase="Running", started=started)

    def _stop_pod(self, kubelet: Kubelet, pod: Pod) -> None:
        """Give the containers their grace period once; then the pod is deleted."""
        if pod.uid not in kubelet.pods:
            kubelet.admit(pod)  # It was deleted before we received it: we report its end.
        grace, sleep = float(pod.grace_seconds), sleep_before_stop(self._current(pod) or {})
        # After a hook, containers get their time even if no grace period is left.
        delay = min(sleep, grace) + min(self._stop_delay(), grace)
        timer = kubelet.timers.pop(pod.uid, None)
        if timer is not None:
            timer.cancel()
            delay = max(0.0, min(delay, timer.when() - self._stage.loop.now))
        self._later(kubelet, pod, delay, self._remove)

    def _remove(self, kubelet: Kubelet, pod: Pod) -> None:
        obj = self._current(pod)
        if obj is None:
            return
        if dig(obj, "status", "phase") not in FINISHED:
            self._write(obj, finished(obj, "Succeeded", self._stage.store.timestamp()))
        kubelet.forget(pod.uid)
        self._stage.server.delete(ref_of(obj), grace=0, uid=pod.uid)

    def _later(self, kubelet: Kubelet, pod: Pod, delay: float, what: Todo) -> None:
        later = self._stage.loop.call_later
        kubelet.timers[pod.uid] = later(delay, self._due, kubelet, pod, what)

    def _due(self, kubelet: Kubelet, pod: Pod, what: Todo) -> None:
        kubelet.timers.pop(pod.uid, None)
        what(kubelet, pod)

    def _current(self, pod: Pod) -> Json | None:
        """The stored pod, if it is still the same one."""
        obj = self._stage.store.find("Pod", pod.key.namespace, pod.key.name)
        return obj if obj is not None and obj["metadata"]["uid"] == pod.uid else None


def _ready_status(node: Json) -> str:
    for condition in dig(node, "status", "conditions") or ():
        if condition.get("type") == "Ready":
            return str(condition.get("status"))
    return ""
