"""Every threat and every drawn life cycle names a test that exists."""

from __future__ import annotations

import re

import pytest

from tests.tidy.tree import ROOT, functions

PAGES = (
    "SECURITY.md",
    "docs/concepts/life-cycles.md",
    "docs/internals/threat-model.md",
)
NAMED = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")
HEADING = "shown by"


def threats(name: str) -> list[str]:
    """The rows of the tables that have a column for tests."""
    rows: list[str] = []
    inside = False
    for line in (ROOT / name).read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not line.startswith("|"):
            inside = False
        elif cells[-1] == HEADING:
            inside = True
        elif inside and not set(cells[-1]) <= set("-:"):
            rows.append(line)
    return rows


@pytest.mark.parametrize("name", PAGES)
def test_every_threat_names_a_test(name: str) -> None:
    rows = threats(name)
    assert rows
    assert [row for row in rows if not NAMED.search(row.rpartition(" | ")[2])] == []


@pytest.mark.parametrize("name", PAGES)
def test_every_test_that_is_named_exists(name: str) -> None:
    missing = [
        f"{file}::{test}"
        for file, test in NAMED.findall((ROOT / name).read_text(encoding="utf-8"))
        if not (ROOT / file).is_file()
        or test not in {found.name for found in functions(ROOT / file)}
    ]
    assert missing == []
