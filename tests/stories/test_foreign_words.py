"""Words of other systems on a tenant's own pods give it no room that is kept for another one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from headroom.cli.dialects import NAMES, chosen
from tests.dialects.words import foreign_keys
from tests.stories.embedded import EmbeddedWorld
from tests.stories.reservations import (
    KOORD,
    PREFIX,
    EmbeddedReservations,
    RealReservations,
    owner,
    reservation,
)
from tests.stories.speaking import BOTH
from tests.stories.things import Json, hold, pod
from tests.stories.world import World

OTHERS = "elsewhere"
IGNORED = f"{PREFIX}/reservation-ignored"


def strangers(**spec: Any) -> list[Json]:
    """A pod of another namespace for each foreign word that there is, as label and annotation."""
    made = []
    for number, key in enumerate(foreign_keys()):
        one = pod(f"stranger-{number}", cpu=3, app="web", namespace=OTHERS, ours=True, **spec)
        one["metadata"]["labels"][key] = "true"
        one["metadata"]["annotations"] = {key: "{}" if "affinity" in key else "true"}
        made.append(one)
    return made


def ignoring(name: str, namespace: str, **spec: Any) -> Json:
    made = pod(name, cpu=3, namespace=namespace, **{"ours": True, **spec})
    made["metadata"]["labels"][IGNORED] = "true"
    return made


def prepare(world: World) -> None:
    world.add_node("a", cpu=4)
    if world.get("Namespace", OTHERS) is None:
        world.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": OTHERS}})


def assert_nothing_was_opened(world: World) -> None:
    """The strangers got nothing, and the owner gets what was kept for it."""
    world.pass_time(3)
    placed = [
        item["metadata"]["name"]
        for item in world.all("Pod")
        if item["metadata"]["namespace"] == OTHERS and item["spec"].get("nodeName")
    ]
    assert placed == []
    world.apply(pod("mine", cpu=3, app="web", gated=True))
    world.until_runs("mine", on="a")
    assert world.claim_of("mine") == "Hold/default/h"


def test_with_no_dialect_on_a_foreign_word_opens_nobody_elses_hold(world: World) -> None:
    prepare(world)
    world.start_operator()
    world.apply(hold("h", cpu=3))
    world.until_held("h")
    world.apply(*strangers())
    assert_nothing_was_opened(world)


@pytest.mark.parametrize("name", NAMES)
def test_with_a_dialect_on_its_words_open_nobody_elses_hold(name: str) -> None:
    codecs = chosen([name])
    world = EmbeddedWorld(codecs=codecs)
    prepare(world)
    world.start_operator(scheduler_names=codecs.schedulers)
    world.apply(hold("h", cpu=3))
    world.until_held("h")
    world.apply(*strangers())
    assert_nothing_was_opened(world)
    world.close()


@pytest.fixture(params=BOTH)
def koordinated(request: pytest.FixtureRequest) -> Iterator[World]:
    here: EmbeddedReservations | RealReservations
    if request.param == "embedded":
        here = EmbeddedReservations()
    else:
        here = RealReservations(request.getfixturevalue("story_plane"))
    prepare(here)
    here.start_operator()
    yield here
    here.close()


@pytest.mark.parametrize("kind", ["Hold", "Reservation"])
def test_who_ignores_reservations_opens_those_of_its_own_namespace_only(
    koordinated: World, kind: str
) -> None:
    world = koordinated
    world.apply(hold("h", cpu=3) if kind == "Hold" else reservation("h", cpu=3))
    world.until("it is held", lambda: world.status("h", kind).get("phase") == "Available")
    world.apply(ignoring("thief", OTHERS), ignoring("thief-too", OTHERS, schedulerName=KOORD))
    world.pass_time(3)
    assert (world.node_of("thief", OTHERS), world.node_of("thief-too", OTHERS)) == ("", "")
    world.apply(ignoring("neighbour", "default"))
    world.until_runs("neighbour", on="a")


def test_a_reservation_for_one_namespace_is_not_opened_from_that_of_its_guardian(
    koordinated: World,
) -> None:
    world = koordinated
    rule = {"object": {"namespace": OTHERS}, "labelSelector": {"matchLabels": {"app": "web"}}}
    world.apply(reservation("r", cpu=3, owners=[rule]))
    world.until("it is held", lambda: world.status("r", "Reservation").get("phase") == "Available")
    world.apply(ignoring("thief", "default"))
    world.pass_time(3)
    assert world.node_of("thief") == ""
    mine = owner("mine", 3)
    mine["metadata"]["namespace"] = OTHERS
    world.apply(mine)
    world.until("the owner runs", lambda: world.node_of("mine", OTHERS) == "a")
