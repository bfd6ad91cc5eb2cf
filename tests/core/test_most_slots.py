"""Whatever number comes out of a size, it is cut before anything is made of it, and told."""

from __future__ import annotations

from dataclasses import replace

import pytest

from headroom.core.demand.foresight import LoadView, foreseen
from headroom.core.demand.utilization import Load, load_on
from headroom.core.headrooms.headrooms import NO_LIMITS
from headroom.core.headrooms.wanted_slots import SizeView, wish
from headroom.core.headrooms.windows import ActiveWindow
from headroom.core.resources import Resources
from headroom.core.sizes.kind import Size
from headroom.core.sizes.per_node import PerNode
from headroom.core.sizes.percent import Percent
from headroom.core.sizes.replicas import Replicas
from headroom.dialects.capacitybuffer.rules.size import BufferSize
from tests.builders import NOON, node, pod
from tests.core.headroom_builder import headroom, web
from tests.core.test_utilization import use_of

MOST = 5


def sight(size: Size, **parts: object) -> SizeView:
    return replace(SizeView(ActiveWindow(size), most=MOST), **parts)  # type: ignore[arg-type]  # any


@pytest.mark.parametrize(
    "size",
    [Replicas(2**31), Percent(1000), BufferSize(replicas=10**30)],
    ids=lambda each: str(each),
)
def test_a_number_beyond_the_limit_is_cut_before_slots_are_made(size: Size) -> None:
    wished = wish(headroom(size), sight(size, workload=web(2**31 - 1)), NOON)
    assert len(wished.slots) == MOST
    assert wished.asked > MOST
    assert any("limit" in note.message for note in wished.notes)


def test_slots_on_many_nodes_are_cut_too() -> None:
    nodes = [node(f"n{number}") for number in range(20)]
    size = PerNode(slots=110)
    wished = wish(headroom(size), sight(size, nodes=nodes), NOON)
    assert len(wished.slots) == MOST
    assert wished.asked == 2200
    assert [note.reason for note in wished.notes] == ["LimitReached"]


def test_the_lowest_names_stay_so_that_nothing_moves() -> None:
    size = Replicas(2**31)
    wished = wish(headroom(size), sight(size), NOON)
    assert [hold.slot for hold in wished.slots] == ["0", "1", "2", "3", "4"]


def test_a_load_that_cannot_be_meant_asks_for_no_more_than_the_limit() -> None:
    one, used = Resources({"cpu": 1}), Resources({"cpu": 2**63 - 1})
    load = LoadView(Load(used, 1), {}, forthcoming=used, most=MOST)
    for _ in range(3):
        sized = foreseen(500, one, NO_LIMITS, load, NOON)
        load = replace(load, memory=sized.memory)
        assert len(sized.names) <= MOST


def test_a_pod_that_its_node_cannot_have_raises_no_load() -> None:
    huge = replace(pod("huge", node="a"), requests=Resources({"cpu": 2**63 - 1}))
    load = load_on([node("a", cpu=4)], use_of([huge]), pod("one", cpu=1))
    assert load.used["cpu"] == 4000
