"""Volumes: claims are bound to existing volumes, or new volumes are created for them.

This is the volume controller and a provisioner in one actor. A claim that names its volume, or that
a volume names, gets this volume. Otherwise it gets the smallest free volume of its class that is
large enough, or a new one: at once or, if the class waits for the first consumer, on the node that
was chosen for the pod. Missing storage classes are created, like missing namespaces. Sizes limit
nothing, and a released volume is not cleaned.
"""

from __future__ import annotations

from typing import Any

from headroom.core.quantity import QuantityError, parse_quantity
from headroom.sim.actor_context import ActorContext
from headroom.sim.api.store import ObjectChange, Verb
from headroom.sim.api.values import Json, Ref, dig, put, ref_of, uid_of
from headroom.sim.controllers.base import Controller
from headroom.wire.objects.volumes import BIND_COMPLETED, SELECTED_NODE

DEFAULT_CLASS = "storageclass.kubernetes.io/is-default-class"
PROVISIONER = "sim.headroom.dev/storage"
_BOUND_BY_US = "pv.kubernetes.io/bound-by-controller"
_ZONE = "topology.kubernetes.io/zone"
_NOBODY = "kubernetes.io/no-provisioner"
_MAKING = 1.0


class Volumes(Controller):
    """Binds volume claims."""

    name = "persistentvolume-controller"

    def __init__(self, stage: ActorContext) -> None:
        super().__init__(stage)
        self._unbound: dict[Ref, None] = {}
        self.watch("PersistentVolumeClaim")
        self.store.listen("PersistentVolume", self._on_volume)
        self.store.listen("StorageClass", self._on_volume)

    def _on_volume(self, change: ObjectChange) -> None:
        if change.verb is not Verb.DELETED:
            for ref in self._unbound:
                self.enqueue(ref)

    async def sync(self, ref: Ref) -> None:
        claim = self.store.get(ref)
        if claim is None or _is_bound(claim):
            self._unbound.pop(ref, None)
            return
        self._unbound[ref] = None
        claim = self._classed(claim)
        volume = self._meant(claim) or self._free(claim)
        if volume is not None:
            self._bind(claim, volume)
        elif self._should_make(claim):
            self.stage.loop.call_later(_MAKING, self._make, ref, uid_of(claim))
        elif not dig(claim, "status", "phase"):
            self.server.update(put(claim, "Pending", "status", "phase"), "status")

    def _classed(self, claim: Json) -> Json:
        """The claim with its class, or with the default class; missing classes are created."""
        name = dig(claim, "spec", "storageClassName")
        if name is None and dig(claim, "spec", "volumeName") is None:
            name = self._default_class()
            claim = self.server.update(put(claim, name, "spec", "storageClassName"))
        if name and self.store.get(Ref("StorageClass", "", name)) is None:
            self.server.note(f"StorageClass {name} was made: it waits for the first pod")
            self.server.create(_storage_class(name))
        return claim

    def _default_class(self) -> str:
        for each in self.store.list("StorageClass"):
            if dig(each, "metadata", "annotations", DEFAULT_CLASS) == "true":
                return ref_of(each).name
        return "standard"

    def _meant(self, claim: Json) -> Json | None:
        """The volume that the claim names, or that names the claim."""
        named = dig(claim, "spec", "volumeName")
        if named:
            volume = self.store.get(Ref("PersistentVolume", "", named))
            return volume if volume is not None and _may_have(volume, claim) else None
        volumes = self.store.list("PersistentVolume")
        return next((each for each in volumes if _names(each, claim)), None)

    def _free(self, claim: Json) -> Json | None:
        """The smallest free volume of the class that is large enough."""
        if dig(claim, "spec", "volumeName") or self._waits(claim):
            return None
        wanted = dig(claim, "spec", "storageClassName") or ""
        fitting = [
            each
            for each in self.store.list("PersistentVolume")
            if dig(each, "spec", "claimRef") is None
            and (dig(each, "spec", "storageClassName") or "") == wanted
            and _size(each, "capacity") >= _size(claim, "resources", "requests")
            and {*(dig(claim, "spec", "accessModes") or ())}
            <= {*(dig(each, "spec", "accessModes") or ())}
        ]
        return min(fitting, key=lambda each: (_size(each, "capacity"), ref_of(each)), default=None)

    def _waits(self, claim: Json) -> bool:
        """Whether the claim waits until its pod has a node."""
        found = self._class_of(claim)
        late = bool(dig(found, "volumeBindingMode") == "WaitForFirstConsumer")
        selected = dig(claim, "metadata", "annotations", SELECTED_NODE)
        # Classes without a provisioner bind at once, whatever the node of the volume.
        return late and not selected and dig(found, "provisioner") != _NOBODY

    def _should_make(self, claim: Json) -> bool:
        maker = dig(self._class_of(claim), "provisioner")
        unnamed = not dig(claim, "spec", "volumeName")
        return bool(maker) and maker != _NOBODY and unnamed and not self._waits(claim)

    def _class_of(self, claim: Json) -> Json | None:
        name = str(dig(claim, "spec", "storageClassName") or "")
        return self.store.get(Ref("StorageClass", "", name))

    def _make(self, ref: Ref, uid: str) -> None:
        claim = self.store.get(ref)
        if claim is None or uid_of(claim) != uid or _is_bound(claim):
            return
        node = dig(claim, "metadata", "annotations", SELECTED_NODE)
        zone = dig(self.store.get(Ref("Node", "", str(node))), "metadata", "labels", _ZONE)
        maker = str(dig(self._class_of(claim), "provisioner"))
        self._bind(claim, self.server.create(_volume_for(claim, maker, zone)))

    def _bind(self, claim: Json, volume: Json) -> None:
        ref = ref_of(claim)
        to = {"apiVersion": "v1", "kind": ref.kind, "namespace": ref.namespace, "name": ref.name}
        taken = put(volume, {**to, "uid": uid_of(claim)}, "spec", "claimRef")
        self.server.update(put(self.server.update(taken), {"phase": "Bound"}, "status"), "status")
        marks = {BIND_COMPLETED: "yes", _BOUND_BY_US: "yes"}
        notes = {**(dig(claim, "metadata", "annotations") or {}), **marks}
        marked = put(claim, notes, "metadata", "annotations")
        bound = self.server.update(put(marked, ref_of(volume).name, "spec", "volumeName"))
        status = {
            "phase": "Bound",
            "accessModes": dig(volume, "spec", "accessModes") or [],
            "capacity": dig(volume, "spec", "capacity") or {},
        }
        self.server.update(put(bound, status, "status"), "status")


