"""What prevents the creation of a guardian although its slot is wanted.

The wanted slots are calculated from time to time. In between, pods arrive, slots are renewed in
another shape, and the operator may be killed. So the limits are checked again immediately before a
guardian is created: may it wait for a node if the number of nodes is limited, and may a slot have
two guardians for a moment while it is renewed?
"""

from __future__ import annotations

from headroom.core.demand.utilization import may_wait
from headroom.core.headrooms.headrooms import Headroom
from headroom.core.hold_state.view import HoldView
from headroom.core.holds import PREEMPTIBLE, Hold
from headroom.core.index_entries import By
from headroom.core.objects import Pod
from headroom.core.resources import Resources
from headroom.core.subjects import Awaited, Change, hold_subject
from headroom.engine.headrooms.demand import tightest_quota
from headroom.engine.headrooms.load import load_now, real_pods
from headroom.engine.headrooms.slot_pods import slot_count
from headroom.engine.ledger import Ledger
from headroom.engine.pending_guardians import being_made, in_flight, slots_without_node
from headroom.scheduling.choose import ChosenNode, choose

LOAD = Awaited(Change.LOAD, "")
FITS_NOWHERE = "it fits on no node, and spec.limits.nodes allows no more than {} of them"


def changed(ledger: Ledger) -> None:
    """Pods or nodes have changed: check guardians without room again now, and the others soon.

    An autoscaler acts within a second on a pod without room, so these cannot wait.
    """
    ledger.slots.node_limit_refusals.clear()
    ledger.agenda.wake(LOAD)


def decided(ledger: Ledger, whole: str) -> None:
    """A headroom was decided again, or is gone: check its slots again that a limit stopped."""
    ledger.slots.node_limit_refusals.pop(whole, None)
    ledger.agenda.wake(Awaited(Change.HEADROOM_DECIDED, whole))


def node_limit_refusal(ledger: Ledger, hold: Hold) -> str:
    """Why no further guardian of this slot may wait for a node now."""
    limit = _node_limit(ledger, hold)
    if limit is None:
        return ""
    why = ledger.slots.node_limit_refusals.get(hold.group, "")
    if not why and not _may_wait(ledger, hold, limit):
        why = FITS_NOWHERE.format(limit)
    return why


def wait_for_limits(ledger: Ledger, view: HoldView, waiting: Pod | None) -> None:
    """Decide a hold again when one of these limits may allow it a guardian."""
    hold = view.hold
    subject, limit = hold_subject(hold.parent), _node_limit(ledger, hold)
    if limit is not None:
        if waiting is not None and waiting.unschedulable_message:
            ledger.agenda.wait(subject, on=LOAD)
        if view.obstacles.node_limit:
            ledger.slots.node_limit_refusals[hold.group] = view.obstacles.node_limit
    if view.obstacles.guardian_limit_reached:
        ledger.agenda.wait(subject, on=Awaited(Change.GUARDIAN_GONE, hold.group))
    if view.obstacles.guardian_limit_reached or limit is not None:
        ledger.agenda.wait(subject, on=Awaited(Change.HEADROOM_DECIDED, hold.group))


def one_guardian_at_a_time(ledger: Ledger, hold: Hold) -> bool:
    """Whether the limits forbid a placeholder to have a second guardian for a moment."""
    headroom = _headroom(ledger, hold)
    if headroom is None or headroom.mode != PREEMPTIBLE:
        return False
    most, slots = _most(ledger, headroom, hold), slot_count(ledger, hold.group)
    if most is not None and max(slots, _alive(ledger, hold)) >= most:
        return True
    return _exceeds(ledger, headroom, hold.template.pod.requests)


def guardian_limit_reached(ledger: Ledger, hold: Hold) -> bool:
    """Whether all allowed guardians exist, although this slot has none.

    Then another slot is being renewed, or a deleted guardian is not gone yet.
    """
    headroom = _headroom(ledger, hold)
    most = _most(ledger, headroom, hold) if headroom is not None else None
    if headroom is None or most is None or headroom.mode != PREEMPTIBLE:
        return False
    there = len(ledger.index.of(By.SLOT_GUARDIAN, hold.group))
    if there + in_flight(ledger) < most:
        return False
    return _alive(ledger, hold) >= most


def _headroom(ledger: Ledger, hold: Hold) -> Headroom | None:
    return ledger.slots.headrooms.get(hold.group) if hold.slot else None


def _node_limit(ledger: Ledger, hold: Hold) -> int | None:
    """The limit on nodes that applies to a slot; None if it cannot be reached.

    It cannot be reached if it is more than twice the number of slots away.
    """
    headroom = _headroom(ledger, hold)
    limit = headroom.limits.nodes if headroom is not None else None
    if headroom is None or limit is None or not headroom.size.by_load:
        return None
    far = limit - len(ledger.nodes) > 2 * slot_count(ledger, hold.group)
    return None if far else limit


def _may_wait(ledger: Ledger, hold: Hold, limit: int) -> bool:
    pod = hold.template.pod
    waiting = len(slots_without_node(ledger, hold.group) - {hold.parent.identity})
    fits = isinstance(choose(pod, ledger.state), ChosenNode)
    return may_wait(load_now(ledger, pod), waiting, limit, fits)


def _most(ledger: Ledger, headroom: Headroom, hold: Hold) -> int | None:
    """How many guardians a headroom may have at once; None is any number."""
    limits, pods, quota = headroom.limits, headroom.limits.pods, None
    if headroom.size.by_load:
        pods = None if pods is None else max(0, pods - real_pods(ledger.slots.load))
        tight = tightest_quota(ledger, headroom, hold.template)
        quota = tight.count if tight is not None else None
    bounds = (limits.slots, pods, quota)
    return min((each for each in bounds if each is not None), default=None)


def _alive(ledger: Ledger, hold: Hold) -> int:
    """How many guardians a headroom has, with those that are being made for other slots."""
    making = being_made(ledger, hold.group) - {hold.parent.identity}
    return len(ledger.index.of(By.SLOT_GUARDIAN, hold.group)) + len(making)


def _exceeds(ledger: Ledger, headroom: Headroom, more: Resources) -> bool:
    """Whether one more guardian would be more than a limit on resources allows."""
    limits, whole = headroom.limits.resources, headroom.parent.whole
    if not limits:
        return False
    used = ledger.index.total(By.SLOT_GUARDIAN, whole)
    making = len(being_made(ledger, whole)) + 1
    return any(used[name] + making * more[name] > most for name, most in limits if more[name])
