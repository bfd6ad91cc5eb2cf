"""Guardians that are renewed on full nodes, whatever the reason: no rival is let in between."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from tests.stories.embedded import EmbeddedWorld
from tests.stories.things import Json, headroom, hold, pod, priority_class
from tests.stories.world import World

RIVALS = [f"rival-{number}" for number in range(4)]


def fill(world: World, room: Json, **rivals: Any) -> None:
    """A node that a hold or a slot fills, and rivals that wait for it."""
    world.add_node("a", cpu=2)
    world.start_operator()
    world.apply(room)
    world.until("all is held", lambda: bool(standing(world)))
    world.apply(*(pod(name, cpu=2, **rivals) for name in RIVALS))
    world.pass_time(1)


def standing(world: World) -> set[str]:
    """The uids of guardians that have the node."""
    return {item["metadata"]["uid"] for item in world.ours("guardian") if node_of(item) == "a"}


def node_of(item: Json) -> str:
    return str(item["spec"].get("nodeName", ""))


def rivals_in(world: World) -> list[str]:
    return [name for name in RIVALS if world.node_of(name)]


def until_renewed(world: World, before: set[str], seconds: float = 30) -> None:
    """Another guardian stands and the old one is gone; or a rival has got in, which is wrong."""

    def renewed() -> bool:
        now = standing(world)
        return bool(rivals_in(world)) or (bool(now) and not now & before)

    world.until("another guardian stands", renewed, seconds)
    world.pass_time(1)
    assert rivals_in(world) == []
    assert len(standing(world)) == 1


@pytest.mark.parametrize("kind", ["Hold", "Headroom"])
def test_a_changed_template_leaves_no_gap(world: World, kind: str) -> None:
    fill(world, hold("h", cpu=2) if kind == "Hold" else headroom("h", cpu=2))
    for number in range(3):
        before = standing(world)
        template: Json = {"tolerations": [{"key": f"key-{number}", "operator": "Exists"}]}
        slot: Json = {"slot": {"template": template}}
        spec = {"template": {"spec": template}} if kind == "Hold" else slot
        world.patch(kind, "h", {"spec": spec})
        until_renewed(world, before)


def test_a_slot_that_becomes_locked_leaves_no_gap(world: World) -> None:
    """Rivals that may not preempt wait for a Preemptible slot to go, as for any other pod."""
    patient = {**priority_class("patient", 10), "preemptionPolicy": "Never"}
    world.apply(patient)
    fill(world, headroom("h", cpu=2, mode="Preemptible"), priorityClassName="patient")
    before = standing(world)
    owners = [{"labelSelector": {"matchLabels": {"app": "web"}}}]
    world.patch("Headroom", "h", {"spec": {"mode": "Locked", "owners": owners}})
    until_renewed(world, before)


def test_slots_that_live_for_a_while_leave_no_gap(embedded: EmbeddedWorld) -> None:
    fill(embedded, headroom("h", cpu=2, slotLifetime="1m"))
    for _ in range(5):
        until_renewed(embedded, standing(embedded), 90)


@pytest.mark.parametrize("refill", ["OnClaim", "Always"])
def test_windows_that_touch_leave_no_gap(refill: str) -> None:
    world = EmbeddedWorld(start=datetime(2027, 1, 4, 5, 59, tzinfo=UTC))
    windows = [
        {"start": "0 * * * *", "duration": "30m"},
        {"start": "30 * * * *", "duration": "30m"},
    ]
    world.add_node("a", cpu=2)
    world.start_operator()
    world.apply(headroom("h", cpu=2, replicas=1, schedule=windows, refill=refill))
    world.pass_time(90)
    assert len(standing(world)) == 1
    world.apply(*(pod(name, cpu=2) for name in RIVALS))
    for _ in range(3):
        world.pass_time(30 * 60)
        assert rivals_in(world) == []
        assert len(standing(world)) == 1
    world.close()
