"""A slot on every eligible node: names, shapes, limits, and nodes that only blink."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from headroom.core.derived_names import guardian_name
from headroom.core.headrooms.eligibility import NodeRule
from headroom.core.headrooms.headrooms import NEVER, Headroom, Limits
from headroom.core.headrooms.wanted_slots import SizeView, WantedSlots, surplus, wish
from headroom.core.headrooms.windows import ActiveWindow
from headroom.core.objects import Node
from headroom.core.sizes.per_node import PerNode
from tests.builders import NOON, node, resources, taint
from tests.core.headroom_builder import headroom

SOON = NOON + timedelta(seconds=30)
LATER = NOON + timedelta(seconds=40)
ONE_EACH = PerNode(slots=1)


def wished(made: Headroom, *nodes: Node, **parts: Any) -> WantedSlots:
    now = parts.pop("now", NOON)
    return wish(made, SizeView(ActiveWindow(made.size), nodes, **parts), now)


def names(made: Headroom, *nodes: Node, **parts: Any) -> list[str]:
    return [hold.slot for hold in wished(made, *nodes, **parts).slots]


def test_each_eligible_node_has_a_slot_that_is_called_like_it() -> None:
    made = wished(headroom(ONE_EACH), node("b"), node("a"), node("c", unschedulable=True))
    assert [(hold.slot, hold.template.node) for hold in made.slots] == [("a", "a"), ("b", "b")]
    assert [(each.node, each.rule) for each in made.excluded] == [("c", NodeRule.SCHEDULABLE)]


def test_several_slots_on_a_node_keep_the_name_of_the_first() -> None:
    one = wished(headroom(PerNode(slots=1)), node("a")).slots
    three = wished(headroom(PerNode(slots=3)), node("a")).slots
    assert [hold.slot for hold in three] == ["a", "a/1", "a/2"]
    assert [guardian_name(hold) for hold in three][:1] == [guardian_name(hold) for hold in one]
    assert len({guardian_name(hold) for hold in three}) == 3


def test_a_part_of_a_node_is_counted_in_its_own_allocatable() -> None:
    made = headroom(PerNode(percent=10), cpu=None)
    small, large = wished(made, node("a", 4, "16Gi"), node("b", 32, "128Gi")).slots
    assert small.template.pod.requests == resources("400m", 16 * 2**30 // 10)
    assert large.template.pod.requests == resources("3200m", 128 * 2**30 // 10)
    assert small.template.pod.nonzero_requests == small.template.pod.requests


def test_a_part_of_a_node_is_of_the_resources_that_the_slot_asks_for() -> None:
    made = headroom(PerNode(percent=50), cpu=1)
    (hold,) = wished(made, node("a", 4, "16Gi")).slots
    assert hold.template.pod.requests == resources(cpu=2)


def test_a_part_that_comes_to_nothing_is_told() -> None:
    made = headroom(PerNode(percent=10), cpu=None, pod={"more": {"nvidia.com/gpu": 1}})
    result = wished(made, node("a", more={"nvidia.com/gpu": 1}), node("b"))
    assert result.slots == ()
    assert [(note.reason, note.message) for note in result.notes] == [
        ("NothingToHold", "10 % of a, b comes to nothing")
    ]


def test_nodes_beyond_the_limit_are_the_last_by_name() -> None:
    made = headroom(PerNode(slots=2), limits=Limits(nodes=2))
    result = wished(made, *(node(name) for name in "dcba"))
    assert [hold.slot for hold in result.slots] == ["a", "a/1", "b", "b/1"]
    assert result.notes[0].message == "spec.limits.nodes allows 4 of 8 slots"


def test_resources_of_all_nodes_together_are_limited() -> None:
    made = headroom(PerNode(percent=50), limits=Limits(resources=(("cpu", 5000),)))
    assert names(made, node("a", 4), node("b", 8), node("c", 2)) == ["a"]


def test_a_node_that_joins_or_leaves_changes_only_its_own_slot() -> None:
    made = headroom(ONE_EACH)
    before = wished(made, node("a"), node("c")).slots
    after = wished(made, node("a"), node("b"), node("c")).slots
    assert (after[0], after[2]) == before


def test_a_node_that_is_cordoned_or_tainted_loses_its_slot() -> None:
    made = headroom(ONE_EACH)
    nodes = (node("a", unschedulable=True), node("b", taints=[taint("x")]), node("c"))
    sight = SizeView(ActiveWindow(made.size), nodes, standing=frozenset({"a", "b", "c"}))
    assert surplus(made, wish(made, sight, NOON), sight) == ("b", "a")


def test_without_refill_a_claimed_node_gets_no_other_slot() -> None:
    made = headroom(ONE_EACH, refill=NEVER)
    assert names(made, node("a"), node("b"), spent=frozenset({"a"})) == ["b"]


def blinking(**parts: Any) -> Node:
    return node("a", ready=False, unready_since=NOON, **parts)


def test_a_node_that_blinks_keeps_its_slot_and_says_when_to_look_again() -> None:
    result = wished(headroom(ONE_EACH), blinking(), standing=frozenset({"a"}), now=SOON)
    assert [hold.slot for hold in result.slots] == ["a"]
    assert (result.excluded, result.look_again) == ((), LATER)


def test_a_node_that_stays_away_loses_its_slot() -> None:
    result = wished(headroom(ONE_EACH), blinking(), standing=frozenset({"a"}), now=LATER)
    assert (result.slots, result.look_again) == ((), None)
    assert [each.rule for each in result.excluded] == [NodeRule.READY]


def test_a_node_that_is_not_ready_gets_no_first_slot() -> None:
    assert names(headroom(ONE_EACH), blinking(), now=SOON) == []


def test_the_taints_of_an_outage_do_not_end_the_grace_period_but_others_do() -> None:
    outage = taint("node.kubernetes.io/unreachable", effect="NoExecute")
    standing = frozenset({"a"})
    made = headroom(ONE_EACH)
    assert names(made, blinking(taints=[outage]), standing=standing, now=SOON) == ["a"]
    assert names(made, blinking(taints=[taint("x")]), standing=standing, now=SOON) == []
    assert names(made, blinking(unschedulable=True), standing=standing, now=SOON) == []
    assert names(made, blinking(deleted=NOON), standing=standing, now=SOON) == []


def test_paused_leaves_every_node_as_it_is() -> None:
    made = headroom(PerNode(percent=25), paused=True)
    nodes = (node("a", 4, unschedulable=True), node("b"))
    (hold,) = wished(made, *nodes, standing=frozenset({"a", "gone"})).slots
    assert (hold.slot, hold.template.node) == ("a", "a")
    assert hold.template.pod.requests == resources(cpu=1)
