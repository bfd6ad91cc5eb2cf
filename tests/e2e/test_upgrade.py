"""The release before this one and this one follow each other under load, and nothing is lost.

A small run of `make bench ARGS=upgrade`, which does the same with hundreds of owners and a window.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from testbed.previous import PreviousUnavailable, previous_sources

pytestmark = [pytest.mark.e2e, pytest.mark.slow]
ROOT = Path(__file__).resolve().parents[2]
SMALL = ("--holds", "40", "--burst", "10", "--standing", "10", "--rivals", "5", "--no-window")


@pytest.fixture(scope="module")
def previous(pytestconfig: pytest.Config) -> Path:
    """The code of the previous release; without the history of the clone there is none."""
    try:
        return previous_sources()
    except PreviousUnavailable as trouble:
        capture = pytestconfig.pluginmanager.getplugin("capturemanager")
        with capture.global_and_fixture_disabled():
            print(f"\nTESTS OF UPGRADES SKIPPED: {trouble}", file=sys.stderr)
        pytest.skip(str(trouble))


def test_an_upgrade_and_a_downgrade_under_load_lose_nothing(binaries: Path, previous: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "bench", "upgrade", *SMALL],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=570,
    )
    assert done.returncode == 0, done.stdout + done.stderr[-4000:]
    told = dict(line.rsplit(" ", 1) for line in done.stdout.splitlines())
    assert (told["handovers"], told["holds lost"], told["rivals let in"]) == ("50", "0", "0")
    assert told["guardians replaced"] == "0"


def test_a_commit_that_is_not_there_is_told_with_what_to_do() -> None:
    with pytest.raises(PreviousUnavailable, match="git fetch"):
        previous_sources("0" * 40)
