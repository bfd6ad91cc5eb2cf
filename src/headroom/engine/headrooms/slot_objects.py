"""Slots that are objects of a dialect's kind: create, update, renew and delete them.

Each such object is then handled as a hold; this module only decides which objects should exist. An
object that was requested and is not seen yet counts as existing, so that it is not created twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from headroom.core.actions import Action, CreateSlotObject, Done, Outcome, SetFinalizers, Taken
from headroom.core.headrooms.headrooms import ALWAYS, Headroom
from headroom.core.headrooms.slot_objects import Making, changes, stands
from headroom.core.headrooms.wanted_slots import WantedSlots
from headroom.core.headrooms.windows import ActiveWindow
from headroom.core.holds import Hold
from headroom.core.index_entries import By
from headroom.core.plan import Sequence, Work
from headroom.core.subjects import Topic, headroom_subject, hold_subject
from headroom.core.tickets.ticket_lifecycle import dismissed
from headroom.core.tickets.ticket_times import object_of
from headroom.engine.ledger import Ledger
from headroom.engine.limits.allowance import Allowance

EXPECTED_FOR = timedelta(seconds=5)
ORPHAN = "orphan"  # the garbage collector's finalizer while it takes owner references off


@dataclass(frozen=True, slots=True)
class SlotRefusal:
    """Why objects of slots are not made: a quota of the dialect, or a limit of the namespace."""

    why: str
    by_limit: bool = False


Owned = Callable[[Headroom, Hold], Hold]
"""Gives the hold of a slot's object the further owner of its guardian."""


