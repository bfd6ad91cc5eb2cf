"""Limits of a namespace for Orders: no more Tickets are made than may hold room there."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.stories.korder.things import order
from tests.stories.world import World

HERE = "default"


@pytest.fixture
def limited(world: World) -> Iterator[World]:
    limit(world, "slots=2")
    yield world
    limit(world, None)


def limit(world: World, text: str | None) -> None:
    world.patch("Namespace", HERE, {"metadata": {"annotations": {"headroom.dev/limits": text}}})


def said(world: World) -> str:
    conditions = world.status("web", "Order").get("conditions", ())
    return " ".join(f"{each.get('reason')} {each.get('message')}" for each in conditions)


def ready(world: World) -> int:
    tickets = world.all("Ticket")
    return sum((each.get("status") or {}).get("phase") == "Ready" for each in tickets)


def test_an_order_makes_no_more_tickets_than_its_namespace_may_hold(limited: World) -> None:
    limited.add_node("a", cpu=16)
    limited.start_operator()
    limited.apply(order(replicas=5))
    limited.until("two tickets are ready", lambda: ready(limited) == 2)
    limited.until("the order says why", lambda: "slots=2, of which 2" in said(limited))
    assert len(limited.all("Ticket")) == 2
    limit(limited, "slots=4")
    limited.until("more are made when more are allowed", lambda: ready(limited) == 4)
    assert len(limited.all("Ticket")) == 4
    limit(limited, None)
    limited.until("all are made without a limit", lambda: ready(limited) == 5)


def test_a_ticket_that_goes_makes_room_for_another(limited: World) -> None:
    limited.add_node("a", cpu=16)
    limited.start_operator()
    limited.apply(order(replicas=2))
    limited.until("two tickets are ready", lambda: ready(limited) == 2)
    limited.apply(order("late", replicas=1))
    limited.delete("Order", "web")
    limited.until(
        "the other order has its ticket",
        lambda: (limited.status("late", "Order").get("availableReplicas")) == 1,
    )
