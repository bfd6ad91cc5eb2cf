"""Nothing grows past the size at which people stop reading it."""

from __future__ import annotations

import ast
from pathlib import Path

from tests.tidy.tree import functions, parsed, python_files, short

MODULE_LINES = 400
TEST_MODULE_LINES = 500
CONFTEST_LINES = 60
FUNCTION_LINES = 60
FOLDER_FILES = 30


def test_no_module_is_over_400_lines() -> None:
    lengths = {short(path): _lines(path) for path in python_files("src", "testbed", "bench")}
    assert {name: count for name, count in lengths.items() if count > MODULE_LINES} == {}


def test_no_test_file_is_over_500_lines_and_no_conftest_over_60() -> None:
    lengths = {short(path): _lines(path) for path in python_files("tests")}
    limits = {
        name: CONFTEST_LINES if name.endswith("conftest.py") else TEST_MODULE_LINES
        for name in lengths
    }
    assert {name: count for name, count in lengths.items() if count > limits[name]} == {}


def test_no_function_is_over_60_lines() -> None:
    long = [
        f"{short(path)}:{found.lineno} {found.name}"
        for path in python_files("src", "testbed", "bench", "tests")
        for found in functions(path)
        if (found.end_lineno or found.lineno) - found.lineno + 1 > FUNCTION_LINES
    ]
    assert long == []


def test_no_package_has_more_files_than_one_can_overlook() -> None:
    counts: dict[str, int] = {}
    for path in python_files("src"):
        folder = short(path.parent)
        counts[folder] = counts.get(folder, 0) + 1
    # __init__.py is not read by anyone.
    assert {name: count for name, count in counts.items() if count > FOLDER_FILES + 1} == {}


def test_every_module_says_what_it_is_for() -> None:
    silent = [
        short(path)
        for path in python_files("src", "testbed", "bench")
        if path.stat().st_size and not ast.get_docstring(parsed(path))
    ]
    assert silent == []


def _lines(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())