class SlotObjectController:
    """The objects of slots, by headroom."""

    def __init__(self, ledger: Ledger, allowance: Allowance, owned: Owned) -> None:
        self._owned = owned
        self._ledger = ledger
        self._allowance = allowance
        self._quotas = allowance.quotas
        self._expected: dict[str, dict[str, tuple[Hold, datetime]]] = {}  # made, not seen yet
        self._taken: dict[str, dict[str, None]] = {}  # names that strangers have

    def forget(self, whole: str) -> None:
        """A headroom is gone."""
        self._expected.pop(whole, None)
        self._taken.pop(whole, None)

    def dressed(self, hold: Hold, headroom: Headroom | None, window: ActiveWindow | None) -> Hold:
        """The hold of a slot's object, with what its headroom says of it.

        That is: when it is renewed, whether it is a permanent buffer, who owns its guardian.
        """
        if headroom is None or headroom.slot_objects is None:
            return hold
        hold = self._owned(headroom, hold)
        if headroom.slot_objects.permanent and hold.tenure is not None:
            hold = replace(hold, tenure=replace(hold.tenure, duration=None))
        if window is None or headroom.refill != ALWAYS:
            return hold
        return replace(hold, fresh_since=window.started_at)

    def members(self, headroom: Headroom) -> dict[str, Hold]:
        """The objects that are there, by slot."""
        names = self._ledger.hold_index.of(By.SLOT_OBJECT, headroom.parent.whole)
        found = (self._ledger.holds[name] for name in names)
        return {
            hold.member.slot: hold
            for hold in found
            if hold.member is not None and hold.member.of.uid == headroom.parent.uid
        }

    def prepare(self, headroom: Headroom) -> Sequence | None:
        """The finalizer that goes onto a headroom before it has its first object."""
        if not headroom.finalizer or headroom.finalizer in headroom.finalizers:
            return None
        return _finalizers(headroom, (*headroom.finalizers, headroom.finalizer))

    def wind_up(self, headroom: Headroom) -> Iterator[Sequence]:
        """Somebody deletes the headroom: its objects go first, then our finalizer.

        With `--cascade=orphan` they stay, and are objects of their own from then on.
        """
        members = {} if ORPHAN in headroom.finalizers else self.members(headroom)
        for hold in members.values():
            yield from self._dismiss(hold)
        if not members and headroom.finalizer in headroom.finalizers:
            others = tuple(each for each in headroom.finalizers if each != headroom.finalizer)
            yield _finalizers(headroom, others)

    def settle(
        self, headroom: Headroom, wished: WantedSlots, now: datetime
    ) -> Iterator[Sequence | SlotRefusal]:
        """Bring the objects in line with the wish; a refusal says why some are not made."""
        objects = headroom.slot_objects
        if objects is None or wished.frozen or headroom.paused:
            return
        whole, members = headroom.parent.whole, self.members(headroom)
        there = {**members, **self._still_expected(whole, members, now)}
        taken = {
            slot: None
            for slot in self._taken.pop(whole, ())
            if str(object_of(objects, headroom.parent, slot)) in self._ledger.holds
        }
        if taken:  # A stranger that goes leaves its name to us.
            self._taken[whole] = taken
        wanted = changes(headroom, wished, there, taken)
        for hold in wanted.dismiss:
            yield from self._dismiss(hold)
        yield from self._make(headroom, wanted.make, now)
        for slot, hold in members.items():
            changed = hold.member is not None and hold.member.revision != objects.revision
            if changed and stands(hold):
                yield self._write(headroom, Making(slot, hold), hold)

    def settled(self, action: CreateSlotObject, outcome: Outcome) -> None:
        """An object was made, or could not be."""
        if isinstance(outcome, Done):
            return
        whole = action.of.whole
        self._expected.get(whole, {}).pop(action.slot, None)
        if not self._known(action.hold):
            self._allowance.forget(action.hold)
        self._quotas.lose(action.hold.parent)
        if isinstance(outcome, Taken):
            self._taken.setdefault(whole, {})[action.slot] = None

    def arrived(self, hold: Hold) -> bool:
        """Take note of an object that is there; say whether it is one that we waited for."""
        if hold.member is None:
            return False
        waited = self._expected.get(hold.group, {}).pop(hold.member.slot, None)
        return waited is not None and stands(hold)

    def _make(
        self, headroom: Headroom, makings: tuple[Making, ...], now: datetime
    ) -> Iterator[Sequence | SlotRefusal]:
        subject = headroom_subject(headroom.parent)
        if headroom.closes is not None and now >= headroom.closes:
            return
        if makings:
            why = self._quotas.room_for(headroom, subject, now)
            if why is not None:
                yield SlotRefusal(why)
                return
        for making in makings:
            hold = self._slot(headroom, making)
            why = self._quotas.room_for(hold, subject, now)
            if why is not None:
                yield SlotRefusal(why)
                return
            why = self._allowance.beyond_limit(hold, subject)
            if why is not None:
                self._quotas.lose(hold.parent)
                yield SlotRefusal(why, by_limit=True)
                return
            expected = self._expected.setdefault(headroom.parent.whole, {})
            expected[making.slot] = (hold, now + EXPECTED_FOR)
            yield self._write(headroom, making, hold)

    def _write(self, headroom: Headroom, making: Making, hold: Hold) -> Sequence:
        objects = headroom.slot_objects
        if objects is None:
            raise ValueError(f"{headroom.parent} has no objects for its slots")
        write = CreateSlotObject(hold, headroom.parent, making.slot, objects)
        return Sequence(Work.OBJECT, (hold_subject(hold.parent, Topic.OBJECT),), ((write,),))

    def _slot(self, headroom: Headroom, making: Making) -> Hold:
        objects = headroom.slot_objects
        if objects is None:
            return making.wished
        parent = object_of(objects, headroom.parent, making.slot)
        return replace(making.wished, parent=parent, labels=objects.labels, tenure=objects.tenure)

    def _dismiss(self, hold: Hold) -> Iterator[Sequence]:
        """Delete an object that nobody has claimed and that nothing is being done with."""
        ledger = self._ledger
        busy = ledger.agenda.busy(hold_subject(hold.parent))
        known = bool(hold.parent.uid) and hold.deleted is None
        if known and not busy and not ledger.promised(hold):
            yield dismissed(hold, ledger.guardians_of(hold))

    def _known(self, hold: Hold) -> bool:
        return str(hold.parent) in self._ledger.holds

    def _still_expected(
        self, whole: str, members: dict[str, Hold], now: datetime
    ) -> dict[str, Hold]:
        expected = self._expected.get(whole, {})
        kept = {
            slot: (hold, until)
            for slot, (hold, until) in expected.items()
            if slot not in members and now < until
        }
        for slot, (hold, until) in expected.items():
            if now >= until and slot not in members and not self._known(hold):
                self._allowance.forget(hold)  # It was made, and never came.
        self._expected[whole] = kept
        return {slot: hold for slot, (hold, _) in kept.items()}


def _finalizers(headroom: Headroom, finalizers: tuple[str, ...]) -> Sequence:
    action: Action = SetFinalizers(headroom.parent, headroom.version, finalizers)
    return Sequence(Work.OBJECT, (headroom_subject(headroom.parent, Topic.OBJECT),), ((action,),))
