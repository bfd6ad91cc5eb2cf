"""The controller of latches: it builds the view of a latch and carries out `latch_decision`."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from headroom.core.demand.volume_constraints import is_mounted
from headroom.core.doors.latch_decision import LatchMemory, LatchView, decide, without_volumes
from headroom.core.doors.latched import (
    LatchedHold,
    LatchedNode,
    LatchedOwner,
    is_bare,
    is_due,
    why_not,
)
from headroom.core.fast_dataclass import replace
from headroom.core.fences import stands_for_fence
from headroom.core.holds import Hold
from headroom.core.index_entries import By, Entry
from headroom.core.latches import LatchClaim, OpenClaim, claims_on, parents_on
from headroom.core.objects import Pod
from headroom.core.plan import Sequence
from headroom.core.resources import EMPTY
from headroom.core.subjects import ANY_ROOM, Topic, hold_subject, node_changed, pod_subject
from headroom.engine.evictions import remaining_victims
from headroom.engine.freeze import labels_around, stands_for_hold, unfit_on
from headroom.engine.ledger import Ledger
from headroom.engine.volumes import prepare


def look(ledger: Ledger, latch: Pod, now: datetime) -> Iterator[Sequence]:
    """Decide this latch, and yield its writes."""
    firm_from = ledger.firm_from(latch) if latch.nominated else None
    waiting = tuple(filter(ledger.waits, claims_on(latch))) if firm_from is not None else ()
    for claim in waiting:
        ledger.state.expect(ledger.pods[claim.owner], latch.nominated)
    view, subject = latch_view(ledger, latch, firm_from, waiting, now), pod_subject(latch.key)
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
    """Replace the memory of a latch."""
    before = ledger.latch_memory[latch.uid]
    ledger.latch_memory[latch.uid] = memory
    if before.reusable != memory.reusable:
        spare = Entry(By.REUSABLE_LATCH, latch.requests)
        ledger.handovers.put(latch.key, (spare,) if memory.reusable else ())
    if memory.given_up and not before.given_up:
        for hold in _holds_of(ledger, latch):
            ledger.agenda.touch(hold_subject(hold.parent))


def latched(ledger: Ledger, owner: Pod) -> bool:
    """Whether a latch was created for exactly this pod."""
    return any(
        (line.owner, line.uid) == (owner.key, owner.uid)
        for latch in ledger.having(By.LATCH_OF_OWNER, owner.key)
        for line in claims_on(latch)
    )


def dismiss(ledger: Ledger, node: str) -> None:
    """Remove the spare latches of a node, because their room is needed."""
    for latch in tuple(ledger.state.nominated_on(node)):
        memory = ledger.latch_memory[latch.uid]
        if memory.reusable:
            remember(ledger, latch, replace(memory, reusable=False, dismissed=True))
            ledger.agenda.touch(pod_subject(latch.key))


def latch_view(
    ledger: Ledger,
    latch: Pod,
    firm_from: datetime | None,
    waiting: tuple[LatchClaim, ...],
    now: datetime,
) -> LatchView:
    """A latch as it is now; `waiting` are its claims whose owners have no node yet."""
    memory, node = ledger.latch_memory[latch.uid], latch.nominated
    writing = any(ledger.agenda.busy(pod_subject(claim.owner)) for claim in waiting)
    view = LatchView(latch, memory, firm_from, bool(waiting), writing)
    if not node or view.must_wait(now):
        return view
    places, claims = ledger.state.free_places(node), claims_on(latch)
    holds = [_latched_hold(ledger, hold, latch, places) for hold in _holds_of(ledger, latch)]
    owners = [ledger.pods.get(claim.owner) for claim in claims]
    came = tuple([pod for pod in owners if pod is not None and pod.node == node])
    fences = ledger.index.of(By.FENCE, node) if stands_for_fence(latch) else ()
    return replace(
        view,
        open=_open(ledger, latch, waiting, now),
        given_up=_given_up(ledger, claims),
        keeps_place=stands_for_hold(ledger, latch),
        guardians=frozenset(
            [pod.uid for each in holds for pod in each.guardians if pod.node == node]
        ),
        coming=any(ledger.has_unplaced_claimant(each.hold, each.owners) for each in holds),
        due=any(is_due(each, places) for each in holds),
        bare=any(is_bare(each, latch, came, places) for each in holds),
        fences=tuple(sorted(map(str, fences))),
        waited_for=ledger.agenda.has_waiters(node_changed(node)),
    )


def _latched_hold(ledger: Ledger, hold: Hold, latch: Pod, places: int) -> LatchedHold:
    """A hold of a latch as it is now; for a hold that has ended, nothing will come."""
    guardians, owners = ledger.guardians_of(hold), ledger.claimants_of(hold)
    if hold.terminal:
        return LatchedHold(hold, guardians, owners, owners)
    others, busy = ledger.latches_of(hold) if places < 1 else (), ledger.agenda.busy
    return LatchedHold(
        hold,
        guardians,
        owners,
        (ledger.slot_users_of(hold) if hold.template.node else ()) or owners,
        busy(hold_subject(hold.parent)),
        busy(hold_subject(hold.parent, Topic.STATUS)),
        any(each.key != latch.key and not claims_on(each) for each in others),
    )


def _holds_of(ledger: Ledger, latch: Pod) -> list[Hold]:
    """The holds that a latch was created for, as far as they exist."""
    return [ledger.holds[parent] for parent in parents_on(latch) if parent in ledger.holds]


def _given_up(ledger: Ledger, claims: tuple[LatchClaim, ...]) -> Hold | None:
    """The hold for which other pods were ended, if its owner never came."""
    for claim in claims:
        if not claim.preempts:
            continue
        owner, hold = ledger.pods.get(claim.owner), _hold_of(ledger, claim)
        came = owner is not None and owner.uid == claim.uid and bool(owner.node)
        if not came and hold is not None and not hold.terminal:
            return hold
    return None


def _hold_of(ledger: Ledger, claim: LatchClaim) -> Hold | None:
    """The hold of a claim; not a later object of the same name, which has promised nothing."""
    hold = ledger.holds.get(claim.parent)
    return hold if hold is not None and hold.parent.uid == claim.parent_uid else None


def _open(
    ledger: Ledger, latch: Pod, waiting: tuple[LatchClaim, ...], now: datetime
) -> tuple[OpenClaim, ...]:
    """The claims whose owners wait, each with the reason why its owner does not get the room."""
    if not waiting:
        return ()
    node, found = _latched_node(ledger, latch.nominated), []
    for claim in waiting:
        each = _latched_owner(ledger, latch, claim)
        owner, hold = each.owner, each.hold
        why = why_not(latch, each, node, ledger.policy, now)
        mounted, victims = is_mounted(owner, ledger.storage), None
        if claim.preempts and why is not None and hold is not None and not hold.terminal:
            victims = remaining_victims(ledger, latch, owner, hold, now)
        found.append(OpenClaim(owner, hold, each.guardian, why, claim.preempts, mounted, victims))
    return tuple(found)


def _latched_owner(ledger: Ledger, latch: Pod, claim: LatchClaim) -> LatchedOwner:
    """An owner that waits and that a latch names, as it is now."""
    hold, node = _hold_of(ledger, claim), latch.nominated
    guardian = ledger.guardian_of(hold) if hold is not None else None
    return LatchedOwner(
        ledger.pods[claim.owner],
        claim,
        hold,
        guardian if guardian is not None and guardian.node == node else None,
        ledger.claimants_of(hold) if hold is not None else (),
        tuple(ledger.having(By.LATCH_OF_HOLD, claim.parent)),
        frozenset(ledger.index.of(By.LATCH_OF_OWNER, claim.owner)),
        ledger.state.free_places(node, without=claim.owner),
    )


def _latched_node(ledger: Ledger, node: str) -> LatchedNode:
    """The node of a latch as it is now."""
    standing = []
    for latch in ledger.state.nominated_on(node):
        if latch.key in ledger.latches:
            known = (ledger.guardian_of(hold) for hold in _holds_of(ledger, latch))
            there = (pod.requests for pod in known if pod is not None and pod.node == node)
            standing.append((latch, sum(there, EMPTY)))
    return LatchedNode(unfit_on(ledger, node), labels_around(ledger, node), tuple(standing))
