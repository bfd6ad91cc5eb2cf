"""Describe the state of a hold in the words of its status."""

from __future__ import annotations

from dataclasses import replace

from headroom.core.allocation import is_short
from headroom.core.amounts import format_resources
from headroom.core.hold_state.allocate_policy_groups import conflict_told
from headroom.core.hold_state.view import HoldView
from headroom.core.holds import Hold
from headroom.core.resources import Resources
from headroom.core.statuses import Facts


def standing_facts(view: HoldView, size: Resources, node: str, used: Resources) -> Facts:
    hold, kept, obstacles, guardian = view.hold, view.kept, view.obstacles, view.roles.standing
    if guardian is None and kept.pinned and view.slot_users and not kept.whole:
        why = "its owner uses all of it; it is held again when that one ends"
        return Facts(hold, "Pending", "InUse", why, node, used)
    if kept.placeless and used and not obstacles.trouble and not hold.paused:
        why = f"no place for one more pod is free on {node}; what owners leave is kept"
        return Facts(hold, "Available", "FullyUsed", why, node, used)
    if guardian is None and used_up(hold, size):
        return Facts(hold, "Available", "FullyUsed", "all of it is in use", node, used)
    if guardian is None and hold.paused:
        return Facts(hold, "Pending", "Paused", "nothing is held anew while paused", node, used)
    if guardian is None and obstacles.refused is not None:
        why = obstacles.refused.why
        return Facts(hold, "Pending", "QuotaExceeded", why, node, used, degraded=True)
    if guardian is None and obstacles.limit_refusal:
        why = obstacles.limit_refusal
        return Facts(hold, "Pending", "LimitReached", why, node, used, degraded=True)
    if guardian is None and obstacles.trouble:
        return Facts(
            hold, "Pending", "GuardianRefused", obstacles.trouble, node, used, degraded=True
        )
    if obstacles.owner_first and (guardian is None or not guardian.node):
        pod = obstacles.owner_first
        why = f"pod {pod} goes first, which it is for and which waits for room without it"
        return Facts(hold, "Pending", "Unschedulable", why, node, used, degraded=True)
    if guardian is None and used and node:  # Owners are in it: it does not begin anew.
        why = "what was returned is about to be held again"
        return Facts(hold, "Available", "Available", why, node, used)
    if guardian is None:
        return Facts(hold, "Pending", "WaitingForNode", "", node, used)
    if not guardian.node and hold.awaits:
        why = f"waits for pod {hold.awaits} to get a node"
        return Facts(hold, "Pending", "WaitingForOwner", why, node, used)
    if not guardian.node and guardian.unschedulable_message:
        why = conflict_told(hold, guardian.unschedulable_message)
        return Facts(hold, "Pending", "Unschedulable", why, node, used, degraded=True)
    if not guardian.node:
        return Facts(hold, "Pending", "WaitingForNode", "", node, used)
    if not size.fits_in(guardian.requests):
        why = "part of the room that was returned is used by other pods"
        facts = Facts(hold, "Available", "PartiallyHeld", why, node, used, not kept.grows)
        return replace(facts, room=guardian.requests + used)
    if view.overbooked:
        told = ", ".join(
            f"{text} {name}" for name, text in format_resources(view.overbooked).items()
        )
        why = f"other pods took held room: those on {node} ask for {told} more than it has"
        return Facts(hold, "Available", "PartiallyHeld", why, node, used, degraded=True)
    return Facts(hold, "Available", "Available", "", node, used)


def with_renewal_trouble(view: HoldView, facts: Facts) -> Facts:
    """The facts of a hold, with the reason why the successor of its guardian does not come."""
    old, successor, obstacles = view.roles.standing, view.roles.successor, view.obstacles
    why = successor.unschedulable_message if successor is not None else ""
    if obstacles.limit_refusal and view.renewal is not None and not view.renewal.in_place:
        why = obstacles.limit_refusal
    if old is not None and old.node and successor is None:
        # Slots of one headroom share their trouble; one that stands as it should has none.
        due = view.roles.due or is_short(view.hold, old)
        why = why or (obstacles.trouble if due else "")
    if not why:
        return facts
    told = replace(facts, reason="RenewalWaits", message=f"to be renewed: {why}", degraded=True)
    return replace(told, room=old.requests + facts.used) if old is not None and old.node else told


def used_up(hold: Hold, size: Resources) -> bool:
    """Whether owners have all of a hold; one that asks for nothing keeps a place for a pod."""
    return not size and bool(hold.template.pod.requests)
