"""Temporary directories go with their makers, also with those that were killed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from testbed.scratch import Scratch


@pytest.fixture(autouse=True)
def tmpdir_of_our_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))


def test_a_directory_goes_when_it_is_closed() -> None:
    scratch = Scratch()
    (scratch.path / "store").mkdir()
    scratch.close()
    assert not scratch.path.exists()


def test_the_next_one_removes_those_of_the_dead_and_no_others(tmp_path: Path) -> None:
    program = "from testbed.scratch import Scratch; import os; Scratch(); os._exit(1)"
    dead = [sys.executable, "-c", program]
    environment = {"TMPDIR": str(tmp_path), "PYTHONPATH": str(Path(__file__).parents[2])}
    subprocess.run(dead, env=environment, check=False)
    (left,) = tmp_path.iterdir()
    alive, fresh = Scratch(), Scratch()
    assert not left.exists()
    assert alive.path.exists()
    alive.close()
    fresh.close()
