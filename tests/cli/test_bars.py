"""The bars of `headroom top -w`: every line fits, and everything that is there is seen."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
from typing import Any

import pytest

from headroom.cli.playback.view import ASCII
from headroom.cli.views.bars import Look, top_lines


def row(used: int, claimed: int = 0, held: int = 0, state: str = "") -> dict[str, Any]:
    return {
        "whole": {"cpu": 4000, "memory": 2**34, "nvidia.com/gpu": 2},
        "used": {"cpu": used, "nvidia.com/gpu": 1},
        "claimed": {"cpu": claimed} if claimed else {},
        "held": {"cpu": held} if held else {},
        "state": state,
    }


def waits(name: str, guardian: str = "") -> dict[str, Any]:
    return {"namespace": "shop", "name": name, "guardian": guardian, "requests": {"cpu": 500}}


SECTIONS: dict[str, Any] = {
    "nodes": {
        "general-0": row(1000, 1000, 1000),
        "general-1": row(4000),
        "a-node-with-a-very-long-name.eu-central-1.compute.internal": row(0, 0, 100, "Cordoned"),
    },
    "waiting": {
        "shop/g-0": waits("g-0", "Headroom/shop/burst#0"),
        "shop/g-1": waits("g-1", "Headroom/shop/burst#1"),
        "shop/web": waits("web"),
    },
}


@pytest.mark.parametrize("width", [20, 50, 64, 80, 200])
def test_every_line_fits_its_window(width: int) -> None:
    lines = top_lines(SECTIONS, Look(width=width))
    assert max(len(line) for line in lines) <= width


def test_at_50_columns_names_bars_and_shares_can_be_read() -> None:
    lines = top_lines(SECTIONS, Look(width=50))
    assert lines[0].startswith("cluster")
    assert [line.split()[0] for line in lines[2:4]] == ["general-1", "general-0"]
    assert "█" in lines[3]
    assert "▓" in lines[3]
    assert "░" in lines[3]
    assert lines[3].endswith("50%+ 25%")


@pytest.mark.parametrize("width", [50, 80, 140])
def test_bars_begin_and_end_in_the_same_column(width: int) -> None:
    lines = top_lines(SECTIONS, Look(width=width))
    edges = {(line.index("│"), line.rindex("│")) for line in (lines[0], *lines[2:5])}
    assert len(edges) == 1


@pytest.mark.parametrize("width", [50, 80])
def test_a_node_that_takes_no_pods_says_so_at_every_width(width: int) -> None:
    lines = top_lines(SECTIONS, Look(width=width))
    assert "Cordoned" in next(line for line in lines if line.startswith("a-node"))


def test_guardians_that_wait_are_drawn_with_whom_they_are_for() -> None:
    lines = top_lines(SECTIONS, Look(width=100))
    waiting = next(line for line in lines if "no node yet" in line)
    assert "░░│░░" in waiting
    assert "2 for Headroom/shop/burst (cpu 1)" in waiting
    assert "1 pod without a node" in lines


def test_nodes_are_sorted_filtered_and_shown_by_any_resource() -> None:
    def names(look: Look) -> list[str]:
        return [line.split()[0][:9] for line in top_lines(SECTIONS, look)[2:-4]]

    assert names(Look(sort="name"))[0].startswith("a-node")
    assert names(Look(sort="held"))[0] == "general-0"
    assert names(Look(filter="general-1")) == ["general-1"]
    assert names(Look(filter="cordoned"))[0].startswith("a-node")
    assert "nvidia.com/gpu: █ used 3" in top_lines(SECTIONS, Look(resource="nvidia.com/gpu"))[-1]


def test_a_small_part_is_seen_and_a_short_window_says_how_many_are_left_out() -> None:
    lines = top_lines(SECTIONS, Look(width=100, height=8))
    assert len(lines) <= 8
    assert any("and 2 more nodes" in line for line in lines)
    cordoned = top_lines(SECTIONS, Look(width=100, filter="a-node"))[2]
    assert "░" in cordoned


def test_names_from_others_do_not_control_the_terminal() -> None:
    sections = {**SECTIONS, "nodes": {"evil\x1b[2J": row(1)}}
    assert "\x1b" not in "".join(top_lines(sections, Look()))


def test_without_blocks_there_are_plain_characters() -> None:
    assert "".join(top_lines(SECTIONS, Look(glyphs=ASCII))).isascii()


@pytest.mark.e2e
@pytest.mark.parametrize(("encoding", "block"), [("utf-8", "░"), ("ascii", "=")])
def test_a_utf8_terminal_gets_real_blocks(encoding: str, block: str) -> None:
    """rich stands before stdout while it draws, and hides which encoding it has."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "PYTHONIOENCODING": encoding, "TERM": "xterm", "NO_COLOR": "1"}
    with subprocess.Popen(
        [sys.executable, "-m", "headroom", "demo", "--fast"],
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=subprocess.DEVNULL,
        env=environment,
    ) as process:
        os.close(theirs)
        seen = b""
        while select.select([ours], [], [], 120)[0]:
            try:
                chunk = os.read(ours, 65536)
            except OSError:  # The other side is closed.
                break
            if not chunk:
                break
            seen += chunk
        process.wait()
    os.close(ours)
    assert f"held{block}{block}" in seen.decode("utf-8", "replace")
