"""Rows of the dashboard's data: a node's pod, a waiting pod, a Headroom or a Hold. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from headroom.core.claims import claim_of, expiry
from headroom.core.headrooms.headrooms import AutoStatus, Headroom
from headroom.core.headrooms.windows import next_start
from headroom.core.holds import Hold
from headroom.core.latches import kept_for
from headroom.core.names import CLAIM_GATE, ROLE_GUARDIAN, ROLE_LABEL
from headroom.core.objects import Condition, Node, Pod, titled
from headroom.core.promise.report import PROMISE_KEPT
from headroom.engine.cron import calendar
from headroom.wire.times import format_time

Row = dict[str, Any]
USED, CLAIMED, HELD, ASIDE = "used", "claimed", "held", ""
LONGEST_TEXT = 2000  # A tenant's message must not fill the page of others.


def use_of(pod: Pod) -> str:
    """The use of a pod on a node; latches and fences are left out."""
    role = pod.labels.get(ROLE_LABEL)
    if role == ROLE_GUARDIAN:
        return HELD
    if role:
        return ASIDE
    return CLAIMED if claim_of(pod) is not None else USED


def node_state(node: Node) -> str:
    """What keeps pods away from a node, if anything."""
    words = ((not node.ready, "NotReady"), (node.unschedulable, "Cordoned"))
    return ",".join(word for holds, word in words if holds)


def pod_row(pod: Pod) -> Row:
    """A pod on a node, for the node's details."""
    claim = claim_of(pod)
    told = kept_for(pod) if use_of(pod) == HELD else (claim[0] if claim is not None else "")
    return {
        "namespace": pod.key.namespace,
        "name": pod.key.name,
        "use": use_of(pod) or "latch",
        "phase": pod.phase,
        "for": titled(told) if told else "",
        "requests": dict(sorted(pod.requests.items())),
    }


def waiting_row(pod: Pod) -> Row:
    """A pod without a node, with its reason as far as known without checking every node."""
    guardian = pod.labels.get(ROLE_LABEL) == ROLE_GUARDIAN
    return {
        "namespace": pod.key.namespace,
        "name": pod.key.name,
        "guardian": titled(kept_for(pod)) if guardian else "",
        "since": format_time(pod.created) if pod.created else "",
        "requests": dict(sorted(pod.requests.items())),
        "reason": _cut(_why(pod)),
    }


def _why(pod: Pod) -> str:
    others = [gate for gate in pod.gates if gate != CLAIM_GATE]
    if others:
        return f"it is gated by {', '.join(others)}"
    if CLAIM_GATE in pod.gates:
        return "it waits at the gate for its hold"
    if pod.nominated:
        return f"it is nominated to {pod.nominated}"
    return pod.unschedulable_message or "its scheduler has not reported anything yet"


def headroom_row(headroom: Headroom, now: datetime) -> Row:
    """A Headroom (or an Order, a CapacityBuffer) from its status."""
    status = headroom.status
    following = next_start(headroom, now, calendar) if headroom.schedule else None
    return {
        "kind": headroom.parent.kind,
        "namespace": headroom.parent.namespace,
        "name": headroom.parent.name,
        "wanted": status.desired,
        "held": status.held,
        "claimed": status.claimed,
        "waiting": status.pending,
        "misses": status.misses,
        "phase": "",
        "why": _cut(_shaped(status.auto) + _told(status.conditions)),
        "next": format_time(following) if following else "",
        "promise": _promise(headroom),
        "achieved": _achieved(headroom),
    }


def hold_row(hold: Hold) -> Row:
    """A Hold (or a Reservation, a Ticket) from its status."""
    phase = hold.status.phase or "Pending"
    ends = expiry(hold)
    return {
        "kind": hold.parent.kind,
        "namespace": hold.parent.namespace,
        "name": hold.parent.name,
        "wanted": 0 if hold.terminal else 1,
        "held": 1 if phase == "Available" else 0,
        "claimed": len(hold.status.owners),
        "waiting": 1 if phase in ("Pending", "Waiting") else 0,
        "misses": 0,
        "phase": phase,
        "why": _cut(_told(hold.status.conditions)),
        "next": "",
        "ends": format_time(ends) if ends is not None and not hold.terminal else "",
        "promise": "",
        "achieved": None,
    }


def _shaped(auto: AutoStatus | None) -> str:
    """The workloads that slots copy, if they were chosen automatically."""
    chosen = auto.chosen if auto is not None else ()
    told = ", ".join(f"{each.slots} like {each.kind}/{each.name}" for each in chosen)
    return f"{told}; " if told else ""


def _promise(headroom: Headroom) -> str:
    if not headroom.size.learns:
        return ""
    terms = headroom.size.terms
    return f"{100 * terms.ratio:g} % start within {terms.within.total_seconds():g} s"


def _achieved(headroom: Headroom) -> Row | None:
    """The result of the promise: owners and late owners, by time span."""
    promise = headroom.status.promise
    if promise is None:
        return None
    spans = {"hour": promise.last_hour, "day": promise.last_day, "week": promise.last_week}
    judged = {each.type: each.status for each in headroom.status.conditions}
    return {
        "ratio": promise.ratio,
        "within": promise.start_within.total_seconds(),
        "kept": judged.get(PROMISE_KEPT, "Unknown"),
        **{name: [share.pods, share.misses] for name, share in spans.items()},
    }


def _told(conditions: Sequence[Condition]) -> str:
    """The condition with the reason: Degraded, or Ready."""
    by_type = {each.type: each for each in conditions}
    degraded = by_type.get("Degraded")
    if degraded is not None and degraded.status == "True":
        return degraded.message or degraded.reason
    ready = by_type.get("Ready")
    return (ready.message or ready.reason) if ready is not None else ""


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_TEXT else f"{text[:LONGEST_TEXT]}…"
