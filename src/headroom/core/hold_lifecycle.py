"""The life of one hold: create, replace, resize and delete its guardian; its status and events.

`decide` takes one hold and the pods that concern it, and returns at most one sequence, the status
of the object, and when to decide again. Claims are decided elsewhere; a hold is not changed while
an owner is on its way.

    Pending ──guardian bound──▶ Available ──owner bound, once──▶ Succeeded
     ▲ ▲                          │  ▲  └──owner bound, reusable──▶ Available (smaller guardian)
     │ └────guardian lost─────────┤  │
     │                            └──┼─ttl, expires, deletion──▶ Failed ──▶ object deleted
     └──▶ Waiting ──pods ended───────┘   (preAllocation: latched while running pods use the room)
"""

from __future__ import annotations

from datetime import datetime
from typing import TypeGuard

from headroom.core.actions import CreateGuardian
from headroom.core.allocation import is_short, reported_use, room_to_keep
from headroom.core.claims import expiry, owner_uses
from headroom.core.derived_names import guardian_name
from headroom.core.eviction.reclaim import Reclaim, end
from headroom.core.handover import (
    bind_guardian,
    grow,
    shrink,
    without_ports_of,
)
from headroom.core.hold_state.endings import drop, ended, keep_rest, over, read_until
from headroom.core.hold_state.full_node import decide_on_full_node
from headroom.core.hold_state.status_facts import standing_facts, used_up, with_renewal_trouble
from headroom.core.hold_state.view import HoldDecision, HoldView, RenewalView
from headroom.core.holds import PREEMPTIBLE, Hold, HoldStatus
from headroom.core.objects import Pod
from headroom.core.plan import Sequence, Work, earliest
from headroom.core.policy import Policy
from headroom.core.quotas.charges import charged, charges, is_charge
from headroom.core.renewal import outdated_at, successor_name
from headroom.core.resources import EMPTY, Resources
from headroom.core.statuses import Facts, status_of
from headroom.core.subjects import hold_subject


def decide(view: HoldView, now: datetime, policy: Policy) -> HoldDecision:
    """Decide what one hold needs: at most one sequence, its status, and when to decide again."""
    hold = view.hold
    seated = tuple(pod for pod in view.claimants if _seated(pod, view.node))
    if hold.problems:
        return HoldDecision(_invalid(hold, tuple(pod for pod in seated if not pod.finished), now))
    if hold.terminal:
        return over(view, now, policy)
    if hold.deleted is not None:
        return ended(view, seated, ("Deleted", "it is being deleted"), now, policy)
    if hold.allocate_once and seated:
        facts = Facts(hold, "Succeeded", "Succeeded", "", view.node, reported_use(hold, seated))
        status = status_of(facts, now, owner_uses(seated))
        return HoldDecision(status, drop(view, view.guardians), read_until(view, now, policy))
    ends = expiry(hold)
    if ends is not None and ends <= now:
        return ended(view, seated, ("Expired", f"expired at {ends.isoformat()}"), now, policy)
    if view.homeless and hold.terms.ends_with_node:
        return ended(view, seated, ("Expired", f"its node {view.node} is gone"), now, policy)
    if view.expects_owner:
        return HoldDecision(hold.status, None, ends)
    if hold.starts is not None and now < hold.starts:
        soon = Facts(hold, "Pending", "NotStarted", f"starts at {hold.starts.isoformat()}")
        return HoldDecision(status_of(soon, now), drop(view, view.guardians), hold.starts)
    life = _keep(view, seated, now, policy)
    sequence = without_ports_of(seated, hold, life.sequence)
    return HoldDecision(life.status, sequence, earliest(life.wake_at, ends))


def asks_no_room(view: HoldView) -> bool:
    """Whether the room of a hold need not be calculated: its only owner has it, or will get it."""
    hold, owners = view.hold, view.claimants
    if hold.tenure is not None or hold.deleted is not None or hold.problems:
        return False
    on_its_way = view.expects_owner and bool(owners) and not hold.group
    return hold.allocate_once and (on_its_way or any(_seated(pod, view.node) for pod in owners))


