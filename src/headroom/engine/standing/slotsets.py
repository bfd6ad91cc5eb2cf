"""The SlotSets that control the guardians of Headrooms; `core.standing.slotsets` has the reason.

There is one for each Headroom, created before its first guardian. It never changes, and is deleted
with its Headroom. If somebody deletes it, it is created again. If it cannot be created, the
Headroom controls the guardians, as before SlotSets existed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from headroom.core.actions import CreateSlotSet, Done, Outcome
from headroom.core.objects import Key
from headroom.core.plan import Sequence, Work
from headroom.core.standing.headrooms import Headroom, Workload
from headroom.core.standing.sizing import Wish
from headroom.core.standing.slotsets import (
    SLOT_SET,
    applies,
    controlled,
    is_of,
    key_of,
    ref_of,
)
from headroom.core.subjects import headroom_subject
from headroom.engine.ledger import Ledger

PAUSE = timedelta(minutes=1)  # before a SlotSet that was refused is tried again


@dataclass(slots=True)
class _Made:
    """The SlotSet of one headroom: what was made, until the watch shows it."""

    key: Key
    uid: str = ""
    rests_until: datetime | None = None


@dataclass(slots=True)
class SlotSets:
    """Makes SlotSets, and knows which there are."""

    ledger: Ledger
    _made: dict[str, _Made] = field(default_factory=dict)  # by headroom
    _of: dict[Key, str] = field(default_factory=dict)  # headrooms by their SlotSet

    def first(self, headroom: Headroom, now: datetime) -> Sequence | None:
        """Make the SlotSet of a headroom before its guardians; None where it is there."""
        if not self.ledger.policy.slot_sets or not applies(headroom):
            return None
        parent = headroom.parent
        made = self._known(headroom)
        there = self.ledger.slots.workloads.get((parent.namespace, ref_of(parent)))
        if there is not None:  # One of the same name that is somebody else's is not used.
            made.uid = there.uid if is_of(there, parent) else ""
            return None
        subject = headroom_subject(parent)
        if made.uid or self.ledger.agenda.busy(subject):
            return None
        if made.rests_until is not None and now < made.rests_until:
            self.ledger.agenda.later(subject, made.rests_until)
            return None
        return Sequence(Work.SLOTSET, (subject,), ((CreateSlotSet(parent),),))

    def _known(self, headroom: Headroom) -> _Made:
        whole, key = headroom.parent.whole, key_of(headroom.parent)
        self._of[key] = whole
        return self._made.setdefault(whole, _Made(key))

    def concerned(self, slot_set: Workload) -> tuple[str, ...]:
        """The headroom whose SlotSet has come, changed or gone."""
        if slot_set.ref.kind != SLOT_SET[1]:
            return ()
        whole = self._of.get(slot_set.key)
        headroom = self.ledger.slots.headrooms.get(whole or "")
        if whole is None or headroom is None:
            return ()
        if (slot_set.namespace, slot_set.ref) not in self.ledger.slots.workloads:
            self._made[whole] = _Made(slot_set.key)
        return (whole,)

    def forget(self, whole: str) -> None:
        """A headroom is gone; its SlotSet is collected with it."""
        made = self._made.pop(whole, None)
        if made is not None:
            self._of.pop(made.key, None)

    def settled(self, action: CreateSlotSet, outcome: Outcome, now: datetime) -> None:
        """The SlotSet was made, or could not be: then guardians go without for a while."""
        made = self._made.get(action.parent.whole)
        if made is None:
            return
        if isinstance(outcome, Done):
            made.uid, made.rests_until = outcome.uid, None
        else:
            made.rests_until = now + PAUSE

    def dressed(self, headroom: Headroom, wished: Wish) -> Wish:
        """The wish, with the SlotSet as the controller of its guardians."""
        made = self._made.get(headroom.parent.whole)
        if made is None or not made.uid or not applies(headroom):
            return wished
        return controlled(wished, headroom.parent, made.uid)
