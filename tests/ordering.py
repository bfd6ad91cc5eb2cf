"""Which tests begin first: those on real control planes, whose files are few and take long.

Otherwise the last of them would run alone at the end, while the other workers have nothing to do.
"""

from __future__ import annotations

import pytest

FIRST = ("tests/e2e/", "tests/sim/test_same", "tests/stories/")


def turn(item: pytest.Item) -> int:
    """The place of a test's file in the order; files keep theirs among equals."""
    matching = (number for number, start in enumerate(FIRST) if item.nodeid.startswith(start))
    return next(matching, len(FIRST))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=turn)
