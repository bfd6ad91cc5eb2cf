"""`headroom top`: who holds how much, the fullest node first."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from headroom.cli.views.rooms import NodeRoom
from headroom.cli.views.tops import fullest, holders, percent
from headroom.core.sizes.replicas import Replicas
from tests.builders import resources
from tests.cli.commands import headroom as command
from tests.cli.slot_builder import keeper
from tests.cli.test_get_headrooms import MANIFESTS
from tests.core.headroom_builder import headroom


def test_the_slots_of_one_headroom_are_summed_up_and_waiting_ones_told_apart() -> None:
    of = headroom(Replicas(3))
    (found,) = holders([keeper(of, "0", "a"), keeper(of, "1", "b"), keeper(of, "2")])
    assert (found.parent, found.slots, found.waiting) == ("Headroom/default/burst", 2, 1)
    assert found.held == resources(cpu=2)


def test_the_fullest_node_comes_first() -> None:
    empty = NodeRoom("a", resources(cpu=4))
    full = NodeRoom("b", resources(cpu=4), used=resources(cpu=2), held=resources(cpu=2))
    assert [room.node for room in fullest([empty, full])] == ["b", "a"]


def test_shares_are_rounded_to_the_nearest() -> None:
    assert [percent(1, 3), percent(2, 3), percent(1, 2), percent(1, 0)] == ["33%", "67%", "50%", ""]


def test_a_table_and_a_document_tell_the_same(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "cluster.yaml"
    file.write_text(MANIFESTS)
    done = command(capsys, "top", "--from", str(file))
    assert done.code == 0
    rows = [line.split() for line in done.out.splitlines() if line]
    assert rows[1] == ["Headroom/shop/spare", "1", "-", "0.5", "6%", "1Gi", "3%"]
    assert rows[3][:4] == ["*", "0%", "6%", "94%"]
    assert [row[0] for row in rows[4:]] == ["a", "b"]
    told = json.loads(command(capsys, "top", "-o", "json", "--from", str(file)).out)
    assert (told["kind"], told["holders"][0]["held"]["cpu"]) == ("Top", 500)
