"""Objects that a Headroom has besides its slots, created before its first guardian.

The SlotSet controls the guardians (`core.headrooms.slotsets` has the reason); it never changes. The
DaemonSet is how Karpenter counts slots per node on future machines, if the policy says so
(`core.headrooms.nodeoverhead`); it requests nothing while no slots are wanted. Both are deleted
with their Headroom, and created again if somebody deletes them. If one cannot be created, the slots
work without it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from headroom.core.actions import (
    CreateGuardian,
    CreateSlotSet,
    Denied,
    Done,
    Invalid,
    Outcome,
    WriteOverhead,
)
from headroom.core.headrooms import nodeoverhead, slotsets
from headroom.core.headrooms.headrooms import Headroom, Workload
from headroom.core.headrooms.nodeoverhead import DAEMON_SET, Overhead
from headroom.core.headrooms.slotsets import SLOT_SET
from headroom.core.headrooms.wanted_slots import WantedSlots, template_for
from headroom.core.headrooms.windows import ActiveWindow
from headroom.core.holds import Hold, PodTemplate
from headroom.core.objects import Key, OwnerReference
from headroom.core.plan import Sequence, Work
from headroom.core.resources import EMPTY
from headroom.core.subjects import Topic, headroom_subject
from headroom.engine.headrooms.headroom_state import HeadroomState
from headroom.engine.ledger import Ledger

PAUSE = timedelta(minutes=1)  # before an object that was refused is tried again

Concerning = CreateGuardian | WriteOverhead | CreateSlotSet


@dataclass(slots=True)
class _Made:
    """One object of ours: what was written, until the watch shows it."""

    key: Key
    uid: str = ""
    shape: str = ""
    rests_until: datetime | None = None


class Companions:
    """Both by headroom, and headrooms by the kind and name of both."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._slot_sets: dict[str, _Made] = {}
        self._daemon_sets: dict[str, _Made] = {}
        self._of: dict[tuple[str, Key], str] = {}
        self._refused: dict[str, None] = {}  # headrooms whose last guardian was refused

    def first(
        self, headroom: Headroom, known: HeadroomState, window: ActiveWindow | None, now: datetime
    ) -> Sequence | None:
        """What is to be made before guardians; None where all of it is there."""
        if (sequence := self._slot_set(headroom, now)) is not None:
            return sequence
        made = self._daemon_sets.get(headroom.parent.whole)
        if not nodeoverhead.applies(headroom) or (made is not None and made.uid):
            return None
        return self.write(headroom, known, window, now)

    def _slot_set(self, headroom: Headroom, now: datetime) -> Sequence | None:
        if not self._ledger.policy.slot_sets or not slotsets.applies(headroom):
            return None
        parent, subject = headroom.parent, headroom_subject(headroom.parent)
        made = self._known(self._slot_sets, SLOT_SET[1], slotsets.key_of(parent), parent.whole)
        there = self._ledger.slots.workloads.get((parent.namespace, slotsets.ref_of(parent)))
        if there is not None:  # One of the same name that is somebody else's is not used.
            made.uid = there.uid if slotsets.is_of(there, parent) else ""
            return None
        if made.uid or self._ledger.agenda.busy(subject) or self._rests(made, headroom, now):
            return None
        return Sequence(Work.SLOTSET, (subject,), ((CreateSlotSet(parent),),))

    def write(
        self, headroom: Headroom, known: HeadroomState, window: ActiveWindow | None, now: datetime
    ) -> Sequence | None:
        """Make the DaemonSet of a headroom, or bring it up to date; None where it is as it is."""
        if not self._ledger.policy.node_overhead or headroom.deleted is not None:
            return None
        overhead, parent = self._wanted(headroom, known, window), headroom.parent
        if overhead is None:
            return None
        made = self._known(self._daemon_sets, DAEMON_SET[1], overhead.key, parent.whole)
        there = self._ledger.slots.workloads.get((parent.namespace, nodeoverhead.ref_of(parent)))
        if there is not None:
            if not nodeoverhead.is_of(there, parent):
                return None  # Somebody else's, of the same name.
            made.uid, made.shape = there.uid, made.shape or there.made_as
        elif not made.uid and not nodeoverhead.applies(headroom):
            return None  # Nothing is to be counted, and nothing is there.
        if (made.uid and made.shape == overhead.shape) or self._rests(made, headroom, now):
            return None
        subject = headroom_subject(parent, Topic.OVERHEAD if made.uid else Topic.HEADROOM)
        if self._ledger.agenda.busy(subject):
            return None
        return Sequence(Work.OVERHEAD, (subject,), ((WriteOverhead(overhead, made.uid),),))

    def concerned(self, workload: Workload) -> tuple[str, ...]:
        """The headroom whose companion has come, changed or gone."""
        whole = self._of.get((workload.ref.kind, workload.key))
        if whole is None or whole not in self._ledger.slots.headrooms:
            return ()
        if (workload.namespace, workload.ref) not in self._ledger.slots.workloads:
            book = self._slot_sets if workload.ref.kind == SLOT_SET[1] else self._daemon_sets
            book[whole] = _Made(workload.key)
        return (whole,)

    def forget(self, whole: str) -> None:
        """A headroom is gone; its companions are collected with it."""
        for kind, book in ((SLOT_SET[1], self._slot_sets), (DAEMON_SET[1], self._daemon_sets)):
            made = book.pop(whole, None)
            if made is not None:
                self._of.pop((kind, made.key), None)
        self._refused.pop(whole, None)

    def settled(self, action: Concerning, outcome: Outcome, now: datetime) -> str:
        """Take note of what became of a write; name the headroom that is to be looked at."""
        match action:
            case CreateGuardian(hold=hold):
                return hold.group if self._counts_anew(action, outcome) else ""
            case WriteOverhead(overhead=overhead, uid=uid):
                made, shape = self._daemon_sets.get(overhead.parent.whole), overhead.shape
            case CreateSlotSet(parent=parent):
                made, shape, uid = self._slot_sets.get(parent.whole), "", ""
        if made is not None and isinstance(outcome, Done):
            made.uid, made.shape, made.rests_until = uid or outcome.uid, shape, None
        elif made is not None:
            made.uid, made.shape, made.rests_until = "", "", now + PAUSE
        return ""

    def _counts_anew(self, action: CreateGuardian, outcome: Outcome) -> bool:
        """A guardian was made or refused; say whether that changes what is counted."""
        whole = action.hold.group
        if not action.hold.template.node or whole not in self._daemon_sets:
            return False
        refused = isinstance(outcome, Denied | Invalid)
        if refused == (whole in self._refused) or not (refused or isinstance(outcome, Done)):
            return False
        if refused:
            self._refused[whole] = None
        else:
            del self._refused[whole]
        return True

    def member(self, headroom: Headroom, hold: Hold) -> Hold:
        """The hold of an object that is a slot, with the DaemonSet as an owner of its guardian."""
        owner = self._owner(headroom)
        return hold if owner is None else nodeoverhead.slot_owned(hold, owner)

    def dressed(self, headroom: Headroom, wished: WantedSlots) -> WantedSlots:
        """The wish, with these as owners of its guardians."""
        owner = self._owner(headroom)
        if owner is not None and headroom.slot_objects is None:
            wished = nodeoverhead.owned_too(wished, owner)
        made = self._slot_sets.get(headroom.parent.whole)
        if made is None or not made.uid or not slotsets.applies(headroom):
            return wished
        return slotsets.controlled(wished, headroom.parent, made.uid)

    def _owner(self, headroom: Headroom) -> OwnerReference | None:
        made = self._daemon_sets.get(headroom.parent.whole)
        if made is None or not made.uid or not nodeoverhead.applies(headroom):
            return None
        return OwnerReference(*DAEMON_SET, made.key.name, made.uid)

    def _known(self, book: dict[str, _Made], kind: str, key: Key, whole: str) -> _Made:
        self._of[kind, key] = whole
        return book.setdefault(whole, _Made(key))

    def _rests(self, made: _Made, headroom: Headroom, now: datetime) -> bool:
        """Whether an object was refused a moment ago; then its headroom is looked at later."""
        if made.rests_until is None or now >= made.rests_until:
            return False
        self._ledger.agenda.later(headroom_subject(headroom.parent), made.rests_until)
        return True

    def _wanted(
        self, headroom: Headroom, known: HeadroomState, window: ActiveWindow | None
    ) -> Overhead | None:
        template = template_for(headroom, self._ledger.slots.workload_of(headroom))
        if headroom.problems or not isinstance(template, PodTemplate):
            return None  # What is wanted is not known: what is there stays.
        wished, nodes = known.wished if known.looked else None, self._ledger.nodes.values()
        wanted = nodeoverhead.overhead_of(headroom, template, window, wished, nodes)
        idle = headroom.parent.whole in self._refused or known.limited
        return replace(wanted, requests=EMPTY) if idle else wanted
