"""Write the objects that a Headroom has besides its slots: `core.headrooms.companions` decides."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from headroom.core.actions import CreateGuardian, CreateSlotSet, Outcome, WriteOverhead
from headroom.core.headrooms import companions
from headroom.core.headrooms.headrooms import Headroom, Workload, WorkloadRef
from headroom.core.headrooms.memory import guardian_settled
from headroom.core.headrooms.node_overhead import (
    Overhead,
    daemon_set_ref,
    has_daemon_set,
    overhead_of,
)
from headroom.core.headrooms.wanted_slots import template_for
from headroom.core.headrooms.windows import ActiveWindow
from headroom.core.holds import Hold, PodTemplate
from headroom.core.index_entries import By
from headroom.core.objects import Parent
from headroom.core.plan import Sequence, Work
from headroom.core.resources import EMPTY
from headroom.core.subjects import Topic, headroom_subject
from headroom.engine.headrooms.records import reconsider, remember_headroom
from headroom.engine.ledger import Ledger

Concerning = CreateGuardian | WriteOverhead | CreateSlotSet


def first(
    ledger: Ledger, headroom: Headroom, window: ActiveWindow | None, now: datetime
) -> Sequence | None:
    """The write that creates what must exist before guardians; None if it exists."""
    if (sequence := _slot_set(ledger, headroom, now)) is not None:
        return sequence
    made = ledger.slots.memory[headroom.parent.whole].daemon_set
    if not has_daemon_set(headroom) or made.uid:
        return None
    return write(ledger, headroom, window, now)


def _slot_set(ledger: Ledger, headroom: Headroom, now: datetime) -> Sequence | None:
    if not ledger.policy.slot_sets or not companions.has_slot_set(headroom):
        return None
    parent, known = headroom.parent, ledger.slots.memory[headroom.parent.whole].slot_set
    there = _there(ledger, headroom, companions.slot_set_ref(parent))
    decision = companions.decide_slot_set(known, headroom, there, now)
    remember_headroom(ledger, parent.whole, slot_set=decision.companion)
    return _written(ledger, parent, decision, Work.SLOTSET, Topic.HEADROOM)


def write(
    ledger: Ledger, headroom: Headroom, window: ActiveWindow | None, now: datetime
) -> Sequence | None:
    """Create or update the DaemonSet of a headroom; None if it is up to date."""
    if not ledger.policy.node_overhead or headroom.deleted is not None:
        return None
    overhead, parent = _wanted(ledger, headroom, window), headroom.parent
    known = ledger.slots.memory[parent.whole].daemon_set
    there = _there(ledger, headroom, daemon_set_ref(parent))
    decision = companions.decide_daemon_set(known, headroom, there, overhead, now)
    remember_headroom(ledger, parent.whole, daemon_set=decision.companion)
    topic = Topic.OVERHEAD if decision.companion.uid else Topic.HEADROOM
    return _written(ledger, parent, decision, Work.OVERHEAD, topic)


def _written(
    ledger: Ledger, parent: Parent, decision: companions.CompanionDecision, work: Work, topic: Topic
) -> Sequence | None:
    """The write that was decided, unless its object is being written."""
    if decision.wake_at is not None:
        ledger.agenda.later(headroom_subject(parent), decision.wake_at)
    subject = headroom_subject(parent, topic)
    if decision.write is None or ledger.agenda.busy(subject):
        return None
    return Sequence(work, (subject,), ((decision.write,),))


def concerned(ledger: Ledger, workload: Workload) -> tuple[str, ...]:
    """The headroom whose companion object was created, changed or deleted."""
    key, slots = (workload.namespace, workload.ref), ledger.slots
    found = tuple(slots.headroom_index.of(By.COMPANION, key))
    gone = "slot_set" if workload.ref.kind == companions.SLOT_SET[1] else "daemon_set"
    for whole in found if key not in slots.workloads else ():
        remember_headroom(ledger, whole, **{gone: companions.NOT_MADE})
    return found


def settled(ledger: Ledger, action: Concerning, outcome: Outcome, now: datetime) -> None:
    """Process the outcome of a write."""
    slots = ledger.slots
    match action:
        case CreateGuardian(hold=hold):
            _guardian_settled(ledger, hold, outcome)
        case WriteOverhead(overhead=overhead, uid=uid) if overhead.parent.whole in slots.memory:
            made = companions.written(uid, overhead.shape, outcome, now)
            remember_headroom(ledger, overhead.parent.whole, daemon_set=made)
        case CreateSlotSet(parent=parent) if parent.whole in slots.memory:
            made = companions.written("", "", outcome, now)
            remember_headroom(ledger, parent.whole, slot_set=made)


def _guardian_settled(ledger: Ledger, hold: Hold, outcome: Outcome) -> None:
    """A guardian was created or refused: others may follow, or are not counted ahead."""
    memory = ledger.slots.memory.get(hold.group)
    if memory is not None:
        counted = bool(hold.template.node) and ledger.policy.node_overhead
        ledger.slots.memory[hold.group], again = guardian_settled(memory, outcome, counted)
        if again:
            reconsider(ledger, hold.group)


def _there(ledger: Ledger, headroom: Headroom, ref: WorkloadRef) -> Workload | None:
    return ledger.slots.workloads.get((headroom.parent.namespace, ref))


def _wanted(ledger: Ledger, headroom: Headroom, window: ActiveWindow | None) -> Overhead | None:
    template = template_for(headroom, ledger.slots.workload_of(headroom))
    if headroom.problems or not isinstance(template, PodTemplate):
        return None  # What is wanted is not known: what is there stays.
    memory, nodes = ledger.slots.memory[headroom.parent.whole], ledger.nodes.values()
    wished = memory.wished if memory.opened is not None else None
    wanted = overhead_of(headroom, template, window, wished, nodes)
    idle = memory.guardian_refused or ledger.hold_index.of(By.SLOT_LIMITED, headroom.parent.whole)
    return replace(wanted, requests=EMPTY) if idle else wanted
