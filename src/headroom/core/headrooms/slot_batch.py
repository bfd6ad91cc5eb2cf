"""Decide which of a headroom's many slots are handled now, and how many later.

A headroom may want a hundred thousand slots in a namespace whose quota allows two. Placed slots
count, slots with a guardian or an owner stay, and of the others only the first few are loaded; more
follow when these get their guardian. So memory and work follow what is held, not what is wanted. If
the slots are all alike, not even the names of the others are created.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass


class Indexes(Collection[str]):
    """The lowest numbers, as texts, so many of them; those in `taken` are left out."""

    def __init__(self, count: int, taken: frozenset[str] = frozenset()) -> None:
        self._count = max(0, count)
        self._taken = taken
        self._end = self._count
        for number in sorted(int(name) for name in taken if _is_number(name)):
            self._end += number < self._end

    def first(self, count: int) -> Indexes:
        """The first few of them."""
        return Indexes(min(count, self._count), self._taken)

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[str]:
        return (name for name in map(str, range(self._end)) if name not in self._taken)

    def __contains__(self, name: object) -> bool:
        number = isinstance(name, str) and _is_number(name) and name not in self._taken
        return number and int(str(name)) < self._end


def _is_number(name: str) -> bool:
    """Whether this is how we write a number; nobody asks for one of twenty digits."""
    return name.isdecimal() and len(name) < 20 and str(int(name)) == name


@dataclass(frozen=True, slots=True)
class BatchLimits:
    """`placed` slots have a guardian on a node; `ahead` others may be under way (None: all).

    `used` slots have an owner. Of those with neither guardian nor owner, `unguarded` are looked
    after (None: all): they cost their tenant nothing, and us memory.
    """

    placed: frozenset[str] = frozenset()
    ahead: int | None = None
    used: frozenset[str] = frozenset()
    unguarded: int | None = None


def within(
    names: Collection[str], standing: frozenset[str], batch: BatchLimits
) -> tuple[tuple[str, ...], int]:
    """The slots to handle now, in order, and how many come later."""
    if batch.ahead is None and batch.unguarded is None:
        return tuple(names), 0
    kept = standing | batch.placed | batch.used
    known = sum(1 for name in kept if name in names)
    waiting = sum(1 for name in standing - batch.placed if name in names)
    ahead = len(names) if batch.ahead is None else max(0, batch.ahead - waiting)
    left = ahead if batch.unguarded is None else min(ahead, batch.unguarded)
    chosen: list[str] = []
    for name in names:
        if not known and not left:
            break
        if name in kept:
            chosen.append(name)
            known -= 1
        elif left:
            chosen.append(name)
            left -= 1
    return tuple(chosen), len(names) - len(chosen)


def guarded_first(
    names: Sequence[str], standing: frozenset[str], batch: BatchLimits
) -> tuple[list[int], int]:
    """The same for slots that differ: the places of those to look after; how many come later."""
    if batch.unguarded is None:
        return list(range(len(names))), 0
    left, chosen, kept = batch.unguarded, [], standing | batch.used
    for place, name in enumerate(names):
        known = name in kept
        if known or left:
            chosen.append(place)
            left -= not known
    return chosen, len(names) - len(chosen)
