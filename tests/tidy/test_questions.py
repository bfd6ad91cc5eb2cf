"""A question of the engine writes nothing.

A function whose docstring begins as an answer ("Whether …", "Why …", "How many …") is a question.
It changes neither its arguments nor what it reaches through them. A function that writes says so
in its first word: "Note …", "Take …", "Put …".
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from tests.tidy.tree import ROOT, python_files

ANSWERS = ("Whether", "Why", "Which", "When", "What", "How", "Who", "Where", "If")
WRITES = frozenset(
    (
        *("add", "append", "clear", "discard", "extend", "insert", "pop", "popitem", "popleft"),
        *("put", "remove", "setdefault", "update", "sort"),
        *("touch", "wait", "wake", "later", "stop_waiting", "failed", "succeeded", "forget"),
        *("expect", "unexpect", "nominate", "unnominate", "add_pod", "remove_pod"),
    )
)
WRITING = '''
def full(ledger, name):
    """Whether there is no room."""
    {}
    return True
'''


def writes_of_questions(module: ast.Module) -> Iterator[tuple[int, str]]:
    """The line and the text of each write in a question."""
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef) and _is_question(node):
            own = {
                name.id
                for name in ast.walk(node)
                if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store)
            }
            yield from ((each.lineno, ast.unparse(each)) for each in _writes(node, own))


def _is_question(function: ast.FunctionDef) -> bool:
    first, _, _ = (ast.get_docstring(function) or "").partition(" ")
    return first.rstrip(",.:;") in ANSWERS


def _writes(function: ast.FunctionDef, own: set[str]) -> Iterator[ast.expr]:
    """Changes of anything but a variable of the function."""
    for node in ast.walk(function):
        match node:
            case ast.Call(func=ast.Attribute(value=value, attr=name)) if name in WRITES:
                if _root(value) not in own:
                    yield node
            case (
                ast.Attribute(ctx=ast.Store() | ast.Del())
                | ast.Subscript(ctx=ast.Store() | ast.Del())
            ):
                if _root(node) not in own:
                    yield node


def _root(node: ast.expr) -> str:
    """The name at the beginning of `name.a[b].c`."""
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def test_no_question_of_the_engine_writes() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}: {text}"
        for path in python_files("src/headroom/engine")
        for line, text in writes_of_questions(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert not found, "a question writes:\n" + "\n".join(found)


@pytest.mark.parametrize(
    "line",
    [
        "ledger.agenda.wait(name)",
        "ledger.memory[name] = 1",
        "ledger.slots.refused.pop(name)",
        "ledger.began = True",
        "del ledger.pods[name]",
    ],
)
def test_a_write_in_a_question_is_found(line: str) -> None:
    assert list(writes_of_questions(ast.parse(WRITING.format(line))))


def test_a_question_may_fill_what_is_its_own() -> None:
    module = ast.parse(WRITING.format("known = {}; known[name] = 1; known.pop(name)"))
    assert not list(writes_of_questions(module))
