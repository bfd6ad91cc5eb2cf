"""The embedded API server refuses what the real one refuses, in its words."""

from __future__ import annotations

from typing import Any

import pytest

from headroom.sim.api.values import Ref, condition_of, dig, uid_of
from headroom.sim.errors import ApiError
from headroom.sim.world import SimWorld
from tests.sim.things import deployment, hold, node, pod, priority_class

POD = Ref("Pod", "default", "p")


def bound(world: SimWorld, **spec: Any) -> None:
    world.apply(node("a"))
    world.apply(pod("p", **spec))
    world.server.bind(POD, {"target": {"name": "a"}})


def test_a_new_pod_gets_its_defaults(world: SimWorld) -> None:
    made = world.apply(pod("p"))
    assert made["spec"]["schedulerName"] == "default-scheduler"
    assert made["spec"]["terminationGracePeriodSeconds"] == 30
    assert made["status"] == {"phase": "Pending", "qosClass": "Burstable"}
    keys = [toleration["key"] for toleration in made["spec"]["tolerations"]]
    assert keys == ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"]
    assert {toleration["tolerationSeconds"] for toleration in made["spec"]["tolerations"]} == {300}


def test_limits_become_requests(world: SimWorld) -> None:
    given = pod("p", cpu="")
    given["spec"]["containers"][0]["resources"] = {"limits": {"cpu": "2"}}
    made = world.apply(given)
    assert made["spec"]["containers"][0]["resources"]["requests"] == {"cpu": "2"}


def test_a_priority_class_gives_priority_and_policy(world: SimWorld) -> None:
    made = world.apply(pod("p", priorityClassName="headroom-locked"))
    assert (made["spec"]["priority"], made["spec"]["preemptionPolicy"]) == (1_000_000_000, "Never")


def test_the_global_default_class_is_for_pods_that_name_none(world: SimWorld) -> None:
    world.apply(priority_class("usual", 7, globalDefault=True))
    assert world.apply(pod("p"))["spec"]["priority"] == 7


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ({"priorityClassName": "nope"}, "no PriorityClass with name nope was found"),
        ({"priority": 5}, "the integer value of priority (5) must not be provided"),
        ({"preemptionPolicy": "Never"}, "the string value of PreemptionPolicy (Never)"),
        ({"containers": []}, "spec.containers: Required value"),
        ({"nodeName": "a", "schedulingGates": [{"name": "g"}]}, "spec.nodeName: Forbidden"),
    ],
)
def test_a_pod_that_makes_no_sense_is_refused(
    world: SimWorld, spec: dict[str, Any], words: str
) -> None:
    with pytest.raises(ApiError) as refused:
        world.apply(pod("p", **spec))
    assert words in refused.value.message


def test_a_nonsense_quantity_is_refused_with_its_path(world: SimWorld) -> None:
    with pytest.raises(ApiError, match="requests"):
        world.apply(pod("p", cpu="lots"))


def test_a_gated_pod_says_so(world: SimWorld) -> None:
    made = world.apply(pod("p", schedulingGates=[{"name": "example.com/wait"}]))
    condition = condition_of(made, "PodScheduled")
    assert condition is not None
    assert (condition["status"], condition["reason"]) == ("False", "SchedulingGated")


def test_gates_can_only_be_removed(world: SimWorld) -> None:
    world.apply(pod("p", schedulingGates=[{"name": "a"}, {"name": "b"}]))
    world.patch("Pod", "default", "p", {"spec": {"schedulingGates": [{"name": "b"}]}})
    with pytest.raises(ApiError, match="only deletion is allowed, but found new scheduling gate"):
        world.patch("Pod", "default", "p", {"spec": {"schedulingGates": [{"name": "c"}]}})


def test_a_gated_pod_may_narrow_its_nodes_and_others_may_not(world: SimWorld) -> None:
    world.apply(pod("gated", schedulingGates=[{"name": "a"}]))
    world.patch("Pod", "default", "gated", {"spec": {"nodeSelector": {"zone": "x"}}})
    world.apply(pod("p"))
    with pytest.raises(ApiError, match="pod updates may not change fields other than"):
        world.patch("Pod", "default", "p", {"spec": {"nodeSelector": {"zone": "x"}}})


def test_names_are_taken_once(world: SimWorld) -> None:
    world.server.create(pod("p"))
    with pytest.raises(ApiError) as refused:
        world.server.create(pod("p"))
    assert (refused.value.code, refused.value.reason) == (409, "AlreadyExists")


def test_a_write_based_on_an_older_version_conflicts(world: SimWorld) -> None:
    old = world.apply(pod("p"))
    world.patch("Pod", "default", "p", {"metadata": {"labels": {"x": "1"}}})
    with pytest.raises(ApiError, match="the object has been modified"):
        world.server.update({**old, "metadata": {**old["metadata"], "labels": {"x": "2"}}})


