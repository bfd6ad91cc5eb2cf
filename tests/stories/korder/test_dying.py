"""The operator dies between any two writes about an Order, and its successor ends what it began."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.stories.embedded import EmbeddedWorld
from tests.stories.korder.things import asking, failure, guardians, order, phases, until_phases
from tests.stories.things import Json

READY = {"web-0": "Ready", "web-1": "Ready", "web-2": "Ready"}


def made(world: EmbeddedWorld) -> None:
    world.apply(order(replicas=3))


def changed(world: EmbeddedWorld) -> None:
    template = {"spec": {"resources": {"requests": {"cpu": "500m"}}}}
    world.patch("Order", "web", {"spec": {"template": template}})


def shrunk(world: EmbeddedWorld) -> None:
    world.patch("Order", "web", {"spec": {"replicas": 1}})


def claimed(world: EmbeddedWorld) -> None:
    world.apply(asking("p", "web-1"))


def deleted(world: EmbeddedWorld) -> None:
    world.delete("Order", "web")


CASES: dict[str, tuple[Callable[[EmbeddedWorld], None], dict[str, str]]] = {
    "made": (made, READY),
    "changed": (changed, READY),
    "shrunk": (shrunk, {"web-0": "Ready"}),
    "claimed": (claimed, {**READY, "web-1": "Claimed", "web-3": "Ready"}),
    "deleted": (deleted, {}),
}


def begun(world: EmbeddedWorld, case: str) -> None:
    """Everything that was there before."""
    world.add_node("a", cpu=8)
    world.start_operator()
    if case != "made":
        made(world)
        until_phases(world, web_0="Ready", web_1="Ready", web_2="Ready")
        world.pass_time(5)


def sizes(world: EmbeddedWorld) -> set[str]:
    def size(pod: Json) -> str:
        return str(pod["spec"]["containers"][0]["resources"]["requests"]["cpu"])

    return {size(pod) for pod in world.ours("guardian")}


@pytest.mark.parametrize(
    ("case", "writes"), [(case, writes) for case in CASES for writes in (1, 3, 6)]
)
def test_an_operator_that_dies_leaves_nothing_half_done(
    embedded: EmbeddedWorld, case: str, writes: int
) -> None:
    change, wanted = CASES[case]
    begun(embedded, case)
    embedded.cut_operator_after(writes)
    change(embedded)
    embedded.pass_time(3)
    embedded.kill_operator()
    embedded.start_operator()
    ready = [name for name, phase in wanted.items() if phase == "Ready"]
    embedded.until(
        "all is as it should be",
        lambda: phases(embedded) == wanted and len(guardians(embedded)) == len(ready),
        seconds=60,
    )
    if case == "changed":
        embedded.until("all are of the new size", lambda: sizes(embedded) == {"500m"}, seconds=60)
    if case != "deleted":
        embedded.until("the order is well", lambda: failure(embedded)[0] == "False", seconds=60)
