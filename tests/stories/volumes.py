"""Claims, volumes and storage classes in a few words, and worlds with two zones."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.stories.reservations import EmbeddedReservations, RealReservations
from tests.stories.things import NAMESPACE, Json
from tests.stories.world import World

ZONE = "topology.kubernetes.io/zone"
DRIVER = "disks.example.com"
SELECTED_NODE = "volume.kubernetes.io/selected-node"


def claim(name: str = "data", mode: str = "ReadWriteOnce", **spec: Any) -> Json:
    """A claim for a gigabyte, of no class unless `storageClassName` says otherwise."""
    asked: Json = {"accessModes": [mode], "resources": {"requests": {"storage": "1Gi"}}}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {"storageClassName": "", **asked, **spec},
    }


def volume(name: str, zone: str = "", mode: str = "ReadWriteOnce", **spec: Any) -> Json:
    """A volume of a gigabyte, reached from one zone; `labels` are its own."""
    metadata: Json = {"name": name, "labels": spec.pop("labels", {})}
    made: Json = {"capacity": {"storage": "1Gi"}, "accessModes": [mode]}
    made["csi"] = {"driver": DRIVER, "volumeHandle": name}
    if zone:
        terms = [{"matchExpressions": [{"key": ZONE, "operator": "In", "values": [zone]}]}]
        made["nodeAffinity"] = {"required": {"nodeSelectorTerms": terms}}
    body = {"metadata": metadata, "spec": {**made, **spec}}
    return {"apiVersion": "v1", "kind": "PersistentVolume", **body}


def storage_class(name: str = "late", **more: Any) -> Json:
    """A class whose volumes wait for the first pod."""
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": name},
        "provisioner": DRIVER,
        "volumeBindingMode": "WaitForFirstConsumer",
        **more,
    }


def mounting(*claims: str) -> Json:
    """What a pod's spec says to mount claims."""
    return {
        "volumes": [
            {"name": f"v{number}", "persistentVolumeClaim": {"claimName": name}}
            for number, name in enumerate(claims)
        ]
    }


def bind(world: World, name: str = "data", zone: str = "", mode: str = "ReadWriteOnce") -> None:
    """Make a claim and a volume, and see them bound."""
    ref = {"namespace": NAMESPACE, "name": name}
    world.apply(volume(f"pv-{name}", zone, mode, claimRef=ref), claim(name, mode))
    world.until(f"claim {name} is bound", lambda: is_bound(world, name))


def chosen(world: World, name: str) -> str:
    """The node that was chosen for a claim."""
    found = world.get("PersistentVolumeClaim", name) or {}
    return str(found.get("metadata", {}).get("annotations", {}).get(SELECTED_NODE, ""))


def provision(world: World, name: str, zone: str) -> None:
    """Do the work of a driver on a cluster that has none: make the volume of a claim."""
    if isinstance(world, EmbeddedReservations):
        return  # It has one.
    world.until(f"a node is chosen for {name}", lambda: bool(chosen(world, name)))
    found = world.get("PersistentVolumeClaim", name) or {}
    ref = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "namespace": NAMESPACE,
        "name": name,
        "uid": found["metadata"]["uid"],
    }
    world.apply(volume(f"made-{name}", zone, claimRef=ref, storageClassName="late"))


def is_bound(world: World, name: str) -> bool:
    found = world.get("PersistentVolumeClaim", name) or {}
    return bool(found.get("status", {}).get("phase") == "Bound")


def waits_for(world: World, name: str) -> Json:
    """The condition by which a scheduler says why a pod has no node."""
    found = world.get("Pod", name) or {}
    conditions = found.get("status", {}).get("conditions", ())
    return next((each for each in conditions if each["type"] == "PodScheduled"), {})


def until_told(world: World, name: str, words: str) -> None:
    world.until(
        f"{name} is told: {words}",
        lambda: words in waits_for(world, name).get("message", ""),
    )


def until_bound(world: World, name: str, node: str = "") -> None:
    """Wait for a pod's node; hollow kubelets cannot mount what no driver serves."""
    world.until(
        f"{name} has its node {node}",
        lambda: bool(world.node_of(name)) and node in ("", world.node_of(name)),
    )


def worlds(request: pytest.FixtureRequest) -> Iterator[World]:
    """Two nodes in two zones, on either cluster, with Koordinator's dialect on."""
    here: EmbeddedReservations | RealReservations
    if request.param == "embedded":
        here = EmbeddedReservations()
    else:
        here = RealReservations(request.getfixturevalue("story_plane"))
    here.add_node("a", cpu=4, labels={ZONE: "x", "kubernetes.io/hostname": "a"})
    here.add_node("b", cpu=4, labels={ZONE: "y", "kubernetes.io/hostname": "b"})
    here.start_operator()
    yield here
    here.close()
