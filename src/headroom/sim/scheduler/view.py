"""The state that the scheduler knows: nodes and pods at the start of a cycle, nominations live.

kube-scheduler takes a snapshot of the nodes when the cycle of a pod begins, but reads nominations
live. Handovers depend on this, so it is modelled exactly: while a cycle runs, changes of bound pods
and nodes wait until it is over (`freeze`, `thaw`), changes of nominations do not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from headroom.core.eviction.budgets import Budget
from headroom.core.objects import Key, Namespace, Node, Pod
from headroom.scheduling import reasons
from headroom.scheduling.state import ClusterState
from headroom.sim.actor_context import ActorContext
from headroom.sim.api.decoder import changed_node, changed_pod
from headroom.sim.api.store import ObjectChange, Verb
from headroom.sim.api.values import dig
from headroom.sim.scheduler.queue import QueuedPod, SchedulingQueue
from headroom.sim.scheduler.volumes import VolumeView
from headroom.sim.selectors import selector_from

NAME = "default-scheduler"

_BY_NODE_ALONE = frozenset(
    (
        reasons.UNSCHEDULABLE,
        reasons.NODE_NAME,
        reasons.TAINT,
        reasons.NODE_AFFINITY,
        reasons.NODE_AFFINITY_NAMES,
        reasons.NODE_AFFINITY_CONFLICT,
        reasons.VOLUME_REACH,
    )
)
_BY_COMPANY = frozenset((reasons.AFFINITY, reasons.SPREAD, reasons.SPREAD_LABEL))


class View:
    """Cluster state, nominations and the queue, fed by watches; `kick` is called for new work."""

    def __init__(self, stage: ActorContext, kick: Callable[[], None]) -> None:
        self.state = ClusterState()
        self.queue = SchedulingQueue()
        self.changes = 0
        self._loop = stage.loop
        self._store = stage.store
        self._kick = kick
        self._pending: dict[Key, Pod] = {}
        self._assumed: set[Key] = set()
        self._blocked: dict[Key, list[Key]] = {}
        self._frozen = False
        self._late: list[Callable[[], None]] = []
        stage.feed("scheduler", "Namespace", self._on_namespace)
        stage.feed("scheduler", "Node", self._on_node)
        stage.feed("scheduler", "Pod", self._on_pod, _concerns_a_scheduler)
        stage.feed("scheduler", "ReplicaSet", self._on_controller)
        stage.feed("scheduler", "StatefulSet", self._on_controller)
        stage.feed("scheduler", "Service", self._on_service)
        self.volumes = VolumeView(stage, "scheduler", self._volumes_changed)
        self.state.storage = self.volumes.storage

    def pending(self, key: Key) -> Pod | None:
        """A pod of this scheduler that has no node, as far as known."""
        return self._pending.get(key)

    def reconsider(self, pod: Pod) -> None:
        """Queue a waiting pod that was skipped while a pod of its name was assumed on a node."""
        self._waiting(pod, born=True)

    def freeze(self) -> None:
        """Take the snapshot of a cycle."""
        self._frozen = True

    def thaw(self) -> None:
        """Apply the changes that arrived during the cycle."""
        self._frozen = False
        late, self._late = self._late, []
        for change in late:
            change()

    def assume(self, pod: Pod, node: str) -> None:
        """Count a pod on a node before its binding is written."""
        self._assumed.add(pod.key)
        self.state.add_pod(pod, node)

    def forget(self, key: Key) -> None:
        """Undo an assumption."""
        if key in self._assumed:
            self._assumed.discard(key)
            self.state.remove_pod(key)
            self._pod_left()

    def block(self, key: Key, victims: Iterable[Key]) -> None:
        """Do not retry a pod until all of these victims are being deleted."""
        self._blocked[key] = list(victims)

    def unblock(self, key: Key, victim: Key) -> None:
        """One victim is being deleted; the others still block the pod."""
        left = [each for each in self._blocked.pop(key, ()) if each != victim]
        if left:
            self._blocked[key] = left

    def wake(
        self,
        helps: Callable[[QueuedPod], bool] | None = None,
        among: Callable[[frozenset[str]], bool] | None = None,
    ) -> None:
        """Retry unschedulable pods that a change may help, by their reasons or one by one."""
        self.queue.wake(self._unblocked(helps) if self._blocked else helps, self._loop.now, among)
        self._kick()

    def _unblocked(self, helps: Callable[[QueuedPod], bool] | None) -> Callable[[QueuedPod], bool]:
        return lambda entry: not self._is_blocked(entry.pod.key) and (helps is None or helps(entry))

    def _is_blocked(self, key: Key) -> bool:
        """As in kube-scheduler, a last victim that is deleted by itself does not block the pod."""
        left = self._blocked.get(key, ())
        if len(left) != 1:
            return bool(left)
        last = self.state.pod(left[0])
        return last is not None and last.deleted is None

    def budgets(self) -> list[Budget]:
        """The disruption budgets, as their controller last wrote them."""
        return [
            Budget(
                Key(str(dig(item, "metadata", "namespace")), str(dig(item, "metadata", "name"))),
                selector_from(dig(item, "spec", "selector")),
                int(dig(item, "status", "disruptionsAllowed") or 0),
                frozenset(dig(item, "status", "disruptedPods") or ()),
            )
            for item in self._store.list("PodDisruptionBudget")
        ]

    def _soon(self, change: Callable[[], None]) -> None:
        if self._frozen:
            self._late.append(change)
        else:
            change()

    def _on_pod(self, change: ObjectChange) -> None:
        pod = changed_pod(change)
        if change.verb is Verb.DELETED or pod.finished:
            self._gone(pod)
        elif pod.node:
            self._bound(pod)
        elif pod.scheduler == NAME:
            self._waiting(pod, born=change.verb is Verb.ADDED)

    def _gone(self, pod: Pod) -> None:
        self.queue.remove(pod.key)
        known = self._pending.pop(pod.key, None)
        if known is not None and known.nominated:
            self._unnominate(pod)
        self.state.unnominate(pod.key)
        if pod.node:
            self._soon(lambda: self._remove(pod))

    def _remove(self, pod: Pod) -> None:
        self._assumed.discard(pod.key)
        if self.state.pod(pod.key) is not None:
            self.state.remove_pod(pod.key)
            self._pod_left()

    def _bound(self, pod: Pod) -> None:
        self.queue.remove(pod.key)
        if self._pending.pop(pod.key, None) is not None:
            self.state.unnominate(pod.key)
        self._soon(lambda: self._add(pod))

    def _add(self, pod: Pod) -> None:
        assumed = pod.key in self._assumed
        self._assumed.discard(pod.key)
        before = self.state.pod(pod.key)
        self.state.add_pod(pod)
        # As in kube-scheduler, a pod that it bound itself is added with its event.
        if assumed or before is None or before.labels != pod.labels:
            self.changes += 1
            self.wake(among=_failed_by_company)
        elif before.requests != pod.requests:
            self._pod_left()

    def _waiting(self, pod: Pod, born: bool) -> None:
        before = self._pending.get(pod.key)
        self._pending[pod.key] = pod
        if pod.key in self._assumed:
            return
        self._note_nomination(pod, before, born)
        if pod.gates or pod.deleted is not None:
            self.queue.remove(pod.key)
            return
        entry = self.queue.get(pod.key)
        self.queue.add(pod, self._loop.now)
        if entry is not None and before is not None and _wants_otherwise(before, pod):
            self.wake(lambda other: other is entry)
        self._kick()

    def _note_nomination(self, pod: Pod, before: Pod | None, born: bool) -> None:
        if pod.nominated:
            # Up to 1.36, the nomination of a gated pod is not counted if it is set at creation.
            if not (born and pod.gates):
                self.state.nominate(pod, pod.nominated)
        elif before is not None and before.nominated:
            self._unnominate(pod)

    def _unnominate(self, pod: Pod) -> None:
        self.state.unnominate(pod.key)
        self.changes += 1
        self.wake(lambda entry: entry.pod.priority <= pod.priority, _need_room)

    def _pod_left(self) -> None:
        self.changes += 1
        self.wake(among=_need_room)

    def _on_node(self, change: ObjectChange) -> None:
        node = changed_node(change)
        if change.verb is Verb.DELETED:
            self._soon(lambda: self._remove_node(node.name))
        else:
            self._soon(lambda: self._set_node(node))

    def _set_node(self, node: Node) -> None:
        before = self.state.node(node.name)
        self.state.set_node(node)
        if before is None or _offers_otherwise(before, node):
            self.changes += 1
            self.wake()

    def _remove_node(self, name: str) -> None:
        self.state.remove_node(name)
        self.changes += 1
        self.wake(among=_failed_by_company)

    def _on_namespace(self, change: ObjectChange) -> None:
        namespace = change.thing
        if change.verb is Verb.DELETED:
            self._soon(lambda: self.state.remove_namespace(change.ref.name))
        elif isinstance(namespace, Namespace):
            self._soon(lambda: self.state.set_namespace(namespace))

    def _on_controller(self, change: ObjectChange) -> None:
        kind, key = change.ref.kind, Key(change.ref.namespace, change.ref.name)
        if change.verb is Verb.DELETED:
            self._soon(lambda: self.state.remove_controller(kind, key))
            return
        selector = selector_from((change.obj.get("spec") or {}).get("selector"))
        self._soon(lambda: self.state.set_controller(kind, key, selector))

    def _volumes_changed(self) -> None:
        self.changes += 1
        self.wake(lambda entry: bool(entry.pod.claims))

    def _on_service(self, change: ObjectChange) -> None:
        key = Key(change.ref.namespace, change.ref.name)
        if change.verb is Verb.DELETED:
            self._soon(lambda: self.state.remove_service(key))
            return
        selector = dict((change.obj.get("spec") or {}).get("selector") or {})
        self._soon(lambda: self.state.set_service(key, selector))


def _concerns_a_scheduler(change: ObjectChange) -> bool:
    """Whether a change of a pod matters: every one, except the deletion of a pod that has ended."""
    return change.verb is not Verb.DELETED or not changed_pod(change).finished


def _need_room(why: frozenset[str]) -> bool:
    """Whether a deleted pod could help: not if the nodes themselves were the reason."""
    return not why <= _BY_NODE_ALONE


def _failed_by_company(why: frozenset[str]) -> bool:
    """Whether pods failed because of other pods, so that new pods or fewer nodes could help."""
    return not why.isdisjoint(_BY_COMPANY)


def _wants_otherwise(before: Pod, after: Pod) -> bool:
    return (before.labels, before.placement, before.requests) != (
        after.labels,
        after.placement,
        after.requests,
    )


def _offers_otherwise(before: Node, after: Node) -> bool:
    return (before.labels, before.taints, before.unschedulable, before.allocatable) != (
        after.labels,
        after.taints,
        after.unschedulable,
        after.allocatable,
    )
