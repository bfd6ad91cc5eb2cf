"""Manifests of stories in which slots follow pods: gated owners, their claims and volumes."""

from __future__ import annotations

from typing import Any

from tests.stories.things import NAMESPACE, Json, headroom, pod
from tests.stories.world import World

GATE = "example.com/reserve-headroom"
DRIVER = "files.example.com"
ELSEWHERE = "elsewhere"


def following(name: str = "beside", cpu: str | int = 1, **follow: Any) -> Json:
    """A Preemptible headroom with slots next to each gated pod; `more` adds to its spec."""
    more = {"mode": "Preemptible", **follow.pop("more", {})}
    return headroom(name, cpu, size={"follow": {"gate": GATE, **follow}}, **more)


def gated(name: str, *claims: str, gates: tuple[str, ...] = (GATE,), **spec: Any) -> Json:
    """A pod that waits at gates, with a volume for each claim."""
    spec["schedulingGates"] = [{"name": gate} for gate in gates]
    if claims:
        spec["volumes"] = [
            {"name": f"v{index}", "persistentVolumeClaim": {"claimName": claim}}
            for index, claim in enumerate(claims)
        ]
    return pod(name, **spec)


def claim(name: str, volume: str = "", **spec: Any) -> Json:
    """A claim that is to be bound to this volume, or to whatever its class brings."""
    spec = {
        "accessModes": ["ReadWriteMany"],
        "resources": {"requests": {"storage": "1Gi"}},
        "storageClassName": "",
        **({"volumeName": volume} if volume else {}),
        **spec,
    }
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": spec,
    }


def volume(name: str, driver: str = DRIVER, **attributes: str) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": name},
        "spec": {
            "accessModes": ["ReadWriteMany"],
            "capacity": {"storage": "1Gi"},
            "persistentVolumeReclaimPolicy": "Retain",
            "csi": {"driver": driver, "volumeHandle": name, "volumeAttributes": attributes},
        },
    }


def late_class() -> Json:
    """A class whose claims are bound only when a pod that uses them has its node."""
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": "late"},
        "provisioner": "disks.example.com",
        "volumeBindingMode": "WaitForFirstConsumer",
    }


def gates_of(world: World, name: str) -> list[str]:
    found = world.get("Pod", name) or {"spec": {}}
    return [gate["name"] for gate in found["spec"].get("schedulingGates", ())]


def guardians(world: World) -> list[Json]:
    """Those that are not on their way out, by name."""
    alive = (one for one in world.ours("guardian") if "deletionTimestamp" not in one["metadata"])
    return sorted(alive, key=lambda one: str(one["metadata"]["name"]))


def marks_of(world: World, name: str) -> dict[str, str]:
    """The labels by which slots find a pod."""
    labels = (world.get("Pod", name) or {})["metadata"].get("labels", {})
    return {key: value for key, value in labels.items() if key.startswith("headroom.dev/beside-")}


def somewhere_else(world: World) -> str:
    """A namespace that is nobody's in these stories."""
    if world.get("Namespace", ELSEWHERE) is None:
        world.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": ELSEWHERE}})
    return ELSEWHERE


def quiet(world: World, *nodes: str) -> None:
    """Nodes whose pods stay Pending, as a pod does whose volume is not mounted yet."""
    for node in nodes:
        world.add_quiet_node(node)
