"""Orders with daemonSet: one ticket on each eligible node, and no other node gets one."""

from __future__ import annotations

from typing import Any

import pytest

from tests.stories.embedded import EmbeddedWorld
from tests.stories.korder.things import (
    asking,
    failure,
    guardians,
    order,
    phases,
    until_phases,
    writes,
)
from tests.stories.things import Json, pod, workload
from tests.stories.world import World

LINUX = {"kubernetes.io/os": "linux"}


def everywhere(name: str = "web", **more: Any) -> Json:
    return order(name, daemonSet=True, **more)


def taint(key: str, effect: str, value: str = "") -> Json:
    return {"key": key, "value": value, "effect": effect}


def nodes_of(world: World) -> list[str]:
    """The nodes with a guardian, each as often as it has one."""
    return sorted(guardians(world).values())


def reasons(world: World) -> str:
    """What the order says of itself."""
    return str(world.condition_of("web", of="Order").get("message", ""))


@pytest.mark.every_version
def test_each_eligible_node_has_one_ticket_that_is_bound_to_it(world: World) -> None:
    for name in ("a", "b", "c"):
        world.add_node(name)
    world.start_operator()
    world.apply(everywhere(replicas=1))
    until_phases(world, web_a="Ready", web_b="Ready", web_c="Ready")
    for name in ("a", "b", "c"):
        made = world.get("Ticket", f"web-{name}") or {}
        assert made["metadata"]["labels"]["korder.dev/node"] == name
        assert made["status"]["nodeName"] == name
    assert guardians(world) == {f"korder-guardian-web-{name}": name for name in ("a", "b", "c")}


def test_only_a_node_that_passes_all_rules_gets_a_ticket(world: World) -> None:
    world.add_node("good", labels=LINUX)
    world.add_node("windows", labels={"kubernetes.io/os": "windows"})
    world.add_node("cordoned", labels=LINUX, unschedulable=True)
    world.add_node("tainted", labels=LINUX, taints=[taint("dedicated", "NoSchedule", "gpu")])
    world.start_operator()
    world.apply(everywhere(ticket={"nodeSelector": LINUX}))
    until_phases(world, web_good="Ready")
    told = "3 of 4 nodes left out"
    world.until("the order counts them", lambda: told in reasons(world))
    for words in ("1 cordoned", "1 without the right labels", "1 with a taint"):
        assert words in reasons(world)


def test_a_node_that_is_not_ready_gets_none(embedded: EmbeddedWorld) -> None:
    embedded.add_node("a")
    embedded.add_node("b")
    embedded.set_ready("b", False)
    embedded.pass_time(60)
    embedded.start_operator()
    embedded.apply(everywhere())
    embedded.pass_time(10)
    assert phases(embedded) == {"web-a": "Ready"}


def test_tolerations_are_taken_at_their_word(world: World) -> None:
    world.add_node("a", taints=[taint("k", "NoSchedule")])
    world.add_node("b", taints=[taint("k", "NoExecute")])
    world.add_node("c", taints=[taint("k", "PreferNoSchedule")])
    world.add_node("d", taints=[taint("dedicated", "NoExecute", "gpu")])
    world.add_node("e", taints=[taint("dedicated", "NoSchedule", "other")])
    world.start_operator()
    world.apply(
        everywhere(
            "effect", ticket={"tolerations": [{"operator": "Exists", "effect": "NoSchedule"}]}
        ),
        everywhere("key", ticket={"tolerations": [{"key": "k", "operator": "Exists"}]}),
        everywhere("value", ticket={"tolerations": [{"key": "dedicated", "value": "gpu"}]}),
    )
    wanted = ["effect-a", "effect-c", "effect-e", "key-a", "key-b", "key-c", "value-c", "value-d"]
    world.until("each on its nodes", lambda: list(phases(world)) == wanted)
    world.until("all are ready", lambda: set(phases(world).values()) == {"Ready"})


