"""The scheduler's view of volumes: which nodes reach a pod's volumes, and what is missing.

As in kube-scheduler's VolumeBinding: a missing claim, or an unbound claim that should be bound at
once, refuses the pod as a whole; bound volumes exclude nodes; claims that wait for the first
consumer are bound to the chosen node before the pod is bound.
"""

from __future__ import annotations

from collections.abc import Callable

from headroom.core.demand.volume_constraints import volume_refusal, with_volumes
from headroom.core.demand.volumes import (
    Binding,
    NodeDrivers,
    Storage,
    StorageClass,
    Volume,
    VolumeClaim,
    mounts,
)
from headroom.core.objects import Key, Pod
from headroom.sim.actor_context import ActorContext
from headroom.sim.api.store import ObjectChange, Verb
from headroom.wire.objects.volumes import (
    claim_from,
    node_drivers_from,
    storage_class_from,
    volume_from,
)


class VolumeView:
    """Claims, volumes and classes, fed by watches; `changed` is called for each change."""

    def __init__(self, stage: ActorContext, name: str, changed: Callable[[], None]) -> None:
        self._claims: dict[Key, VolumeClaim] = {}
        self._volumes: dict[str, Volume] = {}
        self._classes: dict[str, StorageClass] = {}
        self._drivers: dict[str, NodeDrivers] = {}
        self.storage = Storage(self._claims, self._volumes, self._classes, self._drivers)
        self._changed = changed
        stage.feed(name, "PersistentVolumeClaim", self._on_claim)
        stage.feed(name, "PersistentVolume", self._on_volume)
        stage.feed(name, "StorageClass", self._on_class)
        stage.feed(name, "CSINode", self._on_drivers)

    def judged(self, pod: Pod) -> tuple[Pod, str]:
        """The pod with the node constraints of its volumes, and why it is refused, if it is."""
        if not pod.claims:
            return pod, ""
        return with_volumes(pod, self.storage), volume_refusal(pod, self.storage)

    def waiting(self, pod: Pod) -> tuple[str, ...]:
        """The unbound claims of a pod."""
        mounted = mounts(pod.key.namespace, pod.claims, self.storage)
        return tuple(each.claim for each in mounted if each.binding is not Binding.BOUND)

    def _on_claim(self, change: ObjectChange) -> None:
        key = Key(change.ref.namespace, change.ref.name)
        if change.verb is Verb.DELETED:
            self._claims.pop(key, None)
        else:
            self._claims[key] = claim_from(change.obj)
        self._changed()

    def _on_volume(self, change: ObjectChange) -> None:
        if change.verb is Verb.DELETED:
            self._volumes.pop(change.ref.name, None)
        else:
            self._volumes[change.ref.name] = volume_from(change.obj)
        self._changed()

    def _on_class(self, change: ObjectChange) -> None:
        if change.verb is Verb.DELETED:
            self._classes.pop(change.ref.name, None)
        else:
            self._classes[change.ref.name] = storage_class_from(change.obj)
        self._changed()

    def _on_drivers(self, change: ObjectChange) -> None:
        if change.verb is Verb.DELETED:
            self._drivers.pop(change.ref.name, None)
        else:
            self._drivers[change.ref.name] = node_drivers_from(change.obj)
        self._changed()
