"""Decide about one hold: frozen view in, one `HoldDecision` out.

`hold_lifecycle` and a dialect's `Tenure` say which writes a hold needs and what its status is. This
module adds what concerns time and turns: since when something is so, whose turn it is, what to wait
for, and what to remember until the next decision. The engine applies the decision.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from headroom.core import hold_lifecycle
from headroom.core.actions import CreateGuardian
from headroom.core.fast_replace import replace
from headroom.core.hold_state.memory import HoldMemory, guardian_missing, way_pause
from headroom.core.hold_state.view import HoldDecision, HoldView
from headroom.core.holds import Hold
from headroom.core.index_entries import guardians_made, pin_of
from headroom.core.objects import Pod
from headroom.core.plan import Sequence, earliest
from headroom.core.policy import Policy
from headroom.core.renewal import Guardians, is_due, told_apart
from headroom.core.resources import EMPTY
from headroom.core.subjects import Awaited, Change, node_changed

CANDIDATES = Awaited(Change.RUNNING_POD, "")  # whose place a hold with preAllocation may take
OVERBOOKED_FOR = timedelta(seconds=2)  # A kubelet rejects most pods that are too many by then.
LONGEST_WAIT = timedelta(seconds=30)  # of the guardian of an expired slot, for an heir


def observed(view: HoldView, told: Guardians, policy: Policy, now: datetime) -> HoldMemory:
    """What to remember of a hold's guardians: trouble is over or begins, pauses end.

    `view` needs the hold, its pods, whom it waits for and its memory so far.
    """
    hold, memory, standing = view.hold, view.memory, told.standing
    old = is_due(hold, standing, now)
    if standing is None:
        if not view.promised:
            first = policy.guardian_retry
            memory = guardian_missing(memory, view.guardians, first, now)
    elif memory.trouble and not old:
        memory = replace(memory, trouble="")  # Also one whose creation was never answered.
    if standing is not None and standing.node and memory.gave_way:
        memory = replace(memory, gave_way=0, gave_way_until=None)
    if memory.renewing and not old:
        memory = replace(memory, renewing=False)
    ended_on = _ended_on(view, memory, standing, now)
    if memory.preempted_on != ended_on:
        memory = replace(memory, preempted_on=ended_on)
    if view.reclaim is not None:
        node = hold.template.node if not view.reclaim.refused else memory.node
        return replace(memory, node=node, reclaims=True)
    if memory.reclaims:
        memory = replace(memory, reclaims=False)
    node = memory.node
    if view.awaited is not None:
        node = view.awaited.node
    elif view.lodgers and not last_node(view):
        node = view.lodgers[0].node
    return memory if node == memory.node else replace(memory, node=node)


def _ended_on(view: HoldView, memory: HoldMemory, standing: Pod | None, now: datetime) -> str:
    """On which node somebody else has ended the guardian; forgotten when there is one again.

    Forgotten also when guardians are lost one after the other: the next one may go anywhere.
    """
    if standing is not None or (memory.lost_until is not None and now < memory.lost_until):
        return ""
    ending = (pod.node for pod in view.guardians if pod.deleted is not None and pod.node)
    return next(ending, memory.preempted_on)


def decide(view: HoldView, now: datetime, policy: Policy) -> HoldDecision:
    """Everything about one hold: writes, status, memory, what to wait for, when to look again."""
    view, overbooked_at = _lasting(view, now)
    view, heir_until = _for_heir(view, now)
    view, waits, unsettled_at = _turn_to_renew(view, now, policy)
    tenure = view.hold.tenure
    decide_life = hold_lifecycle.decide if tenure is None else tenure.decide
    decision = decide_life(view, now, policy)
    inherits_at = now + policy.first_look if view.inherits else None
    again = (overbooked_at, unsettled_at, view.room_changes_at, view.first_until, inherits_at)
    wake_at = earliest(decision.wake_at, *again, heir_until)
    waits += _changes_awaited(view)
    lasting = tuple(each for each in waits if each.change is not Change.NODE)
    memory = view.memory if view.memory.waits == lasting else replace(view.memory, waits=lasting)
    decision = replace(decision, wake_at=wake_at, waits=waits, memory=memory)
    return _in_turn(view, decision, now)


def _changes_awaited(view: HoldView) -> tuple[Awaited, ...]:
    """What would change the decision, beside the hold and its own pods."""
    waits = [node_changed(view.node)] if view.passing else []
    short = not view.grows or not view.whole or bool(view.overbooked)
    if short and view.memory.node:
        waits.append(Awaited(Change.ROOM, view.memory.node))
    if view.memory.reclaims:
        waits.append(Awaited(Change.LIMITS, view.hold.home))
    if view.first:
        waits.append(Awaited(Change.OWNER_PLACED, view.hold.parent.whole))
    if view.needs_place:
        waits.append(CANDIDATES)
    if view.over_limit:
        waits.append(Awaited(Change.USAGE, view.hold.home))
    if view.heir:
        waits.append(heir_of(view.hold))
    return (*waits, *map(node_changed, view.inherits))


def heir_of(hold: Hold) -> Awaited:
    """What an expired slot waits for: another one of its headroom that may stand there."""
    return Awaited(Change.HEIR, f"{hold.group} {hold.template.node}")


def _for_heir(view: HoldView, now: datetime) -> tuple[HoldView, datetime | None]:
    """Whether an expired slot keeps its guardian for another one, and until when at most."""
    memory = view.memory
    since = (memory.over_since or now) if view.leaves_room else None
    if since != memory.over_since:
        view = replace(view, memory=replace(memory, over_since=since))
    if since is None or now >= since + LONGEST_WAIT:
        return view, None
    return replace(view, heir=True), since + LONGEST_WAIT


def _lasting(view: HoldView, now: datetime) -> tuple[HoldView, datetime | None]:
    """Say nothing of an overbooked node before it has lasted; it is then looked at again."""
    memory = view.memory
    if not view.overbooked:
        if memory.overbooked_since is not None:
            view = replace(view, memory=replace(memory, overbooked_since=None))
        return view, None
    since = memory.overbooked_since or now
    sure_at = since + OVERBOOKED_FOR
    memory = replace(memory, overbooked_since=since)
    if now < sure_at:
        return replace(view, memory=memory, overbooked=EMPTY), sure_at
    return replace(view, memory=memory), None


def _turn_to_renew(
    view: HoldView, now: datetime, policy: Policy
) -> tuple[HoldView, tuple[Awaited, ...], datetime | None]:
    """Whether it is this hold's turn to be renewed, and its node is at rest.

    One whose successor finds no room waits as long as it must, and lets others have their turn; so
    does one whose successor may not even be created.
    """
    turn, memory, group = view.renewal, view.memory, view.hold.group
    if turn is None:
        return view, (), None
    if turn.stuck:
        memory = replace(memory, renewing=False) if memory.renewing else memory
    elif group and not memory.renewing:
        if turn.others >= turn.most:
            return replace(view, may_renew=False), (Awaited(Change.RENEWAL, group),), None
        memory = replace(memory, renewing=True)
    view = replace(view, memory=memory, may_renew=not turn.unsettled)
    if not turn.unsettled:
        return view, (), None
    old = told_apart(view.hold, view.guardians, now).standing
    node = old.node if old is not None else view.node
    return view, (node_changed(node),), now + policy.first_look


def _in_turn(view: HoldView, decision: HoldDecision, now: datetime) -> HoldDecision:
    """What creates a guardian for kube-scheduler to place waits for owners, and for a pause."""
    create = guardian_to_place(decision.sequence)
    if create is None:
        return decision
    if view.first or view.spent:
        return replace(decision, sequence=None)
    memory = way_pause(decision.memory, now)
    until = memory.gave_way_until
    if until is not None and now < until:
        wake_at = earliest(decision.wake_at, until)
        return replace(decision, sequence=None, memory=memory, wake_at=wake_at)
    pin = pin_of(create)
    if pin in view.arrivals:
        waits = (*decision.waits, Awaited(Change.ARRIVALS, pin))
        return replace(decision, sequence=None, memory=memory, waits=waits, seeks=True)
    return replace(decision, memory=memory, seeks=True)


def guardian_to_place(sequence: Sequence | None) -> CreateGuardian | None:
    """The guardian that a sequence creates for kube-scheduler to place, if it creates one."""
    made = guardians_made(sequence)
    return next((action for action in made if not action.bound and not action.gated), None)


def last_node(view: HoldView) -> str:
    """Where the room of a hold is, or was; empty when nobody knows.

    After a restart in the middle of a handover only the owner, or a latch, knows where it was.
    """
    seats = (pod.node for pod in view.claimants if pod.occupies_node)
    latches = (pod.nominated for pod in view.latches)
    return view.memory.node or view.hold.status.node or next(seats, "") or next(latches, "")
