"""The tables of other systems: current, complete, and every test that they name exists."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.tables import PAGES, SOURCES, VERDICTS, RowError, known_tests, page, read

LEAST = {"blueprint": 25, "koordinator": 150, "korder": 110, "mountpoint": 60, "proactive": 60}
EACH = pytest.mark.parametrize("system", sorted(LEAST))


@EACH
def test_a_table_is_what_its_source_and_the_tests_say(system: str) -> None:
    made = page(read(SOURCES / f"{system}.rows"))
    assert (PAGES / f"{system}.md").read_text(encoding="utf-8") == made, "run: make tables"


@EACH
def test_no_statement_is_lost_or_told_twice(system: str) -> None:
    statements = [row.statement for row in read(SOURCES / f"{system}.rows").rows()]
    assert len(statements) >= LEAST[system]
    assert len(set(statements)) == len(statements)


def test_every_source_has_its_page() -> None:
    assert sorted(path.stem for path in SOURCES.glob("*.rows")) == sorted(LEAST)
    assert sorted(path.stem for path in PAGES.glob("*.md")) == sorted(LEAST)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("It works. | works", "shown by a test"),
        ("It works. | works | test_that_nobody_wrote", "no such test"),
        ("It does. | perhaps", "is not one of"),
        ("It does not. | cannot", "say how, and why"),
    ],
)
def test_a_line_that_is_not_right_is_named(tmp_path: Path, line: str, why: str) -> None:
    source = tmp_path / "x.rows"
    source.write_text(f"# Title\n# Section\n{line}\n", encoding="utf-8")
    with pytest.raises(RowError, match=why) as error:
        read(source)
    assert "x.rows:3" in str(error.value)


def test_where_a_test_runs_is_found_in_the_test() -> None:
    def where(name: str) -> str:
        return known_tests()[name][0].where

    assert where("test_a_burst_takes_kept_room_and_ordinary_pods_are_left_in_peace") == "both"
    assert where("test_the_columns_are_those_that_korder_prints") == "real"
    assert where("test_owners_are_told_from_others") == "unit"
    assert "works" in VERDICTS
