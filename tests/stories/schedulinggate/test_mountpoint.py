"""Room for Mountpoint's helper pods: reserved behind its gate, taken by the helper, given back."""

from __future__ import annotations

from typing import Any

import pytest

from headroom.core.derived_names import named_after
from tests.stories.embedded import EmbeddedWorld
from tests.stories.followers import (
    claim,
    gates_of,
    guardians,
    late_class,
    quiet,
    somewhere_else,
    volume,
)
from tests.stories.followers import gated as gated_by
from tests.stories.things import Json, pod, priority_class
from tests.stories.world import World

GATE = "s3.csi.aws.com/reserve-headroom-for-mppod"
DRIVER = "s3.csi.aws.com"
HELPERS = "mount-s3"
OWNER = f"{DRIVER}/headroom-for-workload"
FOR_POD = f"{DRIVER}/headroom-for-pod"
FOR_VOLUME = f"{DRIVER}/headroom-for-volume"
SIZES = {
    "mountpointContainerResourcesRequestsCpu": "1",
    "mountpointContainerResourcesRequestsMemory": "512Mi",
}


def gated(name: str, *claims: str, **spec: Any) -> Json:
    return gated_by(name, *claims, gates=(GATE,), **spec)


def bucket(name: str, **attributes: str) -> tuple[Json, Json]:
    """A volume of the driver, and the claim that is bound to it."""
    return volume(f"pv-{name}", DRIVER, **attributes), claim(name, f"pv-{name}")


