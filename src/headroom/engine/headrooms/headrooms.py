"""Standing headrooms: which slots each should have now, and what its status says of them.

A slot is a hold without an object of its own. This class makes slots known to the ledger and takes
them away again; from there on each is kept, claimed and renewed as any other hold. What is wished
for is worked out anew only when something that it depends on has changed: the headroom, a node,
its workload, the time. A headroom of many slots is looked at less often, so that a storm of nodes
costs no more than a breeze.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta

from headroom.core.demand.quotaroom import ResourceQuota
from headroom.core.headrooms.companions import owned
from headroom.core.headrooms.decision import decide, opening
from headroom.core.headrooms.dependencies import On
from headroom.core.headrooms.events import claim_tellings
from headroom.core.headrooms.headrooms import NO_STATUS, Headroom, Workload
from headroom.core.headrooms.memory import (
    HeadroomMemory,
    decided,
    first_memory,
    is_due,
    object_tellings,
    respecified,
)
from headroom.core.headrooms.readiness import status_of
from headroom.core.headrooms.shapes import ShapesMemory, dressed
from headroom.core.headrooms.wanted_slots import SizeView, surplus
from headroom.core.headrooms.windows import judged, next_start
from headroom.core.holds import Hold
from headroom.core.index_entries import By
from headroom.core.objects import Parent, Pod
from headroom.core.owners import judged as judged_rules
from headroom.core.plan import Sequence, earliest, latest, telling
from headroom.core.subjects import headroom_subject, hold_subject
from headroom.core.waits.drops import dropped
from headroom.engine import quotas
from headroom.engine.claim_index import touch_indexes
from headroom.engine.cron import calendar
from headroom.engine.headrooms import (
    autoshapes,
    companions,
    creation_limits,
    followers,
    slot_events,
    slot_objects,
)
from headroom.engine.headrooms.autoshapes import note_all_made
from headroom.engine.headrooms.expected_pods import see_workload
from headroom.engine.headrooms.size_inputs import SizeInputs
from headroom.engine.headrooms.slot_pods import tally_of
from headroom.engine.ledger import Ledger
from headroom.engine.status_writer import COALESCED, StatusWriter, headroom_status_subject

PROMISED_AGAIN = timedelta(seconds=1)


class Standing:
    """Looks after every headroom, one at a time."""

    def __init__(self, ledger: Ledger, writer: StatusWriter) -> None:
        self._ledger = ledger
        self._slots = ledger.slots
        self._writer = writer
        self._sights = SizeInputs(ledger)

    def see(self, headroom: Headroom) -> None:
        """Take a headroom as it now is; its own status coming back changes no wish."""
        whole = headroom.parent.whole
        headroom = judged(headroom, calendar)
        headroom = judged_rules(headroom, self._ledger.policy.across_namespaces)
        old, memory = self._slots.headrooms.get(whole), self._slots.memory.get(whole)
        if memory is not None and memory.shapes is not None and headroom.slot.auto is not None:
            headroom = dressed(headroom, memory.shapes.chosen)
        if old is not None and (old.parent.uid != headroom.parent.uid or not headroom.served):
            self.lose(old.parent)
            old = None
        if not headroom.served:
            return
        self._slots.headrooms[whole] = headroom
        subject = headroom_status_subject(headroom.parent)
        self._writer.note(subject, headroom.parent.uid, headroom.status)
        memory = self._slots.memory.setdefault(whole, first_memory(headroom))
        if old is None or without_status(old) != without_status(headroom):
            self._slots.memory[whole] = respecified(memory, old, headroom)
            self._slots.depend(old, headroom)
            note_all_made(self._ledger)
            self._slots.upset(whole)
            self._slots.concern(self._sights.siblings(headroom))
        self._ledger.agenda.touch(headroom_subject(headroom.parent))

    def lose(self, parent: Parent) -> None:
        """A headroom is gone; its slots go with it."""
        whole = parent.whole
        old = self._slots.headrooms.get(whole)
        if old is None:
            return
        self._slots.depend(old, None)
        note_all_made(self._ledger)
        for name in tuple(self._ledger.hold_index.of(By.SLOT, whole)):
            self._ledger.lose_hold(name)
        creation_limits.decided(self._ledger, whole)
        self._slots.forget(whole)
        self._slots.concern(self._sights.siblings(old))
        self._writer.forget(headroom_status_subject(parent))
        self._ledger.agenda.forget(headroom_subject(parent))
        touch_indexes(self._ledger, old)

    def nodes_changed(self) -> None:
        """A node came, went or is not as it was."""
        self._slots.concern(self._slots.depending(On.NODES))
        self.pods_changed()

    def pods_changed(self) -> None:
        """A pod came, went or is not as it was; whoever follows the load looks in a while."""
        creation_limits.changed(self._ledger)
        for whole in self._slots.depending(On.LOAD):
            if not self._slots.memory[whole].stale:
                self._slots.upset(whole)

    def quota_changed(self, quota: ResourceQuota, lifted: bool = False) -> None:
        self._slots.see_quota(quota, lifted)
        self._slots.concern(self._sights.under(quota.namespace))

    def workload_changed(self, workload: Workload, gone: bool = False) -> None:
        self._slots.concern(see_workload(self._ledger, workload, gone))
        self._slots.concern(self._sights.concerned(workload))
        self._slots.concern(autoshapes.concerned(self._ledger, workload))
        self._slots.concern(companions.concerned(self._ledger, workload))

    def abandons(self, guardian: Pod, whole: str) -> bool:
        """Whether a guardian whose slot the ledger does not know is to go."""
        headroom = self._slots.headrooms.get(whole)
        ours = headroom is not None and headroom.parent.uid in (
            each.uid for each in guardian.owners
        )
        return not ours or self._slots.memory[whole].settled

    def look(self, whole: str, now: datetime) -> Iterator[Sequence]:
        """Bring a headroom's slots and status up to date."""
        headroom, ledger = self._slots.headrooms.get(whole), self._ledger
        if headroom is None:
            return
        yield from self._tell(headroom, now)
        if headroom.slot_objects is not None and self._slots.memory[whole].opened is None:
            for hold in slot_objects.members(ledger, headroom).values():
                slot_events.member(ledger, hold)
        if headroom.deleted is not None and headroom.finalizer:
            ends = slot_objects.wind_up(ledger, headroom)
            yield from (each for each in ends if slot_objects.is_free(ledger, each))
            return
        if (before := slot_objects.prepare(headroom)) is not None:
            if slot_objects.is_free(ledger, before):
                yield before
            return
        memory, subject = self._slots.memory[whole], headroom_subject(headroom.parent)
        if is_due(memory, now):
            if memory.not_before is not None and now < memory.not_before:
                ledger.agenda.later(subject, memory.not_before)
            else:
                yield from self._wish(headroom, now)
        memory = self._slots.memory[whole]
        if memory.look_at is not None:  # An earlier timer may have brought us here.
            ledger.agenda.later(subject, latest(memory.look_at, memory.not_before) or now)
        if memory.opened is not None and not ledger.hold_index.of(By.UNSEEN_SLOT, whole):
            yield from self._publish(headroom, memory, now)

    def _publish(
        self, headroom: Headroom, memory: HeadroomMemory, now: datetime
    ) -> Iterator[Sequence]:
        """Write the status that the wanted slots and the states of the slots call for."""
        tally = tally_of(self._ledger, headroom, next_start(headroom, now, calendar))
        if tally.pending and not headroom.status.observed_generation:
            # A new headroom is mostly held a moment later: one write instead of two.
            self._writer.delay(headroom.parent, now + COALESCED)
        shown = self._writer.headroom(headroom, now)
        status = status_of(shown, memory.wished, tally, now)
        status = self._slots.promises.shown(shown, status, (memory.wished, tally), now)
        yield from self._writer.publish_headroom(shown, status, now)

    def _tell(self, headroom: Headroom, now: datetime) -> Iterator[Sequence]:
        """Tell of owners that have got a slot, and of objects that were made or deleted."""
        whole = headroom.parent.whole
        memory = self._slots.memory[whole]
        if owners := memory.seated:
            self._slots.remember(
                whole,
                seated=(),
                claimed=memory.claimed + len(owners),
                hits=memory.hits + len(owners),
                stale=True,
            )
        if headroom.slot_objects is None:
            for owner in owners:
                yield telling(*claim_tellings(headroom, owner, now))
        elif memory.objects.made or memory.objects.deleted:
            self._slots.remember_objects(whole, made=(), deleted=())
            for told in object_tellings(headroom, memory, now):
                yield telling(told)

    def _wish(self, headroom: Headroom, now: datetime) -> Iterator[Sequence]:
        ledger, whole = self._ledger, headroom.parent.whole
        memory = self._slots.remember(whole, stale=False)
        opened = opening(headroom, memory.opened, calendar, now)
        window = opened.window
        if before := companions.first(ledger, headroom, window, now):
            yield before
            self._slots.remember(whole, stale=True)  # Guardians belong to what is made first.
            return
        for tell in opened.tells:
            yield telling(tell)
        as_objects = headroom.slot_objects is not None
        members = slot_objects.members(ledger, headroom) if as_objects else {}
        shapes = autoshapes.shapes_now(ledger, headroom, now)
        headroom = self._with_owners(headroom, shapes)
        used_up = self._sights.used_up(headroom, members, window, now)
        spent = (*(() if opened.begun else memory.spent), *used_up)
        spent = tuple(dict.fromkeys(spent))
        memory = replace(self._slots.memory[whole], shapes=shapes, spent=spent)
        self._slots.promises.advance(whole, now)
        sight = self._sights.sight(headroom, memory, members, window, now)
        decision = decide(headroom, sight, calendar, now)
        wished = owned(headroom, decision.wished, memory.slot_set, memory.daemon_set)
        # Only now: a decision that raises is none, and nothing is told.
        decision = replace(decision, wished=wished)
        self._slots.memory[whole] = decided(memory, opened, sight, decision, now)
        self._slots.promises.sized(whole, sight.learnt)
        again = None
        if headroom.slot_objects is None:
            again = self._settle_slots(headroom, sight, now)
        else:
            quotas.asks_anew(ledger, headroom_subject(headroom.parent))
            self._slots.remember_objects(whole, refused="", beyond="")
            if window is not None:
                yield from slot_objects.settle(ledger, headroom, now)
        if after := companions.write(ledger, headroom, window, now):
            yield after
        next_end = self._sights.next_end(headroom, now)
        self._slots.remember(whole, look_at=earliest(decision.look_again, again, next_end))
        creation_limits.decided(ledger, whole)
        yield from followers.serve(ledger, headroom, window is not None, now)

    def _with_owners(self, headroom: Headroom, shapes: ShapesMemory | None) -> Headroom:
        """The headroom with the owners of what is chosen for it, known to everybody as such."""
        if shapes is None or headroom.paused:
            return headroom
        whole, owned_by = headroom.parent.whole, dressed(headroom, shapes.chosen)
        if owned_by.owners != headroom.owners:
            self._slots.headrooms[whole] = owned_by
            self._slots.see_promise(whole, self._ledger.pods.values())
        return owned_by

    def _settle_slots(self, headroom: Headroom, sight: SizeView, now: datetime) -> datetime | None:
        """Tell the ledger which slots there are; say when to look again at those left over."""
        ledger, memory = self._ledger, self._slots.memory[headroom.parent.whole]
        wished, drops = memory.wished, dict(memory.drops)
        if wished.frozen:
            return None
        names = ledger.hold_index.of(By.SLOT, headroom.parent.whole)
        there = frozenset(name.partition("#")[2] for name in names)
        again: datetime | None = None
        for slot in surplus(headroom, wished, replace(sight, standing=there | sight.standing)):
            name = str(replace(headroom.parent, slot=slot))
            hold = ledger.holds.get(name)
            # A handover that has begun is under way before its claim is seen.
            moving = hold is not None and ledger.agenda.busy(hold_subject(hold.parent))
            if hold is not None and (moving or ledger.promised(hold)):
                again = earliest(again, now + PROMISED_AGAIN)
                continue
            ledger.lose_hold(name)
            ledger.wake_guardians(name)
            if sight.window is not None and sight.window.size.by_node:
                drops[slot] = dropped(drops.get(slot), now)
        drops = {slot: each for slot, each in drops.items() if each.counts(now)}
        self._slots.remember(headroom.parent.whole, drops=drops)
        for hold in wished.slots:
            before = drops.get(hold.slot) if hold.slot not in there else None
            until = before.not_before(now) if before is not None else None
            if until is None:
                self._put(hold)
            again = earliest(again, until)
        if {hold.slot for hold in wished.slots} != there:
            touch_indexes(ledger, headroom)
        return again

    def _put(self, hold: Hold) -> None:
        there = self._ledger.holds.get(str(hold.parent))
        if there is not None:
            hold = replace(hold, status=there.status)
        if hold != there:
            self._ledger.see_hold(hold)


def without_status(headroom: Headroom) -> Headroom:
    """The headroom without what says nothing about its wish."""
    return replace(headroom, status=NO_STATUS, version="", finalizers=())
