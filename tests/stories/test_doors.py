"""Owners that come through no door are told on the object that keeps room for them, once."""

from __future__ import annotations

import pytest

from tests.stories.things import Json, headroom, hold, pod
from tests.stories.world import World

HOME = "doorless"
TOLD = "OwnersWithoutDoor"
LABEL = "headroom.dev/claims"
KINDS = pytest.mark.parametrize("kind", ["Hold", "Headroom"])


@pytest.fixture
def there(world: World) -> World:
    """A world with a node, a namespace that has not opted in, and an operator."""
    world.add_node("a", cpu=4)
    if world.get("Namespace", HOME) is None:
        world.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": HOME}})
    world.patch("Namespace", HOME, {"metadata": {"labels": {LABEL: None}}})
    world.start_operator()
    return world


def promise(kind: str) -> Json:
    make = hold if kind == "Hold" else headroom
    return make("kept", 1, namespace=HOME)


def said(world: World, kind: str) -> str:
    """What the object says about doors."""
    found = world.get(kind, "kept", HOME) or {}
    conditions = found.get("status", {}).get("conditions", [])
    return next((each["message"] for each in conditions if each["type"] == TOLD), "")


def until_said(world: World, kind: str, name: str) -> None:
    world.until(f"{kind} names {name}", lambda: f"pod {HOME}/{name} " in said(world, kind))


def until_silent(world: World, kind: str) -> None:
    world.until(f"{kind} says nothing of doors", lambda: not said(world, kind))


@KINDS
def test_a_pod_without_a_door_is_told_until_its_namespace_opts_in(there: World, kind: str) -> None:
    both = [pod("web-1", 1, "web", namespace=HOME), promise(kind)]
    for thing in both if kind == "Hold" else reversed(both):  # Whichever comes first.
        there.apply(thing)
        there.pass_time(1)
    until_said(there, kind, "web-1")
    words = said(there, kind)
    assert f"kubectl label namespace {HOME} {LABEL}=enabled" in words
    assert "headroom.dev/claim" in words
    assert "schedulerName: headroom-scheduler" in words
    there.until("an event tells it", lambda: len(there.events(TOLD, "kept")) == 1)
    there.patch("Namespace", HOME, {"metadata": {"labels": {LABEL: "enabled"}}})
    until_silent(there, kind)


@KINDS
def test_it_is_told_once_until_the_last_such_pod_is_gone(there: World, kind: str) -> None:
    there.apply(promise(kind), pod("web-1", "100m", "web", namespace=HOME))
    until_said(there, kind, "web-1")
    there.until("an event tells it", lambda: len(there.events(TOLD, "kept")) == 1)
    there.kill_operator()
    there.start_operator()
    there.apply(pod("web-2", "100m", "web", namespace=HOME))
    there.pass_time(2)
    assert "web-1" in said(there, kind)
    there.delete("Pod", "web-1", HOME)
    until_said(there, kind, "web-2")
    there.delete("Pod", "web-2", HOME)
    until_silent(there, kind)
    (event,) = there.events(TOLD, "kept")
    assert event.get("count", 1) == 1


@KINDS
def test_owners_at_a_door_are_no_matter(there: World, kind: str) -> None:
    there.apply(promise(kind))
    there.apply(
        pod("gated", 1, "web", namespace=HOME, gated=True),
        pod("ours", 1, "web", namespace=HOME, ours=True),
        pod("stranger", 1, "other", namespace=HOME),
    )
    there.until("all run", lambda: all(there.running(name, HOME) for name in ("gated", "ours")))
    there.pass_time(6)
    assert said(there, kind) == ""
