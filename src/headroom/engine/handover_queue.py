"""Handovers that are about to start: owners wait for their node, and their holds are reserved.

`core.doors.next_handover` says what starts next on a node. A parked owner is expected on its node:
pods that may not be beside it go elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from functools import partial

from headroom.core.claims import Offer
from headroom.core.demand.volume_constraints import is_mounted
from headroom.core.doors.next_handover import (
    NodeQueue,
    ParkedClaim,
    Pause,
    left_for_others,
    may_start,
    next_handover,
)
from headroom.core.fast_dataclass import replace
from headroom.core.handover import Claim, is_quick, nominate_only, through_gate, through_latch
from headroom.core.holds import Hold
from headroom.core.index_entries import By, Entry
from headroom.core.objects import Key, Pod
from headroom.core.plan import Sequence, Work
from headroom.core.resources import Resources
from headroom.core.subjects import hold_subject, node_subject, pod_subject
from headroom.engine.freeze import standing_claims, unfit, unsettled_on
from headroom.engine.latch_controller import dismiss
from headroom.engine.ledger import Ledger
from headroom.engine.pending_guardians import blocks, expect, expect_no_more, rivals
from headroom.scheduling.node_filters import in_zone, reached

GATE_WORK = (Work.DOOR1, Work.DOOR1_SLOW)  # It says itself that its owners are on their way.


def park(ledger: Ledger, pod: Pod, offer: Offer) -> None:
    """Reserve the hold and wait for the node."""
    parent = offer.hold.parent.identity
    ledger.parked[pod.key] = pod, offer
    where = Entry(By.PARKED, offer.node), Entry(By.RESERVED, parent)
    ledger.handovers.put(pod.key, where)
    if offer.hold.allocate_once:
        ledger.open.remove(parent)
    elif (left := left_beside(ledger, offer.hold)) is not None:
        ledger.open.add(offer.hold, left)  # Nobody is woken: it was there for all before.
    else:
        ledger.set_claimable(offer.hold, None)  # What is left will be there for the next.
    ledger.state.expect(pod, offer.node)
    chosen = parent, offer.hold.parent.uid
    ledger.pod_memory[pod.uid] = replace(ledger.pod_memory[pod.uid], chosen=chosen)


def start_handover(ledger: Ledger, node: str) -> Iterable[Sequence]:
    """Start what may start on a node: one handover at most."""
    busy, in_progress = ledger.agenda.busy(node_subject(node)), len(ledger.work.of(By.HANDOVER))
    if not may_start(busy, in_progress, ledger.policy):
        return ()
    queue = node_queue(ledger, node)
    chosen, sequence = next_handover(queue), None
    if chosen is Pause.GUARDIANS:
        expect(ledger, node_subject(node), node)  # Or there might always be another one.
    if chosen is None or chosen is Pause.GUARDIANS:
        return ()
    if not isinstance(chosen, Pause):
        sequence = _begin(ledger, node, chosen, queue.scarce)
    if sequence is None or sequence.work not in GATE_WORK:
        expect_no_more(ledger, node_subject(node))
    if chosen is Pause.UNSETTLED:
        dismiss(ledger, node)
    return (sequence,) if sequence is not None else ()


def drop(ledger: Ledger, node: str, now: datetime) -> None:
    """Drop the waiting claims of a node, which could not start; their owners are decided again."""
    for pod, _ in parked(ledger, By.PARKED, node):
        unpark(ledger, pod.key, now)
    expect_no_more(ledger, node_subject(node))


def parked(ledger: Ledger, by: By, value: str) -> tuple[Claim, ...]:
    """The claims that wait for a node or for a hold, in order of arrival."""
    return tuple([ledger.parked[key] for key in ledger.handovers.of(by, value)])


def unpark(ledger: Ledger, key: Key, now: datetime) -> None:
    """Drop the waiting claim of a pod, which cannot start; the pod is decided again later."""
    ledger.handovers.put(key)
    _, offer = ledger.parked.pop(key)
    ledger.state.unexpect(key)
    ledger.agenda.touch(hold_subject(offer.hold.parent))
    ledger.agenda.failed(pod_subject(key), now)


def node_queue(ledger: Ledger, node: str) -> NodeQueue:
    """The claims that wait for a node, as they are now."""
    claims = tuple(_parked(ledger, claim) for claim in parked(ledger, By.PARKED, node))
    gated = any(each.door == 1 for each in claims)
    return NodeQueue(
        claims,
        arriving=bool(unsettled_on(ledger, node, latches=False)),
        latched=gated and bool(unsettled_on(ledger, node)),
        guardian_coming=gated and blocks(ledger, node),
        scarce=short_of_places(ledger, node),
    )


def _parked(ledger: Ledger, claim: Claim) -> ParkedClaim:
    """A claim as it is now."""
    pod, offer = claim
    known, hold = ledger.pods.get(pod.key), ledger.holds.get(offer.hold.parent.identity)
    guardian = ledger.guardian_of(hold) if hold is not None else None
    at_door = ledger.door(known) if known is not None else 0
    door = at_door if known is pod else ledger.door(pod)
    found = ParkedClaim(claim, door, known, at_door, guardian)
    there = ledger.nodes.get(offer.node)
    if known is None or known.uid != pod.uid or at_door != 2 or not known.claims:
        return found
    mounted = is_mounted(known, ledger.storage)
    reaches = there is not None and reached(known, there) and in_zone(known, there)
    return replace(found, mounted=mounted, reaches=reaches)


def _begin(
    ledger: Ledger, node: str, group: tuple[ParkedClaim, ...], scarce: bool
) -> Sequence | None:
    """The handover of a group; owners that have changed meanwhile are decided again."""
    claims = [each.claim for each in group if each.owner is not None and each.stands]
    sequence = None
    if claims and group[0].door == 2:
        spares = partial(_spares, ledger)
        sequence = through_latch(claims, ledger.policy.namespace, scarce, spares)
    elif claims:
        sequence = _through_gate(ledger, node, claims)
    for each in group:
        (pod, offer), owner = each.claim, each.owner
        ledger.handovers.put(pod.key)
        del ledger.parked[pod.key]
        if owner is not None and each.stands:
            if owner is not pod:
                ledger.state.expect(owner, offer.node)
            if not offer.hold.allocate_once:  # What is left wakes those who come too late for this.
                ledger.set_claimable(offer.hold, None)
            continue
        ledger.state.unexpect(pod.key)
        if owner is not None:
            ledger.agenda.touch(pod_subject(pod.key))
        if offer.hold.parent.identity in ledger.holds:
            ledger.agenda.touch(hold_subject(offer.hold.parent))
    return sequence


def _through_gate(ledger: Ledger, node: str, claims: list[Claim]) -> Sequence:
    """What is to be written for owners at the gate that go to a node together."""
    namespace = ledger.policy.namespace
    if not is_quick(claims[0]):
        return nominate_only(claims, namespace)
    leaving = frozenset(offer.guardian.key for _, offer in claims)
    waiting = rivals_on(ledger, node, min(pod.priority for pod, _ in claims), leaving)
    waiting += standing_claims(ledger, node)  # They are made again after the handover.
    return through_gate(claims, namespace, waiting)


def _spares(ledger: Ledger, size: Resources) -> Iterator[Pod]:
    """The spare latches of a size, which can be moved."""
    return (ledger.pods[key] for key in ledger.handovers.of(By.REUSABLE_LATCH, size))


def short_of_places(ledger: Ledger, node: str) -> bool:
    """Whether a node is so full by number of pods that each place has to be kept by itself.

    While one latch stands for many owners, kube-scheduler may place others on the node. Where many
    places are free they take those, and no owner's.
    """
    state = ledger.state
    free = state.free_places(node) - len(state.nominated_on(node))
    return free < ledger.policy.places_to_spare


def left_beside(ledger: Ledger, hold: Hold) -> Resources | None:
    """What waiting owners leave of a reusable hold, for other owners that join their handover."""
    claims = parked(ledger, By.RESERVED, hold.parent.identity)
    if not claims:
        return None
    pod, offer = claims[0]
    return left_for_others(claims, ledger.door(pod), short_of_places(ledger, offer.node))


def rivals_on(ledger: Ledger, node: str, priority: int, leaving: frozenset[Key]) -> list[Pod]:
    """Guardians of ours that wait and could take the room that others are about to leave."""
    return rivals(ledger, node, priority, lambda rival: unfit(ledger, rival, node, leaving) is None)
