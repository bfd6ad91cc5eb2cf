"""What happens to the slots of a headroom: their states, their objects, and answers to writes.

Each function processes one event and returns whether the headroom must be decided again. Slots that
are objects of a dialect's kind are called members here.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from headroom.core.actions import CreateSlotObject, Done, Outcome, SetFinalizers
from headroom.core.headrooms.headrooms import NEVER
from headroom.core.headrooms.memory import MOMENT, object_written, postponed
from headroom.core.headrooms.slot_objects import stands
from headroom.core.hold_state.memory import state_of
from headroom.core.holds import Hold, HoldStatus
from headroom.core.objects import Parent
from headroom.core.subjects import headroom_subject
from headroom.engine.headrooms import slot_objects
from headroom.engine.headrooms.records import reconsider, remember_headroom, remember_objects
from headroom.engine.headrooms.slot_pods import note_state
from headroom.engine.ledger import Ledger

OBJECT_PAUSE = timedelta(seconds=1)


def slot_now(ledger: Ledger, hold: Hold, status: HoldStatus) -> None:
    """A slot has a new status; the status of its headroom shows it."""
    memory, state = ledger.slots.memory.get(hold.group), state_of(status)
    if memory is None:
        return
    if hold.member is None:
        note_state(ledger, hold, state)
        ledger.agenda.touch(headroom_subject(hold.parent))
        follow = memory.wished.later and state.phase == "Available"
        if follow or ledger.slots.headrooms[hold.group].refill == NEVER:
            remember_headroom(ledger, hold.group, stale=True)  # Others may follow; its time begins.
    elif ledger.memory[hold.parent.identity].state != state:
        note_state(ledger, hold, state)
        if state.phase in ("Succeeded", "Failed"):
            reconsider(ledger, hold.group)
        else:  # It stands, or is to: what is wished for stays the same.
            ledger.agenda.touch(headroom_subject(hold.member.of))


def member(ledger: Ledger, hold: Hold) -> Hold:
    """The hold of an object that is a slot, completed by its headroom."""
    whole, name = hold.group, hold.parent.identity
    if hold.member is None or whole not in ledger.slots.memory:
        return hold
    there = ledger.holds.get(name)
    if ledger.memory[name].state is None:
        note_state(ledger, hold, state_of(hold.status))
        if slot_objects.arrived(ledger, whole, hold.member.slot) and stands(hold):
            updated = ledger.slots.memory[whole].objects.updated
            remember_objects(ledger, whole, updated=updated + 1)
        else:
            reconsider(ledger, whole)
    elif there is not None and there.member != hold.member:  # Of the present template now.
        reconsider(ledger, whole)
    return slot_objects.member_hold(ledger, hold)


def member_gone(ledger: Ledger, hold: Hold) -> None:
    """The object of a slot is gone."""
    memory = ledger.slots.memory.get(hold.group)
    if memory is not None and hold.member is not None:
        deleted = (*memory.objects.deleted, hold.parent.name)
        remember_objects(ledger, hold.group, deleted=deleted)
        reconsider(ledger, hold.group)


def wrote(ledger: Ledger, action: CreateSlotObject, outcome: Outcome, now: datetime) -> None:
    """The object of a slot was written, or could not be: then it is tried again later."""
    whole, done = action.of.whole, isinstance(outcome, Done)
    if not done:
        slot_objects.refused(ledger, action, outcome)
    memory = ledger.slots.memory.get(whole)
    if memory is None:
        return
    ledger.slots.memory[whole] = object_written(memory, action.hold.parent, outcome, now)
    if not done:
        reconsider(ledger, whole)
    elif not action.hold.parent.uid:
        ledger.agenda.touch(headroom_subject(action.of))


def object_failed(ledger: Ledger, parent: Parent, now: datetime) -> None:
    """An object could not be written or deleted: decide its headroom again."""
    hold = ledger.holds.get(parent.identity)
    memory = ledger.slots.memory.get(hold.group) if hold is not None and hold.member else None
    if hold is not None and memory is not None:
        ledger.slots.memory[hold.group] = postponed(memory, now + MOMENT)
        reconsider(ledger, hold.group)
    else:
        ledger.agenda.later(headroom_subject(parent), now + OBJECT_PAUSE)


def finalized(ledger: Ledger, action: SetFinalizers) -> None:
    """The finalizers of an object were written."""
    name = action.parent.identity
    if name in ledger.slots.headrooms:
        headroom = replace(ledger.slots.headrooms[name], finalizers=action.finalizers)
        ledger.slots.headrooms[name] = headroom
        reconsider(ledger, name)
    elif (hold := ledger.holds.get(name)) is not None:
        ledger.holds[name] = replace(hold, finalizers=action.finalizers)
