"""Pods that ask for tickets: who gets which, who gets none and why, and that nobody is lost."""

from __future__ import annotations

import pytest

from tests.stories.embedded import EmbeddedWorld
from tests.stories.korder.things import asking, guardians, order, phases, ticket, until_phases
from tests.stories.things import Json, pod, workload
from tests.stories.world import World

LABELS = {"app": "shop", "tier": "front"}
GROUP = {"korder.dev/ticket-group": "fronts"}


def claimed(world: World, name: str) -> str:
    """The ticket that a pod says it has."""
    found = world.get("Pod", name) or {"metadata": {}}
    return str(found["metadata"].get("annotations", {}).get("korder.dev/ticket-claimed", ""))


WAYS: dict[str, Json] = {
    "name": asking("p", "name:web-0"),
    "bare": asking("p", "web-0"),
    "selector": asking("p", "selector: tier=front , app=shop"),
    "group": asking("p", "group:fronts"),
    "group-of-the-order": asking("p", "group:web"),
    "order": asking("p", asks={"order-request": "web"}),
    "alias": asking("p", asks={"required": "true", "order": "web"}),
}


@pytest.mark.parametrize("way", WAYS)
def test_each_way_to_ask_gets_the_ticket(embedded: EmbeddedWorld, way: str) -> None:
    embedded.add_node("a")
    embedded.start_operator()
    embedded.apply(ticket("other"), order(labels=LABELS, annotations=GROUP, refreshPolicy="Never"))
    until_phases(embedded, other="Ready", web_0="Ready")
    embedded.apply(WAYS[way])
    until_phases(embedded, other="Ready", web_0="Claimed")
    embedded.until_runs("p", on="a")
    assert claimed(embedded, "p") == "web-0"


def test_who_asks_for_what_is_not_there_runs_without_and_is_told(world: World) -> None:
    world.add_node("a")
    world.start_operator()
    world.apply(ticket())
    until_phases(world, solo="Ready")
    world.apply(asking("p", "name:nobody"))
    world.until_runs("p")
    assert claimed(world, "p") == ""
    assert phases(world) == {"solo": "Ready"}
    world.until("it is told", lambda: bool(world.events("NotMatched", "p")))


@pytest.mark.parametrize(
    ("request_text", "words"),
    [
        ("selector:app", "is not like key=value"),
        ("group:", "does not say what is asked for"),
        ("order:web", "begins with neither"),
    ],
)
def test_who_asks_unclearly_runs_without_and_is_told_why(
    embedded: EmbeddedWorld, request_text: str, words: str
) -> None:
    embedded.add_node("a")
    embedded.start_operator()
    embedded.apply(ticket())
    until_phases(embedded, solo="Ready")
    embedded.apply(asking("p", request_text))
    embedded.until_runs("p")
    assert words in embedded.events("NotMatched", "p")[0]["message"]
    assert phases(embedded) == {"solo": "Ready"}


def test_many_who_ask_for_one_ticket_get_it_once(world: World) -> None:
    world.add_node("a", cpu=8)
    world.start_operator()
    world.apply(ticket())
    until_phases(world, solo="Ready")
    names = [f"p-{number}" for number in range(6)]
    world.apply(*(asking(name, "solo") for name in names))
    for name in names:
        world.until_runs(name)
    winners = [name for name in names if claimed(world, name)]
    assert len(winners) == 1
    assert world.status("solo", "Ticket")["claimedPod"] == f"default/{winners[0]}"


def test_many_who_ask_for_an_order_get_one_ticket_each(world: World) -> None:
    world.add_node("a", cpu=4)
    world.start_operator()
    world.apply(order(replicas=3, refreshPolicy="Never"))
    until_phases(world, web_0="Ready", web_1="Ready", web_2="Ready")
    names = [f"p-{number}" for number in range(3)]
    world.apply(*(asking(name, asks={"order-request": "web"}) for name in names))
    until_phases(world, web_0="Claimed", web_1="Claimed", web_2="Claimed")
    assert sorted(claimed(world, name) for name in names) == ["web-0", "web-1", "web-2"]
    for name in names:
        world.until_runs(name)


def test_a_full_node_turns_no_claimer_away(world: World) -> None:
    world.add_node("a", cpu=4)
    world.start_operator()
    world.apply(order(replicas=4, refreshPolicy="Never"))
    until_phases(world, web_0="Ready", web_1="Ready", web_2="Ready", web_3="Ready")
    world.apply(*(pod(f"thief-{number}", cpu=1) for number in range(3)))
    names = [f"p-{number}" for number in range(4)]
    world.apply(*(asking(name, asks={"order-request": "web"}) for name in names))
    for name in names:
        world.until_runs(name, on="a")
    assert not any(world.running(f"thief-{number}") for number in range(3))
    world.until_nothing_is_left()


