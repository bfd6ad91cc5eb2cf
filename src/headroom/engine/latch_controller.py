"""The controller of latches: it freezes a latch and does what `latch_decision` decides."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime

from headroom.core.allocation import is_short, keeps_rest, kept_beside, policy_refusal, to_keep
from headroom.core.claims import standing_refusal
from headroom.core.demand.volume_constraints import is_mounted
from headroom.core.doors.latch_decision import LatchMemory, LatchView, decide, without_volumes
from headroom.core.fences import returns, stands_for_fence
from headroom.core.holds import Hold
from headroom.core.index_entries import By
from headroom.core.latches import LatchClaim, OpenClaim, claims_on, parents_on
from headroom.core.objects import Key, Pod
from headroom.core.plan import Sequence
from headroom.core.quotas.charges import is_charge
from headroom.core.resources import EMPTY, TOO_MANY_PODS, Resources
from headroom.core.subjects import ANY_ROOM, Topic, hold_subject, node_changed, pod_subject
from headroom.engine.evictions import victims_under
from headroom.engine.freeze import stands_for_hold
from headroom.engine.ledger import Ledger
from headroom.engine.node_fit import labels_around, unfit
from headroom.engine.pod_index import file_pod
from headroom.engine.volumes import prepare


def look(ledger: Ledger, latch: Pod, now: datetime) -> Iterator[Sequence]:
    """What this latch needs now."""
    if latch.nominated and ledger.firm_at(latch) is not None:
        for claim in filter(ledger.waits, claims_on(latch)):
            ledger.state.expect(ledger.pods[claim.owner], latch.nominated)
    view, subject = latch_view(ledger, latch, now), pod_subject(latch.key)
    decision = decide(view, ledger.policy, now)
    while decision.mounts is not None:
        step = prepare(ledger, decision.mounts.owner, latch.nominated, subject, now)
        if not isinstance(step, str):
            yield from step
            return
        view = without_volumes(view, decision.mounts, step)
        decision = decide(view, ledger.policy, now)
    remember(ledger, latch, decision.memory)
    if decision.stuck:
        ledger.agenda.wait(subject, on=ANY_ROOM)
    if decision.wake_at is not None:
        ledger.agenda.later(subject, decision.wake_at)
    if decision.sequence is not None:
        yield decision.sequence


def remember(ledger: Ledger, latch: Pod, memory: LatchMemory) -> None:
    """Replace what is remembered of a latch."""
    before = ledger.latch_memory[latch.uid]
    ledger.latch_memory[latch.uid] = memory
    if before.reusable != memory.reusable:
        file_pod(ledger, latch)
    if memory.given_up and not before.given_up:
        for hold in _holds_of(ledger, latch):
            ledger.agenda.touch(hold_subject(hold.parent))


def latched(ledger: Ledger, owner: Pod) -> bool:
    """Whether a latch stands for this very pod."""
    latches = ledger.having(By.LATCH_OF_OWNER, owner.key)
    lines = (line for latch in latches for line in claims_on(latch))
    return any((line.owner, line.uid) == (owner.key, owner.uid) for line in lines)


def dismiss(ledger: Ledger, node: str) -> None:
    """Have latches removed that wait on a node for another use, and are in the way there."""
    for latch in tuple(ledger.state.nominated_on(node)):
        memory = ledger.latch_memory[latch.uid]
        if memory.reusable:
            remember(ledger, latch, replace(memory, reusable=False, dismissed=True))
            ledger.agenda.touch(pod_subject(latch.key))


def latch_view(ledger: Ledger, latch: Pod, now: datetime) -> LatchView:
    """A latch as it is now."""
    memory, node = ledger.latch_memory[latch.uid], latch.nominated
    firm_at = ledger.firm_at(latch)
    if not node or firm_at is None:
        return LatchView(latch, memory)
    claims = claims_on(latch)
    waiting = [claim for claim in claims if ledger.waits(claim)]
    writing = any(ledger.agenda.busy(pod_subject(claim.owner)) for claim in waiting)
    opens = waiting if now >= firm_at and not writing else ()
    holds = _holds_of(ledger, latch)
    guardians = (pod for hold in holds for pod in ledger.guardians_of(hold))
    fences = ledger.index.of(By.FENCE, node) if stands_for_fence(latch) else ()
    return LatchView(
        latch,
        memory,
        firm_at,
        bool(waiting),
        writing,
        tuple(_open(ledger, latch, claim, now) for claim in opens),
        _given_up(ledger, claims),
        stands_for_hold(ledger, latch),
        frozenset(pod.uid for pod in guardians if pod.node == node),
        coming=any(map(ledger.awaited, holds)),
        due=any(_is_due(ledger, hold, latch) for hold in holds),
        bare=any(_is_bare(ledger, hold, latch) for hold in holds),
        fences=tuple(sorted(map(str, fences))),
        awaited=ledger.agenda.awaited(node_changed(node)),
    )


def _is_due(ledger: Ledger, hold: Hold, latch: Pod) -> bool:
    """Whether the guardian of a hold, or where it has no place a latch of its own, is to come.

    A slot is looked for elsewhere, or has its claim.
    """
    if ledger.state.free_places(latch.nominated) < 1:
        others = (each for each in ledger.latches_of(hold) if each.key != latch.key)
        if not returns(hold) or any(not claims_on(other) for other in others):
            return False
    lodgers = ledger.lodgers_of(hold) if hold.template.node else ()
    size = to_keep(hold, lodgers or ledger.claimants_of(hold))
    if hold.terminal or not size:
        return False
    guardian = ledger.guardian_of(hold)
    busy = ledger.agenda.busy(hold_subject(hold.parent))
    if busy or guardian is None or is_charge(guardian):
        return True
    rest = keeps_rest(hold) and not is_short(hold, guardian)
    return rest and not size.fits_in(guardian.requests)


def _is_bare(ledger: Ledger, hold: Hold, latch: Pod) -> bool:
    """Whether a hold says that it is held on the node of a latch, and only the latch keeps it.

    It says so until the API server has taken the status that says otherwise. A node without a place
    for one more pod keeps its room by itself.
    """
    node = latch.nominated
    if hold.slot or hold.terminal or ledger.state.free_places(node) < 1:
        return False
    telling = ledger.agenda.busy(hold_subject(hold.parent, Topic.STATUS))
    told = hold.status.phase == "Available" and hold.status.node == node
    if not (told or telling) or any(pod.node == node for pod in ledger.guardians_of(hold)):
        return False
    owners = (ledger.pods.get(line.owner) for line in claims_on(latch))
    given = (pod.requests for pod in owners if pod is not None and pod.node == node)
    kept = latch.requests.minus(sum(given, EMPTY))
    return bool(kept and to_keep(hold, ledger.claimants_of(hold)))


def _holds_of(ledger: Ledger, latch: Pod) -> list[Hold]:
    """The holds that a latch was made for, those that are there."""
    return [ledger.holds[parent] for parent in parents_on(latch) if parent in ledger.holds]


def _given_up(ledger: Ledger, claims: tuple[LatchClaim, ...]) -> Hold | None:
    """The hold for which others gave way, if the owner that was to have it never came."""
    for claim in claims:
        owner, hold = ledger.pods.get(claim.owner), _hold_of(ledger, claim)
        came = owner is not None and owner.uid == claim.uid and bool(owner.node)
        if claim.preempts and not came and hold is not None and not hold.terminal:
            return hold
    return None


def _hold_of(ledger: Ledger, claim: LatchClaim) -> Hold | None:
    """The hold of a claim; not another by its name, which has promised nothing."""
    hold = ledger.holds.get(claim.parent)
    return hold if hold is not None and hold.parent.uid == claim.parent_uid else None


def _open(ledger: Ledger, latch: Pod, claim: LatchClaim, now: datetime) -> OpenClaim:
    """A claim whose owner waits, with the reason why it does not get its room, if there is one."""
    owner, hold = ledger.pods[claim.owner], _hold_of(ledger, claim)
    guardian = ledger.guardian_of(hold) if hold is not None else None
    if guardian is not None and guardian.node != latch.nominated:
        guardian = None
    why = _why_unfit(ledger, latch, OpenClaim(owner, hold, guardian, None))
    why = why or (_refusal(ledger, latch, owner, hold, now) if claim.parent else None)
    mounted, victims = is_mounted(owner, ledger.storage), None
    if claim.preempts and why is not None and hold is not None and not hold.terminal:
        victims = victims_under(ledger, latch, owner, hold, now)
    return OpenClaim(owner, hold, guardian, why, claim.preempts, mounted, victims)


def _refusal(
    ledger: Ledger, latch: Pod, owner: Pod, hold: Hold | None, now: datetime
) -> str | None:
    """Why the rules of its hold do not let an owner in any more."""
    around = labels_around(ledger, latch.nominated)
    if hold is None or standing_refusal(hold, owner, ledger.policy, now, around):
        return "its hold is gone"
    users = ledger.claimants_of(hold)
    if hold.allocate_once:  # Who carries a claim came first.
        return "its hold is given to another" if users else None
    return policy_refusal(hold, [user for user in users if not user.finished], owner)


def _why_unfit(ledger: Ledger, latch: Pod, claim: OpenClaim) -> str | None:
    """Why an owner does not fit where the latch stands, or what stays held of its hold."""
    owner, hold, guardian = claim.owner, claim.hold, claim.guardian
    without = _counted_twice(ledger, latch.nominated) | {latch.key}
    without |= set(ledger.index.of(By.LATCH_OF_OWNER, owner.key))
    if hold is None or guardian is None:
        return unfit(ledger, owner, latch.nominated, without)
    why = unfit(ledger, owner, latch.nominated, without | {guardian.key})
    if why is None and not returns(hold):
        why = _crowded(ledger, hold, guardian, owner)
    if not _covers(ledger, latch, hold, guardian):
        why = why or "what keeps the rest of its hold is gone"
    return why


def _covers(ledger: Ledger, latch: Pod, hold: Hold, guardian: Pod) -> bool:
    """Whether latches keep all that the guardian of a hold for many gives up.

    Where places are scarce there are several of them, and one may not have come to stand.
    """
    if hold.allocate_once and not keeps_rest(hold):
        return True
    known = ledger.having(By.LATCH_OF_HOLD, hold.parent.identity)
    stand = (each.requests for each in known if each.nominated == latch.nominated)
    return guardian.requests.fits_in(sum(stand, EMPTY))


def _counted_twice(ledger: Ledger, node: str) -> frozenset[Key]:
    """Latches on a node whose guardians still stand there: their room is not needed twice."""
    return frozenset(
        latch.key
        for latch in ledger.state.nominated_on(node)
        if latch.key in ledger.latches and latch.requests.fits_in(_guarded(ledger, latch, node))
    )


def _guarded(ledger: Ledger, latch: Pod, node: str) -> Resources:
    """What guardians on a node still keep of that for which a latch was made."""
    holds = (ledger.holds.get(parent) for parent in parents_on(latch))
    known = (ledger.guardian_of(hold) for hold in holds if hold is not None)
    return sum((pod.requests for pod in known if pod is not None and pod.node == node), EMPTY)


def _crowded(ledger: Ledger, hold: Hold, guardian: Pod, owner: Pod) -> str | None:
    """Whether whoever keeps the rest of a hold would be one pod too many on its node."""
    crowded = ledger.state.free_places(guardian.node, without=owner.key) < 1
    kept = kept_beside(hold, guardian.requests, owner.requests)
    return TOO_MANY_PODS if kept and crowded else None
