"""Slots that are objects of their own: which to create, which to update, which to delete.

The headroom says how many are wanted, and where. A claimed or ended object does not count, but
keeps its name until it is deleted; its replacement takes the next free name.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from headroom.core.headrooms.headrooms import Headroom
from headroom.core.headrooms.wanted_slots import WantedSlots
from headroom.core.holds import Hold


@dataclass(frozen=True, slots=True)
class Making:
    """An object to make: for this slot of the headroom, in the shape of this wished-for hold."""

    slot: str
    wished: Hold


@dataclass(frozen=True, slots=True)
class Changes:
    """What brings the objects of a headroom's slots in line with its wish."""

    make: tuple[Making, ...] = ()
    dismiss: tuple[Hold, ...] = ()


def stands(member: Hold) -> bool:
    """Whether an object counts as a slot that is there, or on its way."""
    return not member.terminal and member.deleted is None


def changes(
    headroom: Headroom, wished: WantedSlots, members: Mapping[str, Hold], taken: Collection[str]
) -> Changes:
    """Compare the wish with the objects, by slot; names in `taken` are not to be had."""
    by_node = headroom.size.by_node
    there: dict[str, list[tuple[str, Hold]]] = {}
    for slot, member in members.items():
        if stands(member):
            there.setdefault(_seat(slot, by_node), []).append((slot, member))
    used = dict.fromkeys((*members, *taken))
    make: list[Making] = []
    for hold in wished.slots:
        seat = _seat(hold.slot, by_node)
        if there.get(seat):
            _keep_one(there[seat], hold.slot)
        else:
            slot = next(name for name in _names(seat) if name not in used)
            used[slot] = None
            make.append(Making(slot, hold))
    left = [each for kept in there.values() for each in kept]
    left.sort(key=lambda each: (each[1].status.phase == "Available", -len(each[0]), each[0]))
    return Changes(tuple(make), tuple(member for _, member in left))


def _keep_one(standing: list[tuple[str, Hold]], slot: str) -> None:
    """Count one object for a wished-for slot: the one of that name, or any."""
    found = next((place for place, each in enumerate(standing) if each[0] == slot), 0)
    del standing[found]


def _seat(slot: str, by_node: bool) -> str:
    """What makes slots exchangeable: the node, or nothing."""
    return slot.partition("/")[0] if by_node else ""


def _names(seat: str) -> Iterator[str]:
    """The names that slots of a seat may have, in order."""
    number = 0
    if seat:
        yield seat
        number = 1
    while True:
        yield f"{seat}/{number}" if seat else str(number)
        number += 1