def test_a_write_that_changes_nothing_makes_no_version(world: SimWorld) -> None:
    old = world.apply(pod("p"))
    assert world.patch("Pod", "default", "p", {}) is old


def test_the_status_moves_only_through_its_subresource(world: SimWorld) -> None:
    world.apply(hold("h"))
    world.patch("Hold", "default", "h", {"status": {"phase": "Failed"}})
    ref = Ref("Hold", "default", "h")
    assert "status" not in world.server.get(ref)
    world.server.merge_patch(
        ref, {"status": {"phase": "Available"}, "spec": {"ttl": "1s"}}, "status"
    )
    stored = world.server.get(ref)
    assert stored["status"] == {"phase": "Available"}
    assert stored["spec"]["ttl"] == "24h"


def test_a_pod_status_write_may_carry_annotations(world: SimWorld) -> None:
    world.apply(pod("p"))
    patch = {"metadata": {"annotations": {"a": "b"}}, "status": {"nominatedNodeName": "n"}}
    stored = world.server.merge_patch(POD, patch, "status")
    assert stored["metadata"]["annotations"] == {"a": "b"}
    assert stored["status"]["nominatedNodeName"] == "n"


def test_the_generation_counts_changes_of_the_spec(world: SimWorld) -> None:
    world.apply(deployment("web", 1))
    world.patch("Deployment", "default", "web", {"metadata": {"labels": {"x": "y"}}})
    stored = world.patch("Deployment", "default", "web", {"spec": {"replicas": 2}})
    assert stored["metadata"]["generation"] == 2


def test_an_unbound_pod_goes_at_once_and_a_bound_one_gets_its_grace(world: SimWorld) -> None:
    world.apply(pod("unbound"))
    world.delete("Pod", "default", "unbound")
    assert world.get("Pod", "default", "unbound") is None
    bound(world)
    world.delete("Pod", "default", "p")
    marked = world.server.get(POD)
    assert marked["metadata"]["deletionGracePeriodSeconds"] == 30
    assert marked["metadata"]["deletionTimestamp"] == "2027-01-04T07:00:30Z"


def test_grace_zero_ends_a_bound_pod_at_once(world: SimWorld) -> None:
    bound(world)
    world.delete("Pod", "default", "p", grace=0)
    assert world.get("Pod", "default", "p") is None


def test_deleting_names_the_very_object(world: SimWorld) -> None:
    world.apply(pod("p"))
    with pytest.raises(ApiError, match="does not match the UID in record"):
        world.server.delete(POD, uid="another")


def test_finalizers_keep_an_object_until_they_are_gone(world: SimWorld) -> None:
    given = hold("h")
    given["metadata"]["finalizers"] = ["example.com/x"]
    world.apply(given)
    world.delete("Hold", "default", "h")
    stored = world.server.get(Ref("Hold", "default", "h"))
    assert stored["metadata"]["deletionTimestamp"]
    world.patch("Hold", "default", "h", {"metadata": {"finalizers": None}})
    assert world.get("Hold", "default", "h") is None


def test_a_binding_writes_its_annotations_and_clears_the_nomination(world: SimWorld) -> None:
    world.apply(pod("p"))
    world.server.merge_patch(POD, {"status": {"nominatedNodeName": "b"}}, "status")
    binding = {"metadata": {"annotations": {"claimed": "x"}}, "target": {"name": "a"}}
    stored = world.server.bind(POD, binding)
    assert stored["spec"]["nodeName"] == "a"
    assert stored["metadata"]["annotations"] == {"claimed": "x"}
    assert dig(stored, "status", "nominatedNodeName") is None
    assert dig(condition_of(stored, "PodScheduled"), "status") == "True"


def test_a_binding_asks_for_no_room_but_for_everything_else(world: SimWorld) -> None:
    world.apply(pod("huge", cpu="1000"))
    huge = Ref("Pod", "default", "huge")
    with pytest.raises(ApiError, match="UID in precondition"):
        world.server.bind(huge, {"metadata": {"uid": "other"}, "target": {"name": "a"}})
    world.server.bind(huge, {"target": {"name": "a"}})
    with pytest.raises(ApiError, match='already assigned to node "a"'):
        world.server.bind(huge, {"target": {"name": "b"}})
    world.apply(pod("p", schedulingGates=[{"name": "g"}]))
    with pytest.raises(ApiError, match="has non-empty"):
        world.server.bind(POD, {"target": {"name": "a"}})


def test_a_pod_that_is_going_cannot_be_bound(world: SimWorld) -> None:
    given = pod("p")
    given["metadata"]["finalizers"] = ["example.com/x"]
    world.apply(given)
    world.delete("Pod", "default", "p")
    with pytest.raises(ApiError, match="being deleted, cannot be assigned to a host"):
        world.server.bind(POD, {"target": {"name": "a"}})


