"""Announced owners are reckoned with until they come, whichever watch speaks first."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from headroom.core.promise.announced import ON_THEIR_WAY, Expectation

NOW = datetime(2027, 1, 4, tzinfo=UTC)
SECOND = timedelta(seconds=1)


class Book:
    """Asked one time after the other."""

    def __init__(self) -> None:
        self.kept = Expectation()

    def count(self, coming: int, came: int, now: datetime) -> int:
        count, self.kept = self.kept.updated(coming, came, now)
        return count


def test_what_is_announced_counts_at_once() -> None:
    assert Book().count(4, 0, NOW) == 4


def test_pods_that_a_status_counts_before_they_are_seen_are_still_to_come() -> None:
    book = Book()
    book.count(4, 0, NOW)
    assert book.count(0, 0, NOW + SECOND) == 4
    assert book.count(0, 3, NOW + 2 * SECOND) == 1
    assert book.count(0, 4, NOW + 2 * SECOND) == 0


def test_who_came_before_the_status_said_so_is_not_expected_again() -> None:
    book = Book()
    book.count(4, 0, NOW)
    assert book.count(4, 4, NOW + SECOND) == 4
    assert book.count(0, 4, NOW + SECOND) == 0


def test_what_was_called_off_is_forgotten_after_a_while() -> None:
    book = Book()
    book.count(4, 0, NOW)
    assert book.count(1, 0, NOW + SECOND) == 4
    assert book.count(1, 0, NOW + SECOND + ON_THEIR_WAY) == 1
