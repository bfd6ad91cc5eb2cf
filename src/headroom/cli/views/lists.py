"""The table of each noun, and what to read for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from headroom.cli.dialects import dialect_of
from headroom.cli.nouns import DIALECT_OF, KINDS
from headroom.cli.source import World
from headroom.cli.views.foreign_rows import foreign
from headroom.cli.views.headroom_rows import headrooms
from headroom.cli.views.hold_rows import claims, guardians, holds
from headroom.cli.views.rooms import node_table
from headroom.cli.views.slot_rows import slots
from headroom.cli.views.tables import Table
from headroom.wire.kinds import HEADROOMS, HOLDS, NODES, PODS, Resource


@dataclass(frozen=True, slots=True)
class KindsToRead:
    """The kinds to read, the main one first; `local`: only those of the namespace."""

    kinds: tuple[Resource, ...]
    local: bool = True


_LISTS: dict[str, tuple[KindsToRead, Callable[[World], Table]]] = {
    "hold": (KindsToRead((HOLDS,)), holds),
    "headroom": (KindsToRead((HEADROOMS,)), headrooms),
    "slot": (KindsToRead((HEADROOMS, PODS, NODES), local=False), slots),
    "node": (KindsToRead((NODES, PODS), local=False), node_table),
    "guardian": (KindsToRead((PODS,)), guardians),
    "claim": (KindsToRead((PODS, HOLDS)), claims),
}


def needs(noun: str) -> KindsToRead:
    """What to read to list a noun."""
    if noun not in DIALECT_OF:
        return _LISTS[noun][0]
    kinds = dialect_of(DIALECT_OF[noun]).kinds
    return KindsToRead(tuple(each for each in kinds if each.kind == KINDS[noun]))


def table_of(world: World, noun: str) -> Table:
    """The table of a noun."""
    if noun in DIALECT_OF:
        return foreign(world, KINDS[noun])
    return _LISTS[noun][1](world)
