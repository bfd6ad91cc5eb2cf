"""The tutorial is followed to the letter: its files are run, and do what its sentences say."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.cli.commands import headroom
from tests.tidy.tree import page

BLOCKS = re.findall(r"^```yaml\n(.*?)^```", page("tutorial/first-hold.md"), re.M | re.S)
FULL, HOLD, THIEF, EXPECT = BLOCKS
STEPS = "  steps:\n"


def with_steps(text: str, *steps: str) -> str:
    return text.replace(STEPS, STEPS + "".join(steps), 1)


def run(capsys: pytest.CaptureFixture[str], file: Path, text: str) -> dict[str, Any]:
    """Write the scenario, simulate it, and return the result."""
    file.write_text(text)
    finished = headroom(capsys, "simulate", str(file), "-o", "json")
    assert finished.code == 0, finished.err
    result: dict[str, Any] = json.loads(finished.out)
    return result


def wait_of(result: dict[str, Any], pod: str) -> float:
    def at(what: str) -> float:
        (entry,) = [
            entry
            for entry in result["journal"]
            if entry["what"] == what and entry["object"] == f"Pod/default/{pod}"
        ]
        return float(entry["at"])

    return at("pod_bound") - at("pod_created")


def test_without_a_hold_the_pod_waits_for_a_node(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    result = run(capsys, tmp_path / "first.yaml", FULL)
    assert wait_of(result, "checkout") > 60


def test_with_a_hold_it_starts_at_once(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    text = FULL.replace("replicas: 4", "replicas: 3") + HOLD
    result = run(capsys, tmp_path / "first.yaml", text)
    assert wait_of(result, "checkout") < 1


def test_the_thief_does_not_get_it_and_explain_says_why(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    text = with_steps(FULL.replace("replicas: 4", "replicas: 3") + HOLD, THIEF)
    result = run(capsys, tmp_path / "first.yaml", text.replace("until: 5m", "until: 45s"))
    assert wait_of(result, "checkout") < 1
    file = tmp_path / "result.json"
    file.write_text(json.dumps(result))
    held = headroom(capsys, "get", "holds", "--from", str(file))
    assert "Succeeded" in held.out
    told = headroom(capsys, "explain", "pod/thief", "--from", str(file))
    assert "no node has the room" in told.out


def test_the_expectation_is_a_test(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    held = with_steps(FULL.replace("replicas: 4", "replicas: 3") + HOLD, EXPECT)
    run(capsys, tmp_path / "first.yaml", held)
    bare = tmp_path / "bare.yaml"
    bare.write_text(with_steps(FULL, EXPECT))
    finished = headroom(capsys, "simulate", str(bare))
    assert finished.code == 1
    assert "checkout" in finished.err
