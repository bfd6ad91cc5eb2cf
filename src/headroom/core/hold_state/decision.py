"""Decide about one hold: frozen view in, one `HoldDecision` out.

`hold_lifecycle` and a dialect's `Tenure` say which writes a hold needs and what its status is. This
module adds what concerns time and turns: since when something is so, whose turn it is, what to wait
for, and what to remember until the next decision. The engine applies the decision.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import NamedTuple

from headroom.core import hold_lifecycle
from headroom.core.fast_dataclass import replace
from headroom.core.hold_state.memory import HoldMemory, guardian_missing, remembering, way_pause
from headroom.core.hold_state.view import HoldDecision, HoldView, RenewalView
from headroom.core.holds import Hold
from headroom.core.index_entries import guardian_to_place, pin_of
from headroom.core.objects import Pod
from headroom.core.plan import earliest
from headroom.core.policy import Policy
from headroom.core.resources import EMPTY
from headroom.core.statuses import ENDED
from headroom.core.subjects import Awaited, Change, node_changed

CANDIDATES = Awaited(Change.RUNNING_POD, "")  # whose place a hold with preAllocation may take
OVERBOOKED_FOR = timedelta(seconds=2)  # A kubelet rejects most pods that are too many by then.
LONGEST_WAIT = timedelta(seconds=30)  # of the guardian of an expired slot, to be replaced


def observed(view: HoldView, policy: Policy, now: datetime) -> HoldMemory:
    """What to remember of a hold's guardians: problems that begin or end, pauses that end.

    `view` needs the hold, its pods, whom it waits for and its memory so far.
    """
    memory, standing, due = view.memory, view.roles.standing, view.roles.due
    if standing is None and not view.expects_owner:
        memory = guardian_missing(memory, view.guardians, policy.guardian_retry, now)
    bound = standing is not None and bool(standing.node)
    mended = standing is not None and not due  # Also one whose creation was never answered.
    reclaims = view.reclaim is not None
    return remembering(
        memory,
        trouble="" if mended else memory.trouble,
        gave_way=0 if bound else memory.gave_way,
        gave_way_until=None if bound else memory.gave_way_until,
        renewing=memory.renewing and due,
        preempted_on=_ended_on(view, memory, standing, now),
        reclaims=reclaims,
        node=_node_now(view, memory),
    )


def _node_now(view: HoldView, memory: HoldMemory) -> str:
    """Where a hold has its room, or waits for it."""
    if view.reclaim is not None:
        return view.hold.template.node if not view.reclaim.refused else memory.node
    if view.succession is not None:
        return view.succession.node
    return (
        view.slot_users[0].node
        if view.slot_users and not last_node(view, memory.node)
        else memory.node
    )


def _ended_on(view: HoldView, memory: HoldMemory, standing: Pod | None, now: datetime) -> str:
    """On which node somebody else has ended the guardian; forgotten when there is one again.

    Forgotten also when guardians are lost one after the other: the next one may go anywhere.
    """
    if standing is not None or (memory.lost_until is not None and now < memory.lost_until):
        return ""
    ending = (pod.node for pod in view.guardians if pod.deleted is not None and pod.node)
    return next(ending, memory.preempted_on)


class _Turn(NamedTuple):
    """Whether it is a hold's turn to be renewed; if not, what it waits for."""

    renewal: RenewalView | None
    renewing: bool  # to be remembered
    waits: tuple[Awaited, ...] = ()
    wake_at: datetime | None = None


def decide(view: HoldView, now: datetime, policy: Policy) -> HoldDecision:
    """Everything about one hold: writes, status, memory, what to wait for, when to look again."""
    before, turn = view.memory, _turn_to_renew(view, now, policy)
    overbooked_since = (before.overbooked_since or now) if view.overbooked else None
    over_since = (before.over_since or now) if view.replacement.replaceable else None
    sure_at = _to_come(overbooked_since, OVERBOOKED_FOR, now)
    replacement_until = _to_come(over_since, LONGEST_WAIT, now)
    memory = remembering(
        before, overbooked_since=overbooked_since, over_since=over_since, renewing=turn.renewing
    )
    if memory is not before or turn.renewal is not None or view.overbooked or over_since:
        view = replace(
            view,
            memory=memory,
            renewal=turn.renewal,
            overbooked=EMPTY if sure_at is not None else view.overbooked,
            replacement=replace(view.replacement, stays=replacement_until is not None),
        )
    tenure = view.hold.tenure
    decide_life = hold_lifecycle.decide if tenure is None else tenure.decide
    decision = decide_life(view, now, policy)
    replacement_at = now + policy.first_look if view.replacement.nodes else None
    again = (
        sure_at,
        turn.wake_at,
        view.kept.wake_at,
        view.obstacles.owner_first_until,
        replacement_at,
    )
    wake_at = earliest(decision.wake_at, *again, replacement_until)
    waits = (*turn.waits, *_changes_awaited(view))
    lasting = tuple(each for each in waits if each.change is not Change.NODE)
    over = decision.status.phase in ENDED  # It counts against limits no more: see `limited`.
    memory = remembering(memory, waits=lasting, permit=None if over else memory.permit)
    decision = replace(decision, wake_at=wake_at, waits=waits, memory=memory)
    return _in_turn(view, decision, now)


