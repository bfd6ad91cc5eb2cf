"""Decide what happens to an owner that waits at a door and has no claim yet. Both doors are here.

    DOOR 1: gate headroom.dev/claim             DOOR 2: one of our scheduler names

         search for a hold                           search for a hold
            │                                           │
            ├─ an offer ─────────▶ Park                 ├─ an offer ─────────▶ Park
            ├─ it asks to wait ──▶ Wait                 ├─ it asks to wait ──▶ Wait, then Preempt
            ├─ one may come ─────▶ Wait, a little       ├─ one may come ─────▶ Wait, a little
            └─ none ─────────────▶ Release              └─ none, free room ──▶ TakeFreeRoom
                                                           none, no free room ▶ Preempt or Refuse

A parked owner waits for the next handover of its node: see `handover`. What happens after that is
drawn in docs/concepts/life-cycles.md. `engine.owner_controller` carries a move out. It records what
an owner waits for, so nothing here changes anything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime

from headroom.core.claims import Offer, Search
from headroom.core.fast_replace import replace
from headroom.core.names import WAIT_ANNOTATION
from headroom.core.objects import Pod
from headroom.core.plan import earliest
from headroom.core.policy import Policy

NO_MATCH = "no reservations match reservation affinity"


@dataclass(frozen=True, slots=True)
class FreeRoom:
    """Where kube-scheduler would place a pod, or why nowhere.

    `contended`: owners are on their way to that node, or its free room belongs to a hold.
    """

    node: str = ""
    contended: bool = False
    why_not: str = ""


@dataclass(frozen=True, slots=True)
class OwnerView:
    """An owner at a door. `since` is when it came there, `found` what the search for a hold gave.

    The functions are asked only at door 2, and only if no hold is offered: each looks at many
    nodes. None of them changes anything.
    """

    pod: Pod
    door: int
    since: datetime
    found: Search
    free_room: Callable[[], FreeRoom]
    way_into_a_hold: Callable[[], Offer | None]
    displacement: Callable[[], Offer | None]


@dataclass(frozen=True, slots=True)
class Park:
    """The pod gets a hold: it waits for the next handover of the node."""

    offer: Offer


@dataclass(frozen=True, slots=True)
class Wait:
    """The pod waits for a hold. `until`: look again then. `nodes`: look again if one changes.

    `room`: the end of any pod may help. `message` is told once.
    """

    until: datetime | None
    nodes: tuple[str, ...] = ()
    room: bool = False
    message: str = ""


@dataclass(frozen=True, slots=True)
class Release:
    """The gate is removed, and kube-scheduler places the pod as usual."""


@dataclass(frozen=True, slots=True)
class TakeFreeRoom:
    """The pod gets free room of a node, under a latch."""

    node: str


@dataclass(frozen=True, slots=True)
class WaitForNode:
    """The pod would take free room of a node that is contended just now."""

    node: str
    until: datetime


@dataclass(frozen=True, slots=True)
class Preempt:
    """Less important pods end, and the pod gets into a hold. It waits if that fails."""

    offer: Offer
    wait: Wait


@dataclass(frozen=True, slots=True)
class Refuse:
    """No hold and no room: the pod is marked as unschedulable, and waits."""

    message: str
    wait: Wait = Wait(None)


Move = Park | Wait | Release | TakeFreeRoom | WaitForNode | Preempt | Refuse


def asks_to_wait(pod: Pod) -> bool:
    """Whether a pod asks to wait for a hold, however long that takes."""
    return pod.annotations.get(WAIT_ANNOTATION) == "true" or pod.wish.needs_hold


def decide(view: OwnerView, policy: Policy, now: datetime) -> Move:
    """What happens to an owner now."""
    found = view.found
    if found.offer is not None:
        return Park(found.offer)
    until = view.since + (policy.patience if found.on_its_way else policy.first_look)
    if asks_to_wait(view.pod):
        return _wait(view, until, policy, now)
    if view.door == 2 and found.problem:
        return Refuse(found.problem)
    if now < until:
        return Wait(until, _nodes(found))
    return Release() if view.door == 1 else _without_hold(view, policy, now)


def _wait(view: OwnerView, until: datetime, policy: Policy, now: datetime) -> Move:
    """An owner that asks to wait. At door 2 others may have to give way to it after a while.

    Not every end of a refusal is an event (a stranger's nomination may go), so look again in time.
    """
    found = view.found
    wait = Wait(now + policy.patience if found.refused else None, _nodes(found), room=True)
    if view.door == 1:
        return wait
    told = replace(wait, message=f"waits for a hold: {found.why}")
    if now < until:
        return replace(told, until=earliest(until, told.until))
    offer = view.way_into_a_hold()
    if offer is not None:
        return Preempt(offer, wait)
    return Refuse(f"{NO_MATCH}: {found.why}", wait) if view.pod.wish.needs_hold else told


def _without_hold(view: OwnerView, policy: Policy, now: datetime) -> Move:
    """A pod of our scheduler that no hold is for: as kube-scheduler would place it."""
    room = view.free_room()
    if room.node and room.contended:
        return WaitForNode(room.node, now + policy.first_look)
    if room.node:
        return TakeFreeRoom(room.node)
    offer = view.displacement() if view.pod.wish.shuns else None
    if offer is not None:
        return Park(offer)
    offer = view.way_into_a_hold()
    wait = Wait(None, room=True)
    return Preempt(offer, wait) if offer is not None else Refuse(room.why_not, wait)


def _nodes(found: Search) -> tuple[str, ...]:
    """The nodes on which something has to change before a hold there can answer otherwise."""
    return tuple(dict.fromkeys(refusal.node for refusal in found.refused if refusal.node))


def cannot_judge(things: Iterable[str]) -> str:
    """Say what of a pod our scheduler does not support, and what to do instead."""
    return (
        f"our scheduler cannot judge {', '.join(things)}: leave spec.schedulerName out and add the "
        "scheduling gate headroom.dev/claim instead, then kube-scheduler places the pod"
    )
