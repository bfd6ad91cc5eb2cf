"""Rewrite the tables in `docs/reference/behaviours`: the statements of each guide, and ours.

`python -m tools.tables`, or `make tables`; a test fails while a page and its source differ. The
sources are `tests/behaviours/*.rows`, a line for each statement:

    statement | works, differs, cannot or not shown | tests | how it differs, and why

A line `# words` begins a section, a line `> words` is printed below the title. Only the name of a
test is written: its file, and the cluster on which it runs, are found in the tests themselves.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TESTS = ROOT / "tests"
SOURCES = TESTS / "behaviours"
PAGES = ROOT / "docs" / "reference" / "behaviours"
VERDICTS = ("works", "differs", "cannot", "not shown")
BOTH, REAL, SIMULATOR, ALONE = "both", "real", "simulator", "unit"
REAL_FIXTURES = ("story_plane", "plane", "binaries")


class RowError(ValueError):
    """An invalid line of a source; the text says where and why."""


@dataclass(frozen=True, slots=True)
class Row:
    """One statement. `note` says how it differs, and why."""

    statement: str
    verdict: str
    tests: tuple[str, ...] = ()
    note: str = ""


@dataclass(slots=True)
class Table:
    """The statements of one system by section."""

    title: str
    about: list[str] = field(default_factory=list)
    sections: list[tuple[str, list[Row]]] = field(default_factory=list)

    def rows(self) -> Iterator[Row]:
        for _, rows in self.sections:
            yield from rows


@dataclass(frozen=True, slots=True)
class Found:
    """Where a test is, and on which cluster it runs."""

    file: str
    name: str
    where: str


@cache
def known_tests() -> dict[str, tuple[Found, ...]]:
    """Every test by its name."""
    found: dict[str, tuple[Found, ...]] = {}
    for path in sorted(TESTS.rglob("test_*.py")):
        text = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                place = Found(str(path.relative_to(TESTS)), node.name, _where(path, text, node))
                found[node.name] = (*found.get(node.name, ()), place)
    return found


def _where(path: Path, text: str, test: ast.FunctionDef) -> str:
    """The cluster on which a test runs, from its marks and its fixtures."""
    marks = " ".join(ast.unparse(each) for each in test.decorator_list)
    if "pytestmark = pytest.mark.e2e" in text or ("mark.e2e" in marks and "embedded" not in marks):
        return REAL
    asked = _clusters(test, _fixtures(path))
    if BOTH in asked or {REAL, SIMULATOR} <= asked:
        return BOTH
    found = next(iter(asked), ALONE)
    in_the_simulator = {"sim", "simulation"} & set(path.parts)
    return SIMULATOR if found == ALONE and in_the_simulator else found


def _clusters(function: ast.FunctionDef, fixtures: dict[str, ast.FunctionDef]) -> set[str]:
    """The clusters behind the fixtures of a function."""
    found: set[str] = set()
    for name in (each.arg for each in function.args.args):
        fixture = fixtures.get(name)
        if name in REAL_FIXTURES:
            found.add(REAL)
        elif fixture is None or fixture is function:
            continue
        elif name == "worlds" or any(
            word in ast.unparse(fixture.decorator_list[0]) for word in ("'real'", "params=BOTH")
        ):
            found.add(BOTH)
        else:
            found |= {SIMULATOR} if "Embedded" in ast.unparse(fixture) else set()
            found |= _clusters(fixture, fixtures)
    return found


@cache
def _fixtures(path: Path) -> dict[str, ast.FunctionDef]:
    """The fixtures that a file can use: its own, and those of its folders."""
    folders = [folder for folder in reversed(path.parents) if folder.is_relative_to(TESTS)]
    files = [folder / "conftest.py" for folder in folders if (folder / "conftest.py").is_file()]
    return {
        node.name: node
        for file in (*files, path)
        for node in ast.parse(file.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef)
        and any("fixture" in ast.unparse(each) for each in node.decorator_list)
    }


def read(path: Path) -> Table:
    """Read a source; RowError says what of it is wrong."""
    table = Table("")
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line.startswith("# ") and not table.title:
            table.title = line[2:]
        elif line.startswith("# "):
            table.sections.append((line[2:], []))
        elif line.startswith("> "):
            table.about.append(line[2:])
        elif line.strip():
            try:
                table.sections[-1][1].append(_row(line))
            except (RowError, IndexError) as error:
                raise RowError(f"{path.name}:{number}: {error}: {line[:60]}") from error
    return table


def _row(line: str) -> Row:
    cells = [cell.strip() for cell in line.split("|")]
    if not 2 <= len(cells) <= 4:
        raise RowError("a line has two to four parts, with '|' between them")
    statement, verdict, named, note = [*cells, "", ""][:4]
    names = tuple(name.strip() for name in named.split(",") if name.strip())
    if verdict not in VERDICTS:
        raise RowError(f"{verdict!r} is not one of {', '.join(VERDICTS)}")
    missing = [name for name in names if name not in known_tests()]
    if missing:
        raise RowError(f"no such test: {', '.join(missing)}")
    if verdict == "works" and not names:
        raise RowError("what works is shown by a test")
    if verdict != "works" and not note:
        raise RowError(f"{verdict}: say how, and why")
    return Row(statement, verdict, names, note)


def page(table: Table) -> str:
    """A table as a page."""
    counts = ", ".join(
        f"{sum(row.verdict == verdict for row in table.rows())} {verdict}" for verdict in VERDICTS
    )
    lines = [
        f"# {table.title}",
        "",
        *table.about,
        "",
        f"{len(list(table.rows()))} statements: {counts}. Tests run on *both* clusters (simulator "
        "and real control plane), on one of them, or need none (*unit*).",
        "",
        "`make tables` creates this page from `tests/behaviours` and the tests: change it there.",
    ]
    number = 0
    for title, rows in table.sections:
        lines += ["", f"## {title}", "", "| # | statement | here | shown by |", "|---|---|---|---|"]
        for row in rows:
            number += 1
            here = f"**{row.verdict}**" + (f": {row.note}" if row.note else "")
            lines.append(f"| {number} | {row.statement} | {here} | {_shown(row.tests) or '-'} |")
    return "\n".join(lines) + "\n"


def _shown(names: Iterable[str]) -> str:
    return "<br>".join(
        f"`{found.file}::{found.name}` ({found.where})"
        for name in names
        for found in known_tests()[name][:1]
    )


def main() -> int:
    """Write one page for each source."""
    PAGES.mkdir(parents=True, exist_ok=True)
    for source in sorted(SOURCES.glob("*.rows")):
        try:
            (PAGES / f"{source.stem}.md").write_text(page(read(source)), encoding="utf-8")
        except RowError as error:
            print(error, file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
