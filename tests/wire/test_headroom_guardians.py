"""From a Headroom's JSON to the guardians of its slots, through what it wishes for."""

from __future__ import annotations

from typing import Any

from headroom.core.actions import CreateGuardian
from headroom.core.derived_names import guardian_name
from headroom.core.headrooms.wanted_slots import SizeView, wish
from headroom.core.headrooms.windows import ActiveWindow
from headroom.wire.guardians import guardian_json
from headroom.wire.objects.headrooms import headroom_from
from headroom.wire.objects.workloads import workload_from
from headroom.wire.schema.notation import kubernetes
from headroom.wire.schema.validation import validate
from tests.builders import NOON, node
from tests.wire.headroom_cases import EVERYTHING, FROM, GONE, Case
from tests.wire.test_headroom_workloads import workload

PREEMPTIBLE: dict[str, Any] = {"mode": "Preemptible", "owners": GONE}


def noted(pod: dict[str, Any]) -> Any:
    return pod["metadata"]["annotations"]


def guardians(spec: dict[str, Any], **sight: Any) -> list[dict[str, Any]]:
    """The pods that a Headroom with this spec would be kept by, each sound for Kubernetes."""
    made = headroom_from(Case("burst", spec).headroom())
    assert made.problems == ()
    slots = wish(made, SizeView(ActiveWindow(made.size), **sight), NOON).slots
    pods = [
        guardian_json(CreateGuardian(guardian_name(slot), slot, slot.template.pod.requests))
        for slot in slots
    ]
    assert [problem for pod in pods for problem in validate(pod, "Pod", kubernetes())] == []
    return pods


def requests(pod: dict[str, Any]) -> Any:
    (container,) = pod["spec"]["containers"]
    return container["resources"]["requests"]


def affinity(pod: dict[str, Any]) -> Any:
    required = "requiredDuringSchedulingIgnoredDuringExecution"
    return pod["spec"]["affinity"]["nodeAffinity"][required]["nodeSelectorTerms"]


def test_guardians_belong_to_the_headroom_and_have_names_of_their_own() -> None:
    pods = guardians({"size": {"replicas": 3}})
    assert len({pod["metadata"]["name"] for pod in pods}) == 3
    for pod in pods:
        (owner,) = pod["metadata"]["ownerReferences"]
        assert (owner["kind"], owner["name"]) == ("Headroom", "burst")
        assert pod["metadata"]["labels"]["headroom.dev/for"] == "burst"
        assert requests(pod) == {"cpu": "500m", "memory": "512Mi"}


def test_guardians_say_of_which_slot_they_are() -> None:
    pods = guardians({"size": {"replicas": 2}})
    assert [noted(pod)["headroom.dev/parent"] for pod in pods] == ["Headroom/default/burst"] * 2
    assert len({noted(pod)["headroom.dev/slot"] for pod in pods}) == 2


def test_guardians_tell_their_shape_and_another_template_has_another() -> None:
    larger = {"template": {"resources": {"requests": {"cpu": "2"}}}}
    shapes = [
        {noted(pod)["headroom.dev/shape"] for pod in guardians(spec)}
        for spec in ({"size": {"replicas": 2}}, {"slot": larger}, PREEMPTIBLE)
    ]
    assert [len(shape) for shape in shapes] == [1, 1, 1]
    assert len(set.union(*shapes)) == 3


def test_preemptible_guardians_make_way_for_ordinary_pods() -> None:
    assert guardians(PREEMPTIBLE)[0]["spec"]["priorityClassName"] == "headroom-preemptible"
    assert guardians({})[0]["spec"]["priorityClassName"] == "headroom-locked"


def test_guardians_carry_every_scheduling_field_of_the_slot() -> None:
    spec = guardians(EVERYTHING)[0]["spec"]
    given = EVERYTHING["slot"]["template"]
    for name in ("nodeSelector", "tolerations", "affinity", "topologySpreadConstraints"):
        assert spec[name] == given[name]


def test_a_slot_per_node_is_pinned_by_affinity_and_never_bound() -> None:
    pods = guardians({"size": {"perNode": {"slots": 1}}}, nodes=(node("b"), node("a")))
    named = [
        [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [name]}]}]
        for name in "ab"
    ]
    assert [affinity(pod) for pod in pods] == named
    assert all("nodeName" not in pod["spec"] for pod in pods)


def test_a_part_of_each_node_is_asked_for_on_it() -> None:
    spec = {"slot": {"template": {}}, "size": {"perNode": {"percent": 10}}}
    small, large = guardians(spec, nodes=(node("a", 4, "10Gi"), node("b", 32, "100Gi")))
    assert requests(small) == {"cpu": "400m", "memory": "1Gi"}
    assert requests(large) == {"cpu": "3200m", "memory": "10Gi"}


def test_guardians_of_a_workload_have_its_shape_but_not_its_labels() -> None:
    spec = {"slot": {"from": FROM}, "size": {"percent": 50}}
    pods = guardians(spec, workload=workload_from(workload(replicas=3)))
    assert len(pods) == 2
    for pod in pods:
        assert requests(pod) == {"cpu": "2"}
        assert pod["spec"]["nodeSelector"] == {"pool": "web"}
        assert "app" not in pod["metadata"]["labels"]
