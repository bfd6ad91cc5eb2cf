"""Room for Mountpoint's helper pods: reserved behind its gate, taken by the helper, given back."""

from __future__ import annotations

from typing import Any

import pytest

from headroom.core.naming import named_after
from tests.stories.embedded import EmbeddedWorld
from tests.stories.followers import claim, gates_of, guardians, volume
from tests.stories.followers import gated as gated_by
from tests.stories.things import Json, pod
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


def quiet(embedded: EmbeddedWorld, *nodes: str) -> None:
    """Nodes whose pods stay Pending, as one does whose bucket is not mounted yet."""
    for node in nodes:
        embedded.add_node(node)
    embedded.pass_time(1)
    for node in nodes:
        embedded.sim.kubelets.stop(node)


def placed(world: World, count: int = 1) -> bool:
    there = [one["spec"].get("nodeName") for one in guardians(world)]
    return len(there) == count and all(there)


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


def test_limits_count_where_there_are_no_requests(embedded: EmbeddedWorld) -> None:
    embedded.start_operator()
    embedded.apply(*bucket("s3-pvc", mountpointContainerResourcesLimitsCpu="2"))
    embedded.apply(gated("workload", "s3-pvc"))
    embedded.until("it is released", lambda: gates_of(embedded, "workload") == [])
    (made,) = guardians(embedded)
    assert made["spec"]["containers"][0]["resources"]["requests"] == {"cpu": "2"}


def test_two_volumes_have_two_headroom_pods(embedded: EmbeddedWorld) -> None:
    quiet(embedded, "a", "b")
    embedded.start_operator()
    embedded.apply(*bucket("one", **SIZES), *bucket("two", **SIZES))
    embedded.apply(volume("disk", "ebs.csi.aws.com"), claim("other", "disk"))
    embedded.apply(gated("workload", "one", "two", "other"))
    embedded.until("both are placed", lambda: placed(embedded, 2))
    node = embedded.node_of("workload")
    assert [one["spec"]["nodeName"] for one in guardians(embedded)] == [node, node]
    embedded.sim.kubelets.resume(node)
    embedded.until("both are gone", lambda: not guardians(embedded))


def test_workloads_of_every_namespace_but_the_helpers_own_are_served(
    embedded: EmbeddedWorld,
) -> None:
    embedded.start_operator()
    far_volume, far_claim = bucket("far")
    far_claim["metadata"]["namespace"] = "kube-system"
    embedded.apply(far_volume, far_claim, gated("workload", "far", namespace="kube-system"))
    embedded.apply(gated("stranger", namespace=HELPERS))
    embedded.until("it has its headroom pod", lambda: len(guardians(embedded)) == 1)
    embedded.pass_time(10)
    stranger = embedded.get("Pod", "stranger", HELPERS) or {}
    assert [each["name"] for each in stranger["spec"]["schedulingGates"]] == [GATE]


def test_a_helper_takes_the_headroom_pods_room_and_evicts_nobody_else(
    embedded: EmbeddedWorld,
) -> None:
    quiet(embedded, "a")
    embedded.start_operator()
    embedded.apply(*bucket("s3-pvc", **SIZES), pod("bystander", cpu=2))
    embedded.until("it has its place", lambda: embedded.node_of("bystander") == "a")
    embedded.apply(gated("workload", "s3-pvc", cpu=1))
    embedded.until("the headroom pod stands", lambda: placed(embedded))
    (held,) = guardians(embedded)
    embedded.apply(helper("mp-1", "a"))
    embedded.until("the helper is there", lambda: embedded.node_of("mp-1", HELPERS) == "a")
    gone = [one["metadata"]["uid"] for one in embedded.all("Pod")]
    assert held["metadata"]["uid"] not in gone
    assert embedded.get("Pod", "bystander") is not None
    assert embedded.node_of("workload") == "a"
    embedded.sim.kubelets.resume("a")
    for name in ("bystander", "workload"):
        embedded.until_runs(name)
    embedded.until("no headroom pod is left", lambda: not guardians(embedded))