def test_a_quota_refuses_the_pod_that_goes_beyond(world: SimWorld) -> None:
    world.apply(
        {
            "apiVersion": "v1",
            "kind": "ResourceQuota",
            "metadata": {"name": "q", "namespace": "default"},
            "spec": {"hard": {"requests.cpu": "2", "limits.memory": "1Gi"}},
        }
    )
    world.apply(pod("one", cpu="1500m"))
    with pytest.raises(ApiError) as refused:
        world.apply(pod("two", cpu="1"))
    words = "exceeded quota: q, requested: requests.cpu=1, used: requests.cpu=1500m, limited: "
    assert words in refused.value.message
    assert any("limits.memory" in note for note in world.server.notes)


def test_a_namespace_that_is_missing_is_made_and_mentioned(world: SimWorld) -> None:
    given = pod("p")
    given["metadata"]["namespace"] = "new"
    world.apply(given)
    assert world.get("Namespace", "", "new") is not None
    assert "namespace new was not in the files and has been made" in world.server.notes


def test_a_hold_is_checked_as_its_crd_does(world: SimWorld) -> None:
    with pytest.raises(ApiError, match="owners"):
        world.apply(hold("h", owners=[]))
    made = world.apply(hold("h"))
    assert (made["spec"]["ttl"], made["spec"]["allocateOnce"]) == ("24h", True)


def test_a_workload_must_select_its_own_pods(world: SimWorld) -> None:
    given = deployment("web", 1)
    given["spec"]["selector"] = {"matchLabels": {"app": "other"}}
    with pytest.raises(ApiError, match="`selector` does not match template `labels`"):
        world.apply(given)


def test_what_is_not_modelled_is_refused_and_never_ignored(world: SimWorld) -> None:
    with pytest.raises(ApiError, match="'ReplicationController' is unknown"):
        world.apply({**deployment("web", 1), "kind": "ReplicationController"})


def test_uids_and_names_follow_from_the_seed() -> None:
    def names(seed: int) -> list[str]:
        with SimWorld(seed=seed) as world:
            given = pod("p")
            given["metadata"] = {"generateName": "p-", "namespace": "default"}
            made = world.apply(given)
            return [uid_of(made), made["metadata"]["name"]]

    assert names(1) == names(1)
    assert names(1) != names(2)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"name": "Not_A_Name"}, "a lowercase RFC 1123 subdomain"),
        ({"name": "x" * 300}, "must be no more than 253 characters"),
        ({"labels": {"a b": "c"}}, "name part must consist of"),
        ({"labels": {"a": "b c"}}, "a valid label must be an empty string"),
    ],
)
def test_names_and_labels_must_be_well_formed(
    world: SimWorld, change: dict[str, Any], words: str
) -> None:
    given = pod("p")
    given["metadata"].update(change)
    with pytest.raises(ApiError) as refused:
        world.apply(given)
    assert words in refused.value.message


def test_containers_have_names_of_their_own(world: SimWorld) -> None:
    with pytest.raises(ApiError, match="Duplicate value"):
        world.apply(pod("p", containers=[{"name": "c"}, {"name": "c"}]))


def test_a_namespace_takes_its_contents_along(world: SimWorld) -> None:
    given = pod("p")
    given["metadata"]["namespace"] = "team"
    world.apply(given)
    world.delete("Namespace", "", "team")
    with pytest.raises(ApiError, match="because it is being terminated"):
        world.server.create({**given, "metadata": {**given["metadata"], "name": "q"}})
    world.run_until_idle()
    assert world.get("Namespace", "", "team") is None
    assert world.list("Pod") == []


def test_an_api_client_needs_the_namespace_to_be_there(world: SimWorld) -> None:
    given = pod("p")
    given["metadata"]["namespace"] = "nowhere"
    with pytest.raises(ApiError, match='namespaces "nowhere" not found'):
        world.server.create(given)


def test_a_node_reports_what_its_manifest_left_out(world: SimWorld) -> None:
    given = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a"}}
    made = world.apply({**given, "status": {"capacity": {"cpu": "4"}}})
    assert made["status"]["allocatable"] == {"pods": "110", "cpu": "4"}
    assert made["metadata"]["labels"] == {
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/hostname": "a",
        "kubernetes.io/os": "linux",
    }
    world.apply({**given, "metadata": {"name": "bare"}})
    assert "Node/bare has no status.capacity: no pod fits there" in world.server.notes


def test_what_a_pod_asks_in_vain_is_mentioned_once(world: SimWorld) -> None:
    probe = {"httpGet": {"port": 80}}
    for name in ("one", "two"):
        container = {"name": "c", "image": "i", "readinessProbe": probe}
        world.apply(pod(name, containers=[container], activeDeadlineSeconds=5))
    assert list(world.server.notes) == [
        "pods with activeDeadlineSeconds: pods do not end at activeDeadlineSeconds",
        "pods with probes: containers are ready as soon as they run",
    ]
