"""Volumes in the embedded cluster: who is placed where, who waits, and what is bound when."""

from __future__ import annotations

from typing import Any

from headroom.sim.api.values import condition_of, dig
from headroom.sim.controllers.autoscaler import Autoscaler
from headroom.sim.pools import Autoscaling, Pool
from headroom.sim.world import SimWorld
from tests.sim.things import Json, node, pod

ZONE = "topology.kubernetes.io/zone"
DRIVER = "s3.csi.aws.com"


def claim(name: str = "data", **spec: Any) -> Json:
    asked = {"accessModes": ["ReadWriteMany"], "resources": {"requests": {"storage": "1Gi"}}}
    meta = {"name": name, "namespace": "default"}
    spec = {"storageClassName": "", **asked, **spec}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": meta, "spec": spec}


def volume(name: str = "pv", zone: str = "", size: str = "1Gi", **spec: Any) -> Json:
    made: Json = {"capacity": {"storage": size}, "accessModes": ["ReadWriteMany"]}
    made["csi"] = {"driver": DRIVER, "volumeHandle": name}
    if zone:
        terms = [{"matchExpressions": [{"key": ZONE, "operator": "In", "values": [zone]}]}]
        made["nodeAffinity"] = {"required": {"nodeSelectorTerms": terms}}
    body = {"metadata": {"name": name}, "spec": {**made, **spec}}
    return {"apiVersion": "v1", "kind": "PersistentVolume", **body}


def storage_class(name: str, mode: str, **more: Any) -> Json:
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": name},
        "provisioner": "ebs.example.com",
        "volumeBindingMode": mode,
        **more,
    }


def with_claim(name: str = "p", *claims: str, **spec: Any) -> Json:
    volumes = [
        {"name": f"v{number}", "persistentVolumeClaim": {"claimName": each}}
        for number, each in enumerate(claims or ("data",))
    ]
    return pod(name, volumes=volumes, **spec)


def two_zones(world: SimWorld) -> None:
    world.apply(node("a", labels={ZONE: "x"}))
    world.apply(node("b", labels={ZONE: "y"}))


def place(world: SimWorld, name: str = "p") -> str:
    return str(dig(world.get("Pod", "default", name), "spec", "nodeName") or "")


def why(world: SimWorld, name: str = "p") -> str:
    found = world.get("Pod", "default", name)
    return str((condition_of(found or {}, "PodScheduled") or {}).get("message", ""))


def test_a_pod_goes_where_its_volume_is(world: SimWorld) -> None:
    two_zones(world)
    world.apply(volume(zone="y"))
    world.apply(claim())
    for number in range(4):
        world.apply(with_claim(f"p{number}"))
    world.run_until_idle()
    assert {place(world, f"p{number}") for number in range(4)} == {"b"}
    bound = world.get("PersistentVolumeClaim", "default", "data")
    assert dig(bound, "status", "phase") == "Bound"
    assert dig(world.get("PersistentVolume", "", "pv"), "spec", "claimRef", "name") == "data"


def test_where_no_node_reaches_the_volume_it_is_said(world: SimWorld) -> None:
    two_zones(world)
    world.apply(volume(zone="z"))
    world.apply(claim())
    world.apply(with_claim())
    world.run_for(5)
    assert why(world).startswith(
        "0/2 nodes are available: 2 node(s) didn't match PersistentVolume's node affinity."
    )
    world.apply(node("c", labels={ZONE: "z"}))
    world.run_for(5)
    assert place(world) == "c"


def test_a_claim_that_is_missing_is_named_and_waited_for(world: SimWorld) -> None:
    two_zones(world)
    world.apply(with_claim())
    world.run_for(5)
    assert why(world).startswith('0/2 nodes are available: persistentvolumeclaim "data" not found.')
    world.apply(claim())
    world.run_for(5)
    assert "pod has unbound immediate PersistentVolumeClaims" in why(world)
    world.apply(volume(zone="x"))
    world.run_for(5)
    assert place(world) == "a"


