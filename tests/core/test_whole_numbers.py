"""Counts in texts of others: plain digits within bounds, and nothing else, however long."""

from __future__ import annotations

import pytest

from headroom.core.quantity import shown, whole_number


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0", 0),
        ("32", 32),
        ("33", None),
        ("0" * 100_000 + "7", 7),
        ("9" * 100_000, None),
        ("", None),
        ("-1", None),
        ("+1", None),
        (" 1", None),
        ("1_0", None),
        ("1e1", None),
        ("٣", None),
        ("²", None),
    ],
)
def test_only_a_plain_number_within_bounds_is_one(text: str, number: int | None) -> None:
    assert whole_number(text, 32) == number


def test_a_long_text_is_quoted_in_part() -> None:
    assert shown("abc") == "'abc'"
    assert len(shown("9" * 100_000)) < 100