def _invalid(hold: Hold, users: tuple[Pod, ...], now: datetime) -> HoldStatus:
    """The status of a hold with an invalid spec: nothing new is held, its owners stay listed."""
    message = "; ".join(str(problem) for problem in hold.problems)
    node = users[0].node if users else ""
    facts = Facts(hold, "Pending", "InvalidSpec", message, node, reported_use(hold, users))
    return status_of(facts, now, owner_uses(users))


def _keep(view: HoldView, seated: tuple[Pod, ...], now: datetime, policy: Policy) -> HoldDecision:
    """Keep one healthy guardian of the right size, and calculate the status."""
    hold = view.hold
    users = tuple(pod for pod in seated if not pod.finished)
    guardians, guardian = view.roles, view.roles.standing
    used, size = reported_use(hold, users), size_kept(view)
    node = view.node if users or view.kept.fenced or view.slot_users else ""
    if guardian is not None and guardian.node:
        node = guardian.node
    facts = with_renewal_trouble(view, standing_facts(view, size, node, used))
    status = status_of(facts, now, owner_uses(users))
    to_go = _to_go(view)
    if to_go:
        return HoldDecision(status, drop(view, to_go))
    if view.kept.placeless and not hold.paused:
        return HoldDecision(
            status, decide_on_full_node(view, size, users, policy), view.obstacles.not_before
        )
    early = _early_latch(view, users, node)
    if early:
        return HoldDecision(status, grow(hold, node, early, policy.namespace, view.slot_users))
    if view.reclaim is not None and not view.obstacles.refused and not view.obstacles.limit_refusal:
        return _reclaiming(view, size, now, policy)
    if hold.pre_allocation and not users and not node and not view.obstacles.limit_refusal:
        waiting = _awaiting(view, size, now, policy)
        if waiting is not None:
            return waiting
    if guardian is not None and is_charge(guardian):
        return HoldDecision(status, drop(view, (guardian,)))
    if guardian is None:
        return _make(view, status, size, policy)
    if guardians.due and size:
        return HoldDecision(status, _renewed(view, size, policy))
    if guardian.node and size != guardian.requests.only(hold.template.pod.requests):
        if not size:
            return HoldDecision(status, drop(view, (guardian,)))
        grows = not size.fits_in(guardian.requests)
        if view.kept.grows or not grows:
            return HoldDecision(status, _resized(view, guardian, size, policy))
    if guardian.node and is_short(hold, guardian) and guardians.successor is None:
        return _made_elsewhere(view, status, guardian)
    return HoldDecision(status, None, outdated_at(hold, guardian, now))


def _to_go(view: HoldView) -> tuple[Pod, ...]:
    """Guardians that go before anything else: needless ones, and some that wait for room."""
    guardian, successor = view.roles.standing, view.roles.successor
    if view.roles.needless:
        return view.roles.needless
    if guardian is not None and not guardian.node and _must_not_wait(view, guardian):
        return (guardian,)
    if view.kept.placeless and not view.hold.paused:
        return ()
    if view.kept.pinned and view.slot_users and _seeks(guardian):
        return (guardian,)  # One that waits keeps nothing from others; a claim does.
    return tuple(pod for pod in (guardian, successor) if view.obstacles.owner_first and _seeks(pod))


def size_kept(view: HoldView) -> Resources:
    """How much the guardian keeps: what owners leave, or all of a slot that can be whole."""
    stands = view.roles.standing is not None or view.kept.pinned
    if view.slot_users and not view.kept.whole and stands:
        return room_to_keep(view.hold, view.slot_users)
    seated = (pod for pod in view.claimants if _seated(pod, view.node))
    return room_to_keep(view.hold, (pod for pod in seated if not pod.finished))


