"""Orders: so many tickets, kept whatever happens to them, refreshed as their policy says."""

from __future__ import annotations

from headroom.dialects.korder.kinds import TICKETS
from headroom.sim.faults import Fault
from headroom.wire.writes import Write
from tests.stories.embedded import EmbeddedWorld
from tests.stories.korder.things import (
    asking,
    failure,
    guardians,
    order,
    phases,
    ticket,
    until_phases,
    writes,
)
from tests.stories.world import World

RETAIN = {"lifecycle": {"cleanupPolicy": "Retain"}}


def test_an_order_makes_its_tickets_with_all_that_belongs_to_them(world: World) -> None:
    world.add_node("a")
    world.start_operator()
    world.apply(order(replicas=3, labels={"app": "web"}, ticket={"nodeSelector": {}}))
    until_phases(world, web_0="Ready", web_1="Ready", web_2="Ready")
    whole = world.get("Order", "web") or {}
    assert whole["metadata"]["finalizers"] == ["korder.dev/order-finalizer"]
    for made in world.all("Ticket"):
        labels = made["metadata"]["labels"]
        assert labels["app"] == "web"
        assert labels["korder.dev/order"] == "web"
        assert labels["korder.dev/order-uid"] == whole["metadata"]["uid"]
        owner = made["metadata"]["ownerReferences"][0]
        assert (owner["kind"], owner["name"], owner["controller"]) == ("Order", "web", True)
        assert made["spec"]["duration"] == "24h"
    world.until(
        "the order counts them",
        lambda: world.status("web", "Order").get("availableReplicas") == 3,
    )
    status = world.status("web", "Order")
    assert (status["replicas"], status["updatedReplicas"]) == (3, 3)
    assert (status["unavailableReplicas"], status["terminalReplicas"]) == (0, 0)


def test_the_finalizer_is_there_before_the_first_ticket(embedded: EmbeddedWorld) -> None:
    embedded.add_node("a")
    embedded.start_operator()
    embedded.apply(order())
    until_phases(embedded, web_0="Ready")
    kinds = [(write.resource.kind, write.subresource) for _, write, _ in embedded.sim.writes]
    assert kinds.index(("Order", "")) < kinds.index(("Ticket", ""))


def test_an_order_without_a_number_wants_one_and_one_with_zero_none(world: World) -> None:
    world.add_node("a")
    world.start_operator()
    world.apply(order("one"), order("none", replicas=0))
    until_phases(world, one_0="Ready")
    world.pass_time(1)
    assert list(phases(world)) == ["one-0"]


def test_a_hole_is_filled_under_its_own_name(world: World) -> None:
    world.add_node("a")
    world.start_operator()
    world.apply(order(replicas=3))
    until_phases(world, web_0="Ready", web_1="Ready", web_2="Ready")
    before = {each["metadata"]["name"]: each["metadata"]["uid"] for each in world.all("Ticket")}
    world.delete("Ticket", "web-0")

    def filled() -> bool:
        now = {each["metadata"]["name"]: each["metadata"]["uid"] for each in world.all("Ticket")}
        return sorted(now) == ["web-0", "web-1", "web-2"] and now["web-0"] != before["web-0"]

    world.until("web-0 is there again", filled)
    until_phases(world, web_0="Ready", web_1="Ready", web_2="Ready")
    assert failure(world)[0] == "False"


def test_scaling_down_takes_what_is_not_claimed(world: World) -> None:
    world.add_node("a", cpu=8)
    world.start_operator()
    world.apply(order(replicas=3))
    until_phases(world, web_0="Ready", web_1="Ready", web_2="Ready")
    world.apply(asking("p", "name:web-1"))
    until_phases(world, web_0="Ready", web_1="Claimed", web_2="Ready", web_3="Ready")
    world.patch("Order", "web", {"spec": {"replicas": 1}})
    world.until(
        "one ready ticket beside the claimed one",
        lambda: sorted(phases(world).values()) == ["Claimed", "Ready"],
    )
    assert phases(world)["web-1"] == "Claimed"
    world.until_runs("p")


