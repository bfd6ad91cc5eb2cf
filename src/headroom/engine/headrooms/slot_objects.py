"""Slots that are objects of a dialect's kind: create, update, renew and delete them.

Each such object is then handled as a hold; this module only decides which objects should exist. An
object that was requested and is not seen yet counts as existing, so that it is not created twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from headroom.core.actions import Action, CreateSlotObject, Outcome, SetFinalizers, Taken
from headroom.core.derived_names import object_of
from headroom.core.headrooms.companions import daemon_set_owner
from headroom.core.headrooms.headrooms import ALWAYS, Headroom
from headroom.core.headrooms.memory import begun_anew
from headroom.core.headrooms.node_overhead import slot_owned
from headroom.core.headrooms.slot_objects import Making, changes, stands
from headroom.core.hold_state.limited import permit_of
from headroom.core.hold_state.memory import Permit
from headroom.core.holds import Hold
from headroom.core.index_entries import By
from headroom.core.plan import Sequence, Work
from headroom.core.subjects import Awaited, Change, Topic, headroom_subject, hold_subject
from headroom.engine import quotas
from headroom.engine.headrooms.records import remember_headroom, remember_objects
from headroom.engine.ledger import Ledger
from headroom.engine.memories import remember
from headroom.engine.namespace_limits import limit_of

EXPECTED_FOR = timedelta(seconds=5)
ORPHAN = "orphan"  # the garbage collector's finalizer while it takes owner references off


@dataclass(frozen=True, slots=True)
class SlotRefusal:
    """Why objects of slots are not made: a quota of the dialect, or a limit of the namespace."""

    why: str
    by_limit: bool = False


def member_hold(ledger: Ledger, hold: Hold) -> Hold:
    """The hold of a slot's object, with what its headroom says of it.

    That is: when it is renewed, whether it is a permanent buffer, who owns its guardian.
    """
    headroom, memory = ledger.slots.headrooms.get(hold.group), ledger.slots.memory.get(hold.group)
    if headroom is None or headroom.slot_objects is None or memory is None:
        return hold
    owner = daemon_set_owner(headroom, memory.daemon_set)
    if owner is not None:
        hold = slot_owned(hold, owner)
    if headroom.slot_objects.permanent and hold.tenure is not None:
        hold = replace(hold, tenure=hold.tenure.endless())
    if memory.window is None or headroom.refill != ALWAYS:
        return hold
    return replace(hold, fresh_since=memory.window.started_at)


def members(ledger: Ledger, headroom: Headroom) -> dict[str, Hold]:
    """The objects that are there, by slot."""
    names = ledger.hold_index.of(By.SLOT_OBJECT, headroom.parent.whole)
    found = (ledger.holds[name] for name in names)
    return {
        hold.member.slot: hold
        for hold in found
        if hold.member is not None and hold.member.of.uid == headroom.parent.uid
    }


def prepare(headroom: Headroom) -> Sequence | None:
    """The finalizer that goes onto a headroom before it has its first object."""
    if not headroom.finalizer or headroom.finalizer in headroom.finalizers:
        return None
    return _finalizers(headroom, (*headroom.finalizers, headroom.finalizer))


def wind_up(ledger: Ledger, headroom: Headroom) -> Iterator[Sequence]:
    """Somebody deletes the headroom: its objects go first, then our finalizer.

    With `--cascade=orphan` they stay, and are objects of their own from then on.
    """
    there = {} if ORPHAN in headroom.finalizers else members(ledger, headroom)
    for hold in there.values():
        yield from _dismiss(ledger, hold)
    if not there and headroom.finalizer in headroom.finalizers:
        others = tuple(each for each in headroom.finalizers if each != headroom.finalizer)
        yield _finalizers(headroom, others)


def settle(ledger: Ledger, headroom: Headroom, now: datetime) -> Iterator[Sequence]:
    """Bring the objects of the slots in line; each is looked after as a hold of its own."""
    slots, whole = ledger.slots, headroom.parent.whole
    settling = False
    for each in _changes(ledger, headroom, now):
        settling = True
        if isinstance(each, Sequence):
            if is_free(ledger, each):
                yield each
        elif each.by_limit:
            remember_objects(ledger, whole, beyond=each.why)
        else:
            remember_objects(ledger, whole, refused=each.why)
    if not settling:
        remember_headroom(ledger, whole, objects=begun_anew(slots.memory[whole].objects))
    there = members(ledger, headroom).values()
    remember_objects(ledger, whole, updated=sum(_is_current(headroom, hold) for hold in there))
    for hold in there:
        if (dressed := member_hold(ledger, hold)) != hold:
            ledger.see_hold(dressed)


def _is_current(headroom: Headroom, hold: Hold) -> bool:
    """Whether an object stands that is of the present template."""
    objects, member = headroom.slot_objects, hold.member
    same = objects is not None and member is not None and member.revision == objects.revision
    return same and stands(hold)


def is_free(ledger: Ledger, sequence: Sequence) -> bool:
    """Whether nothing is being done with the subjects of a sequence."""
    return not any(map(ledger.agenda.busy, sequence.subjects))


def _changes(ledger: Ledger, headroom: Headroom, now: datetime) -> Iterator[Sequence | SlotRefusal]:
    """What brings the objects in line with the wish; a refusal says why some are not made."""
    objects, memory = headroom.slot_objects, ledger.slots.memory[headroom.parent.whole]
    if objects is None or memory.wished.frozen or headroom.paused:
        return
    present, known = members(ledger, headroom), memory.objects
    for hold, until in known.expected.values():
        if now >= until and hold.parent.identity not in ledger.holds:
            _permit(ledger, hold, None)  # It was made, and never came.
    expected = {
        slot: each for slot, each in known.expected.items() if slot not in present and now < each[1]
    }
    taken = tuple(
        slot
        for slot in known.taken  # A stranger that goes leaves its name to us.
        if str(object_of(objects, headroom.parent, slot)) in ledger.holds
    )
    there = {**present, **{slot: hold for slot, (hold, _) in expected.items()}}
    wanted = changes(headroom, memory.wished, there, taken)
    for hold in wanted.dismiss:
        yield from _dismiss(ledger, hold)
    for made in _make(ledger, headroom, wanted.make, now):
        if isinstance(made, SlotRefusal):
            yield made
        else:
            expected[made.slot] = (made.hold, now + EXPECTED_FOR)
            yield _write(made)
    remember_objects(ledger, headroom.parent.whole, expected=expected, taken=taken)
    for slot, hold in present.items():
        if stands(hold) and not _is_current(headroom, hold):
            yield _write(CreateSlotObject(hold, headroom.parent, slot, objects))


def refused(ledger: Ledger, action: CreateSlotObject, outcome: Outcome) -> None:
    """An object could not be made."""
    whole, slots = action.of.whole, ledger.slots
    if action.hold.parent.identity not in ledger.holds:
        _permit(ledger, action.hold, None)
    quotas.lose(ledger, action.hold.parent)
    if whole not in slots.memory:
        return
    arrived(ledger, whole, action.slot)
    if isinstance(outcome, Taken):
        taken = (*slots.memory[whole].objects.taken, action.slot)
        remember_objects(ledger, whole, taken=tuple(dict.fromkeys(taken)))


def arrived(ledger: Ledger, whole: str, slot: str) -> bool:
    """An object is there, or will never be; say whether it is one that we waited for."""
    expected = ledger.slots.memory[whole].objects.expected
    if slot not in expected:
        return False
    left = {name: each for name, each in expected.items() if name != slot}
    remember_objects(ledger, whole, expected=left)
    return True


def _make(
    ledger: Ledger,
    headroom: Headroom,
    makings: tuple[Making, ...],
    now: datetime,
) -> Iterator[CreateSlotObject | SlotRefusal]:
    subject, objects = headroom_subject(headroom.parent), headroom.slot_objects
    if objects is None or (headroom.closes is not None and now >= headroom.closes):
        return
    if makings:
        over = quotas.refusal(ledger, headroom, now)
        quotas.answered(ledger, headroom, subject, over)
        if over is not None:
            yield SlotRefusal(over.why)
            return
    for making in makings:
        parent = object_of(objects, headroom.parent, making.slot)
        hold = replace(making.wished, parent=parent, labels=objects.labels, tenure=objects.tenure)
        over = quotas.refusal(ledger, hold, now)
        if over is not None:
            quotas.answered(ledger, hold, subject, over)
            yield SlotRefusal(over.why)
            return
        why = limit_of(ledger, hold)
        if why:
            ledger.agenda.wait(subject, on=Awaited(Change.USAGE, hold.home))
            yield SlotRefusal(why, by_limit=True)
            return
        quotas.answered(ledger, hold, subject, None)
        _permit(ledger, hold, permit_of(hold))
        yield CreateSlotObject(hold, headroom.parent, making.slot, objects)


def _permit(ledger: Ledger, hold: Hold, permit: Permit | None) -> None:
    """The object of a slot counts before it is seen, and no more if it does not come."""
    remember(ledger, hold, replace(ledger.memory[hold.parent.identity], permit=permit))


def _write(write: CreateSlotObject) -> Sequence:
    return Sequence(Work.OBJECT, (hold_subject(write.hold.parent, Topic.OBJECT),), ((write,),))


def _dismiss(ledger: Ledger, hold: Hold) -> Iterator[Sequence]:
    """Delete an object that nobody has claimed and that nothing is being done with."""
    busy = ledger.agenda.busy(hold_subject(hold.parent))
    known = bool(hold.parent.uid) and hold.deleted is None
    if hold.tenure is not None and known and not busy and not ledger.promised(hold):
        yield hold.tenure.dismissed(hold, ledger.guardians_of(hold))


def _finalizers(headroom: Headroom, finalizers: tuple[str, ...]) -> Sequence:
    action: Action = SetFinalizers(headroom.parent, headroom.version, finalizers)
    return Sequence(Work.OBJECT, (headroom_subject(headroom.parent, Topic.OBJECT),), ((action,),))
