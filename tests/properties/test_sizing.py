"""Wishes of any headroom in any sight: stable, within limits, each slot once, nobody's taken."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from headroom.core.derived_names import guardian_name
from headroom.core.headrooms.eligibility import eligible
from headroom.core.headrooms.headrooms import Headroom, Limits
from headroom.core.headrooms.wanted_slots import SizeView, surplus, wish
from headroom.core.headrooms.windows import ActiveWindow
from headroom.core.objects import Node
from headroom.core.sizes.per_node import PerNode
from headroom.core.sizes.percent import Percent
from headroom.core.sizes.replicas import Replicas
from tests.builders import NOON, node, taint
from tests.core.headroom_builder import headroom, web

FEW = st.none() | st.integers(1, 6)
SIZES = (
    st.integers(0, 12).map(Replicas)
    | st.integers(0, 300).map(Percent)
    | st.integers(1, 3).map(lambda slots: PerNode(slots=slots))
    | st.integers(1, 100).map(lambda percent: PerNode(percent=percent))
)
LIMITS = st.builds(
    Limits,
    slots=FEW,
    nodes=FEW,
    pods=FEW,
    resources=st.just(()) | st.integers(0, 9000).map(lambda cpu: (("cpu", cpu),)),
)


@st.composite
def nodes(draw: st.DrawFn) -> tuple[Node, ...]:
    """Nodes in no order, some of them away, cordoned or tainted."""
    names = draw(st.lists(st.sampled_from("abcdefgh"), unique=True))
    return tuple(
        node(
            name,
            cpu=draw(st.integers(1, 8)),
            ready=(ready := draw(st.booleans())),
            unready_since=None if ready else NOON - timedelta(seconds=draw(st.integers(0, 80))),
            unschedulable=draw(st.booleans()),
            taints=[taint("x")] if draw(st.booleans()) else [],
        )
        for name in names
    )


@st.composite
def situations(draw: st.DrawFn) -> tuple[Headroom, SizeView]:
    size = draw(SIZES)
    refill = draw(st.sampled_from(("OnClaim", "Always", "Never")))
    made = headroom(size, limits=draw(LIMITS), refill=refill, paused=draw(st.booleans()))
    slots = st.frozensets(st.sampled_from((*"abcdefgh", *map(str, range(12)))), max_size=8)
    window = draw(st.none() | st.just(ActiveWindow(size)))
    workload = web(draw(st.integers(0, 20)))
    standing = draw(slots)
    return made, SizeView(window, draw(nodes()), workload, standing, draw(slots))


@given(situations())
def test_a_wish_is_the_same_however_the_nodes_are_told(given: tuple[Headroom, SizeView]) -> None:
    made, sight = given
    backwards = replace(sight, nodes=tuple(sight.nodes)[::-1])
    assert wish(made, sight, NOON) == wish(made, backwards, NOON)


@given(situations())
def test_every_slot_is_wished_for_once_under_a_name_of_its_own(
    given: tuple[Headroom, SizeView],
) -> None:
    slots = wish(*given, NOON).slots
    assert len({hold.slot for hold in slots}) == len(slots)
    assert len({guardian_name(hold) for hold in slots}) == len(slots)


@given(situations())
def test_limits_hold_and_are_told_when_they_bite(given: tuple[Headroom, SizeView]) -> None:
    made, sight = given
    result, limits = wish(made, sight, NOON), made.limits
    if made.paused:
        return
    count = len(result.slots)
    assert count <= min(limits.slots or count, limits.pods or count, result.asked)
    for name, most in limits.resources:
        assert sum(hold.template.pod.requests[name] for hold in result.slots) <= most
    on = {hold.template.node for hold in result.slots} - {""}
    assert len(on) <= (limits.nodes or len(on))
    told = [note.reason for note in result.notes]
    assert ("LimitReached" in told) is (count < result.asked)


@given(situations())
def test_new_slots_stand_on_eligible_nodes_only(given: tuple[Headroom, SizeView]) -> None:
    made, sight = given
    by_name = {each.name: each for each in sight.nodes}
    for hold in wish(made, sight, NOON).slots:
        if hold.template.node and hold.slot not in sight.standing:
            assert eligible(by_name[hold.template.node], hold.template.pod) is None


@given(situations())
def test_nothing_wished_for_is_given_back(
    given: tuple[Headroom, SizeView],
) -> None:
    made, sight = given
    result = wish(made, sight, NOON)
    back = set(surplus(made, result, sight))
    assert back <= sight.standing
    assert not back & {hold.slot for hold in result.slots}
    if made.paused:
        assert not back


@given(situations())
def test_once_everything_stands_as_wished_the_wish_stays(given: tuple[Headroom, SizeView]) -> None:
    made, sight = given
    result = wish(made, sight, NOON)
    settled = replace(sight, standing=frozenset(hold.slot for hold in result.slots))
    assert wish(made, settled, NOON).slots == result.slots
    assert surplus(made, result, settled) == ()
