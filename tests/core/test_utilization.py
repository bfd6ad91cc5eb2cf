"""The size by utilization: how many placeholders, and what holds the number."""

from __future__ import annotations

import pytest

from headroom.core.demand.foresight import slot_names
from headroom.core.demand.utilization import (
    Load,
    Use,
    bounded,
    load_on,
    may_wait,
    placeholders,
)
from headroom.core.headrooms.headrooms import Limits
from headroom.core.index_entries import load_entries
from headroom.core.names import ROLE_LABEL
from headroom.core.objects import Key, Pod
from headroom.engine.headrooms.load import use_of as use_now
from headroom.engine.indexes import Index
from tests.builders import node, pod, resources

ONE = resources(cpu="500m", memory="512Mi")


def use_of(pods: list[Pod]) -> Use:
    """What the engine adds up of these pods."""
    load: Index[Key] = Index()
    for each in pods:
        load.put(each.key, load_entries(each))
    return use_now(load, [each.node for each in pods])


@pytest.mark.parametrize(
    ("used", "threshold", "count"),
    [
        (resources(cpu=80), 800, 40),
        (resources(cpu=81), 800, 41),  # 20.25 cores, so one more waits
        (resources(cpu=0), 800, 0),
        (resources(cpu=80), 1000, 0),
        (resources(cpu=1), 1, 1998),
        (resources(memory="4Gi"), 500, 8),
        (resources(cpu=1, memory="4Gi"), 500, 8),
        (resources(cpu=10, memory="4Gi"), 500, 20),
    ],
)
def test_the_headroom_follows_what_is_used(used: object, threshold: int, count: int) -> None:
    assert isinstance(used, type(ONE))
    assert placeholders(used, ONE, threshold) == count


def test_capacity_that_comes_for_placeholders_changes_nothing_in_their_number() -> None:
    real = [pod(f"p{i}", cpu=1, memory="1Gi", node="a") for i in range(3)]
    before = load_on([node("a", cpu=4)], use_of(real), pod("", cpu="500m"))
    held = [pod("g", cpu="500m", node="b", labels={ROLE_LABEL: "guardian"})]
    nodes = [node("a", cpu=4), node("b", cpu=8)]
    after = load_on(nodes, use_of([*real, *held]), pod("", cpu=1))
    assert placeholders(before.used, ONE, 800) == placeholders(after.used, ONE, 800) == 2


def test_a_shape_without_wishes_holds_nothing() -> None:
    assert placeholders(resources(cpu=80), resources(), 800) == 0


def test_devices_count_like_any_resource() -> None:
    gpu = resources(cpu=1, **{"nvidia.com/gpu": 1})
    assert placeholders(resources(cpu=4, **{"nvidia.com/gpu": 8}), gpu, 800) == 2


def test_only_ready_schedulable_nodes_and_real_pods_are_added_up() -> None:
    nodes = [
        node("a", cpu=4),
        node("b", cpu=8),
        node("cordoned", unschedulable=True),
        node("silent", ready=False),
    ]
    pods = [
        pod("x", cpu=1, node="a"),
        pod("held", cpu=1, node="a", labels={ROLE_LABEL: "guardian"}),
        pod("ended", cpu=1, node="a", phase="Succeeded"),
        pod("y", cpu=2, node="cordoned"),
        pod("waiting", cpu=2),
    ]
    load = load_on(nodes, use_of(pods), pod("", cpu=1))
    assert load.used == resources(cpu=1)
    assert (load.nodes, load.pods, load.a_node) == (4, 3, 8)


@pytest.mark.parametrize(
    ("limit", "real", "wanted", "count"),
    [(10, 3, 20, 7), (10, 12, 20, 0), (10, 3, 4, 4), (10, 0, 15, 10), (10, 0, 5, 5), (0, 0, 5, 0)],
)
def test_the_limit_on_pods_counts_real_ones_first(
    limit: int, real: int, wanted: int, count: int
) -> None:
    found, held_by = bounded(wanted, Load(pods=real), 0, Limits(pods=limit))
    assert found == count
    assert held_by == (("pods",) if count < wanted else ())


