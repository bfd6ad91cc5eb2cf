"""Decide what happens to an owner that waits at a door and has no claim yet. Both doors are here.

    DOOR 1: gate headroom.dev/claim             DOOR 2: one of our scheduler names

         all other gates are removed                 its volume claims are bound, or wait for it
            ▼                                           ▼
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
from datetime import datetime

from headroom.core.claims import Offer, Search
from headroom.core.demand.volume_constraints import names_unknown, volume_refusal
from headroom.core.demand.volumes import NO_STORAGE, Storage
from headroom.core.doors.claim_decision import OwnerStage
from headroom.core.fast_dataclass import dataclass, replace
from headroom.core.names import CLAIM_GATE, WAIT_ANNOTATION
from headroom.core.objects import Parent, Pod
from headroom.core.plan import earliest
from headroom.core.policy import Policy

SCHEDULER_ERROR = "SchedulerError"
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
    """An owner at a door. `since` is when it came there, `node` where it is parked.

    `search` looks for a hold. The functions after it are asked only at door 2, and only if no hold
    is offered: each looks at many nodes. `storage` has what its volume claims name, and
    `marked` says as kube-scheduler does that these forbid every node. No function changes anything.
    """

    pod: Pod
    door: int
    since: datetime
    search: Callable[[], Search]
    free_room: Callable[[], FreeRoom]
    find_preemption: Callable[[], Offer | None]
    displacement: Callable[[], Offer | None]
    stage: OwnerStage = OwnerStage.AT_DOOR
    node: str = ""
    storage: Storage = NO_STORAGE
    marked: Callable[[str], str] = str


@dataclass(frozen=True, slots=True)
class Park:
    """The pod gets a hold: it waits for the next handover of the node."""

    offer: Offer


@dataclass(frozen=True, slots=True)
class Wait:
    """The pod waits for a hold. `until`: look again then. `nodes`: look again if one changes.

    `room`: the end of any pod may help. `message` is told once. `anew` is a hold whose handover has
    failed: the time of the pod begins again with that of the hold.
    """

    until: datetime | None
    nodes: tuple[str, ...] = ()
    room: bool = False
    message: str = ""
    anew: Parent | None = None


@dataclass(frozen=True, slots=True)
class BindVolumes:
    """The volumes of a parked pod are bound on its node, before it takes the hold."""

    node: str


@dataclass(frozen=True, slots=True)
class Release:
    """The gate is removed, and kube-scheduler places the pod as usual: `found` says why."""

    found: Search


@dataclass(frozen=True, slots=True)
class TakeFreeRoom:
    """The pod gets free room of a node, under a latch: `found` says why it gets no hold."""

    node: str
    found: Search


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
    reason: str = "Unschedulable"


Move = Park | BindVolumes | Wait | Release | TakeFreeRoom | WaitForNode | Preempt | Refuse
STAY = Wait(None)  # Something else brings the owner back.


def decide(view: OwnerView, policy: Policy, now: datetime) -> Move:
    """What happens to an owner now."""
    first = _at_gate(view, policy, now) if view.door == 1 else _before_search(view, policy, now)
    if first is not None:
        return first
    found = view.search()
    if found.offer is not None:
        return Park(found.offer)
    since = view.since if found.begins_anew is None else now  # A failed handover is not its fault.
    until = since + (policy.patience if found.on_its_way else policy.first_look)
    if view.pod.wish.needs_hold or view.pod.annotations.get(WAIT_ANNOTATION) == "true":
        return _wait(view, found, until, policy, now)
    if view.door == 2 and found.problem:
        return Refuse(found.problem)
    if now < until:
        return Wait(until, _nodes(found), anew=found.begins_anew)
    return Release(found) if view.door == 1 else _without_hold(view, found, policy, now)


def _at_gate(view: OwnerView, policy: Policy, now: datetime) -> Move | None:
    """What must happen before the search for a hold at door 1; None if nothing."""
    if view.pod.gates != (CLAIM_GATE,) or view.stage is OwnerStage.PARKED:
        return STAY  # Other gates come first; their removal brings us back.
    new_until = view.since + policy.first_look
    return Wait(new_until) if now < new_until and names_unknown(view.pod, view.storage) else None


def _before_search(view: OwnerView, policy: Policy, now: datetime) -> Move | None:
    """What must happen before the search for a hold at door 2; None if nothing.

    An object that a new pod names may not be observed yet: kinds have separate streams.
    """
    pod = view.pod
    if pod.unsupported:
        return Refuse(unsupported_message(pod.unsupported), reason=SCHEDULER_ERROR)
    if view.stage is OwnerStage.PARKED and pod.claims:
        return BindVolumes(view.node)
    if view.stage in (OwnerStage.PARKED, OwnerStage.LATCHED):
        return STAY
    unmounted = volume_refusal(pod, view.storage) if pod.claims else ""
    if not unmounted:
        return None
    new_until = view.since + policy.first_look
    return Wait(new_until) if now < new_until else Refuse(view.marked(unmounted))


def _wait(view: OwnerView, found: Search, until: datetime, policy: Policy, now: datetime) -> Move:
    """An owner that asks to wait. At door 2 less important pods may end for it after a while.

    Not every refusal ends with an event (the nomination of another pod may go), so use a timer.
    """
    again = now + policy.patience if found.refused else None
    wait = Wait(again, _nodes(found), room=True, anew=found.begins_anew)
    if view.door == 1:
        return wait
    told = replace(wait, message=f"waits for a hold: {found.why}")
    if now < until:
        return replace(told, until=earliest(until, told.until))
    offer = view.find_preemption()
    if offer is not None:
        return Preempt(offer, wait)
    return Refuse(f"{NO_MATCH}: {found.why}", wait) if view.pod.wish.needs_hold else told


def _without_hold(view: OwnerView, found: Search, policy: Policy, now: datetime) -> Move:
    """A pod at door 2 that no hold matches: place it as kube-scheduler would."""
    room = view.free_room()
    if room.node and room.contended:
        return WaitForNode(room.node, now + policy.first_look)
    if room.node:
        return TakeFreeRoom(room.node, found)
    offer = view.displacement() if view.pod.wish.avoids_holds else None
    if offer is not None:
        return Park(offer)
    offer = view.find_preemption()
    wait = Wait(None, room=True)
    return Preempt(offer, wait) if offer is not None else Refuse(room.why_not, wait)


def _nodes(found: Search) -> tuple[str, ...]:
    """The nodes on which something must change before a hold there can give another answer."""
    return tuple(dict.fromkeys(refusal.node for refusal in found.refused if refusal.node))


def unsupported_message(things: Iterable[str]) -> str:
    """Say what of a pod our scheduler does not support, and what to do instead."""
    return (
        f"our scheduler cannot judge {', '.join(things)}: leave spec.schedulerName out and add the "
        "scheduling gate headroom.dev/claim instead, then kube-scheduler places the pod"
    )