def test_a_pod_that_exists_already_never_claims(world: World) -> None:
    world.add_node("a")
    world.start_operator()
    world.apply(ticket(), pod("p"))
    until_phases(world, solo="Ready")
    world.until_runs("p")
    request = {"metadata": {"annotations": {"korder.dev/ticket-request": "solo"}}}
    world.patch("Pod", "p", request)
    world.pass_time(1)
    assert phases(world) == {"solo": "Ready"}


def test_guardians_never_claim(world: World) -> None:
    world.add_node("a")
    world.start_operator()
    world.apply(order(annotations={"korder.dev/ticket-request": "solo"}), ticket())
    until_phases(world, solo="Ready", web_0="Ready")
    world.pass_time(1)
    assert phases(world) == {"solo": "Ready", "web-0": "Ready"}


def test_a_pod_that_does_not_fit_the_ticket_or_its_node_is_not_given_it(world: World) -> None:
    world.add_node("a", cpu=2)
    world.add_node("b", cpu=4, labels={"zone": "two"})
    world.start_operator()
    world.apply(ticket(nodeName="a"))
    until_phases(world, solo="Ready")
    world.apply(
        asking("large", "solo", cpu=3),
        asking("elsewhere", "solo", nodeSelector={"zone": "two"}),
    )
    world.until_runs("large", on="b")
    world.until_runs("elsewhere", on="b")
    assert phases(world) == {"solo": "Ready"}


def test_a_pod_that_says_no_size_gets_the_ticket_that_it_asks_for(world: World) -> None:
    world.add_node("a")
    world.add_node("b")
    world.start_operator()
    world.apply(ticket(nodeName="b"))
    until_phases(world, solo="Ready")
    sizeless = asking("p", "solo")
    sizeless["spec"]["containers"] = [{"name": "main", "image": "app"}]
    world.apply(sizeless)
    world.until_runs("p", on="b")
    until_phases(world, solo="Claimed")


def test_an_expired_ticket_is_not_to_be_had(world: World) -> None:
    world.add_node("a")
    world.start_operator()
    world.apply(ticket(duration="1s", lifecycle={"cleanupPolicy": "Retain"}))
    until_phases(world, solo="Expired")
    world.apply(asking("p", "solo"))
    world.until_runs("p")
    assert claimed(world, "p") == ""


def test_a_deployments_pods_are_named_in_full_with_their_uid(world: World) -> None:
    world.add_node("a")
    world.start_operator()
    world.apply(order(replicas=2, refreshPolicy="Never"))
    until_phases(world, web_0="Ready", web_1="Ready")
    front = workload("Deployment", "front", replicas=2)
    template = front["spec"]["template"]
    template["metadata"]["annotations"] = {"korder.dev/order-request": "web"}
    template["spec"]["schedulingGates"] = [{"name": "headroom.dev/claim"}]
    world.apply(front)
    until_phases(world, web_0="Claimed", web_1="Claimed")
    uids = {
        f"default/{each['metadata']['name']}": each["metadata"]["uid"]
        for each in world.all("Pod")
        if each["metadata"]["name"].startswith("front-")
    }
    told = {
        each["status"]["claimedPod"]: each["status"]["claimedPodUID"]
        for each in world.all("Ticket")
    }
    assert told == uids


@pytest.mark.parametrize("writes", range(7))
def test_an_operator_that_dies_in_the_middle_of_a_claim_ends_it_well(
    embedded: EmbeddedWorld, writes: int
) -> None:
    embedded.add_node("a", cpu=1)
    embedded.start_operator()
    embedded.apply(ticket())
    until_phases(embedded, solo="Ready")
    embedded.apply(pod("thief"))
    embedded.pass_time(2)
    embedded.cut_operator_after(writes)
    embedded.apply(asking("p", "solo"))
    embedded.pass_time(5)
    embedded.kill_operator()
    embedded.start_operator()
    embedded.until_runs("p", on="a")
    until_phases(embedded, solo="Claimed")
    assert embedded.status("solo", "Ticket")["claimedPod"] == "default/p"
    assert not embedded.running("thief")
    embedded.until_nothing_is_left()


@pytest.mark.parametrize("writes", [1, 2])
def test_a_claim_that_comes_to_nothing_is_given_back(world: World, writes: int) -> None:
    world.add_node("a")
    world.start_operator()
    world.apply(ticket())
    until_phases(world, solo="Ready")
    world.cut_operator_after(writes)  # Claimed, guardian deleted: the third write would bind it.
    world.apply(asking("p", "solo"))
    world.until("cut in the middle of the claim", world.operator_is_cut)
    assert not world.node_of("p")
    world.delete("Pod", "p")
    world.kill_operator()
    world.start_operator()
    world.until("the room is kept again", lambda: guardians(world) == {"korder-guardian-solo": "a"})
    until_phases(world, solo="Ready")
