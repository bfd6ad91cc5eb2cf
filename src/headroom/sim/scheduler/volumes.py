"""What the scheduler knows of volumes: where a pod's bound ones are reached, and what is missing.

As kube-scheduler's VolumeBinding: a claim that is missing, or unbound though it should be bound at
once, refuses the pod as a whole; bound volumes rule out nodes; claims that wait for their pod are
bound to the node that was chosen, before the pod is.
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
from headroom.sim.api.store import Change, Verb
from headroom.wire.objects.volumes import (
    claim_from,
    node_drivers_from,
    storage_class_from,
    volume_from,
)


class VolumeView:
    """Claims, volumes and classes, fed by watches; `changed` is called when one of them did."""

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
        """The pod with what its volumes ask of a node, and why it is refused as a whole, if so."""
        if not pod.claims:
            return pod, ""
        return with_volumes(pod, self.storage), volume_refusal(pod, self.storage)

    def waiting(self, pod: Pod) -> tuple[str, ...]:
        """The claims of a pod that are still to be bound."""
        mounted = mounts(pod.key.namespace, pod.claims, self.storage)
        return tuple(each.claim for each in mounted if each.binding is not Binding.BOUND)

    def _on_claim(self, change: Change) -> None:
        key = Key(change.ref.namespace, change.ref.name)
        if change.verb is Verb.DELETED:
            self._claims.pop(key, None)
        else:
            self._claims[key] = claim_from(change.obj)
        self._changed()

    def _on_volume(self, change: Change) -> None:
        if change.verb is Verb.DELETED:
            self._volumes.pop(change.ref.name, None)
        else:
            self._volumes[change.ref.name] = volume_from(change.obj)
        self._changed()

    def _on_class(self, change: Change) -> None:
        if change.verb is Verb.DELETED:
            self._classes.pop(change.ref.name, None)
        else:
            self._classes[change.ref.name] = storage_class_from(change.obj)
        self._changed()

    def _on_drivers(self, change: Change) -> None:
        if change.verb is Verb.DELETED:
            self._drivers.pop(change.ref.name, None)
        else:
            self._drivers[change.ref.name] = node_drivers_from(change.obj)
        self._changed()
