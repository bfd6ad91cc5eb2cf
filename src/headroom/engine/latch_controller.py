"""Observed latches: handovers to finish, and latches to delete in time.

Most latches are only deleted, half a second after the last of their owners was bound. Before that,
they may be used once more, if a handover of the same size comes. Slow handovers, and those of an
operator that died, are finished here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import TypeGuard

from headroom.core.allocation import is_short, keeps_rest, kept_beside, policy_refusal, to_keep
from headroom.core.claims import standing_refusal
from headroom.core.copying import replace
from headroom.core.fences import returns, stands_for_fence
from headroom.core.holds import Hold
from headroom.core.index_entries import By
from headroom.core.latches import (
    LatchClaim,
    OpenClaim,
    claims_on,
    finish,
    keep_for_hold,
    parents_on,
    remove,
)
from headroom.core.names import CLAIMS_ANNOTATION
from headroom.core.objects import Key, Pod
from headroom.core.plan import Sequence
from headroom.core.quotas.charges import is_charge
from headroom.core.resources import EMPTY, TOO_MANY_PODS, Resources
from headroom.core.subjects import ANY_ROOM, hold_subject, node_changed, pod_subject
from headroom.engine.conflicts.preemption import go_on
from headroom.engine.ledger import Ledger
from headroom.engine.node_fit import labels_around, unfit


@dataclass(frozen=True, slots=True)
class Settled:
    """Since when a latch has done what it was for, and which guardians stood by then."""

    use: str
    guardians: frozenset[str]
    since: datetime


class LatchController:
    """Remembers since when each latch has been done with."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._settled: dict[str, Settled] = {}  # by uid

    def forget(self, uid: str) -> None:
        self._settled.pop(uid, None)

    def look(self, latch: Pod, now: datetime) -> Iterator[Sequence]:
        """Finish what this latch stands for, or take it away when its time has come."""
        agenda = self._ledger.agenda
        if not latch.nominated:
            yield remove(latch)  # Made, but never put to use: whoever made it starts anew.
            return
        firm_at = self._ledger.firm_at(latch)
        if firm_at is None:
            return  # The watch is about to show it, and brings us back.
        claims = claims_on(latch)
        waiting = [claim for claim in claims if self._ledger.waits(claim)]
        for claim in waiting:
            self._ledger.state.expect(self._ledger.pods[claim.owner], latch.nominated)
        if any(agenda.busy(pod_subject(claim.owner)) for claim in waiting):
            return  # Their sequence touches us when it ends.
        if (waiting or not claims) and now < firm_at:
            agenda.later(pod_subject(latch.key), firm_at)
            return
        for claim in waiting:
            opened = self._open(latch, claim, now)
            if opened.unfit is None and not self._ledger.volumes.is_ready(opened.owner):
                step = self._prepare(latch, opened.owner, now)
                if not isinstance(step, str):
                    yield from step
                    return
                opened = replace(opened, unfit=step)
                if claim.preempts and _may_serve(opened.hold):
                    yield keep_for_hold(latch, opened.hold)
                    return
            sequence = finish(latch, opened)
            if sequence is None and claim.preempts and _may_serve(opened.hold):
                sequence = go_on(self._ledger, latch, opened.owner, opened.hold, now)
                if sequence is None:
                    agenda.wait(pod_subject(latch.key), on=ANY_ROOM)
                    return
            if sequence is not None:
                self._settled.pop(latch.uid, None)
                self._ledger.spares.forget(latch)  # It is needed where it stands.
                yield sequence
                return
        given_up = self._given_up(claims)
        if given_up is not None:
            self._ledger.spares.forget(latch)
            yield keep_for_hold(latch, given_up)
            return
        yield from self._linger(latch, now)

    def _prepare(self, latch: Pod, owner: Pod, now: datetime) -> tuple[Sequence, ...] | str:
        """Have volumes bound that wait for the owner, while the latch keeps its room."""
        ledger = self._ledger
        step = ledger.volumes.prepare(owner, ledger.nodes.get(latch.nominated), now)
        if isinstance(step, str):
            return step
        if step is None:  # The volume controller's answer brings us back.
            again = ledger.volumes.again_at(owner, now)
            if again is not None:
                ledger.agenda.later(pod_subject(latch.key), again)
            return ()
        return (replace(step, subjects=(*step.subjects, pod_subject(latch.key))),)

    def _given_up(self, claims: tuple[LatchClaim, ...]) -> Hold | None:
        """The hold for which others gave way, if the owner that was to have it never came."""
        for claim in claims:
            owner, hold = self._ledger.pods.get(claim.owner), self._ledger.holds.get(claim.parent)
            came = owner is not None and owner.uid == claim.uid and bool(owner.node)
            same = hold is not None and hold.parent.uid == claim.parent_uid
            if claim.preempts and not came and same and _may_serve(hold):
                return hold
        return None

    def _linger(self, latch: Pod, now: datetime) -> Iterator[Sequence]:
        if self._ledger.keeps_place(latch):
            self._settled.pop(latch.uid, None)
            return  # The keeper brings us back.
        use = f"{latch.nominated}\n{latch.annotations.get(CLAIMS_ANNOTATION, '')}"
        if stands_for_fence(latch):  # From when the fence stands its place counts twice.
            use += f"\n{sorted(map(str, self._ledger.index.of(By.FENCE, latch.nominated)))}"
        holds = [self._ledger.holds.get(parent) for parent in parents_on(latch)]
        settled = self._settled_since(latch, use, self._guardians_on(latch.nominated, holds), now)
        linger = self._ledger.policy.latch_linger
        gone_at = settled + linger
        coming = any(hold is not None and self._ledger.awaited(hold) for hold in holds)
        due = any(hold is not None and self._is_due(hold, latch) for hold in holds)
        if coming or (due and now < settled + 10 * linger):
            gone_at = max(gone_at, now + linger)
        if now < gone_at:
            self._ledger.spares.forget(latch)
            self._ledger.agenda.later(pod_subject(latch.key), gone_at)
            return
        spare_until = gone_at + self._ledger.policy.latch_spare
        if claims_on(latch) and now < spare_until and not self._is_in_the_way(latch):
            self._ledger.spares.put(latch)
            self._ledger.agenda.later(pod_subject(latch.key), spare_until)
        else:
            self._ledger.spares.forget(latch)
            yield remove(latch)

    def _settled_since(
        self, latch: Pod, use: str, guardians: frozenset[str], now: datetime
    ) -> datetime:
        """Since when a latch is not needed: a guardian that was bound under it begins that anew.

        Cycles of kube-scheduler that began before do not see that guardian, as with an owner.
        """
        known = self._settled.get(latch.uid)
        same = known is not None and known.use == use and guardians <= known.guardians
        since = known.since if known is not None and same else now
        self._settled[latch.uid] = Settled(use, guardians, since)
        return since

    def _guardians_on(self, node: str, holds: Iterable[Hold | None]) -> frozenset[str]:
        """The guardians on a node of holds that a latch was made for, by uid."""
        known = (self._ledger.guardians_of(hold) for hold in holds if hold is not None)
        return frozenset(pod.uid for pods in known for pod in pods if pod.node == node)

    def _is_in_the_way(self, latch: Pod) -> bool:
        ledger = self._ledger
        awaited = ledger.agenda.awaited(node_changed(latch.nominated))
        return awaited or ledger.spares.is_dismissed(latch)

    def _is_due(self, hold: Hold, latch: Pod) -> bool:
        """Whether the guardian of a hold, or where it has no place a latch of its own, is to come.

        A slot is looked for elsewhere, or has its claim.
        """
        if self._ledger.state.free_places(latch.nominated) < 1:
            others = (each for each in self._ledger.latches_of(hold) if each.key != latch.key)
            if not returns(hold) or any(not claims_on(other) for other in others):
                return False
        return self._guardian_due(hold)

    def _guardian_due(self, hold: Hold) -> bool:
        """Whether a hold that the latch was made for is still without its guardian."""
        if hold.terminal:
            return False
        lodgers = self._ledger.lodgers_of(hold) if hold.template.node else ()
        size = to_keep(hold, lodgers or self._ledger.claimants_of(hold))
        if not size:
            return False
        busy = self._ledger.agenda.busy(hold_subject(hold.parent))
        guardian = self._ledger.guardian_of(hold)
        if busy or guardian is None or is_charge(guardian):
            return True
        return (
            keeps_rest(hold)
            and not is_short(hold, guardian)
            and not size.fits_in(guardian.requests)
        )

    def _open(self, latch: Pod, claim: LatchClaim, now: datetime) -> OpenClaim:
        ledger = self._ledger
        owner = ledger.pods[claim.owner]
        hold = ledger.holds.get(claim.parent)
        if hold is not None and hold.parent.uid != claim.parent_uid:
            hold = None  # Another by that name; it has promised nothing.
        guardian = ledger.guardian_of(hold) if hold is not None else None
        if guardian is not None and guardian.node != latch.nominated:
            guardian = None
        without = self._counted_twice(latch.nominated) | {latch.key}
        without |= set(ledger.index.of(By.LATCH_OF_OWNER, owner.key))
        if guardian is not None:
            without |= {guardian.key}
        why = unfit(ledger, owner, latch.nominated, without)
        if hold is not None and guardian is not None and why is None and not returns(hold):
            why = self._crowded(hold, guardian, owner)
        if hold is not None and guardian is not None and not self._covers(latch, hold, guardian):
            why = why or "what keeps the rest of its hold is gone"
        around = labels_around(ledger, latch.nominated)
        if claim.parent and (
            hold is None or standing_refusal(hold, owner, ledger.policy, now, around)
        ):
            why = why or "its hold is gone"
        if hold is not None and hold.allocate_once and ledger.claimants_of(hold):
            why = why or "its hold is given to another"  # Who carries a claim came first.
        if hold is not None and not hold.allocate_once:
            users = [user for user in ledger.claimants_of(hold) if not user.finished]
            why = why or policy_refusal(hold, users, owner)
        return OpenClaim(owner, hold, guardian, why)

    def _covers(self, latch: Pod, hold: Hold, guardian: Pod) -> bool:
        """Whether latches keep all that the guardian of a hold for many gives up.

        Where places are scarce there are several of them, and one may not have come to stand.
        """
        if hold.allocate_once and not keeps_rest(hold):
            return True
        ledger = self._ledger
        known = ledger.having(By.LATCH_OF_HOLD, str(hold.parent))
        stand = (each.requests for each in known if each.nominated == latch.nominated)
        return guardian.requests.fits_in(sum(stand, EMPTY))

    def _counted_twice(self, node: str) -> frozenset[Key]:
        """Latches on a node whose guardians still stand there: their room is not needed twice."""
        ledger = self._ledger
        return frozenset(
            latch.key
            for latch in ledger.state.nominated_on(node)
            if latch.key in ledger.latches and latch.requests.fits_in(self._guarded(latch, node))
        )

    def _guarded(self, latch: Pod, node: str) -> Resources:
        """What guardians on a node still keep of that for which a latch was made."""
        ledger, kept = self._ledger, EMPTY
        for parent in parents_on(latch):
            hold = ledger.holds.get(parent)
            guardian = ledger.guardian_of(hold) if hold is not None else None
            if guardian is not None and guardian.node == node:
                kept = kept + guardian.requests
        return kept

    def _crowded(self, hold: Hold, guardian: Pod, owner: Pod) -> str | None:
        """Whether whoever keeps the rest of a hold would be one pod too many on its node."""
        state = self._ledger.state
        with state.as_if_unexpected(owner.key):
            crowded = state.free_places(guardian.node) < 1
        kept = kept_beside(hold, guardian.requests, owner.requests)
        return TOO_MANY_PODS if kept and crowded else None


def _may_serve(hold: Hold | None) -> TypeGuard[Hold]:
    return hold is not None and not hold.terminal
