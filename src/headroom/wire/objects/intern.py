"""Bounded tables of parts that many objects share, found by the text they were written in.

Twenty thousand pods come from a few hundred workloads: their labels, placement and requests are
spelled alike, so each spelling is read once and the value shared. Two generations make the bound:
when the young one is full the old one is dropped, and what is still used moves back by its use.
Long spellings are read anew each time: a table bounded by number alone would be as large as tenants
make their labels and affinities, and would keep those of pods that are long gone.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

LONGEST = 4096  # characters of a spelling that is remembered; few workloads need a tenth of it

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Interned(Generic[K, V]):
    """Values made once per spelling; at most twice `limit` are remembered, and no long ones."""

    __slots__ = ("_limit", "_make", "_old", "_young")

    def __init__(self, make: Callable[[K], V], limit: int = 1024) -> None:
        self._make = make
        self._limit = limit
        self._young: dict[K, V] = {}
        self._old: dict[K, V] = {}

    def __call__(self, spelling: K) -> V:
        """Give the value for a spelling, made now if it is not remembered; errors are not."""
        value = self._young.get(spelling)
        if value is not None:
            return value
        value = self._old.get(spelling)
        if value is None:
            value = self._make(spelling)
            if _length(spelling) > LONGEST:
                return value
        if len(self._young) >= self._limit:
            self._old = self._young
            self._young = {}
        self._young[spelling] = value
        return value

    def __len__(self) -> int:
        return len(self._young) + len(self._old)


def _length(spelling: object) -> int:
    """How many characters a spelling has, in all of its parts."""
    if isinstance(spelling, str | bytes):
        return len(spelling)
    return sum(map(_length, spelling)) if isinstance(spelling, tuple) else 0
