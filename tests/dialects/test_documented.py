"""The pages about other systems tell of each behaviour of theirs, and name tests that exist."""

from __future__ import annotations

import re

import pytest

from tests.tidy.tree import ROOT

NUMBERS = {
    "capacitybuffer": [str(number) for number in range(1, 48)],
    "korder": [str(number) for number in range(1, 92)],
    "koordinator": [*(str(number) for number in range(1, 88)), "78a", "78b", "78c"],
    "schedulinggate": [str(number) for number in range(1, 62)],
}
LEAST_TESTS = {"capacitybuffer": 50, "korder": 90, "koordinator": 85, "schedulinggate": 60}
PAGES = pytest.mark.parametrize("dialect", sorted(NUMBERS))


def page(dialect: str) -> str:
    return (ROOT / f"docs/internals/behaviours/{dialect}.md").read_text(encoding="utf-8")


@PAGES
def test_every_behaviour_has_its_line_once(dialect: str) -> None:
    row = r"^\| (\d+[a-z]?) \|([^|]*)\|([^|]*)\|$"
    rows = re.findall(row, page(dialect), flags=re.MULTILINE)
    assert sorted(number for number, _, _ in rows) == sorted(NUMBERS[dialect])
    assert all(told.strip() and answer.strip() for _, told, answer in rows)


@PAGES
def test_every_test_that_is_named_exists(dialect: str) -> None:
    named = set(re.findall(r"`(test_\w+)`", page(dialect)))
    files = (path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    defined = {name for text in files for name in re.findall(r"def (test_\w+)", text)}
    assert len(named) > LEAST_TESTS[dialect]
    assert named - defined == set()