def test_a_claim_of_a_late_class_is_bound_where_its_pod_goes(world: SimWorld) -> None:
    two_zones(world)
    world.apply(storage_class("late", "WaitForFirstConsumer"))
    world.apply(claim(storageClassName="late"))
    world.run_for(60)
    assert (
        dig(world.get("PersistentVolumeClaim", "default", "data"), "status", "phase") == "Pending"
    )
    world.apply(with_claim(nodeSelector={ZONE: "y"}))
    world.run_for(10)
    assert place(world) == "b"
    world.apply(with_claim("later"))
    world.run_for(10)
    assert place(world, "later") == "b"


def test_a_claim_of_an_early_class_is_bound_by_itself(world: SimWorld) -> None:
    two_zones(world)
    world.apply(storage_class("early", "Immediate"))
    world.apply(claim(storageClassName="early"))
    world.run_for(5)
    assert dig(world.get("PersistentVolumeClaim", "default", "data"), "status", "phase") == "Bound"


def test_a_class_that_nobody_applied_is_made_and_told(world: SimWorld) -> None:
    two_zones(world)
    asked = claim(storageClassName="gp3")
    unsaid = claim("other")
    del unsaid["spec"]["storageClassName"]
    world.apply(asked)
    world.apply(unsaid)
    world.apply(with_claim("p", "data", "other"))
    world.run_until_idle()
    assert place(world) != ""
    assert [name for name in world.server.notes if "StorageClass" in name] == [
        "StorageClass gp3 was made: it waits for the first pod",
        "StorageClass standard was made: it waits for the first pod",
    ]


def test_the_smallest_volume_that_is_large_enough_is_taken(world: SimWorld) -> None:
    two_zones(world)
    for name, size in (("large", "9Gi"), ("small", "1Gi"), ("fitting", "3Gi")):
        world.apply(volume(name, size=size))
    world.apply(claim(resources={"requests": {"storage": "2Gi"}}))
    world.run_until_idle()
    found = world.get("PersistentVolumeClaim", "default", "data")
    assert dig(found, "spec", "volumeName") == "fitting"


def test_a_volume_that_names_its_claim_is_nobody_elses(world: SimWorld) -> None:
    two_zones(world)
    world.apply(volume(claimRef={"namespace": "default", "name": "data"}))
    world.apply(claim("thief"))
    world.run_for(5)
    world.apply(claim())
    world.run_for(5)
    assert dig(world.get("PersistentVolumeClaim", "default", "data"), "spec", "volumeName") == "pv"
    assert not dig(world.get("PersistentVolumeClaim", "default", "thief"), "spec", "volumeName")


def test_a_gated_pod_keeps_no_claim_from_being_bound(world: SimWorld) -> None:
    two_zones(world)
    world.apply(volume())
    world.apply(claim(volumeName="pv"))
    gate = "s3.csi.aws.com/reserve-headroom-for-mppod"
    world.apply(with_claim(schedulingGates=[{"name": gate}]))
    world.run_until_idle()
    assert dig(world.get("PersistentVolumeClaim", "default", "data"), "status", "phase") == "Bound"
    assert place(world) == ""
    world.patch("Pod", "default", "p", {"spec": {"schedulingGates": None}})
    world.run_until_idle()
    assert place(world) != ""


def test_a_pod_deleted_while_its_volumes_are_bound_leaves_nothing_behind(world: SimWorld) -> None:
    two_zones(world)
    world.apply(storage_class("never", "WaitForFirstConsumer", provisioner="slow.example.com"))
    world.apply(claim(storageClassName="never"))
    world.apply(with_claim())
    world.run_for(0.5)
    world.delete("Pod", "default", "p", grace=0)
    assert world.run_until_idle()
    world.apply(with_claim("q"))
    world.run_until_idle()
    assert place(world, "q") != ""


def test_a_pod_that_waits_for_its_volume_orders_no_machine(world: SimWorld) -> None:
    room = {"cpu": "4", "memory": "16Gi", "pods": "110"}
    pools = [
        Pool(zone, most=3, capacity=room, labels={ZONE: zone}, boot_delay=5) for zone in ("x", "y")
    ]
    Autoscaler(world.stage, pools, Autoscaling(enabled=True))
    world.apply(with_claim())
    world.run_for(60)
    assert world.list("Node") == []
    world.apply(volume(zone="y"))
    world.apply(claim())
    world.run_for(60)
    assert place(world) == "y-0"
