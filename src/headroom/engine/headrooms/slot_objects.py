"""Slots that are objects of a dialect's kind: create, update, renew and delete them.

Each such object is then handled as a hold. `core.headrooms.slot_objects` decides which objects
should exist; this module asks quotas and limits about each, and yields the writes. An object that
was requested and is not seen yet counts as existing, so that it is not created twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta

from headroom.core.actions import Action, CreateSlotObject, Outcome, SetFinalizers, Taken
from headroom.core.headrooms.companions import daemon_set_owner, slot_owned
from headroom.core.headrooms.headrooms import ALWAYS, Headroom
from headroom.core.headrooms.memory import begun_anew
from headroom.core.headrooms.slot_objects import decide, is_current
from headroom.core.hold_state.limited import permit_of
from headroom.core.hold_state.memory import Permit
from headroom.core.holds import Hold
from headroom.core.index_entries import By
from headroom.core.plan import Sequence, Work
from headroom.core.subjects import Awaited, Change, Subject, Topic, headroom_subject, hold_subject
from headroom.engine import quotas
from headroom.engine.headrooms.records import remember_headroom, remember_objects
from headroom.engine.ledger import Ledger
from headroom.engine.memories import remember
from headroom.engine.namespace_limits import limit_of

EXPECTED_FOR = timedelta(seconds=5)
ORPHAN = "orphan"  # the garbage collector's finalizer while it takes owner references off


def member_hold(ledger: Ledger, hold: Hold) -> Hold:
    """The hold of a slot's object, completed by its headroom.

    The headroom says when it is renewed, whether it is permanent, and who owns its guardian.
    """
    headroom, memory = ledger.slots.headrooms.get(hold.group), ledger.slots.memory.get(hold.group)
    if headroom is None or headroom.slot_objects is None or memory is None:
        return hold
    hold = slot_owned(hold, daemon_set_owner(headroom, memory.daemon_set))
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
    """Create, update and delete the objects of the slots; each is then handled as a hold."""
    whole, there = headroom.parent.whole, members(ledger, headroom)
    decision = decide(headroom, ledger.slots.memory[whole], there, ledger.holds, now)
    for hold in decision.lost:
        _permit(ledger, hold, None)
    gone = [each for hold in decision.dismiss for each in _dismiss(ledger, hold)]
    yield from (each for each in gone if is_free(ledger, each))
    expected, subject = dict(decision.memory.expected), headroom_subject(headroom.parent)
    refused = _refused_by_quota(ledger, headroom, subject, now) if decision.make else ""
    beyond = ""
    for create in decision.make if not refused else ():
        refused = _refused_by_quota(ledger, create.hold, subject, now, counted=False)
        beyond = "" if refused else limit_of(ledger, create.hold)
        if beyond:
            ledger.agenda.wait(subject, on=Awaited(Change.USAGE, create.hold.home))
        if refused or beyond:
            break
        quotas.answered(ledger, create.hold, subject, None)
        _permit(ledger, create.hold, permit_of(create.hold))
        expected[create.slot] = (create.hold, now + EXPECTED_FOR)
        yield from _writes(ledger, (create,))
    yield from _writes(ledger, decision.update)
    objects = replace(
        decision.memory,
        expected=expected,
        refused=refused,
        beyond=beyond,
        updated=sum(is_current(headroom, hold) for hold in there.values()),
    )
    if not (gone or decision.make or decision.update):
        objects = begun_anew(objects)
    remember_headroom(ledger, whole, objects=objects)
    for hold in there.values():
        if (filled_in := member_hold(ledger, hold)) != hold:
            ledger.see_hold(filled_in)


def _refused_by_quota(
    ledger: Ledger, wanted: Hold | Headroom, subject: Subject, now: datetime, counted: bool = True
) -> str:
    """Why a quota leaves no room for an object; one that is not refused is `counted` at once."""
    over = quotas.refusal(ledger, wanted, now)
    if over is not None or counted:
        quotas.answered(ledger, wanted, subject, over)
    return over.why if over is not None else ""


def is_free(ledger: Ledger, sequence: Sequence) -> bool:
    """Whether nothing is being done with the subjects of a sequence."""
    return not any(map(ledger.agenda.busy, sequence.subjects))


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
    """An object was observed, or will never exist; return whether we waited for it."""
    expected = ledger.slots.memory[whole].objects.expected
    if slot not in expected:
        return False
    left = {name: each for name, each in expected.items() if name != slot}
    remember_objects(ledger, whole, expected=left)
    return True


def _permit(ledger: Ledger, hold: Hold, permit: Permit | None) -> None:
    """The object of a slot counts before it is seen, and no more if it does not come."""
    remember(ledger, hold, replace(ledger.memory[hold.parent.identity], permit=permit))


def _writes(ledger: Ledger, writes: Iterable[CreateSlotObject]) -> Iterator[Sequence]:
    for write in writes:
        subject = hold_subject(write.hold.parent, Topic.OBJECT)
        if not ledger.agenda.busy(subject):
            yield Sequence(Work.OBJECT, (subject,), ((write,),))


def _dismiss(ledger: Ledger, hold: Hold) -> Iterator[Sequence]:
    """Delete an object that nobody has claimed and that nothing is being done with."""
    busy = ledger.agenda.busy(hold_subject(hold.parent))
    known = bool(hold.parent.uid) and hold.deleted is None
    if hold.tenure is not None and known and not busy and not ledger.expects_owner(hold):
        yield hold.tenure.dismissed(hold, ledger.guardians_of(hold))


def _finalizers(headroom: Headroom, finalizers: tuple[str, ...]) -> Sequence:
    action: Action = SetFinalizers(headroom.parent, headroom.version, finalizers)
    return Sequence(Work.OBJECT, (headroom_subject(headroom.parent, Topic.OBJECT),), ((action,),))