def test_a_paused_order_makes_and_deletes_nothing(world: World) -> None:
    world.add_node("a", cpu=8)
    world.start_operator()
    world.apply(order(replicas=2))
    until_phases(world, web_0="Ready", web_1="Ready")
    world.patch("Order", "web", {"spec": {"paused": True, "replicas": 5}})
    world.until(
        "the order says that it is paused",
        lambda: world.condition_of("web", of="Order").get("reason") == "Paused",
    )
    assert sorted(phases(world)) == ["web-0", "web-1"]
    world.patch("Order", "web", {"spec": {"replicas": 1}})
    world.pass_time(1)
    assert sorted(phases(world)) == ["web-0", "web-1"]
    world.patch("Order", "web", {"spec": {"paused": False}})
    until_phases(world, web_0="Ready")
    world.until(
        "the order is ready again",
        lambda: world.condition_of("web", of="Order").get("reason") == "Ready",
    )


def test_an_order_that_is_deleted_takes_its_own_tickets_along_and_no_others(world: World) -> None:
    world.add_node("a")
    world.start_operator()
    label = {"labels": {"korder.dev/order": "web"}}
    world.apply(order(replicas=2), ticket("foreign", metadata=label))
    until_phases(world, web_0="Ready", web_1="Ready", foreign="Ready")
    world.delete("Order", "web")
    until_phases(world, foreign="Ready")
    world.until("the order is gone", lambda: not world.all("Order"))
    assert guardians(world) == {"korder-guardian-foreign": "a"}


def test_on_claim_a_claimed_ticket_is_replaced_and_kept_while_its_pod_runs(world: World) -> None:
    world.add_node("a")
    world.start_operator()
    world.apply(order(refreshPolicy="OnClaim"))
    until_phases(world, web_0="Ready")
    world.apply(asking("p", asks={"order-request": "web"}))
    until_phases(world, web_0="Claimed", web_1="Ready")
    world.until_runs("p")
    counted = {"claimedReplicas": 1, "availableReplicas": 1}
    world.until(
        "the order counts the claim, and the ticket after it",
        lambda: counted.items() <= world.status("web", "Order").items(),
    )


def test_never_means_that_a_claimed_ticket_is_not_replaced(world: World) -> None:
    world.add_node("a")
    world.start_operator()
    world.apply(order(replicas=2, strategy={"type": "OneTime", "refreshPolicy": "Never"}))
    until_phases(world, web_0="Ready", web_1="Ready")
    world.apply(asking("p", "web-0"))
    until_phases(world, web_0="Claimed", web_1="Ready")
    world.pass_time(2)
    assert phases(world) == {"web-0": "Claimed", "web-1": "Ready"}


def test_a_changed_template_reaches_the_tickets_hold_first(world: World) -> None:
    world.add_node("a")
    world.start_operator()
    world.apply(order(replicas=2, cpu=1))
    until_phases(world, web_0="Ready", web_1="Ready")
    bare: list[str] = []
    world.on_look(lambda: bare.extend(["bare"] if len(guardians(world)) < 2 else []))
    change = {"template": {"spec": {"resources": {"requests": {"cpu": "500m"}}}}}
    world.patch("Order", "web", {"spec": change})

    def sizes() -> list[str]:
        pods = world.ours("guardian")
        return [
            pod["spec"]["containers"][0]["resources"]["requests"]["cpu"]
            for pod in pods
            if pod["spec"].get("nodeName")
        ]

    world.until("both guardians have the new size", lambda: sizes() == ["500m", "500m"])
    assert bare == []
    world.until(
        "the order says that they are updated",
        lambda: world.status("web", "Order").get("updatedReplicas") == 2,
    )
    assert sorted(phases(world)) == ["web-0", "web-1"]


