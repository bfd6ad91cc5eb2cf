"""Which of a headroom's many slots are looked after now, and how many come later.

A headroom may wish for a hundred thousand slots in a namespace whose quota allows two. Those that
are placed count, those that have a guardian stay, and of the others only the first few are made
known; more follow as these are placed. So memory and work follow what is held, not what is wished
for.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Reach:
    """`placed` slots have a guardian on a node; `ahead` others may be under way (None: all)."""

    placed: frozenset[str] = frozenset()
    ahead: int | None = None


def within(
    names: Iterable[str], standing: frozenset[str], reach: Reach
) -> tuple[tuple[str, ...], int]:
    """The slots to look after, in order, and how many of the rest come later."""
    if reach.ahead is None:
        return tuple(names), 0
    every = tuple(names)
    waiting = sum(1 for name in every if name in standing and name not in reach.placed)
    left = max(0, reach.ahead - waiting)
    chosen: list[str] = []
    for name in every:
        if name in standing or name in reach.placed:
            chosen.append(name)
        elif left > 0:
            chosen.append(name)
            left -= 1
    return tuple(chosen), len(every) - len(chosen)
