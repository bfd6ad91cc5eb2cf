"""The numbers of `make shape` count what they say."""

from __future__ import annotations

import ast

import pytest

from tools.passage import passage
from tools.shape import Measure, lines_of_code, stateful_classes

KEEPS_NONE = """
class View:
    def __init__(self):
        self.found = {}

    def look(self, other):
        known = dict(self.found)
        known["x"] = 1
        other.found["x"] = 1
        return known
"""


def counted(body: str) -> dict[str, int]:
    source = "class Book:\n    def __init__(self):\n        self.x = {}\n\n    def do(self):\n"
    return stateful_classes({"m": ast.parse(f"{source}        {body}\n")})


@pytest.mark.parametrize(
    "body",
    [
        "self.x = {}",
        "self.x, other = {}, 1",
        "self.x += 1",
        "self.x['a'] = 1",
        "del self.x['a']",
        "self.x.pop('a')",
        "self.x.setdefault('a', {})['b'] = 1",
        "self.x['a'].append(1)",
        "drop(self.x, 'a', 'b')",
    ],
)
def test_a_class_that_changes_after_it_was_made_keeps_state(body: str) -> None:
    assert counted(body) == {"m:Book": 1}


@pytest.mark.parametrize("body", ["return self.x['a']", "x = self.x", "other.x.pop('a')"])
def test_a_class_that_only_reads_keeps_no_state(body: str) -> None:
    assert counted(body) == {}


def test_a_class_that_changes_what_is_not_its_own_keeps_no_state() -> None:
    assert stateful_classes({"m": ast.parse(KEEPS_NONE)}) == {}


def test_lines_of_code_are_neither_blank_nor_words() -> None:
    text = '"""Words."""\n\nx = (\n    1,\n)  # Why.\n# More.\n\n\n'
    text += 'def f():\n    """Words."""\n    return x\n'
    assert lines_of_code(text) == 5


def test_the_way_of_an_owner_begins_with_the_event_and_ends_before_the_bind() -> None:
    passed = passage()
    assert passed[0] == "engine/engine:Engine.observe"
    assert "core/handover:through_latch" in passed
    assert not any(name.startswith(("sim/", "runtime/")) for name in passed)


def test_a_number_stands_beside_its_aim() -> None:
    assert str(Measure("lines", 5, 4)).split() == ["lines", "5", "aim", "4"]
    assert str(Measure("lines", 4, 4)).split() == ["lines", "4", "ok", "4"]
