"""Owners of our scheduler that find their hold in use: less important pods give way to them.

First a latch is created that names the owner and keeps the room that will be free. Only when it is
firm are the victims ended. The next step is derived from the latch and the existing pods, so
another operator can continue, and no other pod gets the room.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import chain

from headroom.core.claims import Offer, claim_of, standing_refusal
from headroom.core.eviction.budgets import by_violation
from headroom.core.eviction.preemption import Crowd, importance, promise, victims
from headroom.core.holds import LOCKED, Hold
from headroom.core.names import ROLE_LABEL
from headroom.core.node.kept_room import returned_on
from headroom.core.objects import Key, Pod
from headroom.core.resources import EMPTY, Resources
from headroom.core.subjects import hold_subject, node_subject
from headroom.engine.freeze import node_view
from headroom.engine.ledger import Ledger
from headroom.engine.node_fit import labels_around, unfit
from headroom.engine.observation.owners import owns


@dataclass(frozen=True, slots=True)
class Spot:
    """Where victims are looked for: pods that count for nothing there, and what is not free."""

    node: str
    ours: frozenset[Key] = frozenset()
    owed: Resources = EMPTY


def way_into_a_hold(ledger: Ledger, pod: Pod, now: datetime) -> Offer | None:
    """Find the hold that the pod gets at the least cost if others give way; None if there is none.

    The least cost: the fewest budgets violated, then the least important of the most important
    victims, then the fewest.
    """
    if not pod.preempts:
        return None
    ways: list[tuple[tuple[int, int, int, int], Offer]] = []
    budgets = ledger.budgets.values()
    for hold, node in _in_use(ledger, pod, now):
        crowd = crowd_on(ledger, hold, node)
        owed = returned_on(node_view(ledger, node, now), now, str(hold.parent))
        spot = Spot(node, owed=owed)
        gone = _victims(ledger, hold, crowd, pod, spot)
        if gone:
            violating, _ = by_violation(gone, budgets)
            cost = (len(violating), gone[0].priority, len(gone), len(ways))
            ways.append((cost, promise(hold, crowd, gone, pod, node)))
    return min(ways, key=lambda way: way[0])[1] if ways else None


def victims_under(
    ledger: Ledger, latch: Pod, owner: Pod, hold: Hold, now: datetime
) -> tuple[Pod, ...] | None:
    """Who still has to give way under a latch, nobody as long as they are leaving.

    None if the owner cannot have the hold in this way any more.
    """
    node = latch.nominated
    if standing_refusal(hold, owner, ledger.policy, now, labels_around(ledger, node)) is not None:
        return None
    spot = Spot(node, frozenset({latch.key}))  # What it keeps has been looked at.
    return _victims(ledger, hold, crowd_on(ledger, hold, node), owner, spot)


def crowd_on(ledger: Ledger, hold: Hold, node: str) -> Crowd:
    """Who is on a hold's node: its owners, and pods that no hold is kept for."""
    inside = tuple(pod for pod in ledger.claimants_of(hold) if pod.occupies_node)
    owners = {pod.key for pod in inside}
    others = (
        pod
        for pod in ledger.state.pods_on(node)
        if pod.key not in owners and ledger.policy.serves(pod.key.namespace)
    )
    outside = (pod for pod in others if not _is_kept_for(ledger, pod))
    return Crowd(inside, tuple(sorted(outside, key=importance)))


def _is_kept_for(ledger: Ledger, pod: Pod) -> bool:
    """Whether a hold has what this pod leaves: it is its guardian, or uses it."""
    if ROLE_LABEL in pod.labels:
        return True
    claim = claim_of(pod)
    hold = ledger.holds.get(claim[0]) if claim is not None else None
    if hold is None or hold.terminal or hold.allocate_once:
        return False
    return owns(ledger, hold, pod)


def _in_use(ledger: Ledger, pod: Pod, now: datetime) -> Iterator[tuple[Hold, str]]:
    """Holds for the pod, at rest and with owners in them, and their nodes."""
    for parent in chain(ledger.open.for_pod(pod), ledger.coming.for_pod(pod)):
        hold = ledger.holds[parent]
        if hold.allocate_once or hold.mode != LOCKED or not ledger.claimants_of(hold):
            continue
        node = ledger.memory[parent].node or hold.status.node
        busy = any(map(ledger.agenda.busy, (hold_subject(hold.parent), node_subject(node))))
        if busy or node not in ledger.nodes:
            continue
        if ledger.promised(hold) or ledger.latches_of(hold):
            continue  # Somebody is on the way in or out; what is left then is seen then.
        around = labels_around(ledger, node)
        if standing_refusal(hold, pod, ledger.policy, now, around) is None:
            yield hold, node


def _victims(
    ledger: Ledger, hold: Hold, crowd: Crowd, pod: Pod, spot: Spot
) -> tuple[Pod, ...] | None:
    ours = spot.ours | {guardian.key for guardian in ledger.guardians_of(hold)}

    def fits(asked: Resources, gone: frozenset[Key]) -> bool:
        wanted = replace(pod, requests=asked + spot.owed)
        return unfit(ledger, wanted, spot.node, gone | ours) is None

    return victims(hold, crowd, pod, fits, ledger.budgets.values())