def test_required_node_affinity_is_honoured(world: World) -> None:
    world.add_node("a", labels={"zone": "one"})
    world.add_node("b", labels={"zone": "two"})
    world.start_operator()
    need = {"key": "zone", "operator": "NotIn", "values": ["two"]}
    terms = {"nodeSelectorTerms": [{"matchExpressions": [need]}]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
    world.apply(everywhere(ticket={"affinity": affinity}))
    until_phases(world, web_a="Ready")


def test_a_node_that_joins_gets_its_ticket_and_the_others_are_let_be(world: World) -> None:
    world.add_node("a")
    world.start_operator()
    world.apply(everywhere())
    until_phases(world, web_a="Ready")
    before = (world.get("Ticket", "web-a") or {})["metadata"]["uid"]
    world.add_node("b")
    until_phases(world, web_a="Ready", web_b="Ready")
    assert (world.get("Ticket", "web-a") or {})["metadata"]["uid"] == before


def test_a_node_that_leaves_takes_its_ticket_along(world: World) -> None:
    world.add_node("a")
    world.add_node("b")
    world.start_operator()
    world.apply(everywhere())
    until_phases(world, web_a="Ready", web_b="Ready")
    world.delete("Node", "b")
    until_phases(world, web_a="Ready")
    world.until("its guardian is gone", lambda: nodes_of(world) == ["a"])


def test_a_cordoned_node_gives_its_ticket_back_and_gets_it_again(world: World) -> None:
    world.add_node("a")
    world.add_node("b")
    world.start_operator()
    world.apply(everywhere())
    until_phases(world, web_a="Ready", web_b="Ready")
    world.patch("Node", "b", {"spec": {"unschedulable": True}})
    until_phases(world, web_a="Ready")
    world.patch("Node", "b", {"spec": {"unschedulable": None}})
    until_phases(world, web_a="Ready", web_b="Ready")


def test_a_claimed_ticket_stays_when_its_node_is_cordoned(world: World) -> None:
    world.add_node("a")
    world.start_operator()
    world.apply(everywhere(refreshPolicy="Never"))
    until_phases(world, web_a="Ready")
    world.apply(asking("p", "web-a"))
    world.until_runs("p", on="a")
    until_phases(world, web_a="Claimed")
    world.patch("Node", "a", {"spec": {"unschedulable": True}})
    world.pass_time(2)
    assert phases(world) == {"web-a": "Claimed"}


def test_a_claimed_ticket_of_a_node_is_replaced_on_that_node(world: World) -> None:
    world.add_node("a")
    world.add_node("b")
    world.start_operator()
    world.apply(everywhere())
    until_phases(world, web_a="Ready", web_b="Ready")
    world.apply(asking("p", "web-b"))
    until_phases(world, web_a="Ready", web_b="Claimed", web_b_1="Ready")
    world.until("one guardian a node", lambda: nodes_of(world) == ["a", "b"])


def test_two_tickets_never_share_a_node_even_after_an_eviction(world: World) -> None:
    world.add_node("a")
    world.add_node("b")
    world.start_operator()
    world.apply(everywhere())
    until_phases(world, web_a="Ready", web_b="Ready")
    for _ in range(3):
        gone = {each["metadata"]["uid"] for each in world.ours("guardian")}
        for name in guardians(world):
            world.delete("Pod", name)
        world.until(
            "all are made again, each on its node",
            lambda gone=gone: (  # type: ignore[misc]  # bound as it is in this round
                nodes_of(world) == ["a", "b"]
                and not gone & {each["metadata"]["uid"] for each in world.ours("guardian")}
            ),
        )
    assert sorted(phases(world)) == ["web-a", "web-b"]


def test_orders_that_overlap_each_hold_their_own_and_say_what_does_not_fit(world: World) -> None:
    world.add_node("a", cpu=4)
    world.add_node("b", cpu=2)
    world.start_operator()
    world.apply(everywhere("one", cpu=1))
    until_phases(world, one_a="Ready", one_b="Ready")
    world.apply(everywhere("two", cpu=2))
    until_phases(world, one_a="Ready", one_b="Ready", two_a="Ready", two_b="Pending")
    world.until("the second says why", lambda: "Insufficient cpu" in failure(world, "two")[1])
    assert failure(world, "one")[0] == "False"


def test_an_order_without_an_eligible_node_says_which_rule_left_out_how_many(
    world: World,
) -> None:
    world.add_node("a")
    world.add_node("b", unschedulable=True)
    world.start_operator()
    world.apply(everywhere(ticket={"nodeSelector": {"gpu": "true"}}))
    told = "2 of 2 nodes left out: 1 cordoned, 1 without the right labels"
    world.until("the order tells which rules", lambda: told in reasons(world))
    assert phases(world) == {}
    ready = world.condition_of("web", of="Order")
    assert (ready["status"], ready["reason"]) == ("False", "NoEligibleNode")


def test_a_daemonsets_pod_claims_the_ticket_of_its_node(world: World) -> None:
    world.add_node("a")
    world.add_node("b")
    world.start_operator()
    world.apply(everywhere(refreshPolicy="Never"))
    until_phases(world, web_a="Ready", web_b="Ready")
    agent = workload("DaemonSet", "agent")
    pods = agent["spec"]["template"]
    pods["metadata"]["annotations"] = {"korder.dev/order-request": "web"}
    pods["spec"]["schedulingGates"] = [{"name": "headroom.dev/claim"}]
    world.apply(agent)
    until_phases(world, web_a="Claimed", web_b="Claimed")
    for name in ("a", "b"):
        owner = world.status(f"web-{name}", "Ticket")["claimedPod"].partition("/")[2]
        world.until_runs(owner, on=name)


def test_a_tick_renews_the_tickets_of_all_nodes_and_leaves_none_bare(
    before_six: EmbeddedWorld,
) -> None:
    world = before_six
    names = ["a", "b", "c", "d"]
    for name in names:
        world.add_node(name, cpu=1)  # No room for two guardians at once.
    world.start_operator()
    strategy = {"type": "Recurring", "schedule": "0 */6 * * *", "refreshPolicy": "Always"}
    world.apply(everywhere(strategy=strategy, ticket={"duration": "8h"}))
    world.until("all are held", lambda: nodes_of(world) == names)
    world.apply(*(pod(f"thief-{number}") for number in range(4)))
    first = {each["metadata"]["uid"] for each in world.ours("guardian")}
    before = writes(world)
    world.pass_time(180)
    second = {each["metadata"]["uid"] for each in world.ours("guardian")}
    assert nodes_of(world) == names
    assert not first & second
    assert not any(world.running(f"thief-{number}") for number in range(4))
    assert writes(world) - before < 12 * len(names)
    assert world.status("web-a", "Ticket")["expirationTime"] == "2027-01-04T14:00:00Z"


def test_a_heartbeat_that_changes_nothing_costs_no_write(embedded: EmbeddedWorld) -> None:
    for name in ("a", "b", "c"):
        embedded.add_node(name)
    embedded.start_operator()
    embedded.apply(everywhere())
    until_phases(embedded, web_a="Ready", web_b="Ready", web_c="Ready")
    embedded.pass_time(10)
    before = writes(embedded)
    for _ in range(20):
        for name in ("a", "b", "c"):
            embedded.set_ready(name, True)
        embedded.pass_time(10)
    assert writes(embedded) == before


def test_a_storm_of_nodes_costs_a_bounded_number_of_writes(embedded: EmbeddedWorld) -> None:
    names = [f"n-{number}" for number in range(8)]
    for name in names:
        embedded.add_node(name)
    embedded.start_operator()
    embedded.apply(everywhere())
    embedded.until("all are held", lambda: nodes_of(embedded) == names)
    embedded.pass_time(10)
    before = writes(embedded)
    for _ in range(12):
        for ready in (False, True):
            for name in names[:4]:
                embedded.set_ready(name, ready)
            embedded.pass_time(1)
    embedded.pass_time(60)
    assert nodes_of(embedded) == names
    assert writes(embedded) - before < 8


def test_where_karpenter_is_an_order_shows_its_tickets_by_a_daemon_set(world: World) -> None:
    world.add_node("a")
    world.start_operator(node_overhead=True)
    world.apply(everywhere(replicas=1, cpu="500m"))
    until_phases(world, web_a="Ready")
    (shown,) = daemon_sets(world)
    assert shown["metadata"]["ownerReferences"][0]["kind"] == "Order"
    (container,) = shown["spec"]["template"]["spec"]["containers"]
    assert container["resources"]["requests"]["cpu"] == "500m"
    world.add_node("b")
    until_phases(world, web_a="Ready", web_b="Ready")
    world.until("guardians belong to it", lambda: all_belong(world), seconds=90)
    until_phases(world, web_a="Ready", web_b="Ready")
    assert len(world.all("Pod")) == 2
    world.delete("Order", "web")
    world.until("it goes with its order", lambda: not daemon_sets(world), seconds=60)


def daemon_sets(world: World) -> list[Json]:
    return world.all("DaemonSet")


def all_belong(world: World) -> bool:
    """Whether the guardians belong to their tickets, and to the DaemonSet as well."""
    uids = [each["metadata"]["uid"] for each in daemon_sets(world)]
    owners = [one["metadata"]["ownerReferences"] for one in world.ours("guardian")]
    return len(owners) == 2 and all(
        [each["kind"] for each in some] == ["Ticket", "DaemonSet"]
        and [bool(each.get("controller")) for each in some] == [True, False]
        and some[1]["uid"] in uids
        for some in owners
    )
