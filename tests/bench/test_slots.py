"""The engine alone is played through to guardians that run."""

from __future__ import annotations

from bench.slots import PARTS, measure, table


def test_every_node_gets_its_slot_and_each_part_is_told() -> None:
    cost = measure(3)
    assert list(cost) == list(PARTS)
    assert table([(3, cost)]).splitlines()[1].split()[0] == "3"