def _made_elsewhere(view: HoldView, status: HoldStatus, rest: Pod) -> HoldDecision:
    """Create a whole guardian on any node, while a smaller one keeps the rest of a slot."""
    hold = view.hold
    if hold.paused or view.obstacles.refused or view.obstacles.limit_refusal:
        return HoldDecision(status)
    if view.obstacles.not_before is not None:
        return HoldDecision(status, None, view.obstacles.not_before)
    create = CreateGuardian(successor_name(hold, rest), hold, hold.template.pod.requests)
    return HoldDecision(status, Sequence(Work.HOLD, (hold_subject(hold.parent),), ((create,),)))


def _early_latch(view: HoldView, users: tuple[Pod, ...], node: str) -> Resources:
    """How large a latch should stand before owners that are leaving have left; nothing if none.

    When they are gone, any pod can take their room; with a latch it stays with the hold. A slot
    that belongs to its node has a latch while owners use it: they may end without warning.
    """
    guardian = view.roles.standing
    if view.kept.pinned and view.slot_users and not view.kept.claimed and not view.kept.passing:
        kept = guardian.requests if guardian is not None and guardian.node else EMPTY
        wanted = view.hold.template.pod.requests.largest(kept)
        return EMPTY if view.hold.paused or wanted.fits_in(kept) else wanted
    leaving = any(is_leaving(pod) for pod in users)
    if not leaving or not node or view.hold.allocate_once or view.kept.latched is not None:
        return EMPTY
    staying = tuple(pod for pod in users if not is_leaving(pod))
    kept = guardian.requests if guardian is not None else EMPTY
    wanted = room_to_keep(view.hold, staying).largest(kept)
    return EMPTY if view.hold.paused or wanted.fits_in(kept) else wanted


def is_leaving(pod: Pod) -> bool:
    """Whether a pod is terminating and still counts on its node."""
    return pod.deleted is not None and pod.occupies_node


def _awaiting(
    view: HoldView, size: Resources, now: datetime, policy: Policy
) -> HoldDecision | None:
    """Keep a latch beside the pods whose room the hold will get, and a guardian when they end."""
    hold, found = view.hold, view.succession
    if found is None:
        if not hold.terms.needs_candidate:
            return None
        whose = "that is marked for it" if hold.terms.takes_marked else "of its owners"
        why = f"no running pod {whose} is there whose place it could take"
        facts = Facts(hold, "Pending", "Unschedulable", why, degraded=True)
        return HoldDecision(status_of(facts, now), drop(view, view.guardians))
    facts = Facts(hold, "Waiting", "WaitingForRoom", found.message, found.node)
    kept = view.kept.latched or hold.status.phase == "Waiting"
    if not kept or not any(is_charge(pod) for pod in view.guardians):
        # Nothing is kept before it is charged for and a latch keeps it.
        facts = Facts(hold, "Pending", "WaitingForNode", "")
    if view.obstacles.trouble:
        facts = Facts(hold, "Pending", "GuardianRefused", view.obstacles.trouble, degraded=True)
    status = status_of(facts, now)
    if hold.paused:
        return HoldDecision(status, drop(view, view.guardians))
    return _waiting(view, status, found.node, size, not found.pods, policy)


def _reclaiming(view: HoldView, size: Resources, now: datetime, policy: Policy) -> HoldDecision:
    """Create a latch where other pods have the room of a slot, end them, and hold it again."""
    hold, guardian, found = view.hold, view.roles.standing, view.reclaim or Reclaim()
    bound = guardian is not None and bool(guardian.node)
    phase, reason = ("Available", "PartiallyHeld") if bound else ("Pending", "Unschedulable")
    facts = Facts(hold, phase, reason, found.message, view.node, degraded=True)
    status = status_of(facts, now)
    if found.refused or hold.paused:
        return HoldDecision(status)
    kept = view.kept.latched is not None and size.fits_in(view.kept.latched)
    if kept and found.victims:
        return HoldDecision(status, end(hold, found.victims, now))
    if guardian is not None and bound:
        begin = grow(hold, view.node, size, policy.namespace) if view.kept.latched is None else None
        ready = kept and found.free
        return HoldDecision(status, _resized(view, guardian, size, policy) if ready else begin)
    return _waiting(view, status, view.node, size, found.free, policy)