def _is_bound(claim: Json) -> bool:
    return bool(dig(claim, "spec", "volumeName")) and BIND_COMPLETED in (
        dig(claim, "metadata", "annotations") or {}
    )


def _names(volume: Json, claim: Json) -> bool:
    held, ref = dig(volume, "spec", "claimRef") or {}, ref_of(claim)
    return (held.get("namespace"), held.get("name")) == (ref.namespace, ref.name) and held.get(
        "uid", uid_of(claim)
    ) == uid_of(claim)


def _may_have(volume: Json, claim: Json) -> bool:
    return dig(volume, "spec", "claimRef") is None or _names(volume, claim)


def _size(obj: Json, *path: str) -> int:
    text = dig(obj, "spec", *path, "storage")
    try:
        return parse_quantity(str(text)).value() if text is not None else 0
    except QuantityError:
        return 0


def _storage_class(name: str) -> dict[str, Any]:
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": name},
        "provisioner": PROVISIONER,
        "volumeBindingMode": "WaitForFirstConsumer",
    }


def _volume_for(claim: Json, maker: str, zone: str | None) -> dict[str, Any]:
    spec: dict[str, Any] = {
        "capacity": dig(claim, "spec", "resources", "requests") or {},
        "accessModes": dig(claim, "spec", "accessModes") or [],
        "storageClassName": dig(claim, "spec", "storageClassName"),
        "csi": {"driver": maker, "volumeHandle": uid_of(claim)},
    }
    if zone:
        here = {"key": _ZONE, "operator": "In", "values": [zone]}
        terms = [{"matchExpressions": [here]}]
        spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": terms}}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": f"pvc-{uid_of(claim)}"},
        "spec": spec,
    }