def test_a_name_that_a_stranger_has_is_passed_over(world: World) -> None:
    world.add_node("a")
    world.start_operator()
    world.apply(ticket("web-0"))
    until_phases(world, web_0="Ready")
    world.apply(order(replicas=2))
    until_phases(world, web_0="Ready", web_1="Ready", web_2="Ready")


def test_a_long_name_still_works(world: World) -> None:
    name = "w" * 70
    world.add_node("a")
    world.start_operator()
    world.apply(order(name, replicas=2))
    world.until("both are ready", lambda: list(phases(world).values()) == ["Ready", "Ready"])
    assert all(len(each) <= 63 for each in (*phases(world), *guardians(world)))


def test_what_went_wrong_is_told_and_is_over_when_it_is_mended(world: World) -> None:
    world.add_node("a", cpu=2)
    world.start_operator()
    world.apply(order(cpu=50))
    world.until("the order says why", lambda: failure(world)[0] == "True")
    assert "Insufficient cpu" in failure(world)[1]
    change = {"template": {"spec": {"resources": {"requests": {"cpu": "1"}}}}}
    world.patch("Order", "web", {"spec": change})
    until_phases(world, web_0="Ready")
    world.until("the order is well", lambda: failure(world)[0] == "False")
    world.until("it is ready", lambda: world.condition_of("web", of="Order")["status"] == "True")


def test_a_ticket_that_could_not_be_made_is_tried_again_and_told(embedded: EmbeddedWorld) -> None:
    embedded.add_node("a")
    embedded.start_operator()

    def broken(write: Write) -> Fault | None:
        return Fault.BROKEN if write.verb == "create" and write.resource is TICKETS else None

    embedded.sim.faults.decide = broken
    embedded.apply(order(replicas=2))
    embedded.pass_time(60)
    assert phases(embedded) == {}
    assert failure(embedded)[0] == "True"
    assert "Ticket/default/web-0 cannot be written" in failure(embedded)[1]
    tries = [write for _, write, _ in embedded.sim.writes if write.resource is TICKETS]
    assert len(tries) < 20
    embedded.sim.faults.decide = None
    until_phases(embedded, web_0="Ready", web_1="Ready", seconds=60)
    embedded.until("the order is well", lambda: failure(embedded)[0] == "False")


def test_expired_tickets_that_are_retained_do_not_block_names(embedded: EmbeddedWorld) -> None:
    embedded.add_node("a", cpu=8)
    embedded.start_operator()
    embedded.apply(order(replicas=3, ticket={"duration": "10m", **RETAIN}))
    until_phases(embedded, web_0="Ready", web_1="Ready", web_2="Ready")
    embedded.pass_time(700)
    assert sorted(phases(embedded).values()) == ["Expired"] * 3 + ["Ready"] * 3
    status = embedded.status("web", "Order")
    assert (status["replicas"], status["terminalReplicas"]) == (6, 3)
    assert status["availableReplicas"] == 3
    assert failure(embedded)[0] == "False"


def test_always_replaces_what_is_claimed_and_what_is_over(embedded: EmbeddedWorld) -> None:
    embedded.add_node("a", cpu=8)
    embedded.start_operator()
    embedded.apply(order(replicas=2, refreshPolicy="Always", ticket={"duration": "10m", **RETAIN}))
    until_phases(embedded, web_0="Ready", web_1="Ready")
    embedded.apply(asking("p", "web-0"))
    until_phases(embedded, web_0="Claimed", web_1="Ready", web_2="Ready")
    embedded.pass_time(700)
    now = phases(embedded)
    assert (now["web-0"], now["web-1"], now["web-2"]) == ("Claimed", "Expired", "Expired")
    assert sorted(now.values()) == ["Claimed", "Expired", "Expired", "Ready", "Ready"]


