"""Owner rules are ORed: one that can never match is told, and the others are served."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.stories.reservations import EmbeddedReservations, RealReservations, owner, reservation
from tests.stories.speaking import BOTH
from tests.stories.things import Json, headroom, hold, pod
from tests.stories.world import World

GOOD: Json = {"labelSelector": {"matchLabels": {"app": "web"}}}
VAIN: dict[str, Json] = {
    "deployment": {
        "controller": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "uid": "u"}
    },
    "selector": {
        "labelSelector": {
            "matchLabels": {"app": "web"},
            "matchExpressions": [{"key": "app", "operator": "DoesNotExist"}],
        }
    },
    "elsewhere": {"object": {"name": "p", "namespace": "elsewhere"}},
}


@pytest.fixture(params=BOTH)
def world(request: pytest.FixtureRequest) -> Iterator[World]:
    here: EmbeddedReservations | RealReservations
    if request.param == "embedded":
        here = EmbeddedReservations()
    else:
        here = RealReservations(request.getfixturevalue("story_plane"))
    here.add_node("a", cpu=4)
    here.start_operator()
    yield here
    here.close()


def told(world: World, kind: str) -> str:
    conditions = world.status("r", kind).get("conditions", ())
    return " ".join(each.get("message", "") for each in conditions)


def made(kind: str, **spec: Any) -> Json:
    if kind == "Reservation":
        return reservation("r", 2, **spec)
    return hold("r", 2, **spec) if kind == "Hold" else headroom("r", 2, **spec)


# An object without a namespace may name any.
CASES = [("Reservation", "deployment"), ("Reservation", "selector")]
CASES += [(kind, vain) for kind in ("Hold", "Headroom") for vain in sorted(VAIN)]


@pytest.mark.parametrize(("kind", "vain"), CASES)
def test_a_rule_that_can_never_match_is_told_and_the_others_are_served(
    world: World, kind: str, vain: str
) -> None:
    world.apply(made(kind, owners=[VAIN[vain], GOOD]))
    world.until("it is held", lambda: bool(world.ours("guardian")))
    world.until("it is told", lambda: "spec.owners[0]" in told(world, kind))
    assert "can never match" in told(world, kind)
    world.apply(owner("p", 2) if kind == "Reservation" else pod("p", 2, "web", gated=True))
    world.until_runs("p", on="a")
    assert world.claim_of("p").startswith(f"{kind}/")


@pytest.mark.parametrize("vain", sorted(VAIN))
def test_where_no_rule_can_match_nothing_is_held(world: World, vain: str) -> None:
    world.apply(hold("r", 2, owners=[VAIN[vain]]))
    world.until("it is told", lambda: "can never match" in told(world, "Hold"))
    world.pass_time(2)
    assert world.ours("guardian") == []
