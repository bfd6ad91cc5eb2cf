"""Room at set times: there when its window opens, gone when it ends, whatever the clocks do.

Days pass here, so all but one story are told in memory. Times are as a wall clock shows them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.stories.embedded import EmbeddedWorld
from tests.stories.things import headroom, pod
from tests.stories.world import World

SOON = timedelta(seconds=2)


@contextmanager
def at(moment: str, nodes: int = 1) -> Iterator[EmbeddedWorld]:
    """An empty world of eight CPU a node whose clock shows this moment."""
    world = EmbeddedWorld(start=datetime.fromisoformat(moment))
    for number in range(nodes):
        world.add_node(f"n{number}", cpu=8)
    world.start_operator()
    try:
        yield world
    finally:
        world.close()


def scheduled(*windows: dict[str, Any], replicas: int = 2, **more: Any) -> dict[str, Any]:
    return headroom("room", cpu=1, replicas=replicas, schedule=list(windows), **more)


def window(start: str, duration: str, **more: Any) -> dict[str, Any]:
    return {"start": start, "duration": duration, **more}


def run_to(world: EmbeddedWorld, moment: str) -> None:
    """Let time pass until the wall clock shows this moment."""
    wanted = datetime.fromisoformat(moment)
    world.pass_time((wanted - world.sim.clock.now()).total_seconds())


def held_at(world: EmbeddedWorld, moment: str) -> int:
    """How many slots are held two seconds after this moment."""
    wanted = datetime.fromisoformat(moment) + SOON
    world.pass_time((wanted - world.sim.clock.now()).total_seconds())
    return len(world.held("room"))


def told(world: World, reason: str) -> int:
    """How often something was told of the headroom."""
    return sum(int(item.get("count") or 1) for item in world.events(reason, "room"))


def test_room_is_there_when_its_window_opens_and_gone_when_it_ends() -> None:
    with at("2027-01-04T07:00:00+00:00") as world:
        world.apply(scheduled(window("0 8 * * *", "2h")))
        world.pass_time(5)
        assert world.status("room")["nextStart"] == "2027-01-04T08:00:00Z"
        assert world.condition_of("room", of="Headroom")["reason"] == "OutsideSchedule"
        run_to(world, "2027-01-04T07:59:59+00:00")
        assert world.held("room") == {}
        assert held_at(world, "2027-01-04T08:00:00+00:00") == 2
        run_to(world, "2027-01-04T09:59:59+00:00")
        assert len(world.held("room")) == 2
        assert held_at(world, "2027-01-04T10:00:00+00:00") == 0
        world.pass_time(2)
        assert (told(world, "WindowStarted"), told(world, "WindowEnded")) == (1, 1)
        assert world.status("room")["nextStart"] == "2027-01-05T08:00:00Z"


def test_a_quiet_schedule_costs_no_writes_between_its_starts() -> None:
    with at("2027-01-04T07:00:00+00:00") as world:
        world.apply(scheduled(window("0 8 * * 1", "1h")))
        run_to(world, "2027-01-04T09:01:00+00:00")
        before = len(world.sim.writes)
        run_to(world, "2027-01-10T09:00:00+00:00")
        late = [write for _, write, _ in world.sim.writes[before:]]
        assert [write for write in late if write.resource.kind != "ClaimIndex"] == []


def test_where_windows_overlap_the_larger_size_wins() -> None:
    with at("2027-01-04T07:00:00+00:00") as world:
        world.apply(
            scheduled(
                window("0 8 * * *", "4h", replicas=1),
                window("0 9 * * *", "1h", replicas=4),
            )
        )
        assert held_at(world, "2027-01-04T08:00:00+00:00") == 1
        assert held_at(world, "2027-01-04T09:00:00+00:00") == 4
        assert held_at(world, "2027-01-04T10:00:00+00:00") == 1
        assert held_at(world, "2027-01-04T12:00:00+00:00") == 0


def test_lead_time_holds_early_and_ends_no_later() -> None:
    with at("2027-01-04T07:00:00+00:00") as world:
        world.apply(scheduled(window("0 8 * * *", "1h", leadTime="5m")))
        run_to(world, "2027-01-04T07:54:59+00:00")
        assert world.held("room") == {}
        assert held_at(world, "2027-01-04T07:55:00+00:00") == 2
        run_to(world, "2027-01-04T08:59:59+00:00")
        assert len(world.held("room")) == 2
        assert held_at(world, "2027-01-04T09:00:00+00:00") == 0


ZURICH = {"timeZone": "Europe/Zurich"}


def test_eight_in_the_morning_is_eight_in_summer_and_in_winter() -> None:
    with at("2027-03-27T05:00:00+00:00") as world:
        world.apply(scheduled(window("0 8 * * *", "1h", **ZURICH)))
        run_to(world, "2027-03-27T06:59:59+00:00")
        assert world.held("room") == {}
        assert held_at(world, "2027-03-27T07:00:00+00:00") == 2
        run_to(world, "2027-03-28T05:59:59+00:00")
        assert world.held("room") == {}
        assert held_at(world, "2027-03-28T06:00:00+00:00") == 2


def test_a_start_that_the_clocks_skip_comes_when_they_are_past_it() -> None:
    with at("2027-03-28T00:00:00+00:00") as world:
        world.apply(scheduled(window("30 2 * * *", "1h", **ZURICH)))
        run_to(world, "2027-03-28T00:59:59+00:00")
        assert world.held("room") == {}
        assert held_at(world, "2027-03-28T01:00:00+00:00") == 2
        assert held_at(world, "2027-03-28T02:00:00+00:00") == 0
        assert told(world, "WindowStarted") == 1


def test_a_start_that_the_clocks_pass_twice_comes_once() -> None:
    with at("2027-10-30T23:00:00+00:00") as world:
        world.apply(scheduled(window("30 2 * * *", "30m", **ZURICH)))
        assert held_at(world, "2027-10-31T00:30:00+00:00") == 2
        assert held_at(world, "2027-10-31T01:00:00+00:00") == 0
        assert held_at(world, "2027-10-31T01:30:00+00:00") == 0
        world.pass_time(60)
        assert told(world, "WindowStarted") == 1


def test_a_duration_is_time_that_passes_whatever_the_clocks_show() -> None:
    with at("2027-10-30T20:00:00+00:00") as world:
        world.apply(scheduled(window("0 0 * * *", "6h", **ZURICH)))
        assert held_at(world, "2027-10-30T22:00:00+00:00") == 2
        run_to(world, "2027-10-31T03:59:59+00:00")
        assert len(world.held("room")) == 2
        assert held_at(world, "2027-10-31T04:00:00+00:00") == 0


def uids(world: World) -> dict[str, str]:
    return {slot: each[0]["metadata"]["uid"] for slot, each in world.slots("room").items()}


def test_always_renews_at_each_start_with_no_slot_bare() -> None:
    with at("2027-01-04T07:59:00+00:00") as world:
        world.apply(scheduled(window("0 * * * *", "90m"), replicas=3, refill="Always"))
        assert held_at(world, "2027-01-04T08:00:00+00:00") == 3
        first, fewest = uids(world), 3

        def look() -> None:
            nonlocal fewest
            fewest = min(fewest, len(world.held("room")))

        world.on_look(look)
        run_to(world, "2027-01-04T08:59:59+00:00")
        assert uids(world) == first
        run_to(world, "2027-01-04T09:01:00+00:00")
        second = uids(world)
        assert sorted(second) == ["0", "1", "2"]
        assert not set(first.values()) & set(second.values())
        run_to(world, "2027-01-04T09:45:00+00:00")
        assert uids(world) == second
        assert fewest == 3


def test_on_claim_does_not_renew_at_a_start() -> None:
    with at("2027-01-04T07:59:00+00:00") as world:
        world.apply(scheduled(window("0 * * * *", "90m")))
        assert held_at(world, "2027-01-04T08:00:00+00:00") == 2
        first = uids(world)
        run_to(world, "2027-01-04T10:10:00+00:00")
        assert uids(world) == first


def test_one_rotation_for_each_start_also_on_a_node_without_room_to_spare() -> None:
    with at("2027-01-04T07:59:00+00:00") as world:
        full = scheduled(window("0 * * * *", "90m"), replicas=8, refill="Always")
        world.apply(full)
        assert held_at(world, "2027-01-04T08:00:00+00:00") == 8
        world.apply(*(pod(f"rival-{number}", cpu=1) for number in range(3)))
        world.pass_time(60)
        first, before = uids(world), len(world.sim.writes)
        run_to(world, "2027-01-04T09:10:00+00:00")
        assert not set(first.values()) & set(uids(world).values())
        assert len(world.held("room")) == 8
        made = [
            write
            for _, write, _ in world.sim.writes[before:]
            if write.verb == "create" and write.resource.kind == "Pod" and _is_guardian(write.body)
        ]
        assert len(made) == 8
        assert not any(world.node_of(f"rival-{number}") for number in range(3))


def _is_guardian(body: Any) -> bool:
    return bool(body["metadata"].get("labels", {}).get("headroom.dev/role") == "guardian")


def away(world: EmbeddedWorld, since: str, until: str) -> None:
    """Have no operator between two moments."""
    run_to(world, since)
    world.kill_operator()
    run_to(world, until)
    world.start_operator()
    world.pass_time(5)


def test_a_start_that_nobody_saw_is_caught_up_once() -> None:
    with at("2027-01-04T07:00:00+00:00") as world:
        world.apply(scheduled(window("0 8 * * *", "2h")))
        away(world, "2027-01-04T07:30:00+00:00", "2027-01-04T08:30:00+00:00")
        assert len(world.held("room")) == 2
        first = uids(world)
        world.kill_operator()
        world.start_operator()
        world.pass_time(60)
        assert uids(world) == first
        assert told(world, "WindowStarted") == 1
        assert held_at(world, "2027-01-04T10:00:00+00:00") == 0


def test_an_end_that_nobody_saw_is_caught_up_once() -> None:
    with at("2027-01-04T07:00:00+00:00") as world:
        world.apply(scheduled(window("0 8 * * *", "2h")))
        away(world, "2027-01-04T09:30:00+00:00", "2027-01-04T10:30:00+00:00")
        assert world.held("room") == {}
        world.pass_time(60)
        assert told(world, "WindowStarted") == 1
        assert world.status("room")["nextStart"] == "2027-01-05T08:00:00Z"


def test_a_window_that_nobody_saw_leaves_nothing() -> None:
    with at("2027-01-04T07:00:00+00:00") as world:
        world.apply(scheduled(window("0 8 * * *", "1h")))
        away(world, "2027-01-04T07:30:00+00:00", "2027-01-04T12:00:00+00:00")
        assert world.held("room") == {}
        assert not world.ours("guardian")


def test_a_renewal_that_nobody_saw_is_caught_up_once() -> None:
    with at("2027-01-04T07:59:00+00:00") as world:
        world.apply(scheduled(window("0 * * * *", "90m"), refill="Always"))
        assert held_at(world, "2027-01-04T08:00:00+00:00") == 2
        first = uids(world)
        away(world, "2027-01-04T08:50:00+00:00", "2027-01-04T09:10:00+00:00")
        world.pass_time(60)
        second = uids(world)
        assert sorted(second) == ["0", "1"]
        assert not set(first.values()) & set(second.values())
        world.kill_operator()
        world.start_operator()
        world.pass_time(60)
        assert uids(world) == second


def test_who_took_a_slot_keeps_running_when_the_window_ends() -> None:
    with at("2027-01-04T07:59:00+00:00") as world:
        world.apply(scheduled(window("0 8 * * *", "1h")))
        assert held_at(world, "2027-01-04T08:00:00+00:00") == 2
        world.apply(pod("owner", cpu=1, app="web", gated=True))
        world.until_runs("owner")
        assert held_at(world, "2027-01-04T09:00:00+00:00") == 0
        assert world.running("owner")


BAD: list[tuple[dict[str, Any], str]] = [
    (window("0 0 30 2 *", "1h"), "spec.schedule[0].start"),
    (window("0 8 * * *", "1h", timeZone="Mars/Olympus"), "spec.schedule[0].timeZone"),
    (window("0 25 * * *", "1h"), "spec.schedule[0].start"),
]


@pytest.mark.parametrize(("wrong", "field"), BAD, ids=["never", "zone", "hour"])
def test_a_schedule_that_makes_no_sense_is_told_with_its_field(
    wrong: dict[str, Any], field: str
) -> None:
    with at("2027-01-04T07:00:00+00:00") as world:
        world.apply(scheduled(wrong))
        world.pass_time(10)
        degraded = world.condition_of("room", "Degraded", "Headroom")
        assert (degraded["status"], degraded["reason"]) == ("True", "InvalidSpec")
        assert field in degraded["message"]
        assert told(world, "InvalidSpec") == 1


def second() -> int:
    """What the second hand of the real clock shows."""
    return datetime.now(UTC).second


@pytest.mark.e2e
@pytest.mark.parametrize("world", ["real"], indirect=True)
def test_a_real_window_opens_and_ends_with_no_other_event(world: World) -> None:
    world.add_node("a", cpu=4)
    world.start_operator()
    world.apply(scheduled(window("* * * * *", "6s")))
    world.until("the window of just now is over", lambda: second() > 10, 15)
    world.until("it opens", lambda: len(world.held("room")) == 2, 90)
    opened = second()
    world.until("it ends", lambda: not world.held("room"))
    assert (opened <= 2, 6 <= second() <= 8) == (True, True)
