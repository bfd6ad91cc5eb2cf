"""What `.ci/run` does where there is no control plane."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

CI = Path(__file__).parents[2] / ".ci" / "run"


def run(path: Path, make: str) -> subprocess.CompletedProcess[str]:
    """Run CI with a `make` of our own."""
    program = path / "make"
    program.write_text(f'#!/bin/sh\necho "make $*" >&2\n{make}\n')
    program.chmod(0o755)
    paths = {"PATH": f"{path}:{os.environ['PATH']}"}
    return subprocess.run([CI], env=os.environ | paths, capture_output=True, text=True, check=False)


def test_without_a_control_plane_ci_fails_and_says_why(tmp_path: Path) -> None:
    ended = run(tmp_path, '[ "$1" != binaries ]')
    assert ended.returncode == 1
    assert "no control plane" in ended.stderr
    assert "make test" not in ended.stderr


def test_the_oldest_control_plane_is_needed_as_well(tmp_path: Path) -> None:
    ended = run(tmp_path, '[ "$2" != KUBERNETES=oldest ]')
    assert ended.returncode == 1
    assert "no control plane (oldest)" in ended.stderr


def test_with_both_control_planes_ci_is_what_the_tests_say(tmp_path: Path) -> None:
    assert run(tmp_path, "exit 0").returncode == 0
    assert run(tmp_path, '[ "$1" != test ]').returncode != 0