def _waiting(
    view: HoldView, status: HoldStatus, node: str, size: Resources, free: bool, policy: Policy
) -> HoldDecision:
    """Charge a hold that waits on a node, keep its room there, and hold it when it is `free`."""
    hold, latched = view.hold, view.kept.latched
    if view.obstacles.not_before is not None and not view.guardians:
        return HoldDecision(status, None, view.obstacles.not_before)
    charge = next((pod for pod in view.guardians if charges(pod, size)), None)
    others = tuple(pod for pod in view.guardians if pod is not charge)
    if others:
        return HoldDecision(status, drop(view, tuple(pod for pod in others if not pod.deleted)))
    if charge is None:
        return HoldDecision(status, charged(hold, guardian_name(hold), size))
    if latched is None:
        return HoldDecision(status, grow(hold, node, size, policy.namespace))
    kept = free and size.fits_in(latched)
    return HoldDecision(status, bind_guardian(hold, node, size, charge) if kept else None)


def _seeks(guardian: Pod | None) -> TypeGuard[Pod]:
    """Whether a guardian waits in kube-scheduler's queue for any room that becomes free."""
    return guardian is not None and not guardian.node and not guardian.gates


def _must_not_wait(view: HoldView, guardian: Pod) -> bool:
    """Whether a guardian found no room and would bring a node beyond what is allowed."""
    return bool(guardian.unschedulable_message and view.obstacles.limit_refusal)


def _renewed(view: HoldView, size: Resources, policy: Policy) -> Sequence | None:
    """Make the successor beside the old guardian or, where only one may be there, in its place.

    A successor that fits nowhere is created, too: it is visible, and an autoscaler may add a node.
    If no node may be added, the old one stays; if only one may exist, the old one is deleted first.
    """
    old, successor = view.roles.standing, view.roles.successor
    turn, latched = view.renewal or RenewalView(), view.kept.latched
    limit_refusal = view.obstacles.limit_refusal
    if old is None or turn.waits or view.hold.paused:
        return None
    alone = turn.in_place and (turn.one_at_a_time or bool(limit_refusal) or not turn.beside)
    charge = successor if successor is not None and is_charge(successor) else None
    if charge is not None and not alone and latched is None:
        return drop(view, (charge,))
    if successor is not None and charge is None:
        stuck = successor.unschedulable_message and alone
        given_up = stuck or _must_not_wait(view, successor)
        return drop(view, (successor,)) if given_up else None
    hold = view.hold
    if latched is not None and not turn.in_place:
        return None  # Somebody came in between; the latch goes by itself.
    if latched is not None or alone:
        beyond = size.minus(old.requests) if hold.mode != PREEMPTIBLE else EMPTY
        if not beyond or charge is not None:
            return _resized(view, old, size, policy, charge)
        # More than the old one is charged for: that is charged first.
        return charged(hold, successor_name(hold, old), beyond) if latched is None else None
    if limit_refusal:
        return None
    if turn.one_at_a_time:
        return drop(view, (old,))
    pin = view.node if view.claimants else hold.template.node
    create = CreateGuardian(successor_name(hold, old), hold, size, node=pin)
    return Sequence(Work.RENEW, (hold_subject(hold.parent),), ((create,),))


def _resized(
    view: HoldView, guardian: Pod, size: Resources, policy: Policy, charge: Pod | None = None
) -> Sequence | None:
    """Start a resize, continue under an existing latch, or wait until a latch too small is gone.

    A Preemptible guardian is not bound by us: a pod that preempts it meanwhile counts on its room.
    It is deleted and created again, and kube-scheduler places it; it may lose its room meanwhile.
    """
    if view.hold.mode == PREEMPTIBLE:
        return drop(view, (guardian,))
    whole = size.largest(guardian.requests)
    if view.kept.latched is not None:
        covered = whole.fits_in(view.kept.latched)
        return bind_guardian(view.hold, guardian.node, size, guardian, charge) if covered else None
    if size.fits_in(guardian.requests):
        return shrink(view.hold, guardian, size, policy.namespace)
    return grow(view.hold, guardian.node, whole, policy.namespace)