def test_at_the_limit_on_nodes_nothing_may_wait_and_what_stands_stays() -> None:
    assert bounded(8, Load(nodes=10), 5, Limits(nodes=10))[0] == 5
    assert bounded(3, Load(nodes=10), 5, Limits(nodes=10))[0] == 3


def test_at_the_limit_on_nodes_what_fits_on_them_may_wait() -> None:
    load = Load(nodes=10, vacant=2)
    assert bounded(8, load, 5, Limits(nodes=10))[0] == 7


def test_vacant_is_what_no_pod_has_and_no_real_pod_waits_for() -> None:
    nodes = [node("a", cpu=4), node("b", cpu=4), node("cordoned", unschedulable=True)]
    pods = [
        pod("x", cpu=1, node="a"),
        pod("held", cpu=1, node="a", labels={ROLE_LABEL: "guardian"}),
        pod("ended", cpu=4, node="b", phase="Succeeded"),
        pod("waiting", cpu=2),
        pod("next", cpu=1, labels={ROLE_LABEL: "guardian"}),
    ]
    assert load_on(nodes, use_of(pods), pod("", cpu=1)).vacant == 4
    assert load_on(nodes, use_of(pods), pod("", cpu=3)).vacant == 0


def test_beyond_the_limit_on_nodes_everything_goes() -> None:
    assert bounded(8, Load(nodes=11), 5, Limits(nodes=10)) == (0, ("nodes",))


def test_below_the_limit_no_more_wait_than_the_nodes_to_come_could_take() -> None:
    load = Load(nodes=8, a_node=7)
    assert bounded(100, load, 5, Limits(nodes=10))[0] == 19


def test_real_pods_that_wait_take_the_nodes_to_come_first() -> None:
    nodes = [node("a", cpu=4), node("b", cpu=4)]
    there = [pod("x", cpu=4, node="a"), pod("y", cpu=3, node="b")]
    waiting = [pod(f"w{number}", cpu=1) for number in range(3)]
    gated = pod("gated", cpu=2, gates=("example.com/later",))
    huge = pod("huge", cpu=64)  # No node that may come is large enough for it.
    load = load_on(nodes, use_of([*there, *waiting, gated, huge]), pod("", cpu=1))
    assert (load.a_node, load.ahead) == (4, 2)
    assert load.to_come(limit=4) == 6
    assert bounded(100, load, 0, Limits(nodes=4))[0] == 6
    assert may_wait(load, 5, 4, fits=False)
    assert not may_wait(load, 6, 4, fits=False)


def test_bounds_are_told_in_the_order_in_which_they_bite() -> None:
    limits = Limits(slots=50, pods=45, nodes=9)
    assert bounded(100, Load(nodes=9, pods=5), 4, limits, 60) == (4, ("slots", "pods", "nodes"))


def test_those_without_a_node_are_given_back_first_and_the_lowest_stay() -> None:
    bound = {"0": True, "1": False, "2": True, "9": False, "10": True}
    assert list(slot_names(bound, 7)) == ["0", "1", "2", "9", "10", "3", "4"]
    assert list(slot_names(bound, 5)) == ["0", "1", "2", "9", "10"]
    assert list(slot_names(bound, 4)) == ["0", "1", "2", "10"]
    assert list(slot_names(bound, 2)) == ["0", "2"]
    assert list(slot_names(bound, 1)) == ["0"]
    assert list(slot_names(bound, 0)) == []


@pytest.mark.parametrize(
    ("nodes", "waiting", "vacant", "fits", "may"),
    [
        (8, 0, 0, False, True),  # two nodes may still come, for seven each
        (8, 13, 0, False, True),
        (8, 14, 0, False, False),
        (8, 14, 1, True, True),
        (10, 0, 0, False, False),
        (10, 0, 1, True, True),
        (10, 1, 1, True, False),  # the room is for the one that waits already
        (10, 0, 1, False, False),  # resources alone do not make a place
        (11, 0, 5, True, False),
    ],
)
def test_under_a_limit_on_nodes_one_more_waits_only_for_what_may_come_or_is_there(
    nodes: int, waiting: int, vacant: int, fits: bool, may: bool
) -> None:
    load = Load(nodes=nodes, a_node=7, vacant=vacant)
    assert may_wait(load, waiting, 10, fits) is may
