"""`headroom simulate --dialect korder` with manifests as korder's users have them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.commands import headroom

FILES = Path(__file__).parent / "manifests"
ALL = tuple(str(FILES / f"{name}.yaml") for name in ("scenario", "every-node", "special-nodes"))


def test_orders_are_played_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    finished = headroom(capsys, "simulate", *ALL, "--dialect", "korder")
    assert (finished.code, finished.err) == (0, "")
    assert "7 wanted, 7 held at the end" in finished.out


def test_its_objects_switch_the_dialect_on(capsys: pytest.CaptureFixture[str]) -> None:
    finished = headroom(capsys, "simulate", *ALL)
    assert finished.code == 0
    assert "7 wanted, 7 held at the end" in finished.out


def test_what_korder_would_refuse_stops_the_run_with_file_and_field(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    wrong = tmp_path / "wrong.yaml"
    text = (FILES / "special-nodes.yaml").read_text(encoding="utf-8")
    wrong.write_text(text.replace("0 */6 * * *", "every six hours"), encoding="utf-8")
    finished = headroom(capsys, "simulate", str(wrong), "--dialect", "korder")
    assert finished.code == 2
    assert "spec.strategy.schedule: not a cron expression" in finished.err


@pytest.mark.parametrize(
    ("cron", "words"), [("0 0 30 2 *", "never fires"), ("0 18-8 * * *", "not a cron expression")]
)
def test_a_cron_that_only_a_calendar_can_judge_is_told_by_explain(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, cron: str, words: str
) -> None:
    wrong, result = tmp_path / "wrong.yaml", tmp_path / "result.json"
    text = (FILES / "special-nodes.yaml").read_text(encoding="utf-8")
    wrong.write_text(text.replace("0 */6 * * *", cron), encoding="utf-8")
    finished = headroom(capsys, "simulate", str(wrong), "--dialect", "korder", "-o", "json")
    result.write_text(finished.out, encoding="utf-8")
    asked = ("explain", "order/special-nodes", "--from", str(result), "--dialect", "korder")
    told = headroom(capsys, *asked)
    assert "spec.strategy.schedule" in told.out
    assert words in told.out
