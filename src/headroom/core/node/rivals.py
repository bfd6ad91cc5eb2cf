"""Which refused pods are judged in one look at a node: a fair share for each namespace.

Pods of the same namespace, labels and spec have the same chances on a node, so they are judged
once. If many kinds of pods wait, each check takes some of each namespace in turn. So no namespace
can prevent the pods of others from being checked, and no check takes longer because there are many.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from headroom.core.objects import Key

MOST_JUDGED = 256
"""So many kinds of pod are judged in one look at a node."""

MOST_ALIKE = 20
"""Of pods that are all alike so many are told apart, the newest."""


@dataclass(frozen=True, slots=True)
class Judged:
    """Whom to judge now, those alike together; whether more wait, and where to go on then."""

    alike: tuple[tuple[Key, ...], ...] = ()
    more: bool = False
    turn: int = 0


def in_turn(kinds: Mapping[object, Collection[Key]], turn: int) -> Judged:
    """Whom to judge in this look at a node, of pods by kind in the order in which they came.

    `turn` says how many were passed over or judged so far.
    """
    by_namespace: dict[str, list[Collection[Key]]] = {}
    for keys in kinds.values():
        by_namespace.setdefault(next(iter(keys)).namespace, []).append(keys)
    share = max(1, MOST_JUDGED // max(1, len(by_namespace)))
    more = any(len(each) > share for each in by_namespace.values())
    found = (keys for each in by_namespace.values() for keys in _share(each, share, turn))
    alike = tuple(tuple(islice(reversed(tuple(keys)), MOST_ALIKE)) for keys in found)
    return Judged(alike, more, turn + share if more else 0)


def _share(kinds: Sequence[Collection[Key]], share: int, turn: int) -> Sequence[Collection[Key]]:
    if len(kinds) <= share:
        return kinds
    start = turn % len(kinds)
    return (*kinds[start : start + share], *kinds[: max(0, start + share - len(kinds))])
