"""A planned storm is the same for the same seed, and leaves every node as it was."""

from __future__ import annotations

import itertools

from bench.unrest import flaps, heartbeat

NODES = [f"node-{number}" for number in range(20)]


def test_the_same_seed_plans_the_same_storm() -> None:
    assert flaps(NODES, 60, seed=3) == flaps(NODES, 60, seed=3)
    assert flaps(NODES, 60, seed=3) != flaps(NODES, 60, seed=4)


def test_every_node_flaps_more_than_once_and_in_both_ways() -> None:
    planned = flaps(NODES, 60)
    assert all(sum(flap.node == node for flap in planned) > 1 for node in NODES)
    assert {flap.kind for flap in planned} == {"cordon", "not ready"}


def test_a_node_is_back_before_it_goes_again_and_before_the_end() -> None:
    for node in NODES:
        mine = [flap for flap in flaps(NODES, 60) if flap.node == node]
        assert all(a.begins + a.lasts < b.begins for a, b in itertools.pairwise(mine))
        assert mine[-1].begins + mine[-1].lasts < 60


def test_a_heartbeat_changes_nothing_but_times() -> None:
    conditions = heartbeat()["status"]["conditions"]
    assert {field for condition in conditions for field in condition} == {
        "type",
        "lastHeartbeatTime",
    }
