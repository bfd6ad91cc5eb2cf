"""The page about buffers tells of every behaviour, and names tests that there are."""

from __future__ import annotations

import re

from tests.tidy.tree import ROOT

PAGE = (ROOT / "docs/reference/capacitybuffer.md").read_text(encoding="utf-8")
ROWS = {
    int(number): answer
    for number, answer in re.findall(r"^\| (\d+) \|[^|]*\|([^|]*)\|$", PAGE, flags=re.MULTILINE)
}


def test_every_behaviour_has_its_line() -> None:
    assert sorted(ROWS) == list(range(1, 48))
    assert all(answer.strip() for answer in ROWS.values())


def test_every_test_that_is_named_exists() -> None:
    named = set(re.findall(r"`(test_\w+)`", PAGE))
    files = (path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    defined = {name for text in files for name in re.findall(r"def (test_\w+)", text)}
    assert len(named) > 50
    assert named - defined == set()
