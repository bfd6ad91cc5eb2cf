"""The benchmarks on a real control plane run to their end, on few nodes; no figure is judged here.

What is judged needs no speed: every node is covered at the end, and nodes that only report cost no
write.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from testbed.browser import Browser
from tests.dashboard.fixtures import browser as browser

pytestmark = [pytest.mark.e2e, pytest.mark.slow]
ROOT = Path(__file__).resolve().parents[2]


def bench(*arguments: str, timeout: float = 300) -> str:
    """Run a benchmark and return what it printed."""
    done = subprocess.run(
        [sys.executable, "-m", "bench", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=timeout,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return done.stdout


def test_a_slot_on_every_node_beside_a_daemonset(binaries: Path) -> None:
    rows = [line.split() for line in bench("pernode", "--nodes", "12").splitlines()]
    covered = {row[1]: row[2] for row in rows if row[:1] == ["12"] and row[2:3] == ["12"]}
    assert covered == {"daemonset": "12", "headroom": "12"}


def test_heartbeats_cost_no_write(binaries: Path) -> None:
    text = bench("heartbeats", "--nodes", "12", "--seconds", "5", "--every", "1")
    assert "12 nodes, 12 held; 60 patches" in text
    assert "writes meanwhile: 0" in text


def test_every_node_is_held_after_a_storm(binaries: Path) -> None:
    text = bench("storm", "--nodes", "12", "--seconds", "15")
    held = next(line for line in text.splitlines() if line.startswith("nodes held at the end"))
    assert held.split()[5] == "12"


def test_a_renewal_leaves_no_node_bare(binaries: Path) -> None:
    text = bench("refresh", "--nodes", "12", "--ticks", "1", "--watch-for", "10")
    _, nodes, fewest, held, renewed, rotations = text.splitlines()[1].split()[:6]
    assert (nodes, fewest, held, renewed, rotations) == ("12", "12", "12", "12", "1.00")


def test_every_owner_gets_its_reservation(binaries: Path) -> None:
    text = bench("reservations", "--sizes", "20", "--nodes", "4", "--pace", "10")
    rows = [line.split("  ") for line in text.splitlines()[1:9]]
    lost = [[cell for cell in row if cell][4].strip() for row in rows]
    assert lost == ["0"] * 8


def test_every_kind_of_write_is_weighed(binaries: Path) -> None:
    text = bench("writes", "--count", "20", "--nodes", "2")
    assert len(text.splitlines()) == 15
    assert "times the rate at best" in text


def test_nobody_of_a_burst_is_lost_with_the_operator_there(binaries: Path) -> None:
    arms = "free room,bulk,door 1,door 2"
    text = bench("burst", "--pods", "8", "--nodes", "2", "--rounds", "1", "--arms", arms)
    rows = [line[17:].split() for line in text.splitlines()[1:5]]
    assert [row[:2] for row in rows] == [["8", "0"]] * 4


@pytest.mark.timeout(900)
def test_nobody_is_lost_or_let_in_while_kube_scheduler_is_killed(binaries: Path) -> None:
    text = bench("contested", "--handovers", "100", "--group", "25", timeout=850)
    assert text.startswith("100 handovers ")
    assert text.strip().endswith(": 0 owners lost, 0 rivals let in, 0 other faults")
    assert int(text.partition("killed ")[2].split()[0]) >= 1


def test_the_page_is_measured_without_one_with_one_and_with_three(browser: Browser) -> None:
    """The browser is asked for so that a machine without one says so."""
    size = ("--nodes", "400", "--pods", "1000", "--seconds", "2", "--owners", "0")
    lines = bench("dashboard", *size).splitlines()
    assert [line.split()[0] for line in lines if "operator: CPU" in line] == ["0", "1", "3"]
    assert sum("first picture after" in line for line in lines) == 2
