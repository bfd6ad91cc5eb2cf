"""Standing headrooms: which slots each should have now, and what its status says of them.

A slot is a hold without an object of its own. This class makes slots known to the ledger and takes
them away again; from there on each is kept, claimed and renewed as any other hold. What is wished
for is worked out anew only when something that it depends on has changed: the headroom, a node,
its workload, the time. A headroom of many slots is looked at less often, so that a storm of nodes
costs no more than a breeze.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta

from headroom.core.actions import CreateGuardian, CreateSlotObject, Done, Outcome, SetFinalizers
from headroom.core.demand.quotaroom import ResourceQuota
from headroom.core.headrooms.decision import decide, opening
from headroom.core.headrooms.dependencies import On
from headroom.core.headrooms.events import claim_tellings
from headroom.core.headrooms.headrooms import NEVER, Headroom, Workload
from headroom.core.headrooms.readiness import status_of
from headroom.core.headrooms.slot_objects import stands
from headroom.core.headrooms.wanted_slots import SizeView, surplus
from headroom.core.headrooms.windows import Calendar, judged, next_start
from headroom.core.holds import Hold, HoldStatus
from headroom.core.index_entries import By
from headroom.core.objects import Parent, Pod
from headroom.core.owners import judged as judged_rules
from headroom.core.plan import Sequence, earliest, latest, telling
from headroom.core.subjects import headroom_subject, hold_subject
from headroom.core.waits.drops import dropped
from headroom.engine.claim_index import touch_indexes
from headroom.engine.headrooms import creation_limits
from headroom.engine.headrooms.companions import Companions, Concerning
from headroom.engine.headrooms.expected_pods import see_workload
from headroom.engine.headrooms.headroom_state import (
    MOMENT,
    HeadroomState,
    first_known,
    without_status,
)
from headroom.engine.headrooms.size_inputs import SizeInputs
from headroom.engine.headrooms.slot_objects import SlotObjectController, SlotRefusal
from headroom.engine.headrooms.slot_pods import tally_of
from headroom.engine.indexes import drop
from headroom.engine.ledger import Ledger
from headroom.engine.limits.allowance import Allowance
from headroom.engine.status_writer import COALESCED, StatusWriter, headroom_status_subject

OBJECT_PAUSE = timedelta(seconds=1)
PROMISED_AGAIN = timedelta(seconds=1)


class Standing:
    """Looks after every headroom, one at a time."""

    def __init__(
        self,
        ledger: Ledger,
        calendar: Calendar,
        allowance: Allowance,
        writer: StatusWriter,
    ) -> None:
        self._ledger = ledger
        self._calendar = calendar
        self._writer = writer
        self.companions = Companions(ledger)
        self.issuer = SlotObjectController(ledger, allowance, self.companions.member)
        self._quotas = allowance.quotas
        self._known: dict[str, HeadroomState] = {}
        self._stale: dict[str, None] = {}  # headrooms whose wish is to be worked out anew
        self._sights = SizeInputs(ledger)
        self.followers = self._sights.followers
        self.auto = self._sights.auto

    def see(self, headroom: Headroom) -> None:
        """Take a headroom as it now is; its own status coming back changes no wish."""
        whole = headroom.parent.whole
        headroom = judged(headroom, self._calendar)
        headroom = self.auto.dressed(judged_rules(headroom, self._ledger.policy.across_namespaces))
        old = self._ledger.slots.headrooms.get(whole)
        if old is not None and (old.parent.uid != headroom.parent.uid or not headroom.served):
            self.lose(old.parent)
            old = None
        if not headroom.served:
            return
        self._ledger.slots.headrooms[whole] = headroom
        subject = headroom_status_subject(headroom.parent)
        self._writer.note(subject, headroom.parent.uid, headroom.status)
        self._known.setdefault(whole, first_known(headroom))
        if old is None or without_status(old) != without_status(headroom):
            self._known[whole].respecified()
            self._sights.depend(old, headroom)
            self.upset(whole)
            self.concern(self._sights.siblings(headroom))
        self._ledger.agenda.touch(headroom_subject(headroom.parent))

    def lose(self, parent: Parent) -> None:
        """A headroom is gone; its slots go with it."""
        whole = parent.whole
        old = self._ledger.slots.headrooms.get(whole)
        if old is None:
            return
        self._sights.depend(old, None)
        for name in tuple(self._ledger.hold_index.of(By.SLOT, whole)):
            self._ledger.lose_hold(name)
        self._known.pop(whole, None)
        creation_limits.decided(self._ledger, whole)
        self.companions.forget(whole)
        self.issuer.forget(whole)
        self._stale.pop(whole, None)
        self._ledger.slots.forget(whole)
        self.concern(self._sights.siblings(old))
        self._writer.forget(headroom_status_subject(parent))
        self._ledger.agenda.forget(headroom_subject(parent))
        touch_indexes(self._ledger, old)

    def nodes_changed(self) -> None:
        """A node came, went or is not as it was."""
        self.concern(self._ledger.slots.depending(On.NODES))
        self.pods_changed()

    def pods_changed(self) -> None:
        """A pod came, went or is not as it was; whoever follows the load looks in a while."""
        creation_limits.changed(self._ledger)
        for whole in self._ledger.slots.depending(On.LOAD):
            if whole not in self._stale:
                self.upset(whole)

    def concern(self, wholes: Iterable[str]) -> None:
        """Something has changed that these headrooms depend on."""
        for whole in wholes:
            self.upset(whole)

    def quota_changed(self, quota: ResourceQuota, lifted: bool = False) -> None:
        quotas = self._ledger.slots.quotas
        if lifted:
            drop(quotas, quota.namespace, quota.name)
        else:
            quotas.setdefault(quota.namespace, {})[quota.name] = quota
        self.concern(self._sights.under(quota.namespace))

    def workload_changed(self, workload: Workload, gone: bool = False) -> None:
        self.concern(see_workload(self._ledger, workload, gone))
        self.concern((*self._sights.concerned(workload), *self.companions.concerned(workload)))

    def upset(self, whole: str) -> None:
        self._stale[whole] = None
        self._ledger.agenda.touch(headroom_subject(self._ledger.slots.headrooms[whole].parent))

    def slot_now(self, hold: Hold, status: HoldStatus) -> None:
        """A slot's own status is this now; it is shown as part of its headroom's."""
        known = self._known.get(hold.group)
        if known is None:
            return
        if hold.member is None:
            known.note(hold.slot, status)
            self._ledger.agenda.touch(headroom_subject(hold.parent))
            follow = known.wished.later and status.phase == "Available"
            if follow or self._ledger.slots.headrooms[hold.group].refill == NEVER:
                self._stale[hold.group] = None  # Others may follow; its time begins.
        elif known.differs(hold.member.slot, status):
            known.note(hold.member.slot, status)
            if status.phase in ("Succeeded", "Failed"):
                self.upset(hold.group)
            else:  # It stands, or is to: what is wished for stays the same.
                self._ledger.agenda.touch(headroom_subject(hold.member.of))

    def member(self, hold: Hold) -> Hold:
        """The hold of an object that is a slot, with what its headroom says of it."""
        known, headroom = self._known.get(hold.group), self._ledger.slots.headrooms.get(hold.group)
        if hold.member is None or known is None:
            return hold
        there = self._ledger.holds.get(str(hold.parent))
        if hold.member.slot not in known.phases:
            known.note(hold.member.slot, hold.status)
            if self.issuer.arrived(hold):
                known.updated += 1
            else:
                self.upset(hold.group)
        elif there is not None and there.member != hold.member:  # Of the present template now.
            self.upset(hold.group)
        return self.issuer.dressed(hold, headroom, known.window)

    def member_gone(self, hold: Hold) -> None:
        """The object of a slot is gone."""
        known = self._known.get(hold.group)
        if known is not None and hold.member is not None:
            known.forget(hold.member.slot)
            known.deleted[hold.parent.name] = None
            self.upset(hold.group)

    def wrote(self, action: CreateSlotObject, outcome: Outcome, now: datetime) -> None:
        """The object of a slot was written, or could not be: then it is tried again later."""
        known = self._known.get(action.of.whole)
        self.issuer.settled(action, outcome)
        if known is not None:
            known.wrote(action.hold.parent, outcome, now)
            if not isinstance(outcome, Done):
                self.upset(action.of.whole)
            elif not action.hold.parent.uid:
                known.made[action.hold.parent.name] = None
                self._ledger.agenda.touch(headroom_subject(action.of))

    def settled(self, action: Concerning, outcome: Outcome, now: datetime) -> None:
        """A guardian was made or refused: others may follow, or are not counted ahead."""
        whole = self.companions.settled(action, outcome, now)
        if isinstance(action, CreateGuardian) and isinstance(outcome, Done):
            made = self._known.get(action.hold.group)
            whole = action.hold.group if made is not None and made.wished.later else whole
        if whole:
            self.upset(whole)

    def object_failed(self, parent: Parent, now: datetime) -> None:
        """An object could not be written or deleted: whoever wished for that looks again."""
        hold = self._ledger.holds.get(str(parent))
        group = hold.group if hold is not None and hold.member is not None else ""
        if group in self._known:
            self._known[group].wait_until(now + MOMENT)
            self.upset(group)
        else:
            self._ledger.agenda.later(headroom_subject(parent), now + OBJECT_PAUSE)

    def finalized(self, action: SetFinalizers) -> None:
        """The finalizers of an object are these now."""
        name = str(action.parent)
        if name in self._ledger.slots.headrooms:
            headroom = replace(self._ledger.slots.headrooms[name], finalizers=action.finalizers)
            self._ledger.slots.headrooms[name] = headroom
            self.upset(name)
        elif (hold := self._ledger.holds.get(name)) is not None:
            self._ledger.holds[name] = replace(hold, finalizers=action.finalizers)

    def abandons(self, guardian: Pod, whole: str) -> bool:
        """Whether a guardian whose slot the ledger does not know is to go."""
        headroom = self._ledger.slots.headrooms.get(whole)
        if headroom is None:
            return True
        if not any(owner.uid == headroom.parent.uid for owner in guardian.owners):
            return True
        known = self._known[whole]
        return known.looked and not known.wished.frozen

    def look(self, whole: str, now: datetime) -> Iterator[Sequence]:
        """Bring a headroom's slots and status up to date."""
        headroom, known = self._ledger.slots.headrooms.get(whole), self._known.get(whole)
        if headroom is None or known is None:
            return
        yield from self._count_claims(headroom, known, now)
        for told in known.tell_objects(headroom, now):
            yield telling(told)
        if headroom.slot_objects is not None and not known.looked:
            for hold in self.issuer.members(headroom).values():
                self.member(hold)
        if headroom.deleted is not None and headroom.finalizer:
            yield from self._unless_busy(self.issuer.wind_up(headroom))
            return
        if (before := self.issuer.prepare(headroom)) is not None:
            yield from self._unless_busy(iter((before,)))
            return
        due = known.look_at is not None and known.look_at <= now
        if whole in self._stale or known.refused or known.beyond or due:
            if known.not_before is not None and now < known.not_before:
                self._ledger.agenda.later(headroom_subject(headroom.parent), known.not_before)
            else:
                yield from self._wish(headroom, known, now)
        if known.look_at is not None:  # An earlier timer may have brought us here.
            again = latest(known.look_at, known.not_before) or known.look_at
            self._ledger.agenda.later(headroom_subject(headroom.parent), again)
        if known.looked and not known.unseen:
            yield from self._publish(headroom, known, now)

    def _publish(
        self, headroom: Headroom, known: HeadroomState, now: datetime
    ) -> Iterator[Sequence]:
        """Write the status that the wanted slots and the states of the slots call for."""
        tally = tally_of(self._ledger, headroom, known, next_start(headroom, now, self._calendar))
        if tally.pending and not headroom.status.observed_generation:
            # A new headroom is mostly held a moment later: one write instead of two.
            self._writer.delay(headroom.parent, now + COALESCED)
        shown = self._writer.headroom(headroom, now)
        status = status_of(shown, known.wished, tally, now)
        status = self._ledger.slots.promises.shown(shown, status, (known.wished, tally), now)
        yield from self._writer.publish_headroom(shown, status, now)

    def _unless_busy(self, sequences: Iterator[Sequence]) -> Iterator[Sequence]:
        for sequence in sequences:
            if not any(self._ledger.agenda.busy(subject) for subject in sequence.subjects):
                yield sequence

    def _count_claims(
        self, headroom: Headroom, known: HeadroomState, now: datetime
    ) -> Iterator[Sequence]:
        known.misses += self._ledger.slots.missed.pop(headroom.parent.whole, 0)
        for owner in self._ledger.slots.seated.pop(headroom.parent.whole, ()):
            known.claimed += 1
            known.hits += 1
            self._stale[headroom.parent.whole] = None
            if headroom.slot_objects is not None:
                continue  # The slot's own object tells.
            yield telling(*claim_tellings(headroom, owner, now))

    def _wish(self, headroom: Headroom, known: HeadroomState, now: datetime) -> Iterator[Sequence]:
        self._stale.pop(headroom.parent.whole, None)
        opened = opening(headroom, known.opened, self._calendar, now)
        window = opened.window
        if before := self.companions.first(headroom, known, window, now):
            yield before
            self._stale[headroom.parent.whole] = None  # Guardians belong to what is made first.
            return
        for tell in opened.tells:
            yield telling(tell)
        if opened.begun:
            known.spent.clear()
        members = self.issuer.members(headroom) if headroom.slot_objects is not None else {}
        headroom = self.auto.settled(headroom, now)
        known.spent |= dict.fromkeys(self._sights.used_up(headroom, members, window, now))
        sight = self._sights.sight(headroom, known, members, window, now)
        decision = decide(headroom, sight, self._calendar, now)
        known.opened = opened  # Only now: a decision that raises is none, and nothing is told.
        known.wished = self.companions.dressed(headroom, decision.wished)
        known.foresight = known.wished.foresight or known.foresight
        known.quotas = decision.quotas
        self.auto.divided(headroom, known.wished)
        again = None
        if headroom.slot_objects is None:
            again = self._settle_slots(headroom, sight, now)
        else:
            self._quotas.asks_anew(headroom_subject(headroom.parent))
            known.refused = known.beyond = ""
            if window is not None:
                yield from self._settle_objects(headroom, known, now)
        if after := self.companions.write(headroom, known, window, now):
            yield after
        next_end = self._sights.next_end(headroom, now)
        known.look_at = earliest(decision.look_again, again, next_end)
        known.not_before = decision.not_before
        creation_limits.decided(self._ledger, headroom.parent.whole)
        yield from self.followers.serve(headroom, window is not None, now)

    def _settle_slots(self, headroom: Headroom, sight: SizeView, now: datetime) -> datetime | None:
        """Tell the ledger which slots there are; say when to look again at those left over."""
        ledger, known = self._ledger, self._known[headroom.parent.whole]
        wished = known.wished
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
            known.forget(slot)
            if sight.window is not None and sight.window.size.by_node:
                known.drops[slot] = dropped(known.drops.get(slot), now)
        known.drops = {slot: each for slot, each in known.drops.items() if each.counts(now)}
        for hold in wished.slots:
            before = known.drops.get(hold.slot) if hold.slot not in there else None
            until = before.not_before(now) if before is not None else None
            if until is None:
                self._put(hold, known)
            again = earliest(again, until)
        if {hold.slot for hold in wished.slots} != there:
            touch_indexes(ledger, headroom)
        return again

    def _settle_objects(
        self, headroom: Headroom, known: HeadroomState, now: datetime
    ) -> Iterator[Sequence]:
        """Bring the objects of the slots in line; each is looked after as a hold of its own."""
        settling = False
        for each in self.issuer.settle(headroom, known.wished, now):
            settling = True
            if isinstance(each, SlotRefusal):
                known.refuse(each)
            else:
                yield from self._unless_busy(iter((each,)))
        if not settling:
            known.begin_anew()
        members = self.issuer.members(headroom)
        revision = headroom.slot_objects.revision if headroom.slot_objects else ""
        known.updated = sum(
            hold.member is not None and hold.member.revision == revision and stands(hold)
            for hold in members.values()
        )
        for hold in members.values():
            if (dressed := self.issuer.dressed(hold, headroom, known.window)) != hold:
                self._ledger.see_hold(dressed)

    def _put(self, hold: Hold, known: HeadroomState) -> None:
        there = self._ledger.holds.get(str(hold.parent))
        if there is not None:
            hold = replace(hold, status=there.status)
            if hold == there:
                return
        else:
            known.unseen[hold.slot] = None
        self._ledger.see_hold(hold)
