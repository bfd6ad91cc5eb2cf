"""Bounded tables of parts that many objects share, found by the text they were written in.

Twenty thousand pods come from a few hundred workloads: their labels, placement and requests are
spelled alike, so each spelling is read once and the value shared. Two generations make the bound:
when the young one is full the old one is dropped, and what is still used moves back by its use.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Interned(Generic[K, V]):
    """Values made once per spelling; at most twice `limit` are remembered."""

    __slots__ = ("_limit", "_make", "_old", "_young")

    def __init__(self, make: Callable[[K], V], limit: int = 4096) -> None:
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
        if len(self._young) >= self._limit:
            self._old = self._young
            self._young = {}
        self._young[spelling] = value
        return value

    def __len__(self) -> int:
        return len(self._young) + len(self._old)
