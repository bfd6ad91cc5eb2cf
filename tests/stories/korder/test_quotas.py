"""Quotas: what is new waits for room, says so, and goes on by itself when there is some."""

from __future__ import annotations

from typing import Any

from tests.stories.korder.things import API, guardians, order, phases, ticket, until_phases
from tests.stories.things import Json
from tests.stories.world import World


def quota(name: str = "team", scope: Json | None = None, **hard: Any) -> Json:
    """A Quota for the whole cluster; `reserved_cpu=5` is reserved.cpu."""
    limits = {key.replace("_", "."): value for key, value in hard.items()}
    spec = {"scope": scope or {"type": "Cluster"}, "hard": limits}
    return {"apiVersion": API, "kind": "Quota", "metadata": {"name": name}, "spec": spec}


def until_told(world: World, kind: str, name: str, reason: str) -> str:
    """Wait until an object fails for this reason, and give its words."""

    def told() -> bool:
        found = world.condition_of(name, "Failure", of=kind)
        return (found.get("status"), found.get("reason")) == ("True", reason)

    world.until(f"{kind} {name} says {reason}", told)
    return str(world.condition_of(name, "Failure", of=kind)["message"])


def until_used(world: World, name: str = "team", **wanted: str) -> None:
    used = {key.replace("_", "."): value for key, value in wanted.items()}

    def shown() -> bool:
        return bool(world.status(name, "Quota").get("used", {}) == used)

    world.until(f"Quota {name} shows {used}", shown)


def exceeded(world: World, name: str = "team") -> tuple[str, str]:
    found = world.condition_of(name, "Exceeded", of="Quota")
    return str(found.get("status", "")), str(found.get("reason", ""))


def test_an_order_gets_as_many_slots_as_its_quota_has_room_for(world: World) -> None:
    world.add_node("a", cpu=16)
    world.start_operator()
    world.apply(quota(reserved_cpu=5))
    world.until("the quota is in force", lambda: exceeded(world) == ("False", "WithinLimits"))
    world.apply(order(cpu=2, replicas=4))
    until_phases(world, web_0="Ready", web_1="Ready")
    assert until_told(world, "Order", "web", "QuotaExceeded").endswith(
        "Quota team: spec.hard[reserved.cpu]: used 4, wanted 2 more, at most 5"
    )
    until_used(world, orders="1", tickets="2", reserved_cpu="4")
    world.until("the quota says who waits", lambda: exceeded(world) == ("True", "Waiting"))
    world.patch("Quota", "team", {"spec": {"hard": {"reserved.cpu": 8}}})
    until_phases(world, web_0="Ready", web_1="Ready", web_2="Ready", web_3="Ready")
    world.until("nobody waits", lambda: exceeded(world) == ("False", "WithinLimits"))
    world.until(
        "the order is well",
        lambda: world.condition_of("web", "Failure", of="Order").get("status") == "False",
    )


def test_a_ticket_waits_for_another_to_go(world: World) -> None:
    world.add_node("a", cpu=16)
    world.start_operator()
    world.apply(quota(tickets=1), ticket("first"))
    until_phases(world, first="Ready")
    world.apply(ticket("second"))
    until_told(world, "Ticket", "second", "QuotaExceeded")
    assert phases(world) == {"first": "Ready", "second": "Pending"}
    assert list(guardians(world)) == ["korder-guardian-first"]
    world.delete("Ticket", "first")
    until_phases(world, second="Ready")


def test_many_that_come_at_once_never_have_more_than_the_quota(world: World) -> None:
    world.add_node("a", cpu=16)
    most = 0

    def look() -> None:
        nonlocal most
        most = max(most, len(guardians(world)))

    world.on_look(look)
    world.start_operator()
    world.apply(quota(reserved_cpu=5))
    world.apply(*(ticket(f"t{number}", cpu=1) for number in range(6)))
    world.apply(*(order(f"o{number}", cpu=1) for number in range(6)))

    def full() -> bool:
        return list(phases(world).values()).count("Ready") == 5

    world.until("five are held", full)
    world.pass_time(2)
    assert full()
    assert most == 5


def test_tickets_are_counted_by_their_own_labels(world: World) -> None:
    kind = {"workload-type": "ml-training"}
    scope = {"type": "ObjectSelector", "objectSelector": {"matchLabels": kind}}
    world.add_node("a", cpu=16)
    world.start_operator()
    world.apply(quota(scope=scope, tickets=1))
    world.until("the quota is in force", lambda: exceeded(world) == ("False", "WithinLimits"))
    world.apply(order("train", labels=kind, replicas=2), order("web", replicas=2))
    until_phases(world, train_0="Ready", web_0="Ready", web_1="Ready")
    until_told(world, "Order", "train", "QuotaExceeded")
    until_used(world, tickets="1", reserved_cpu="1")


def test_a_killed_operator_gives_nobody_elses_room_away(world: World) -> None:
    world.add_node("a", cpu=16)
    world.start_operator()
    world.apply(quota(tickets=2), order("z"))
    until_phases(world, z_0="Ready")
    world.apply(ticket("m"))
    until_phases(world, z_0="Ready", m="Ready")
    world.apply(order("a"), ticket("b"))
    until_told(world, "Order", "a", "QuotaExceeded")
    until_told(world, "Ticket", "b", "QuotaExceeded")
    world.kill_operator()
    world.delete("Ticket", "m")
    world.start_operator()
    world.until("one of them has it", lambda: list(phases(world).values()).count("Ready") == 2)
    world.pass_time(2)
    assert len(guardians(world)) == 2
