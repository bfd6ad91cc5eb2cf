"""What has ended can be read for a day, also what never was ready."""

from __future__ import annotations

import pytest

from tests.stories.reservations import EmbeddedReservations, reservation
from tests.stories.things import Json, hold, pod

HOUR = 3600.0


def never_held(kind: str) -> Json:
    """Too large for any node."""
    return hold("h", cpu=100, ttl="30h") if kind == "Hold" else reservation("h", cpu=100, ttl="30h")


def waiting() -> Json:
    return hold("h", cpu=4, ttl="30h", preAllocation=True)


@pytest.mark.parametrize("kind", ["Hold", "Reservation", "waiting"])
def test_what_never_was_ready_can_be_read_for_a_day_after_it_expired(kind: str) -> None:
    world = EmbeddedReservations()
    world.add_node("a", cpu=4)
    world.apply(pod("running", cpu=3, app="web"))
    world.until_runs("running", on="a")
    world.start_operator()
    made = waiting() if kind == "waiting" else never_held(kind)
    world.apply(made)
    world.pass_time(29 * HOUR)
    before = world.status("h", made["kind"])["phase"]
    assert before == ("Waiting" if kind == "waiting" else "Pending")
    world.pass_time(1.1 * HOUR)
    assert world.status("h", made["kind"])["phase"] == "Failed"
    world.pass_time(22.5 * HOUR)
    assert world.get(made["kind"], "h") is not None
    world.pass_time(2 * HOUR)
    assert world.get(made["kind"], "h") is None
    world.close()
