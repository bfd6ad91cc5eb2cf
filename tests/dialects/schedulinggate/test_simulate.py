"""`headroom simulate --dialect schedulinggate` with manifests as the driver's users have them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.commands import headroom

FILES = Path(__file__).parent / "manifests"
ALL = tuple(str(FILES / f"{name}.yaml") for name in ("bucket", "scenario"))
DIALECT = ("--dialect", "schedulinggate")


def test_a_gated_workload_is_played_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    finished = headroom(capsys, "simulate", *ALL, *DIALECT, "-o", "json")
    assert (finished.code, finished.err) == (0, "")
    journal = json.loads(finished.out)["journal"]
    bound = [each for each in journal if each["what"] == "pod_bound"]
    assert [each["object"].split("/")[1] for each in bound] == ["default", "mount-s3"]
    assert bound[0]["node"] == bound[1]["node"]


def test_without_the_dialect_nobody_takes_the_gate_off(capsys: pytest.CaptureFixture[str]) -> None:
    finished = headroom(capsys, "simulate", *ALL)
    assert finished.code == 1
    assert "guardian" in finished.err


def test_explain_names_the_slots_that_stand_next_to_a_workload(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    result = tmp_path / "result.json"
    played = headroom(capsys, "simulate", *ALL, *DIALECT, "--until", "8s", "-o", "json")
    result.write_text(played.out, encoding="utf-8")
    asked = ("explain", "headroom/mountpoint", "-n", "mount-s3", "--from", str(result), *DIALECT)
    told = headroom(capsys, *asked)
    assert "wants 1 slot and has 1" in told.out
    assert "a slot for each volume of s3.csi.aws.com" in told.out


def test_explain_says_who_keeps_a_gated_workload_waiting(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    result = tmp_path / "result.json"
    played = headroom(
        capsys, "simulate", str(FILES / "workload.yaml"), *DIALECT, "--until", "30s", "-o", "json"
    )
    result.write_text(played.out, encoding="utf-8")
    told = headroom(capsys, "explain", "pod/workload", "--from", str(result), *DIALECT)
    assert "Headroom/mount-s3/mountpoint creates its slots before" in told.out
