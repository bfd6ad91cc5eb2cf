"""The controller of headrooms: it collects what one headroom depends on, asks `core`, and applies.

A slot is a hold without an object of its own. The controller makes slots known to the ledger and
takes them away again; from there on each is kept, claimed and renewed as any other hold. The wanted
slots are calculated again only when something that they depend on has changed: the headroom, a
node, its workload, the time. A headroom of many slots is decided less often, so that many changed
nodes cost no more than a few.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta

from headroom.core.demand.resource_quotas import ResourceQuota
from headroom.core.headrooms.decision import decide, opening
from headroom.core.headrooms.dependencies import On
from headroom.core.headrooms.events import claim_events
from headroom.core.headrooms.headrooms import NO_STATUS, Headroom, Workload
from headroom.core.headrooms.memory import (
    HeadroomMemory,
    first_memory,
    is_due,
    object_events,
    respecified,
)
from headroom.core.headrooms.readiness import status_of
from headroom.core.headrooms.shapes import Shapes, with_found_owners
from headroom.core.headrooms.wanted_slots import SizeView, surplus
from headroom.core.headrooms.windows import judged, next_start
from headroom.core.holds import Hold
from headroom.core.index_entries import By
from headroom.core.objects import Parent, Pod
from headroom.core.owners import judged as judged_rules
from headroom.core.plan import Sequence, earliest, event_sequence, latest
from headroom.core.subjects import Awaited, Change, headroom_subject, hold_subject
from headroom.core.waits.drops import dropped
from headroom.engine import quotas
from headroom.engine.claim_index import touch_indexes
from headroom.engine.cron import calendar
from headroom.engine.headrooms import (
    auto_shapes,
    companions,
    creation_limits,
    followers,
    guardian_pace,
    promises,
    size_inputs,
    slot_events,
    slot_objects,
)
from headroom.engine.headrooms.expected_pods import see_workload
from headroom.engine.headrooms.load import count_load
from headroom.engine.headrooms.records import (
    file_headroom,
    reconsider,
    remember_headroom,
    remember_objects,
)
from headroom.engine.headrooms.slot_pods import tally_of, unknown_by_name
from headroom.engine.indexes import drop
from headroom.engine.ledger import Ledger
from headroom.engine.status_writer import COALESCED, StatusWriter, headroom_status_subject

PROMISED_AGAIN = timedelta(seconds=1)


class HeadroomController:
    """Decides every headroom, one at a time."""

    def __init__(self, ledger: Ledger, writer: StatusWriter) -> None:
        self._ledger = ledger
        self._writer = writer

    def see(self, headroom: Headroom) -> None:
        """A headroom was created or has changed; our own status write changes no wanted slots."""
        whole, slots = headroom.parent.whole, self._ledger.slots
        headroom = judged(headroom, calendar)
        headroom = judged_rules(headroom, self._ledger.policy.across_namespaces)
        old, memory = slots.headrooms.get(whole), slots.memory.get(whole)
        if memory is not None:
            headroom = with_found_owners(headroom, memory.shapes.chosen)
        if old is not None and (old.parent.uid != headroom.parent.uid or not headroom.served):
            self.lose(old.parent)
            old = None
        if not headroom.served:
            return
        slots.headrooms[whole] = headroom
        subject = headroom_status_subject(headroom.parent)
        self._writer.note(subject, headroom.parent.uid, headroom.status)
        memory = slots.memory.setdefault(whole, first_memory(headroom))
        if old is None or without_status(old) != without_status(headroom):
            slots.memory[whole] = respecified(memory, old, headroom)
            file_headroom(self._ledger, headroom)
            self._count()
            reconsider(self._ledger, whole)
            reconsider(self._ledger, *size_inputs.siblings(self._ledger, headroom))
        promises.see_headroom(self._ledger, headroom)
        self._ledger.agenda.touch(headroom_subject(headroom.parent))

    def lose(self, parent: Parent) -> None:
        """A headroom is gone; its slots go with it."""
        whole, slots = parent.whole, self._ledger.slots
        old = slots.headrooms.get(whole)
        if old is None:
            return
        slots.headroom_index.put(whole)
        self._count()
        for name in tuple(self._ledger.hold_index.of(By.SLOT, whole)):
            self._ledger.lose_hold(name)
        creation_limits.decided(self._ledger, whole)
        for known in (slots.headrooms, slots.memory, slots.node_limit_refusals):
            known.pop(whole, None)
        promises.forget(self._ledger, whole)
        reconsider(self._ledger, *size_inputs.siblings(self._ledger, old))
        self._writer.forget(headroom_status_subject(parent))
        self._ledger.agenda.forget(headroom_subject(parent))
        touch_indexes(self._ledger, old)

    def _count(self) -> None:
        """Start or stop the counts that only some headrooms depend on."""
        auto_shapes.note_all_made(self._ledger)
        count_load(self._ledger)

    def nodes_changed(self) -> None:
        """A node was created, changed or deleted."""
        reconsider(self._ledger, *self._ledger.slots.depending(On.NODES))
        self.pods_changed()

    def pods_changed(self) -> None:
        """A pod was created, changed or deleted; headrooms that follow the load wait a while."""
        creation_limits.changed(self._ledger)
        for whole in self._ledger.slots.depending(On.LOAD):
            if not self._ledger.slots.memory[whole].stale:
                reconsider(self._ledger, whole)

    def quota_changed(self, quota: ResourceQuota, now: datetime) -> None:
        """A ResourceQuota was created or has changed."""
        there = self._ledger.slots.quotas.setdefault(quota.namespace, {})
        before = there.get(quota.name)
        there[quota.name] = quota
        reconsider(self._ledger, *size_inputs.under(self._ledger, quota.namespace))
        guardian_pace.quota_changed(self._ledger, before, quota, now)

    def quota_lifted(self, quota: ResourceQuota) -> None:
        """A ResourceQuota is gone."""
        drop(self._ledger.slots.quotas, quota.namespace, quota.name)
        reconsider(self._ledger, *size_inputs.under(self._ledger, quota.namespace))
        guardian_pace.quota_lifted(self._ledger, quota.namespace)

    def workload_changed(self, workload: Workload, gone: bool = False) -> None:
        reconsider(self._ledger, *see_workload(self._ledger, workload, gone))
        reconsider(self._ledger, *size_inputs.concerned(self._ledger, workload))
        reconsider(self._ledger, *auto_shapes.concerned(self._ledger, workload))
        reconsider(self._ledger, *companions.concerned(self._ledger, workload))

    def abandons(self, guardian: Pod, whole: str) -> bool:
        """Whether to delete a guardian whose slot the ledger does not know."""
        headroom = self._ledger.slots.headrooms.get(whole)
        ours = headroom is not None and headroom.parent.uid in (
            each.uid for each in guardian.owners
        )
        return not ours or self._ledger.slots.memory[whole].settled

    def look(self, whole: str, now: datetime) -> Iterator[Sequence]:
        """Bring a headroom's slots and status up to date."""
        headroom, ledger = self._ledger.slots.headrooms.get(whole), self._ledger
        if headroom is None:
            return
        yield from self._tell(headroom, now)
        if headroom.slot_objects is not None and self._ledger.slots.memory[whole].opened is None:
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
        memory, subject = self._ledger.slots.memory[whole], headroom_subject(headroom.parent)
        if is_due(memory, now):
            if memory.not_before is not None and now < memory.not_before:
                ledger.agenda.later(subject, memory.not_before)
            else:
                yield from self._wish(headroom, now)
        memory = self._ledger.slots.memory[whole]
        if memory.look_at is not None:  # An earlier timer may have brought us here.
            ledger.agenda.later(subject, latest(memory.look_at, memory.not_before) or now)
        if memory.opened is not None and not ledger.hold_index.of(By.UNSEEN_SLOT, whole):
            yield from self._publish(headroom, memory, now)

    def _publish(
        self, headroom: Headroom, memory: HeadroomMemory, now: datetime
    ) -> Iterator[Sequence]:
        """Write the status that follows from the wanted slots and the states of the slots."""
        tally = tally_of(self._ledger, headroom, next_start(headroom, now, calendar))
        self._wait_for_guardians(headroom)
        if tally.counts.pending and not headroom.status.observed_generation:
            # A new headroom is mostly held a moment later: one write instead of two.
            self._writer.delay(headroom.parent, now + COALESCED)
        subject = headroom_status_subject(headroom.parent)
        shown = self._writer.as_written(headroom, subject, now)
        status = status_of(shown, memory.wished, tally, now)
        promise = promises.advance(self._ledger, headroom.parent.whole, now)
        if promise is not None:
            due = promise.report_at
            if promise.changed and (due is None or now >= due):
                promise.report(status, memory.wished, tally, now)
            elif promise.changed and due is not None:
                self._ledger.agenda.later(headroom_subject(headroom.parent), due)
            status = promise.shown(status)
        yield from self._writer.publish_headroom(shown, status, now)

    def _wait_for_guardians(self, headroom: Headroom) -> None:
        """Count again when a guardian is deleted whose slot is not known by name."""
        ledger, whole = self._ledger, headroom.parent.whole
        guarded = ledger.index.of(By.SLOT_GUARDIAN, whole)
        if headroom.slot_objects is None and guarded and unknown_by_name(ledger, whole):
            gone = Awaited(Change.GUARDIAN_GONE, whole)
            ledger.agenda.wait(headroom_subject(headroom.parent), on=gone)

    def _tell(self, headroom: Headroom, now: datetime) -> Iterator[Sequence]:
        """The events about owners that got a slot, and about created and deleted objects."""
        whole = headroom.parent.whole
        memory = self._ledger.slots.memory[whole]
        if owners := memory.seated:
            remember_headroom(
                self._ledger,
                whole,
                seated=(),
                claimed=memory.claimed + len(owners),
                hits=memory.hits + len(owners),
                stale=True,
            )
        if headroom.slot_objects is None:
            for owner in owners:
                yield event_sequence(*claim_events(headroom, owner, now))
        elif memory.objects.made or memory.objects.deleted:
            remember_objects(self._ledger, whole, made=(), deleted=())
            for told in object_events(headroom, memory, now):
                yield event_sequence(told)

    def _wish(self, headroom: Headroom, now: datetime) -> Iterator[Sequence]:
        ledger, whole = self._ledger, headroom.parent.whole
        memory = remember_headroom(ledger, whole, stale=False)
        opened = opening(headroom, memory.opened, calendar, now)
        window = opened.window
        if before := companions.first(ledger, headroom, window, now):
            yield before
            remember_headroom(ledger, whole, stale=True)  # Guardians belong to what is made first.
            return
        for tell in opened.tells:
            yield event_sequence(tell)
        shapes = auto_shapes.shapes_now(ledger, headroom, now)
        headroom = self._with_owners(headroom, shapes)
        memory = replace(ledger.slots.memory[whole], opened=opened, shapes=shapes)
        memory = replace(memory, spent=size_inputs.spent_now(ledger, headroom, memory, now))
        promise = promises.advance(ledger, whole, now) if headroom.size.learns else None
        view = size_inputs.size_view(ledger, headroom, memory, now)
        # Only now: a decision that raises is none, and nothing is told.
        decided = ledger.slots.memory[whole] = decide(headroom, memory, view, calendar, now)
        if promise is not None and view.learnt is not None and view.learnt.memory is not None:
            promise.decided(view.learnt.memory)
        again = None
        if headroom.slot_objects is None:
            again = self._settle_slots(headroom, view, now)
        else:
            quotas.asks_anew(ledger, headroom_subject(headroom.parent))
            remember_objects(ledger, whole, refused="", beyond="")
            if window is not None:
                yield from slot_objects.settle(ledger, headroom, now)
        if after := companions.write(ledger, headroom, window, now):
            yield after
        next_end = size_inputs.next_end(ledger, headroom, now)
        look_at = earliest(decided.look_at, again, next_end)
        remember_headroom(ledger, whole, look_at=look_at)
        creation_limits.decided(ledger, whole)
        yield from followers.serve(ledger, headroom, window is not None, now)

    def _with_owners(self, headroom: Headroom, shapes: Shapes) -> Headroom:
        """The headroom with the owner rules of its chosen shapes, also stored in the ledger."""
        if headroom.paused:
            return headroom
        whole, owned_by = headroom.parent.whole, with_found_owners(headroom, shapes.chosen)
        if owned_by.owners != headroom.owners:
            self._ledger.slots.headrooms[whole] = owned_by
            file_headroom(self._ledger, owned_by)
            promises.see_headroom(self._ledger, owned_by)
        return owned_by

    def _settle_slots(self, headroom: Headroom, view: SizeView, now: datetime) -> datetime | None:
        """Tell the ledger which slots exist; return when to check the remaining ones again."""
        ledger, memory = self._ledger, self._ledger.slots.memory[headroom.parent.whole]
        wished, drops = memory.wished, dict(memory.drops)
        if wished.frozen:
            return None
        names = ledger.hold_index.of(By.SLOT, headroom.parent.whole)
        there = frozenset(name.partition("#")[2] for name in names)
        again: datetime | None = None
        for slot in surplus(headroom, wished, replace(view, standing=there | view.standing)):
            name = str(replace(headroom.parent, slot=slot))
            hold = ledger.holds.get(name)
            # A handover that has begun is under way before its claim is seen.
            moving = hold is not None and ledger.agenda.busy(hold_subject(hold.parent))
            if hold is not None and (moving or ledger.expects_owner(hold)):
                again = earliest(again, now + PROMISED_AGAIN)
                continue
            ledger.lose_hold(name)
            ledger.wake_guardians(name)
            if view.window is not None and view.window.size.by_node:
                drops[slot] = dropped(drops.get(slot), now)
        drops = {slot: each for slot, each in drops.items() if each.counts(now)}
        remember_headroom(self._ledger, headroom.parent.whole, drops=drops)
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
        there = self._ledger.holds.get(hold.parent.identity)
        if there is not None:
            hold = replace(hold, status=there.status)
        if hold != there:
            self._ledger.see_hold(hold)


def without_status(headroom: Headroom) -> Headroom:
    """The headroom without the fields that do not affect its wanted slots."""
    return replace(headroom, status=NO_STATUS, version="", finalizers=())
