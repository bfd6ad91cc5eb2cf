"""Progress: on a terminal, after two seconds, in one line that goes away; nowhere else."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from headroom.cli.formats.progress import CLEAR, Progress, RunProgress, span
from headroom.sim.scenarios.loader import load_scenario
from headroom.sim.scenarios.play import run_scenario
from headroom.terminal_text import escaped_streams
from tests.cli.commands import headroom

DAY = """apiVersion: sim.headroom.dev/v1alpha1
kind: Scenario
metadata: {name: day}
spec: {until: 24h, pools: [{name: g, count: 2}]}
---
apiVersion: v1
kind: Pod
metadata: {name: large}
spec: {containers: [{name: c, image: x, resources: {requests: {cpu: "64"}}}]}
"""


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Clock:
    """Every look at it takes so many seconds."""

    def __init__(self, step: float = 0.0) -> None:
        self.now = 0.0
        self.step = step

    def __call__(self) -> float:
        self.now += self.step
        return self.now


def test_a_quick_command_shows_none() -> None:
    terminal, clock = Terminal(), Clock()
    progress = Progress(terminal, clock)
    progress.tell("early")
    clock.now = 1.9
    progress.tell("still early")
    progress.done()
    assert terminal.getvalue() == ""


def test_a_slow_one_shows_a_line_now_and_then_and_takes_it_away() -> None:
    terminal, clock = Terminal(), Clock()
    progress = Progress(terminal, clock)
    for clock.now, words in ((2.0, "first"), (2.1, "too soon"), (2.5, "second")):
        progress.tell(words)
    progress.done()
    assert terminal.getvalue() == f"{CLEAR}first{CLEAR}second{CLEAR}"


def test_in_a_pipe_there_is_none() -> None:
    pipe, clock = io.StringIO(), Clock(step=10)
    progress = Progress(pipe, clock)
    progress.tell("words")
    progress.done()
    assert pipe.getvalue() == ""


def test_a_run_tells_virtual_time_events_and_how_long_still() -> None:
    terminal, clock = Terminal(), Clock()
    run = RunProgress(Progress(terminal, clock))
    clock.now = 4.0
    run.tell(6 * 3600.0, 24 * 3600.0, 8000)
    assert terminal.getvalue() == (
        f"{CLEAR}6h0m of 24h0m simulated, 2000 events a second, 12s left at this rate"
    )


def test_watching_a_run_changes_nothing_of_it(tmp_path: Path) -> None:
    file = tmp_path / "day.yaml"
    file.write_text(DAY)
    terminal = Terminal()
    told = RunProgress(Progress(terminal, Clock(step=1))).tell
    watched = run_scenario(load_scenario([file]), None, prepare=lambda play: play.watch(told))
    assert "of 24h0m simulated" in terminal.getvalue()
    assert watched.document() == run_scenario(load_scenario([file]), None).document()


def test_simulate_shows_none_where_stderr_is_no_terminal(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "day.yaml"
    file.write_text(DAY)
    assert "simulated" not in headroom(capsys, "simulate", str(file)).err


@pytest.mark.parametrize(("seconds", "words"), [(45, "45s"), (725, "12m5s"), (12000, "3h20m")])
def test_spans_have_two_units(seconds: float, words: str) -> None:
    assert span(seconds) == words


def test_a_terminal_gets_a_line_that_is_written_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    with escaped_streams():
        progress = Progress(clock=Clock(step=5))
        progress.tell("words")
    assert terminal.getvalue() == f"{CLEAR}words"
