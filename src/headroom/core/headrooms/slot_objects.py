"""Slots that are objects of their own: which to create, which to update, which to delete.

The headroom says how many are wanted, and where. A claimed or ended object does not count, but
keeps its name until it is deleted; its replacement takes the next free name.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import NamedTuple

from headroom.core.actions import CreateSlotObject
from headroom.core.derived_names import object_of
from headroom.core.headrooms.headrooms import Headroom
from headroom.core.headrooms.memory import HeadroomMemory, ObjectsMemory
from headroom.core.headrooms.slot_values import SlotObjects
from headroom.core.headrooms.wanted_slots import WantedSlots
from headroom.core.holds import Hold
from headroom.core.objects import Parent


class Changes(NamedTuple):
    """The changes that make the objects of a headroom's slots match the wanted slots.

    An object to make is a free name and the wished-for hold whose shape it has.
    """

    make: tuple[tuple[str, Hold], ...]
    dismiss: tuple[Hold, ...]


@dataclass(frozen=True, slots=True)
class ObjectsDecision:
    """What the objects of a headroom's slots need, and what is to be remembered of them.

    What is to be made needs room under quotas and limits, each object in its turn. `lost` are
    objects that were made and never came.
    """

    memory: ObjectsMemory
    dismiss: tuple[Hold, ...] = ()
    make: tuple[CreateSlotObject, ...] = ()
    update: tuple[CreateSlotObject, ...] = ()
    lost: tuple[Hold, ...] = ()


def decide(
    headroom: Headroom,
    memory: HeadroomMemory,
    members: Mapping[str, Hold],
    names: Collection[str],
    now: datetime,
) -> ObjectsDecision:
    """Say which objects to make, update and delete.

    `members` are the objects that are there, by slot; `names` are those of all holds, so that a
    stranger that goes leaves its name to us.
    """
    objects, known = headroom.slot_objects, memory.objects
    if objects is None or memory.wished.frozen or headroom.paused:
        return ObjectsDecision(known)
    parent, expected = headroom.parent, known.expected
    over = [hold for hold, until in expected.values() if now >= until]
    expected = {
        slot: each for slot, each in expected.items() if slot not in members and now < each[1]
    }
    taken = tuple(slot for slot in known.taken if str(object_of(objects, parent, slot)) in names)
    there = {**members, **{slot: hold for slot, (hold, _) in expected.items()}}
    wanted = changes(headroom, memory.wished, there, taken)
    closed = headroom.closes is not None and now >= headroom.closes
    outdated = (
        each for each in members.items() if stands(each[1]) and not is_current(headroom, each[1])
    )
    return ObjectsDecision(
        replace(known, expected=expected, taken=taken),
        wanted.dismiss,
        tuple(_creation(parent, objects, *each) for each in (() if closed else wanted.make)),
        tuple(CreateSlotObject(hold, parent, slot, objects) for slot, hold in outdated),
        tuple(hold for hold in over if hold.parent.identity not in names),
    )


def _creation(of: Parent, objects: SlotObjects, slot: str, wished: Hold) -> CreateSlotObject:
    parent, labels, tenure = object_of(objects, of, slot), objects.labels, objects.tenure
    hold = replace(wished, parent=parent, labels=labels, tenure=tenure)
    return CreateSlotObject(hold, of, slot, objects)


def is_current(headroom: Headroom, hold: Hold) -> bool:
    """Whether an object stands that is of the present template."""
    objects, member = headroom.slot_objects, hold.member
    same = objects is not None and member is not None and member.revision == objects.revision
    return same and stands(hold)


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
    make: list[tuple[str, Hold]] = []
    for hold in wished.slots:
        seat = _seat(hold.slot, by_node)
        if there.get(seat):
            _keep_one(there[seat], hold.slot)
        else:
            slot = next(name for name in _names(seat) if name not in used)
            used[slot] = None
            make.append((slot, hold))
    left = [each for kept in there.values() for each in kept]
    left.sort(key=lambda each: (each[1].status.phase == "Available", -len(each[0]), each[0]))
    return Changes(tuple(make), tuple(member for _, member in left))


def _keep_one(standing: list[tuple[str, Hold]], slot: str) -> None:
    """Count one object for a wanted slot: the one of that name, or any."""
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