def test_a_scheduled_order_makes_tickets_at_its_tick_and_they_last_their_duration(
    before_six: EmbeddedWorld,
) -> None:
    world = before_six
    world.add_node("a", cpu=8)
    world.start_operator()
    strategy = {"type": "Scheduled", "schedule": "0 * * * *", "refreshPolicy": "OnClaim"}
    world.apply(order(replicas=2, strategy=strategy, ticket={"duration": "20m", **RETAIN}))
    world.pass_time(59)
    assert phases(world) == {}
    world.pass_time(3)
    assert phases(world) == {"web-0": "Ready", "web-1": "Ready"}
    world.pass_time(20 * 60 - 60)
    assert phases(world) == {"web-0": "Ready", "web-1": "Ready"}
    world.pass_time(63)
    assert phases(world) == {"web-0": "Expired", "web-1": "Expired"}
    world.pass_time(41 * 60)
    assert sorted(phases(world).values()) == ["Expired", "Expired", "Ready", "Ready"]


def test_an_operator_that_was_down_over_a_tick_catches_up_once(before_six: EmbeddedWorld) -> None:
    world = before_six
    world.add_node("a", cpu=8)
    world.start_operator()
    strategy = {"type": "Scheduled", "schedule": "0 6 * * *"}
    world.apply(order(replicas=2, strategy=strategy, ticket={"duration": "3h"}))
    world.pass_time(10)
    world.kill_operator()
    world.pass_time(600)
    world.start_operator()
    world.pass_time(5)
    assert phases(world) == {"web-0": "Ready", "web-1": "Ready"}
    world.kill_operator()
    world.start_operator()
    world.pass_time(60)
    assert phases(world) == {"web-0": "Ready", "web-1": "Ready"}
    assert world.status("web", "Order")["lastScheduleTime"] == "2027-01-04T06:00:00Z"


def test_always_renews_at_each_tick_once_and_never_leaves_a_ticket_bare(
    before_six: EmbeddedWorld,
) -> None:
    world = before_six
    world.add_node("a", cpu=8)
    world.start_operator()
    strategy = {"type": "Recurring", "schedule": "0 */6 * * *", "refreshPolicy": "Always"}
    world.apply(order(replicas=3, strategy=strategy, ticket={"duration": "8h"}))
    until_phases(world, web_0="Ready", web_1="Ready", web_2="Ready")
    first = {each["metadata"]["uid"] for each in world.ours("guardian")}
    tickets = {each["metadata"]["uid"] for each in world.all("Ticket")}
    assert world.status("web-0", "Ticket")["expirationTime"] == "2027-01-04T13:59:00Z"
    bare: list[int] = []
    world.on_look(lambda: bare.append(len(guardians(world))))
    world.pass_time(120)
    second = {each["metadata"]["uid"] for each in world.ours("guardian")}
    assert len(second) == 3
    assert not first & second
    assert min(bare) == 3
    assert world.status("web-0", "Ticket")["expirationTime"] == "2027-01-04T14:00:00Z"
    assert {each["metadata"]["uid"] for each in world.all("Ticket")} == tickets
    before = writes(world)
    world.pass_time(600)
    assert writes(world) == before
    assert failure(world)[0] == "False"


def test_a_recurring_order_keeps_its_number_between_ticks_and_on_claim_renews_nothing(
    before_six: EmbeddedWorld,
) -> None:
    world = before_six
    world.add_node("a", cpu=8)
    world.start_operator()
    strategy = {"type": "Recurring", "schedule": "0 */6 * * *", "refreshPolicy": "OnClaim"}
    world.apply(order(replicas=2, strategy=strategy))
    until_phases(world, web_0="Ready", web_1="Ready")
    before = {each["metadata"]["uid"] for each in world.ours("guardian")}
    world.pass_time(120)
    assert {each["metadata"]["uid"] for each in world.ours("guardian")} == before
    world.delete("Ticket", "web-1")
    world.pass_time(5)
    assert phases(world) == {"web-0": "Ready", "web-1": "Ready"}