def _to_come(since: datetime | None, lasts: timedelta, now: datetime) -> datetime | None:
    """When something that began will have lasted for so long; None if it has not begun, or has."""
    return since + lasts if since is not None and now < since + lasts else None


def _changes_awaited(view: HoldView) -> tuple[Awaited, ...]:
    """The changes that would change the decision, besides those of the hold and its pods."""
    waits = [node_changed(view.node)] if view.kept.passing else []
    short = not view.kept.grows or not view.kept.whole or bool(view.overbooked)
    if short and view.memory.node:
        waits.append(Awaited(Change.ROOM, view.memory.node))
    if view.memory.reclaims:
        waits.append(Awaited(Change.LIMITS, view.hold.home))
    if view.obstacles.owner_first:
        waits.append(Awaited(Change.OWNER_PLACED, view.hold.parent.whole))
    if view.needs_place:
        waits.append(CANDIDATES)
    if view.obstacles.limit:
        waits.append(Awaited(Change.USAGE, view.hold.home))
    if view.replacement.stays:
        waits.append(replacement_of(view.hold))
    return (*waits, *map(node_changed, view.replacement.nodes))


def replacement_of(hold: Hold) -> Awaited:
    """What an expired slot waits for: another one of its headroom that may stand there."""
    return Awaited(Change.REPLACEMENT, f"{hold.group} {hold.template.node}")


def _turn_to_renew(view: HoldView, now: datetime, policy: Policy) -> _Turn:
    """Whether it is this hold's turn to be renewed, and its node has no other change in progress.

    A hold whose successor finds no room, or may not be created, waits and gives its turn to others.
    """
    turn, renewing, group = view.renewal, view.memory.renewing, view.hold.group
    if turn is None:
        return _Turn(None, renewing)
    if not turn.stuck and group and not renewing and turn.others >= turn.most:
        return _Turn(replace(turn, waits=True), False, (Awaited(Change.RENEWAL, group),))
    renewing = not turn.stuck and (renewing or bool(group))
    if not turn.unsettled:
        return _Turn(turn, renewing)
    old = view.roles.standing
    at_rest = node_changed(old.node if old is not None else view.node)
    return _Turn(replace(turn, waits=True), renewing, (at_rest,), now + policy.first_look)


def _in_turn(view: HoldView, decision: HoldDecision, now: datetime) -> HoldDecision:
    """What creates a guardian for kube-scheduler to place waits for owners, and for a pause."""
    create = guardian_to_place(decision.sequence) if decision.sequence is not None else None
    if create is None:
        return decision
    if view.obstacles.owner_first or view.obstacles.spent:
        return replace(decision, sequence=None)
    memory = way_pause(decision.memory, now)
    until = memory.gave_way_until
    if until is not None and now < until:
        wake_at = earliest(decision.wake_at, until)
        return replace(decision, sequence=None, memory=memory, wake_at=wake_at)
    pin = pin_of(create)
    if pin in view.obstacles.arrivals:
        waits = (*decision.waits, Awaited(Change.ARRIVALS, pin))
        return replace(decision, sequence=None, memory=memory, waits=waits, seeks=True)
    return replace(decision, memory=memory, seeks=True)


def last_node(view: HoldView, known: str) -> str:
    """Where the room of a hold is, or was; empty when nobody knows.

    After a restart in the middle of a handover only the owner, or a latch, knows where it was.
    """
    seats = (pod.node for pod in view.claimants if pod.occupies_node)
    latches = (pod.nominated for pod in view.latches)
    return known or view.hold.status.node or next(seats, "") or next(latches, "")
