"""StatefulSets: ordinals for names, one after the other, last in first out."""

from __future__ import annotations

from headroom.sim.api.values import Json, Ref, dig, ref_of
from headroom.sim.world import SimWorld
from tests.sim.things import node, stateful_set


def pods(world: SimWorld) -> dict[str, str]:
    return {ref_of(item).name: str(dig(item, "status", "phase")) for item in world.list("Pod")}


def status(world: SimWorld) -> Json:
    found: Json = world.server.get(Ref("StatefulSet", "default", "db"))["status"]
    return found


def times(world: SimWorld, reason: str) -> list[str]:
    return [event["message"] for event in world.events() if event["reason"] == reason]


def test_pods_are_made_in_order_each_after_the_last_is_ready(world: SimWorld) -> None:
    world.apply(node("a", cpu="10"))
    world.apply(stateful_set("db", 3))
    most = 0

    def done() -> bool:
        nonlocal most
        starting = [phase for phase in pods(world).values() if phase == "Pending"]
        most = max(most, len(starting))
        return list(pods(world).values()) == ["Running"] * 3

    assert world.run_until(done)
    world.run_until_idle()
    assert most == 1
    assert list(pods(world)) == ["db-0", "db-1", "db-2"]
    assert times(world, "SuccessfulCreate")[0] == "Create Pod db-0 in StatefulSet db successful"
    assert (status(world)["replicas"], status(world)["readyReplicas"]) == (3, 3)
    assert status(world)["currentRevision"] == status(world)["updateRevision"]


def test_a_pod_that_cannot_start_holds_up_those_behind_it(world: SimWorld) -> None:
    world.apply(node("a", cpu="1"))
    world.apply(stateful_set("db", 3))
    world.run_for(60)
    assert pods(world) == {"db-0": "Running", "db-1": "Pending"}


def test_in_parallel_nobody_waits(world: SimWorld) -> None:
    world.apply(node("a", cpu="1"))
    world.apply(stateful_set("db", 3, podManagementPolicy="Parallel"))
    world.run_for(10)
    assert sorted(pods(world)) == ["db-0", "db-1", "db-2"]


def test_a_lost_pod_comes_back_under_its_name(world: SimWorld) -> None:
    world.apply(node("a", cpu="10"))
    world.apply(stateful_set("db", 2))
    world.run_until_idle()
    before = world.server.get(Ref("Pod", "default", "db-0"))["metadata"]["uid"]
    world.delete("Pod", "default", "db-0")
    world.run_until_idle()
    assert pods(world) == {"db-1": "Running", "db-0": "Running"}
    assert world.server.get(Ref("Pod", "default", "db-0"))["metadata"]["uid"] != before


def test_the_last_goes_first_and_one_at_a_time(world: SimWorld) -> None:
    world.apply(node("a", cpu="10"))
    world.apply(stateful_set("db", 3))
    world.run_until_idle()
    world.patch("StatefulSet", "default", "db", {"spec": {"replicas": 1}})
    world.run_until_idle()
    assert list(pods(world)) == ["db-0"]
    assert times(world, "SuccessfulDelete") == [
        "Delete Pod db-2 in StatefulSet db successful",
        "Delete Pod db-1 in StatefulSet db successful",
    ]


def test_a_change_is_rolled_out_from_the_top_down_to_the_partition(world: SimWorld) -> None:
    world.apply(node("a", cpu="10"))
    strategy = {"type": "RollingUpdate", "rollingUpdate": {"partition": 1}}
    world.apply(stateful_set("db", 3, updateStrategy=strategy))
    world.run_until_idle()
    change = {"spec": {"template": {"metadata": {"labels": {"v": "2"}}}}}
    world.patch("StatefulSet", "default", "db", change)
    world.run_until_idle()
    new = {ref_of(p).name for p in world.list("Pod") if dig(p, "metadata", "labels", "v") == "2"}
    assert new == {"db-1", "db-2"}
    assert times(world, "SuccessfulDelete")[0].startswith("Delete Pod db-2")
    assert status(world)["updatedReplicas"] == 2


def test_volume_claims_are_made_before_the_pod_and_stay(world: SimWorld) -> None:
    world.apply(node("a"))
    claim = {"metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"]}}
    world.apply(stateful_set("db", 1, volumeClaimTemplates=[claim]))
    world.run_until_idle()
    made = world.server.get(Ref("Pod", "default", "db-0"))
    assert made["spec"]["volumes"][0] == {
        "name": "data",
        "persistentVolumeClaim": {"claimName": "data-db-0"},
    }
    assert (made["spec"]["hostname"], made["spec"]["subdomain"]) == ("db-0", "db")
    made_claim = world.server.get(Ref("PersistentVolumeClaim", "default", "data-db-0"))
    assert made_claim["metadata"]["labels"] == {"app": "db"}
    assert made_claim["status"]["phase"] == "Bound"
    assert pods(world) == {"db-0": "Running"}
    world.delete("StatefulSet", "default", "db")
    world.run_until_idle()
    assert world.get("PersistentVolumeClaim", "default", "data-db-0") is not None


def test_a_failed_pod_is_made_anew(world: SimWorld) -> None:
    world.apply(node("a"))
    world.apply(stateful_set("db", 1))
    world.run_until_idle()
    world.finish("default", "db-0", "Failed")
    world.run_until_idle()
    assert pods(world) == {"db-0": "Running"}
    words = "StatefulSet default/db is recreating failed Pod db-0"
    assert times(world, "RecreatingFailedPod") == [words]
