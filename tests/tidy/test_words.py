"""The words that are ours: ten in the glossary, and the phases of a hold as they are drawn."""

from __future__ import annotations

import ast
import re

from headroom.wire.schema.notation import WordChoice
from headroom.wire.schema.own import known
from tests.tidy.tree import ROOT, page, parsed, python_files

WORDS = {
    "claim",
    "dialect",
    "door",
    "fence",
    "guardian",
    "handover",
    "headroom",
    "hold",
    "latch",
    "slot",
}
LINKED_FROM = ("README.md", "CONTRIBUTING.md", "docs/index.md")


def test_the_glossary_has_the_ten_words_that_are_ours() -> None:
    words = re.findall(r"^\| \*\*(.+?)\*\* \|", page("concepts/glossary.md"), re.M)
    assert words == sorted(WORDS)


def test_the_glossary_is_linked_from_every_start() -> None:
    unlinked = [
        name
        for name in LINKED_FROM
        if "concepts/glossary.md)" not in (ROOT / name).read_text(encoding="utf-8")
    ]
    assert unlinked == []


def test_the_drawing_of_a_hold_has_exactly_its_phases() -> None:
    section = page("concepts/life-cycles.md").partition("\n## Hold\n")[2].partition("\n## ")[0]
    _, drawing, rest = section.split("```")
    listed = set(re.findall(r"^\| `(\w+)` \|", rest, re.M))
    drawn = set(re.findall(r"│ +(\w+) +│", drawing))
    assert listed == phases()
    assert drawn == phases()


def test_core_gives_a_hold_every_phase_of_its_schema_and_no_other() -> None:
    given = {
        node.args[1].value
        for path in python_files("src/headroom/core")
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "Facts"
        and len(node.args) > 1
        and isinstance(node.args[1], ast.Constant)
    }
    assert given == phases()


def phases() -> set[str]:
    """The values of a hold's `status.phase`, as the API server checks them."""
    phase = known().types["HoldStatus"]["phase"].type
    assert isinstance(phase, WordChoice)
    return set(phase.words)