def test_two_workloads_that_share_a_bucket_have_a_headroom_pod_each(
    embedded: EmbeddedWorld,
) -> None:
    quiet(embedded, "a")
    embedded.start_operator()
    embedded.apply(*bucket("s3-pvc", **SIZES))
    embedded.apply(gated("one", "s3-pvc"), gated("two", "s3-pvc"))
    embedded.until("both are placed", lambda: placed(embedded, 2))
    embedded.sim.kubelets.resume("a")
    embedded.until("both are gone", lambda: not guardians(embedded))


@pytest.mark.parametrize("phase", ["Succeeded", "Failed"])
def test_a_workload_that_ends_takes_its_headroom_pod_along(
    embedded: EmbeddedWorld, phase: str
) -> None:
    quiet(embedded, "a")
    embedded.start_operator()
    embedded.apply(*bucket("s3-pvc"), gated("workload", "s3-pvc"))
    embedded.until("it is placed", lambda: placed(embedded))
    embedded.finish("workload", phase)
    embedded.until("it is gone", lambda: not guardians(embedded))


def test_a_workload_that_is_deleted_before_it_has_a_node_leaves_nothing(world: World) -> None:
    world.start_operator()
    world.apply(*bucket("one"), *bucket("two"))
    world.apply(gated("workload", "one", "two"))
    world.until("it is released", lambda: gates_of(world, "workload") == [])
    assert len(guardians(world)) == 2
    world.delete("Pod", "workload")
    world.until("both are gone", lambda: not guardians(world))


def test_a_claim_that_is_not_bound_yet_keeps_the_gate_on(embedded: EmbeddedWorld) -> None:
    embedded.start_operator()
    embedded.apply(*bucket("one"), claim("two", "pv-two"))
    embedded.apply(gated("workload", "one", "two"))
    embedded.until("the first is made", lambda: len(guardians(embedded)) == 1)
    embedded.pass_time(10)
    assert gates_of(embedded, "workload") == [GATE]
    assert len(guardians(embedded)) == 1
    embedded.apply(volume("pv-two", DRIVER))
    embedded.until("it is released", lambda: gates_of(embedded, "workload") == [])
    assert len(guardians(embedded)) == 2


def test_a_volume_that_does_not_exist_is_told_and_the_workload_goes_on(
    embedded: EmbeddedWorld,
) -> None:
    embedded.start_operator()
    embedded.apply(gated("workload", "nowhere"))
    embedded.until("told", lambda: bool(embedded.events("CannotFollow", "workload")))
    embedded.until("released", lambda: gates_of(embedded, "workload") == [], seconds=400)
    assert embedded.events("DeadlinePassed", "workload")


def test_a_size_that_cannot_be_read_is_told(embedded: EmbeddedWorld) -> None:
    embedded.start_operator()
    embedded.apply(*bucket("s3-pvc", mountpointContainerResourcesRequestsCpu="lots"))
    embedded.apply(gated("workload", "s3-pvc"))
    embedded.until("told", lambda: bool(embedded.events("CannotFollow", "workload")))
    (told,) = embedded.events("CannotFollow", "workload")
    assert "pv-s3-pvc" in told["message"]
    assert "lots" in told["message"]


def test_labels_of_the_headroom_are_those_of_its_pods_but_for_the_drivers(
    embedded: EmbeddedWorld,
) -> None:
    labels = {"team": "data", FOR_POD: "mine", "headroom.dev/role": "latch"}
    embedded.patch("Headroom", "mountpoint", {"metadata": {"labels": labels}}, HELPERS)
    embedded.start_operator()
    embedded.apply(*bucket("s3-pvc"), gated("workload", "s3-pvc"))
    embedded.until("it has its headroom pod", lambda: len(guardians(embedded)) == 1)
    (made,) = guardians(embedded)
    uid = (embedded.get("Pod", "workload") or {})["metadata"]["uid"]
    assert made["metadata"]["labels"]["team"] == "data"
    assert made["metadata"]["labels"][FOR_POD] == uid
