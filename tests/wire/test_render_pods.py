"""The pods that we make: guardians and latches, whole (golden) and claim by claim."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from headroom.core.actions import CreateGuardian, CreateLatch, MoveLatch
from headroom.core.derived_names import guardian_name
from headroom.core.holds import Hold
from headroom.core.names import FOR_LABEL, ROLE_LABEL, SAFE_TO_EVICT
from headroom.core.objects import HostPort, Key
from headroom.core.resources import Resources
from headroom.wire.node_pin import pinned_to
from headroom.wire.objects.pods import pod_from
from headroom.wire.render import render
from tests.wire.objects import container, hold, template

Golden = Callable[[str, str], None]
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def guardian(kept: Hold, **rest: Any) -> dict[str, Any]:
    """The guardian of a hold, as it is sent."""
    action = CreateGuardian(guardian_name(kept), kept, kept.template.pod.requests, **rest)
    body = render(action).body
    assert isinstance(body, dict)
    return body


def latch(**rest: Any) -> dict[str, Any]:
    requests = Resources({"cpu": 1500, "memory": 2**30})
    body = render(CreateLatch(Key("ops", "latch-1"), hold().parent, requests, "a", **rest)).body
    assert isinstance(body, dict)
    return body


def pretty(body: dict[str, Any]) -> str:
    return json.dumps(body, indent=2) + "\n"


RICH = template(
    {
        "nodeSelector": {"disk": "ssd"},
        "tolerations": [{"key": "gpu", "operator": "Exists"}],
        "affinity": {
            "nodeAffinity": {
                REQUIRED: {
                    "nodeSelectorTerms": [
                        {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["z"]}]}
                    ]
                }
            }
        },
        "topologySpreadConstraints": [
            {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}
        ],
        "runtimeClassName": "kata",
        "overhead": {"cpu": "250m"},
        "nodeName": "node-1",
        "serviceAccountName": "secret-reader",
        "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "d"}}],
        "priorityClassName": "mine",
        "containers": [
            {
                **container(cpu="2", memory="1Gi", **{"example.com/gpu": "1"}),
                "ports": [{"containerPort": 80, "hostPort": 8080}],
                "env": [{"name": "A", "value": "b"}],
            }
        ],
    },
    labels={"app": "train", ROLE_LABEL: "thief"},
    annotations={"note": "kept"},
)


def test_a_guardian_is_what_it_was(golden: Golden) -> None:
    golden("guardian.json", pretty(guardian(hold(RICH))))


def test_a_plain_guardian_is_what_it_was(golden: Golden) -> None:
    golden("guardian-plain.json", pretty(guardian(hold())))


def test_a_latch_is_what_it_was(golden: Golden) -> None:
    claims = (("ml/train-0/uid-0", "Hold/ml/nightly"), ("ml/train-1/uid-1", ""))
    golden("latch.json", pretty(latch(claims=claims)))


def test_a_guardian_keeps_exactly_what_it_was_told_to() -> None:
    for spec in ({}, RICH):
        kept = hold(spec)
        assert pod_from(guardian(kept)).requests == kept.template.pod.requests
    smaller = Resources({"cpu": 250})
    body = render(CreateGuardian("g", hold(RICH), smaller)).body
    assert isinstance(body, dict)
    assert pod_from(body).requests == smaller


def test_overhead_is_carried_only_where_it_fits_into_what_is_kept() -> None:
    spec = guardian(hold(RICH))["spec"]
    assert (spec["runtimeClassName"], spec["overhead"]) == ("kata", {"cpu": "250m"})
    tiny = Resources({"cpu": 100})
    body = render(CreateGuardian("g", hold(RICH), tiny)).body
    assert isinstance(body, dict)
    assert pod_from(body).requests == tiny
    assert "runtimeClassName" not in body["spec"]


def test_overhead_without_a_runtime_class_is_asked_for_by_the_container() -> None:
    """The API server refuses a pod that says an overhead and no class."""
    kept = hold(template({"overhead": {"cpu": "250m"}, "containers": [container(cpu="1")]}))
    made = guardian(kept)
    assert "overhead" not in made["spec"]
    assert pod_from(made).requests == kept.template.pod.requests == Resources({"cpu": 1250})


def test_a_runtime_class_of_unknown_overhead_is_not_carried() -> None:
    """The API server would add an overhead, and the guardian would keep more than it says."""
    assert "runtimeClassName" not in guardian(hold(template({"runtimeClassName": "kata"})))["spec"]


def test_a_guardian_goes_where_its_template_may_go() -> None:
    kept = hold(RICH)
    made, wanted = pod_from(guardian(kept)).placement, kept.template.pod.placement
    assert made.node_selector == wanted.node_selector
    assert made.tolerations == wanted.tolerations
    assert made.spread == wanted.spread
    assert made.ports == wanted.ports


def test_the_node_of_a_template_is_a_wish_and_no_binding() -> None:
    spec = guardian(hold(template({"nodeName": "node-1"})))["spec"]
    assert "nodeName" not in spec
    terms = spec["affinity"]["nodeAffinity"][REQUIRED]["nodeSelectorTerms"]
    assert terms == [
        {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["node-1"]}]}
    ]


def test_the_node_of_an_action_comes_before_that_of_the_template() -> None:
    spec = guardian(hold(template({"nodeName": "node-1"})), node="node-2")["spec"]
    assert "node-2" in json.dumps(spec["affinity"])
    assert "node-1" not in json.dumps(spec)


def test_a_bound_guardian_names_its_node() -> None:
    spec = guardian(hold(), node="node-2", bound=True)["spec"]
    assert spec["nodeName"] == "node-2"
    assert "affinity" not in spec


def test_our_labels_win_and_the_templates_are_carried() -> None:
    metadata = guardian(hold(RICH))["metadata"]
    assert metadata["labels"] == {"app": "train", ROLE_LABEL: "guardian", FOR_LABEL: "nightly"}
    assert metadata["annotations"]["note"] == "kept"


def test_a_template_may_forbid_its_eviction() -> None:
    assert guardian(hold())["metadata"]["annotations"][SAFE_TO_EVICT] == "true"
    kept = hold(template(annotations={SAFE_TO_EVICT: "false"}))
    assert guardian(kept)["metadata"]["annotations"][SAFE_TO_EVICT] == "false"


def test_a_guardian_runs_nothing_of_the_template() -> None:
    spec = guardian(hold(RICH))["spec"]
    assert "volumes" not in spec
    assert "serviceAccountName" not in spec
    assert [each["name"] for each in spec["containers"]] == ["pause"]
    assert "env" not in spec["containers"][0]
    assert spec["priorityClassName"] == "headroom-locked"


def test_only_what_cannot_be_overcommitted_has_a_limit() -> None:
    resources = guardian(hold(RICH))["spec"]["containers"][0]["resources"]
    assert resources["limits"] == {"example.com/gpu": "1"}
    assert resources["requests"]["cpu"] == "2"


def test_a_guardian_of_our_own_schedulers_template_is_placed_by_kube_scheduler() -> None:
    ours = guardian(hold(template({"schedulerName": "headroom-scheduler"})))
    other = guardian(hold(template({"schedulerName": "bin-packer"})))
    assert ours["spec"]["schedulerName"] == "default-scheduler"
    assert other["spec"]["schedulerName"] == "bin-packer"


def test_another_image_can_be_named() -> None:
    write = render(CreateGuardian("g", hold(), Resources({"cpu": 1})), image="mirror/pause:1")
    assert isinstance(write.body, dict)
    assert write.body["spec"]["containers"][0]["image"] == "mirror/pause:1"


def test_a_latch_put_to_another_use_forgets_the_slot_it_stood_for() -> None:
    parent, key = hold().parent, Key("ops", "latch-1")
    of_slot = render(MoveLatch(key, "u", replace(parent, slot="3"), "a", ())).body
    of_all = render(MoveLatch(key, "u", parent, "a", ())).body
    assert isinstance(of_slot, dict)
    assert isinstance(of_all, dict)
    assert of_slot["metadata"]["annotations"]["headroom.dev/parent"] == "Hold/ml/nightly"
    assert of_slot["metadata"]["annotations"]["headroom.dev/slot"] == "3"
    assert of_all["metadata"]["annotations"]["headroom.dev/slot"] is None


def test_a_latch_is_gated_and_belongs_to_kube_scheduler() -> None:
    pod = pod_from(latch())
    assert pod.gates == ("headroom.dev/latch",)
    assert pod.scheduler == "default-scheduler"
    assert not pod.preempts
    assert pod.requests == Resources({"cpu": 1500, "memory": 2**30})
    assert pod.annotations["headroom.dev/node"] == "a"


@pytest.mark.parametrize(
    "affinity",
    [
        {},
        {"nodeAffinity": {}},
        {
            "nodeAffinity": {
                REQUIRED: {
                    "nodeSelectorTerms": [
                        {"matchExpressions": [{"key": "a"}]},
                        {"matchFields": [{"key": "b"}]},
                    ]
                }
            }
        },
        {"podAffinity": {"x": 1}, "nodeAffinity": {"preferred": [1]}},
    ],
)
def test_a_pin_is_demanded_by_every_alternative(affinity: dict[str, Any]) -> None:
    before = json.dumps(affinity)
    pinned = pinned_to("a", affinity)
    name = {"key": "metadata.name", "operator": "In", "values": ["a"]}
    terms = pinned["nodeAffinity"][REQUIRED]["nodeSelectorTerms"]
    assert all(name in term["matchFields"] for term in terms)
    assert len(terms) >= 1
    assert pinned.get("podAffinity") == affinity.get("podAffinity")
    assert json.dumps(affinity) == before


def test_a_term_that_matches_no_node_goes_on_matching_none() -> None:
    nowhere: dict[str, Any] = {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [{}]}}}
    assert pinned_to("a", nowhere) == nowhere


def _hook(body: dict[str, Any]) -> Any:
    return body["spec"]["containers"][0].get("lifecycle")


def test_a_locked_guardian_sleeps_before_it_ends_and_others_do_not() -> None:
    kept = hold()
    body = guardian(kept)
    assert _hook(body) == {"preStop": {"sleep": {"seconds": 3}}}
    assert body["spec"]["terminationGracePeriodSeconds"] == 4
    given = replace(kept, mode="Preemptible")
    assert (_hook(guardian(given)), guardian(given)["spec"]["terminationGracePeriodSeconds"]) == (
        None,
        0,
    )
    classed = replace(kept, template=replace(kept.template, priority_class="theirs"))
    listening = guardian(kept, ports=(HostPort(80),))
    assert (_hook(guardian(classed)), _hook(listening)) == (None, None)
    assert listening["spec"]["terminationGracePeriodSeconds"] == 1
