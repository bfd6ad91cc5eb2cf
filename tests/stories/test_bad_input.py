"""Bad input: each mistake is named where its author looks, and the hold next to it works on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from headroom.core.derived_names import guardian_name
from headroom.sim.errors import ApiError
from headroom.wire.objects.holds import hold_from
from testbed.api import ApiFailure
from tests.stories.embedded import EmbeddedWorld
from tests.stories.things import NAMESPACE, Json, headroom, hold, pod
from tests.stories.world import World

DOORS = pytest.mark.parametrize("door", ["gated", "ours"])
CLAIMED = "headroom.dev/claimed"
NEVER = {
    "matchLabels": {"app": "web"},
    "matchExpressions": [{"key": "app", "operator": "In", "values": ["api"]}],
}
ELSEWHERE = [{"object": {"name": "owner", "namespace": "elsewhere"}}]


def begin(world: World, **settings: Any) -> None:
    """A node, an operator, and a good hold beside whatever comes."""
    world.add_node("a", cpu=4)
    world.start_operator(**settings)
    world.apply(hold("good", cpu=1, app="good"))
    world.until_held("good")


def neighbour_works(world: World) -> None:
    """The good hold still serves its owner."""
    world.apply(pod("rightful", cpu=1, app="good", gated=True))
    world.until_runs("rightful", on="a")
    assert world.claim_of("rightful") == "Hold/default/good"


def refusal(world: World, thing: Json) -> str:
    """What the API server answers to an object that it does not take."""
    try:
        world.apply(thing)
    except (ApiError, ApiFailure) as refused:
        return str(refused)
    raise AssertionError("it was taken")


def until_degraded(world: World, name: str, reason: str) -> str:
    """Wait until a hold says what is wrong; return its words, which its event repeats."""
    world.until(
        f"hold {name} is degraded: {reason}",
        lambda: (
            world.condition_of(name, "Degraded").get("status") == "True"
            and world.condition_of(name, "Degraded").get("reason") == reason
        ),
    )
    assert world.condition_of(name)["status"] == "False"
    return str(world.condition_of(name)["message"])


@pytest.mark.parametrize(
    ("bad", "where"),
    [
        ({"cpu": "-1"}, "requests"),
        ({"cpu": "lots"}, "requests"),
        ({"ttl": "banana"}, "spec.ttl"),
        ({"owners": [{"object": {"name": ""}}]}, "spec.owners[0].object"),
        ({"owners": []}, "spec.owners"),
    ],
    ids=["negative", "nonsense", "ttl", "empty-name", "nobody"],
)
def test_what_the_schema_can_judge_never_gets_in(world: World, bad: Json, where: str) -> None:
    begin(world)
    assert where in refusal(world, hold("bad", **bad))
    assert world.get("Hold", "bad") is None
    neighbour_works(world)


def test_an_owner_rule_that_contradicts_itself_is_named_and_keeps_no_room(world: World) -> None:
    begin(world)
    world.apply(hold("bad", cpu=3, owners=[{"labelSelector": NEVER}]))
    words = until_degraded(world, "bad", "InvalidSpec")
    assert words.startswith("spec.owners[0].labelSelector: can never match")
    assert "label app" in words
    assert len(world.ours("guardian")) == 1
    world.until("it is told", lambda: bool(world.events("InvalidSpec", "bad")))
    neighbour_works(world)


def test_a_spec_that_is_mended_is_held(world: World) -> None:
    begin(world)
    world.apply(hold("bad", cpu=1, owners=[{"labelSelector": NEVER}]))
    until_degraded(world, "bad", "InvalidSpec")
    good = hold("bad")["spec"]["owners"]
    world.patch("Hold", "bad", {"spec": {"owners": good}})
    world.until_held("bad")
    assert world.condition_of("bad", "Degraded")["status"] == "False"


def test_an_owner_of_another_namespace_is_refused_with_the_flag_that_would_allow_it(
    world: World,
) -> None:
    begin(world)
    world.apply(hold("bad", owners=ELSEWHERE))
    words = until_degraded(world, "bad", "InvalidSpec")
    assert words.startswith("spec.owners[0].object.namespace: ")
    assert "--allow-cross-namespace-owners" in words
    neighbour_works(world)


def test_an_owner_of_another_namespace_is_served_where_that_is_allowed(world: World) -> None:
    begin(world, across_namespaces=True)
    have_namespace(world, "elsewhere")
    world.apply(hold("shared", owners=ELSEWHERE))
    world.until_held("shared")
    world.apply(pod("owner", namespace="elsewhere", gated=True))
    world.until("it runs", lambda: world.running("owner", "elsewhere"))
    assert world.claim_of("owner", "elsewhere") == "Hold/default/shared"


def test_a_template_that_fits_no_node_says_which_resource_is_short_on_how_many(
    world: World,
) -> None:
    begin(world)
    world.apply(hold("bad", cpu=9))
    words = until_degraded(world, "bad", "Unschedulable")
    assert "0/1 nodes are available" in words
    assert "Insufficient cpu" in words
    world.until("it is told", lambda: bool(world.events("Unschedulable", "bad")))
    assert "Insufficient cpu" in world.events("Unschedulable", "bad")[0]["message"]
    neighbour_works(world)


def test_a_template_for_a_node_that_is_not_there_waits_and_says_so(world: World) -> None:
    begin(world)
    world.apply(hold("bad", cpu=1, template={"nodeName": "nowhere"}))
    assert "0/1 nodes are available" in until_degraded(world, "bad", "Unschedulable")
    world.add_node("nowhere", cpu=2)
    world.until_held("bad")
    neighbour_works(world)


def test_a_guardian_whose_name_is_taken_names_the_pod_in_the_way(world: World) -> None:
    world.add_node("a", cpu=4)
    world.apply(hold("bad", cpu=1))
    name = guardian_name(hold_from(world.get("Hold", "bad") or {}))
    world.apply(pod(name, cpu="100m"))
    world.start_operator()
    assert f"pod default/{name} " in until_degraded(world, "bad", "GuardianRefused")
    world.until_runs(name)
    world.apply(hold("good", cpu=1, app="good"))
    world.until_held("good")
    neighbour_works(world)
    world.delete("Pod", name)
    world.until_held("bad")


def test_a_hold_that_expired_before_it_began_never_keeps_room(world: World) -> None:
    begin(world)
    world.apply(hold("late", cpu=3, ttl="1h", expires="2020-01-01T00:00:00Z"))
    world.until("it has ended", lambda: world.phase_of_hold("late") == "Failed")
    ready = world.condition_of("late")
    assert (ready["status"], ready["reason"]) == ("False", "Expired")
    assert "2020-01-01" in ready["message"]
    assert not any("late" in item["metadata"]["name"] for item in world.ours("guardian"))
    neighbour_works(world)


@pytest.mark.parametrize("ttl", ["0", "0s"])
def test_a_ttl_of_zero_means_for_ever(world: World, ttl: str) -> None:
    begin(world)
    world.apply(hold("eternal", cpu=1, ttl=ttl))
    world.until_held("eternal")
    neighbour_works(world)


def test_a_forged_claim_gives_nothing_and_takes_nothing(world: World) -> None:
    begin(world)
    world.apply(hold("h", cpu=1))
    world.until_held("h")
    forged = {CLAIMED: "Hold/default/h"}
    world.apply(
        pod("liar", cpu="100m", app="api", annotations=forged),
        pod("gated-liar", cpu="100m", app="api", annotations=forged, gated=True),
        pod("our-liar", cpu="100m", app="api", annotations=forged, ours=True),
    )
    for name in ("liar", "gated-liar", "our-liar"):
        world.until_runs(name)
    world.until("it is told", lambda: bool(world.events("NotMatched", "gated-liar")))
    assert "labels do not match" in world.events("NotMatched", "gated-liar")[0]["message"]
    status = (world.get("Hold", "h") or {})["status"]
    assert (status["phase"], status.get("currentOwners", [])) == ("Available", [])
    world.apply(pod("owner", cpu=1, app="web", gated=True))
    world.until_runs("owner", on="a")
    assert world.claim_of("owner") == "Hold/default/h"
    neighbour_works(world)


@pytest.mark.parametrize(
    ("bad", "where"),
    [
        ({"size": {"utilization": {"threshold": 0}}}, "spec.size.utilization.threshold"),
        ({"size": {"utilization": {"threshold": 1.5}}}, "spec.size.utilization.threshold"),
        ({"size": {"utilization": {"threshold": "NaN"}}}, "spec.size.utilization.threshold"),
        ({"limits": {"slots": -1}}, "spec.limits.slots"),
        ({"limits": {"pods": -1}}, "spec.limits.pods"),
        ({"limits": {"nodes": -1}}, "spec.limits.nodes"),
        ({"limits": {"resources": {"cpu": "-1"}}}, "spec.limits.resources"),
    ],
    ids=["threshold-0", "threshold-1.5", "threshold-nan", "slots", "pods", "nodes", "resources"],
)
def test_a_threshold_or_limit_that_makes_no_sense_never_gets_in(
    world: World, bad: Json, where: str
) -> None:
    begin(world)
    assert where in refusal(world, headroom("bad", **bad))
    assert world.get("Headroom", "bad") is None
    neighbour_works(world)


@DOORS
def test_a_pod_of_another_namespace_with_borrowed_labels_goes_without(
    world: World, door: str
) -> None:
    begin(world)
    have_namespace(world, "elsewhere")
    world.apply(pod("thief", cpu=1, app="good", namespace="elsewhere", **{door: True}))
    world.until("it runs on free room", lambda: world.running("thief", "elsewhere"))
    assert world.claim_of("thief", "elsewhere") == ""
    assert world.phase_of_hold("good") == "Available"
    neighbour_works(world)


def test_a_gated_pod_that_nothing_is_for_is_released_and_told_so(world: World) -> None:
    begin(world)
    world.apply(pod("stray", cpu=1, app="nobody", gated=True))
    world.until_runs("stray", on="a", seconds=10)
    world.until("it is told", lambda: bool(world.events("NotMatched", "stray")))
    assert world.events("NotMatched", "stray")[0]["message"] == "no hold is for this pod"
    neighbour_works(world)


def test_a_pod_that_our_scheduler_cannot_judge_waits_and_is_told_the_way_out(world: World) -> None:
    begin(world)
    claims = [{"name": "gpu", "resourceClaimName": "gpu-1"}]
    world.apply(pod("waits", cpu=1, app="good", ours=True, resourceClaims=claims))
    world.until("it is told", lambda: bool(world.events("Unschedulable", "waits")))
    words = world.events("Unschedulable", "waits")[0]["message"]
    assert "device" in words
    assert "headroom.dev/claim" in words
    assert world.node_of("waits") == ""
    neighbour_works(world)


def test_a_pod_whose_volume_claim_is_missing_waits_and_is_told_which(world: World) -> None:
    begin(world)
    volumes = [{"name": "data", "persistentVolumeClaim": {"claimName": "disk"}}]
    world.apply(pod("waits", cpu=1, app="good", ours=True, volumes=volumes))
    world.until("it is told", lambda: bool(world.events("Unschedulable", "waits")))
    words = world.events("Unschedulable", "waits")[0]["message"]
    assert words == '0/1 nodes are available: persistentvolumeclaim "disk" not found.'
    assert world.node_of("waits") == ""
    neighbour_works(world)


def test_a_pod_without_room_anywhere_says_so_where_autoscalers_look(world: World) -> None:
    begin(world)
    world.apply(pod("big", cpu=9, ours=True))
    world.until("it is marked", lambda: bool(scheduled_condition(world, "big")))
    condition = scheduled_condition(world, "big")
    assert (condition["status"], condition["reason"]) == ("False", "Unschedulable")
    assert condition["message"] == "0/1 nodes are available: 1 Insufficient cpu."
    neighbour_works(world)
    world.add_node("b", cpu=16)
    world.until_runs("big", on="b")


def scheduled_condition(world: World, name: str) -> Json:
    status = (world.get("Pod", name) or {}).get("status", {})
    found = (item for item in status.get("conditions", []) if item["type"] == "PodScheduled")
    return next(found, {})


def have_namespace(world: World, name: str) -> None:
    if world.get("Namespace", name, NAMESPACE) is None:
        world.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})


@pytest.fixture
def embedded() -> Iterator[EmbeddedWorld]:
    """Only where every write can be counted and a minute costs nothing."""
    world = EmbeddedWorld()
    yield world
    world.close()


def quota(cpu: str) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "tight", "namespace": NAMESPACE},
        "spec": {"hard": {"requests.cpu": cpu}},
    }


def refuse_by_quota(world: EmbeddedWorld) -> None:
    world.apply(quota("1500m"))


def refuse_by_missing_class(world: EmbeddedWorld) -> None:
    world.delete("PriorityClass", "headroom-locked")


def refuse_by_name(world: EmbeddedWorld) -> None:
    world.kill_operator()
    world.apply(hold("bad", cpu=1))
    name = guardian_name(hold_from(world.get("Hold", "bad") or {}))
    world.apply(pod(name, cpu="100m"))
    world.start_operator()


@pytest.mark.parametrize(
    ("refuse", "says"),
    [
        (refuse_by_quota, "exceeded quota: tight"),
        (refuse_by_missing_class, "no PriorityClass with name headroom-locked was found"),
        (refuse_by_name, "has the guardian's name"),
    ],
)
def test_a_refused_guardian_is_tried_again_with_longer_and_longer_pauses(
    embedded: EmbeddedWorld, refuse: Callable[[EmbeddedWorld], None], says: str
) -> None:
    begin(embedded)
    refuse(embedded)
    embedded.apply(hold("bad", cpu=1))
    embedded.pass_time(1)
    before = len(embedded.sim.writes)
    embedded.pass_time(60)
    during = len(embedded.sim.writes) - before
    embedded.pass_time(3600)
    later = len(embedded.sim.writes) - before - during
    assert during <= 8, embedded.sim.writes[before:]
    assert later <= 3600 / 120 + 4, "one try every two minutes at most"
    assert says in until_degraded(embedded, "bad", "GuardianRefused")
    assert len(embedded.events("Unschedulable", "bad")) == 1
    assert embedded.phase_of_hold("good") == "Available"


def test_a_trouble_that_is_over_is_not_told_again(embedded: EmbeddedWorld) -> None:
    begin(embedded)
    embedded.apply(quota("1500m"), hold("bad", cpu=1))
    until_degraded(embedded, "bad", "GuardianRefused")
    embedded.sim.delete("ResourceQuota", NAMESPACE, "tight")
    embedded.until_held("bad")
    (guardian,) = [
        item["metadata"]["name"]
        for item in embedded.ours("guardian")
        if item["metadata"]["annotations"]["headroom.dev/parent"] == "Hold/default/bad"
    ]
    embedded.delete("Pod", guardian)
    embedded.until("it is replaced", lambda: bool(embedded.events("Replaced", "bad")))
    embedded.until_held("bad")
    assert len(embedded.events("Unschedulable", "bad")) == 1
    neighbour_works(embedded)


def test_a_field_that_is_not_there_is_named_with_the_one_that_is(embedded: EmbeddedWorld) -> None:
    begin(embedded)
    assert "spec.tttl: no such field; did you mean ttl?" in refusal(embedded, hold("h", tttl="1h"))
    neighbour_works(embedded)


@pytest.mark.parametrize(
    ("spec", "path"),
    [
        ({"template": "nonsense", "owners": 7}, "spec.template: "),
        ({"ttl": {"a": 1}}, "spec.template: is missing"),
        ("nonsense", "spec: "),
        ({"expires": "9999-12-31T25:59:59Z"}, "spec.expires: "),
    ],
    ids=["template", "ttl", "spec", "expires"],
)
def test_a_poisoned_object_hurts_nobody_else(embedded: EmbeddedWorld, spec: Any, path: str) -> None:
    """As an older schema would have let it in: past the API server, straight into the store."""
    begin(embedded)
    embedded.sim.store.insert({**hold("poison"), "spec": spec})
    assert path in until_degraded(embedded, "poison", "InvalidSpec")
    before = len(embedded.sim.writes)
    embedded.pass_time(600)
    assert len(embedded.sim.writes) == before
    neighbour_works(embedded)


def test_a_ttl_of_zero_lives_on_where_a_day_would_have_passed(embedded: EmbeddedWorld) -> None:
    begin(embedded)
    embedded.apply(hold("eternal", cpu=1, ttl="0"))
    embedded.until_held("eternal")
    embedded.pass_time(36 * 3600)
    assert embedded.phase_of_hold("eternal") == "Available"
    assert embedded.phase_of_hold("good") == "Failed"
