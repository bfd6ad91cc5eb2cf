"""What the benchmarks print says what happened, also where nothing did."""

from __future__ import annotations

from collections import Counter

from bench import heartbeats, pernode, refresh, storm
from bench.unrest import Flap, Sent


def row(arm: str, seconds: float, cpu: dict[str, float]) -> pernode.Row:
    return pernode.Row(
        arm=arm,
        nodes=100,
        covered=100,
        pods=100,
        first_s=0.1,
        created_s=seconds,
        covered_s=seconds,
        writes=Counter({"create pods": 100, "patch headrooms/status": 5}),
        all_writes=400,
        cpu=cpu,
        others=0.0,
    )


def test_per_node_figures_are_put_beside_the_daemonset_controllers() -> None:
    theirs = row("daemonset", 2.0, {"kube-controller-manager": 5.0, "etcd": 1.0})
    ours = row("headroom", 1.0, {"kube-controller-manager": 1.0, "operator": 2.0, "etcd": 1.0})
    text = pernode.report([theirs, ours])
    assert (
        "100 time 0.50  core s 0.50  created 0.50  writes 1.00  cpu of the controller 0.50" in text
    )
    assert "1.050" in text
    assert "100 create pods, 5 patch headrooms/status" in text


def test_an_arm_alone_has_no_ratio() -> None:
    text = pernode.report([row("daemonset", 2.0, {"kube-controller-manager": 4.0})])
    assert "time" not in text


def test_heartbeats_tell_deciding_from_hearing_at_the_pace_asked_for() -> None:
    result = heartbeats.Result(
        nodes=1000,
        held=1000,
        pace=100.0,
        seconds=60.0,
        sent=Sent(done=3000),
        idle={"operator": 0.0, "receiver": 0.0},
        busy={"operator": 0.04, "receiver": 0.03},
        memory={name: {"now": 100.0, "peak": 120.0} for name in ("operator", "receiver")},
        writes=Counter(),
        leases=30,
    )
    text = heartbeats.report(result)
    # Half the pace was kept, so the difference counts twice.
    assert "beyond receiving, at that pace: 2.0 % of a core" in text
    assert "writes meanwhile: 0, and 30 renewals" in text


def test_a_storm_is_told_with_writes_for_each_flap() -> None:
    result = storm.Result(
        nodes=4,
        planned=(Flap(0.0, "a", "cordon", 1.0), Flap(3.0, "a", "not ready", 1.0)),
        seconds=60.0,
        sent=Sent(done=4),
        lowest=3,
        made=Counter({"a": 1}),
        held=4,
        calm_s=0.5,
        during=Counter({"create pods": 1, "delete pods": 1}),
        after=Counter(),
        cores=0.01,
        memory={"now": 80.0, "peak": 90.0},
    )
    text = storm.report(result)
    assert "1 cordons, 1 times not ready" in text
    assert "for each flap                       1.00" in text
    assert "after the storm: none" in text


def test_a_refresh_is_told_in_rotations_and_writes_a_node() -> None:
    tick = refresh.Tick(
        nodes=10,
        lowest=10,
        held=10,
        made=10,
        nodes_renewed=10,
        most_on_one=2,
        last_made_s=0.4,
        writes=Counter({"create pods": 10, "delete pods": 10}),
    )
    _, figures, wrote = refresh.report([tick]).splitlines()
    assert figures.split() == ["1", "10", "10", "10", "10", "1.00", "2", "0.40", "2.00"]
    assert wrote == "start 1 wrote: 10 create pods, 10 delete pods"