def _make(view: HoldView, status: HoldStatus, size: Resources, policy: Policy) -> HoldDecision:
    """Have a guardian again: now, after a pause, or not as long as something forbids it."""
    hold, obstacles, early = view.hold, view.obstacles, view.obstacles.not_before
    ending = tuple(pod for pod in view.guardians if pod.deleted is not None)
    if view.rest and not hold.paused and early is None and len(ending) == len(view.guardians):
        return HoldDecision(status, keep_rest(view, size, policy.namespace))
    if ending:  # Somebody else ends it, and its room is not kept: nobody has to wait for its end.
        return HoldDecision(status, drop(view, ending))
    forbidden = obstacles.refused or obstacles.limit_refusal or obstacles.guardian_limit_reached
    if used_up(hold, size) or hold.paused or forbidden:
        return HoldDecision(status)
    if early is not None:
        return HoldDecision(status, None, early)
    return HoldDecision(status, _made(view, size, bool(status.owners), policy))


def _made(view: HoldView, size: Resources, in_use: bool, policy: Policy) -> Sequence | None:
    """Where the next guardian comes from: a latch, an expired slot, or free room; None: not yet."""
    hold, node, kept, latched = view.hold, view.node, view.kept, view.kept.latched
    part = room_to_keep(hold, view.slot_users) if view.slot_users else EMPTY
    fits = kept.grows and (kept.whole or size.fits_in(part))  # A latch may keep more than is free.
    if node and latched is not None and fits and size.fits_in(latched):
        return bind_guardian(hold, node, size)
    if part and node and latched is not None:  # What its owner left of a slot.
        sure = latched if kept.grows else kept.taken_over
        part = part if part.fits_in(sure) else _common(part, kept.taken_over)
        return bind_guardian(hold, node, part) if part else None
    rest = _common(size, kept.taken_over)
    if rest and in_use and node and not kept.grows:  # It has grown meanwhile.
        return bind_guardian(hold, node, rest)
    if kept.pinned and view.slot_users and not kept.whole:
        return None
    small = latched is not None and not size.fits_in(latched)
    if kept.young or (kept.pinned and kept.claimed and (kept.passing or small)):
        return None  # A latch keeps its room, and will be trusted in a moment.
    predecessor = view.replacement.predecessor
    if predecessor is not None and latched is None and size.fits_in(predecessor.requests):
        return shrink(hold, predecessor, size, policy.namespace)
    if view.replacement.nodes:
        return None
    if kept.fenced and (kept.passing if not kept.grows else not in_use):
        return None  # Nobody else can have it; in a moment it can be put back.
    if in_use and node and kept.grows and not view.obstacles.trouble:
        if latched is None:
            return grow(hold, node, size, policy.namespace)
        part = _common(size, latched)  # The rest when this latch is gone.
        return bind_guardian(hold, node, part) if part else None
    pin = node if in_use else hold.template.node
    create = CreateGuardian(guardian_name(hold), hold, size, node=pin)
    return Sequence(Work.HOLD, (hold_subject(hold.parent),), ((create,),))


def _common(one: Resources, other: Resources) -> Resources:
    """The smaller of both amounts, for each resource."""
    return one.minus(one.minus(other))


def _seated(pod: Pod, node: str) -> bool:
    """Whether an owner has the room: it must be on the node of the hold.

    An owner that the kubelet rejected never used the room.
    """
    rejected = pod.phase == "Failed" and pod.reason.startswith("OutOf")
    return bool(pod.node) and node in ("", pod.node) and not rejected
