"""Hundreds of bad inputs: each is answered with 1 or 2 and a clear line, never with a bug."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.bad_inputs import BOMB, Bad, bad_inputs, scenario
from tests.cli.commands import Finished, headroom

COMMAND = Path(sys.executable).with_name("headroom")
ALL = bad_inputs()
LONGEST_LINE = 1500


def tried(capsys: pytest.CaptureFixture[str], folder: Path, bad: Bad) -> Finished:
    file = folder / "bad.yaml"
    file.write_text(bad.text, encoding="utf-8")
    return headroom(capsys, *(str(file) if each == "FILE" else each for each in bad.arguments))


def complaints(done: Finished) -> list[str]:
    """What is wrong with the way an input was refused."""
    found = [] if done.code in (1, 2) else [f"exit code {done.code}"]
    said = [line for line in done.err.splitlines() if line.strip()]
    if not said:
        found.append("nothing was said")
    for words in ("Traceback", "this is a bug", "0x7f"):
        if words in done.err + done.out:
            found.append(f"said {words!r}")
    if said and not said[0].startswith(("headroom: ", "Usage: ", "Error: ")):
        found.append(f"began with {said[0][:60]!r}")
    if any(len(line) > LONGEST_LINE for line in said):
        found.append("said too much")
    return found


def test_there_are_enough_of_them() -> None:
    assert len(ALL) >= 410


@pytest.mark.parametrize("step", [pytest.param(1, marks=pytest.mark.e2e), 29])
def test_every_bad_input_is_refused_with_a_clear_line(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, step: int
) -> None:
    wrong = {}
    for bad in ALL[::step]:
        done = tried(capsys, tmp_path, bad)
        if found := complaints(done):
            wrong[bad.name] = (found, done.err[:200])
    assert wrong == {}


def test_a_small_file_that_means_billions_of_values_is_refused_before_it_is_read(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    commands = (("simulate", "FILE"), ("plan", "FILE", "-n", "x"), ("get", "--from", "FILE"))
    for arguments in commands:
        done = tried(capsys, tmp_path, Bad("bomb", arguments, BOMB))
        assert done.code == 2
        assert "more than 5000000 values" in done.err


@pytest.mark.e2e  # It needs no cluster, but starts the command twice.
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full disk to write to")
def test_output_to_a_full_disk_is_told_as_such(tmp_path: Path) -> None:
    file = tmp_path / "fine.yaml"
    file.write_text(scenario("pools: [{name: a, count: 1}]"))
    for arguments in (["crds"], ["simulate", str(file), "-o", "json"]):
        with Path("/dev/full").open("w", encoding="utf-8") as full:
            done = subprocess.run(
                [str(COMMAND), *arguments],
                stdout=full,
                stderr=subprocess.PIPE,
                env={**os.environ, "HEADROOM_DEBUG": ""},
                text=True,
                check=False,
                timeout=60,
            )
        assert done.returncode == 2
        assert done.stderr.startswith("headroom: the output cannot be written: No space left")
