"""The refresh policy Never: a permanent buffer that is used once, and once a window."""

from __future__ import annotations

import pytest

from tests.stories.embedded import EmbeddedWorld
from tests.stories.korder.things import asking, guardians, order, phases, until_phases
from tests.stories.things import Json
from tests.stories.world import World

SHORT: Json = {"duration": "10m", "lifecycle": {"ttlSecondsAfterFinished": 60}}
HOURLY: Json = {"type": "Scheduled", "schedule": "0 * * * *", "refreshPolicy": "Never"}


@pytest.mark.slow
@pytest.mark.parametrize(
    "strategy",
    [
        {"type": "OneTime", "refreshPolicy": "Never"},
        {"type": "Recurring", "schedule": "*/7 * * * *", "refreshPolicy": "Never"},
    ],
    ids=["OneTime", "Recurring"],
)
def test_a_ticket_that_nobody_claims_stays_beyond_its_duration(
    embedded: EmbeddedWorld, strategy: Json
) -> None:
    embedded.add_node("a")
    embedded.start_operator()
    embedded.apply(order(replicas=2, strategy=strategy, ticket=SHORT))
    until_phases(embedded, web_0="Ready", web_1="Ready")
    before = {pod["metadata"]["uid"] for pod in embedded.ours("guardian")}
    embedded.pass_time(3 * 3600)
    assert phases(embedded) == {"web-0": "Ready", "web-1": "Ready"}
    assert {pod["metadata"]["uid"] for pod in embedded.ours("guardian")} == before
    assert embedded.condition_of("web", of="Order")["status"] == "True"
    assert "expirationTime" not in embedded.status("web-0", "Ticket")


def test_a_buffer_that_is_used_up_is_not_ready_and_says_so(world: World) -> None:
    world.add_node("a")
    world.start_operator()
    world.apply(order(refreshPolicy="Never"))
    until_phases(world, web_0="Ready")
    world.apply(asking("p", "web-0"))
    until_phases(world, web_0="Claimed")
    world.until(
        "the order says so",
        lambda: world.condition_of("web", of="Order").get("reason") == "UsedUp",
    )
    ready = world.condition_of("web", of="Order")
    assert ready["status"] == "False"
    assert "1 of 1 slots are used up and not refilled" in ready["message"]
    failure = world.condition_of("web", "Failure", of="Order")
    assert failure["status"] == "False"


def test_a_scheduled_order_has_its_tickets_anew_at_each_tick(before_six: EmbeddedWorld) -> None:
    world = before_six
    world.add_node("a", cpu=8)
    world.start_operator()
    world.apply(order(replicas=2, strategy=HOURLY, ticket={**SHORT, "duration": "20m"}))
    for tick in range(3):
        world.pass_time(65)
        ready = [phase for phase in phases(world).values() if phase == "Ready"]
        assert len(ready) == 2, f"tick {tick}"
        world.pass_time(25 * 60)
        assert guardians(world) == {}
        world.pass_time(34 * 60 - 5)


def test_within_a_window_what_was_claimed_is_not_replaced(before_six: EmbeddedWorld) -> None:
    world = before_six
    world.add_node("a", cpu=8)
    world.start_operator()
    world.apply(order(replicas=2, strategy=HOURLY, ticket={**SHORT, "duration": "20m"}))
    world.pass_time(65)
    world.apply(asking("p", "web-0"))
    until_phases(world, web_0="Claimed", web_1="Ready")
    world.delete("Pod", "p")
    world.pass_time(15 * 60)
    assert phases(world) == {"web-1": "Ready"}
    world.pass_time(45 * 60)
    assert sorted(phases(world).values()) == ["Ready", "Ready"]


def test_an_operator_that_was_down_over_a_tick_knows_the_new_window(
    before_six: EmbeddedWorld,
) -> None:
    world = before_six
    _claimed_in_its_window(world)
    world.pass_time(30)
    world.delete("Pod", "p")
    world.pass_time(30)
    world.kill_operator()
    world.pass_time(3600)
    world.start_operator()
    world.pass_time(5)
    assert "Ready" in phases(world).values()


def test_an_operator_that_restarts_within_a_window_refills_nothing(
    before_six: EmbeddedWorld,
) -> None:
    world = before_six
    _claimed_in_its_window(world)
    world.delete("Pod", "p")
    world.pass_time(180)
    assert phases(world) == {}
    world.kill_operator()
    world.start_operator()
    world.pass_time(30)
    assert phases(world) == {}


def _claimed_in_its_window(world: EmbeddedWorld) -> None:
    """The only ticket of an hourly order is claimed just after the tick."""
    world.add_node("a", cpu=8)
    world.start_operator()
    world.apply(order(strategy=HOURLY, ticket={**SHORT, "duration": "20m"}))
    world.pass_time(65)
    world.apply(asking("p", "web-0"))
    until_phases(world, web_0="Claimed")