def helper(name: str, node: str) -> Json:
    """The pod that the driver makes on the owner's node once the owner is there."""
    fields = [{"key": "metadata.name", "operator": "In", "values": [node]}]
    terms = {"nodeSelectorTerms": [{"matchFields": fields}]}
    return pod(
        name,
        namespace=HELPERS,
        priorityClassName="mount-s3-preempting-critical",
        affinity={"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}},
        **RESTRICTED,
    )


RESTRICTED: Json = {
    "containers": [
        {
            "name": "mountpoint",
            "image": "mountpoint",
            "resources": {"requests": {"cpu": "1"}},
            "securityContext": {
                "allowPrivilegeEscalation": False,
                "capabilities": {"drop": ["ALL"]},
            },
        }
    ],
    "securityContext": {
        "runAsNonRoot": True,
        "runAsUser": 1000,
        "seccompProfile": {"type": "RuntimeDefault"},
    },
}


def placed(world: World, count: int = 1) -> bool:
    there = [one["spec"].get("nodeName") for one in guardians(world)]
    return len(there) == count and all(there)


@pytest.mark.every_version
def test_a_gated_workload_runs_and_nothing_of_it_is_left(world: World) -> None:
    world.add_node("a")
    world.start_operator()
    world.apply(*bucket("s3-pvc"))
    world.apply(gated("workload", "s3-pvc"))
    world.until("it is released", lambda: gates_of(world, "workload") == [])
    world.until_runs("workload")
    world.until("the headroom pod is gone", lambda: not guardians(world))
    world.until("and the label", lambda: OWNER not in labels_of(world, "workload"))


def labels_of(world: World, name: str) -> dict[str, str]:
    found = world.get("Pod", name) or {"metadata": {}}
    return dict(found["metadata"].get("labels") or {})


def test_a_headroom_pod_is_what_the_driver_would_make(world: World) -> None:
    world.start_operator()  # There is no node, so that everything stays as it is.
    world.apply(*bucket("s3-pvc", **SIZES))
    world.apply(gated("workload", "s3-pvc"))
    world.until("it is released", lambda: gates_of(world, "workload") == [])
    (made,) = guardians(world)
    uid = (world.get("Pod", "workload") or {})["metadata"]["uid"]
    assert labels_of(world, "workload")[OWNER] == uid
    metadata, spec = made["metadata"], made["spec"]
    assert metadata["namespace"] == HELPERS
    assert metadata["name"] == named_after("hr-", uid, "pv-s3-pvc")
    assert metadata["labels"][FOR_POD] == uid
    assert metadata["labels"][FOR_VOLUME] == "pv-s3-pvc"
    assert (spec["priorityClassName"], spec["priority"]) == ("mount-s3-headroom", -1000)
    assert spec["nodeSelector"] == {"kubernetes.io/os": "linux"}
    assert {"operator": "Exists"} in spec["tolerations"]
    requests = spec["containers"][0]["resources"]["requests"]
    assert requests == {"cpu": "1", "memory": "512Mi"}
    (term,) = spec["affinity"]["podAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    assert term["labelSelector"]["matchExpressions"] == [
        {"key": OWNER, "operator": "In", "values": [uid]}
    ]
    assert (term["namespaces"], term["topologyKey"]) == (["default"], "kubernetes.io/hostname")


def test_without_sizes_a_headroom_pod_keeps_a_place_and_asks_for_nothing(world: World) -> None:
    world.start_operator()
    world.apply(*bucket("s3-pvc"))
    world.apply(gated("workload", "s3-pvc"))
    world.until("it is released", lambda: gates_of(world, "workload") == [])
    (made,) = guardians(world)
    assert "requests" not in made["spec"]["containers"][0].get("resources", {})


def test_limits_count_where_there_are_no_requests(world: World) -> None:
    world.start_operator()
    world.apply(*bucket("s3-pvc", mountpointContainerResourcesLimitsCpu="2"))
    world.apply(gated("workload", "s3-pvc"))
    world.until("it is released", lambda: gates_of(world, "workload") == [])
    (made,) = guardians(world)
    assert made["spec"]["containers"][0]["resources"]["requests"] == {"cpu": "2"}


def test_two_volumes_have_two_headroom_pods(world: World) -> None:
    quiet(world, "a", "b")
    world.start_operator()
    world.apply(*bucket("one", **SIZES), *bucket("two", **SIZES))
    world.apply(volume("disk", "ebs.csi.aws.com"), claim("other", "disk"))
    world.apply(gated("workload", "one", "two", "other"))
    world.until("both are placed", lambda: placed(world, 2))
    node = world.node_of("workload")
    assert [one["spec"]["nodeName"] for one in guardians(world)] == [node, node]
    world.rouse(node)
    world.until("both are gone", lambda: not guardians(world))


def test_workloads_of_every_namespace_but_the_helpers_own_are_served(world: World) -> None:
    world.start_operator()
    far_volume, far_claim = bucket("far")
    elsewhere = far_claim["metadata"]["namespace"] = somewhere_else(world)
    world.apply(far_volume, far_claim, gated("workload", "far", namespace=elsewhere))
    world.apply(gated("stranger", namespace=HELPERS, **RESTRICTED))
    world.until("it has its headroom pod", lambda: len(guardians(world)) == 1)
    world.pass_time(10)
    stranger = world.get("Pod", "stranger", HELPERS) or {}
    assert [each["name"] for each in stranger["spec"]["schedulingGates"]] == [GATE]


def test_a_helper_takes_the_headroom_pods_room_and_evicts_nobody_else(world: World) -> None:
    quiet(world, "a")
    world.start_operator()
    world.apply(*bucket("s3-pvc", **SIZES), pod("bystander", cpu=2))
    world.until("it has its place", lambda: world.node_of("bystander") == "a")
    world.apply(gated("workload", "s3-pvc", cpu=1))
    world.until("the headroom pod stands", lambda: placed(world))
    (held,) = guardians(world)
    world.apply(helper("mp-1", "a"))
    world.until("the helper is there", lambda: world.node_of("mp-1", HELPERS) == "a")
    gone = [one["metadata"]["uid"] for one in world.all("Pod")]
    assert held["metadata"]["uid"] not in gone
    assert world.get("Pod", "bystander") is not None
    assert world.node_of("workload") == "a"
    world.rouse("a")
    for name in ("bystander", "workload"):
        world.until_runs(name)
    world.until("no headroom pod is left", lambda: not guardians(world))


def test_a_headroom_pod_without_sizes_keeps_the_place_of_one_pod(world: World) -> None:
    world.add_quiet_node("a", pods=2)
    world.start_operator()
    world.apply(*bucket("s3-pvc"), gated("workload", "s3-pvc", cpu="100m"))
    world.until("the headroom pod stands", lambda: placed(world))
    world.apply(pod("stranger", cpu="100m", priorityClassName="mount-s3-critical"))
    world.pass_time(2)
    assert world.node_of("stranger") == ""  # The node takes two pods, and this one never preempts.
    world.delete("Pod", "stranger")
    world.apply(helper("mp-1", "a"))
    world.until("the helper is there", lambda: world.node_of("mp-1", HELPERS) == "a")
    assert world.node_of("workload") == "a"


def test_a_lost_headroom_pod_is_made_again(world: World) -> None:
    quiet(world, "a")
    world.start_operator()
    world.apply(*bucket("s3-pvc"), gated("workload", "s3-pvc"))
    world.until("it is placed", lambda: placed(world))
    (first,) = guardians(world)
    world.delete("Pod", first["metadata"]["name"], HELPERS)

    def uids() -> list[str]:
        return [one["metadata"]["uid"] for one in guardians(world)]

    world.until("there is another", lambda: uids() not in ([], [first["metadata"]["uid"]]))
    world.until("it is placed", lambda: placed(world))


def test_a_workload_that_went_while_nobody_looked_leaves_no_orphan(world: World) -> None:
    quiet(world, "a")
    world.start_operator()
    world.apply(*bucket("s3-pvc"), gated("workload", "s3-pvc"))
    world.until("it is placed", lambda: placed(world))
    world.kill_operator()
    world.delete("Pod", "workload")
    world.pass_time(1)
    assert len(guardians(world)) == 1
    world.start_operator()
    world.until("it is gone", lambda: not guardians(world))


def test_strangers_pods_that_look_like_headroom_pods_are_let_be(world: World) -> None:
    """The driver's own, of a workload that is gone, and one in another namespace."""
    world.start_operator()
    like = pod("hr-stranger", namespace=HELPERS, **RESTRICTED)
    like["metadata"]["labels"] = {FOR_POD: "nobody", FOR_VOLUME: "pv-s3-pvc"}
    world.apply(like, pod("hr-elsewhere"))
    world.apply(*bucket("s3-pvc"), gated("workload", "s3-pvc"))
    world.until("it is released", lambda: gates_of(world, "workload") == [])
    world.delete("Pod", "workload")
    world.until("our headroom pod is gone", lambda: not guardians(world))
    assert world.get("Pod", "hr-stranger", HELPERS) is not None
    assert world.get("Pod", "hr-elsewhere") is not None


def test_the_gates_of_others_stay_on_a_workload(world: World) -> None:
    world.start_operator()
    world.apply(*bucket("s3-pvc"))
    others = ("x.example/one", GATE, "y.example/two")
    world.apply(gated_by("workload", "s3-pvc", gates=others))
    world.until(
        "ours is off", lambda: gates_of(world, "workload") == ["x.example/one", "y.example/two"]
    )


def test_a_workload_without_a_bucket_is_released_at_once(world: World) -> None:
    world.add_node("a")
    world.start_operator()
    world.apply(gated("workload"))
    world.until_runs("workload", seconds=15)
    assert guardians(world) == []
    assert OWNER not in labels_of(world, "workload")


def test_another_drivers_claim_that_waits_for_its_pod_is_no_deadlock(world: World) -> None:
    world.start_operator()
    world.apply(late_class())
    world.apply(*bucket("s3-pvc"), claim("disk", storageClassName="late"))
    world.apply(gated("workload", "s3-pvc", "disk"))
    world.until("it is released", lambda: gates_of(world, "workload") == [])
    assert len(guardians(world)) == 1


def test_long_names_keep_no_workload_waiting(world: World) -> None:
    world.start_operator()
    name = "bucket-" * 29 + "x"
    world.apply(volume(name, DRIVER), claim("s3-pvc", name))
    world.apply(gated("workload-" * 25 + "x", "s3-pvc"))
    world.until("it is released", lambda: gates_of(world, "workload-" * 25 + "x") == [])
    (made,) = guardians(world)
    assert len(made["metadata"]["labels"][FOR_VOLUME]) <= 63


def test_two_workloads_that_share_a_bucket_have_a_headroom_pod_each(world: World) -> None:
    quiet(world, "a")
    world.start_operator()
    world.apply(*bucket("s3-pvc", **SIZES))
    world.apply(gated("one", "s3-pvc"), gated("two", "s3-pvc"))
    world.until("both are placed", lambda: placed(world, 2))
    world.rouse("a")
    world.until("both are gone", lambda: not guardians(world))


@pytest.mark.parametrize("phase", ["Succeeded", "Failed"])
def test_a_workload_that_ends_takes_its_headroom_pod_along(world: World, phase: str) -> None:
    quiet(world, "a")
    world.start_operator()
    world.apply(*bucket("s3-pvc"), gated("workload", "s3-pvc"))
    world.until("it is placed", lambda: placed(world))
    world.finish("workload", phase)
    world.until("it is gone", lambda: not guardians(world))


def test_a_workload_that_is_deleted_before_it_has_a_node_leaves_nothing(world: World) -> None:
    world.start_operator()
    world.apply(*bucket("one"), *bucket("two"))
    world.apply(gated("workload", "one", "two"))
    world.until("it is released", lambda: gates_of(world, "workload") == [])
    assert len(guardians(world)) == 2
    world.delete("Pod", "workload")
    world.until("both are gone", lambda: not guardians(world))


def test_a_claim_that_is_not_bound_yet_keeps_the_gate_on(world: World) -> None:
    world.start_operator()
    world.apply(*bucket("one"), claim("two", "pv-two"))
    world.apply(gated("workload", "one", "two"))
    world.until("the first is made", lambda: len(guardians(world)) == 1)
    world.pass_time(10)
    assert gates_of(world, "workload") == [GATE]
    assert len(guardians(world)) == 1
    world.apply(volume("pv-two", DRIVER))
    world.until("it is released", lambda: gates_of(world, "workload") == [])
    assert len(guardians(world)) == 2


def test_a_volume_that_does_not_exist_is_told_and_the_workload_goes_on(world: World) -> None:
    hasty = {"spec": {"size": {"follow": {"deadline": "6s"}}}}
    world.patch("Headroom", "mountpoint", hasty, HELPERS)
    world.start_operator()
    world.apply(gated("workload", "nowhere"))
    world.until("told", lambda: bool(world.events("CannotFollow", "workload")))
    world.until("released", lambda: gates_of(world, "workload") == [])
    world.until("and told", lambda: bool(world.events("DeadlinePassed", "workload")))


def test_a_size_that_cannot_be_read_is_told(world: World) -> None:
    world.start_operator()
    world.apply(*bucket("s3-pvc", mountpointContainerResourcesRequestsCpu="lots"))
    world.apply(gated("workload", "s3-pvc"))
    world.until("told", lambda: bool(world.events("CannotFollow", "workload")))
    (told,) = world.events("CannotFollow", "workload")
    assert "pv-s3-pvc" in told["message"]
    assert "lots" in told["message"]


def test_labels_of_the_headroom_are_those_of_its_pods_but_for_the_drivers(world: World) -> None:
    labels = {"team": "data", FOR_POD: "mine", "headroom.dev/role": "latch"}
    world.patch("Headroom", "mountpoint", {"metadata": {"labels": labels}}, HELPERS)
    world.start_operator()
    world.apply(*bucket("s3-pvc"), gated("workload", "s3-pvc"))
    world.until("it has its headroom pod", lambda: len(guardians(world)) == 1)
    (made,) = guardians(world)
    uid = (world.get("Pod", "workload") or {})["metadata"]["uid"]
    assert made["metadata"]["labels"]["team"] == "data"
    assert made["metadata"]["labels"][FOR_POD] == uid


def test_a_class_that_preempts_is_not_given_to_guardians(embedded: EmbeddedWorld) -> None:
    """The driver's own class of that name preempts; guardians never do, so they have ours."""
    world = embedded
    theirs = priority_class("mount-s3-headroom", -1000)
    world.delete("PriorityClass", "mount-s3-headroom")
    world.apply({**theirs, "preemptionPolicy": "PreemptLowerPriority"})
    world.add_node("a", cpu=4)
    world.start_operator()
    world.apply(*bucket("vol", **SIZES), gated("owner", "vol"))
    world.until("a guardian is made", lambda: len(guardians(world)) == 1)
    (made,) = guardians(world)
    told = (made["spec"]["priorityClassName"], made["spec"]["preemptionPolicy"])
    assert told == ("headroom-preemptible", "Never")
