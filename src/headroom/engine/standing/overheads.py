"""The DaemonSets by which Karpenter counts slots per node on future machines.

There is one for each Headroom with slots per node, if the policy says so;
`core.standing.nodeoverhead` has the reason and the amounts. The DaemonSet is created before the
first guardian, so that guardians can belong to it. If it cannot be created, the slots work without
it. It exists as long as its Headroom, and requests nothing while no slots are wanted.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from headroom.core.actions import CreateGuardian, Denied, Done, Invalid, Outcome, WriteOverhead
from headroom.core.holds import Hold, PodTemplate
from headroom.core.objects import Key, OwnerReference
from headroom.core.plan import Sequence, Work
from headroom.core.resources import EMPTY
from headroom.core.standing.headrooms import Headroom, Workload
from headroom.core.standing.nodeoverhead import (
    DAEMON_SET,
    Overhead,
    applies,
    is_of,
    overhead_of,
    owned_too,
    ref_of,
    slot_owned,
)
from headroom.core.standing.sizing import Wish, template_for
from headroom.core.standing.windows import ActiveWindow
from headroom.core.subjects import Topic, headroom_subject
from headroom.engine.ledger import Ledger
from headroom.engine.standing.known import Known

PAUSE = timedelta(minutes=1)  # before a DaemonSet that was refused is tried again

Concerning = CreateGuardian | WriteOverhead


@dataclass(slots=True)
class _Made:
    """One DaemonSet of ours: what was written, until the watch shows it."""

    key: Key
    uid: str = ""
    shape: str = ""
    rests_until: datetime | None = None


@dataclass(slots=True)
class Overheads:
    """Keeps the DaemonSets in line with the wishes."""

    ledger: Ledger
    _made: dict[str, _Made] = field(default_factory=dict)  # by headroom
    _of: dict[Key, str] = field(default_factory=dict)  # headrooms by their DaemonSet
    _refused: dict[str, None] = field(default_factory=dict)  # their last guardian was refused

    def first(
        self, headroom: Headroom, known: Known, window: ActiveWindow | None, now: datetime
    ) -> Sequence | None:
        """Make the DaemonSet of a headroom that is to have one before its guardians."""
        made = self._made.get(headroom.parent.whole)
        if not applies(headroom) or (made is not None and made.uid):
            return None
        return self.write(headroom, known, window, now)

    def concerned(self, daemon_set: Workload) -> tuple[str, ...]:
        """The headroom whose DaemonSet has come, changed or gone."""
        if daemon_set.ref.kind != DAEMON_SET[1]:
            return ()
        whole = self._of.get(daemon_set.key)
        if whole is None or whole not in self.ledger.slots.headrooms:
            return ()
        there = self._seen(whole)
        if there is None:
            self._made[whole] = _Made(daemon_set.key)
        return (whole,)

    def forget(self, whole: str) -> None:
        """A headroom is gone; its DaemonSet is collected with it."""
        made = self._made.pop(whole, None)
        if made is not None:
            self._of.pop(made.key, None)
        self._refused.pop(whole, None)

    def write(
        self, headroom: Headroom, known: Known, window: ActiveWindow | None, now: datetime
    ) -> Sequence | None:
        """Make the DaemonSet of a headroom, or bring it up to date; None where it is as it is."""
        if not self.ledger.policy.node_overhead or headroom.deleted is not None:
            return None
        overhead = self._wanted(headroom, known, window)
        if overhead is None:
            return None
        whole = headroom.parent.whole
        self._of[overhead.key] = whole
        made = self._made.setdefault(whole, _Made(overhead.key))
        there = self._seen(whole)
        if there is not None:
            if not is_of(there, headroom.parent):
                return None  # Somebody else's, of the same name.
            made.uid, made.shape = there.uid, made.shape or there.made_as
        elif not made.uid and not applies(headroom):
            return None  # Nothing is to be counted, and nothing is there.
        if made.uid and made.shape == overhead.shape:
            return None
        if made.rests_until is not None and now < made.rests_until:
            self.ledger.agenda.later(headroom_subject(headroom.parent), made.rests_until)
            return None
        topic = Topic.OVERHEAD if made.uid else Topic.HEADROOM
        subject = headroom_subject(headroom.parent, topic)
        if self.ledger.agenda.busy(subject):
            return None
        return Sequence(Work.OVERHEAD, (subject,), ((WriteOverhead(overhead, made.uid),),))

    def settled(self, action: Concerning, outcome: Outcome, now: datetime) -> str:
        """Take note of what became of a write; name the headroom that is to be looked at."""
        if isinstance(action, WriteOverhead):
            self._written(action, outcome, now)
            return ""
        return action.hold.group if self._guardian(action, outcome) else ""

    def _written(self, action: WriteOverhead, outcome: Outcome, now: datetime) -> None:
        """The DaemonSet was written, or could not be: then the slots go without for a while."""
        made = self._made.get(action.overhead.parent.whole)
        if made is None:
            return
        if isinstance(outcome, Done):
            made.uid = action.uid or outcome.uid
            made.shape, made.rests_until = action.overhead.shape, None
        else:
            made.uid, made.shape, made.rests_until = "", "", now + PAUSE

    def _guardian(self, action: CreateGuardian, outcome: Outcome) -> bool:
        """A guardian was made or refused; say whether that changes what is counted."""
        whole = action.hold.group
        if not action.hold.template.node or whole not in self._made:
            return False
        refused = isinstance(outcome, Denied | Invalid)
        if refused == (whole in self._refused) or not (refused or isinstance(outcome, Done)):
            return False
        if refused:
            self._refused[whole] = None
        else:
            del self._refused[whole]
        return True

    def dressed(self, headroom: Headroom, wished: Wish) -> Wish:
        """The wish, with the DaemonSet as a further owner of its guardians."""
        owner = self._owner(headroom)
        if owner is None or headroom.slot_objects is not None:
            return wished
        return owned_too(wished, owner)

    def member(self, headroom: Headroom, hold: Hold) -> Hold:
        """The hold of an object that is a slot, with the DaemonSet as an owner of its guardian."""
        owner = self._owner(headroom)
        return hold if owner is None else slot_owned(hold, owner)

    def _owner(self, headroom: Headroom) -> OwnerReference | None:
        made = self._made.get(headroom.parent.whole)
        if made is None or not made.uid or not applies(headroom):
            return None
        return OwnerReference(*DAEMON_SET, made.key.name, made.uid)

    def _seen(self, whole: str) -> Workload | None:
        made, headroom = self._made.get(whole), self.ledger.slots.headrooms.get(whole)
        if made is None or headroom is None:
            return None
        return self.ledger.slots.workloads.get((made.key.namespace, ref_of(headroom.parent)))

    def _wanted(
        self, headroom: Headroom, known: Known, window: ActiveWindow | None
    ) -> Overhead | None:
        source = headroom.slot.source
        key = (headroom.parent.namespace, source) if source is not None else None
        workload = self.ledger.slots.workloads.get(key) if key is not None else None
        template = template_for(headroom, workload)
        if headroom.problems or not isinstance(template, PodTemplate):
            return None  # What is wanted is not known: what is there stays.
        wished = known.wished if known.looked else None
        wanted = overhead_of(headroom, template, window, wished, self.ledger.nodes.values())
        idle = headroom.parent.whole in self._refused or known.limited
        return replace(wanted, requests=EMPTY) if idle else wanted
