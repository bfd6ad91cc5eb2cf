"""Handovers about to start: claims wait here by node, their holds reserved, until the node is free.

One handover a node at a time, whatever the door: in the middle of one, room counts twice, and
kube-scheduler would find the node too full for a second. What arrives meanwhile goes together,
with one latch or one round of writes for all, so a burst costs less per owner, not more. From here
on an owner is expected on its node: whoever may not be beside it goes elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from headroom.core.claims import Offer
from headroom.core.handover import (
    Claim,
    latch_only,
    latches_for,
    nominate_only,
    one_after_another,
    through_gate,
    through_latch,
)
from headroom.core.holds import Hold
from headroom.core.objects import Key, Pod
from headroom.core.plan import Sequence
from headroom.core.resources import Resources
from headroom.core.subjects import hold_subject, node_subject, pod_subject
from headroom.engine.freeze import standing_claims
from headroom.engine.ledger import Ledger
from headroom.engine.node_fit import unfit
from headroom.engine.pending_guardians import blocks, expect, expect_no_more, rivals
from headroom.scheduling.node_filters import in_zone, reached


class HandoverQueue:
    """Claims that were decided and wait for their turn."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._parked: dict[str, list[Claim]] = {}  # by node
        self._owners: dict[Key, str] = {}  # with their nodes
        self._under_way = 0
        self._starting: list[Claim] = []

    def has(self, pod: Pod) -> bool:
        """Whether a claim of this pod waits here."""
        return pod.key in self._owners

    def node_for(self, pod: Pod) -> str:
        """The node on which a claim of this pod waits."""
        return self._owners.get(pod.key, "")

    def park(self, pod: Pod, offer: Offer) -> None:
        """Reserve the hold and wait for the node."""
        ledger, parent = self._ledger, str(offer.hold.parent)
        ledger.reserved.setdefault(parent, []).append((pod, offer))
        left = left_beside(ledger, offer.hold)
        if offer.hold.allocate_once:
            ledger.open.take(parent)
        elif left is not None:
            ledger.open.put(offer.hold, left)  # Nobody is woken: it was there for all before.
        else:
            ledger.shelve(offer.hold, None)  # What is left will be there for the next.
        self._owners[pod.key] = offer.node
        ledger.state.expect(pod, offer.node)
        ledger.owners.choose(offer.hold, pod)
        self._parked.setdefault(offer.node, []).append((pod, offer))

    def finished(self, sequence: Sequence) -> None:
        """A handover that was started here has ended, well or not."""
        self._under_way -= 1

    def nodes(self) -> tuple[str, ...]:
        """The nodes that claims wait for."""
        return tuple(self._parked)

    def launch(self, node: str) -> Iterator[Sequence]:
        """Start what may start on a node."""
        if self._under_way >= self._ledger.policy.handovers_at_once:
            return
        if not self._ledger.agenda.busy(node_subject(node)):
            sequence = self._next(node)
            if sequence is not None:
                self._under_way += 1
                yield sequence

    def drop(self, node: str, now: datetime) -> None:
        """Let go of the claims on a node, which could not be started; all is decided anew."""
        for pod, offer in (*self._starting, *self._parked.pop(node, ())):
            self._owners.pop(pod.key, None)
            self._ledger.reserved.pop(str(offer.hold.parent), None)
            self._ledger.state.unexpect(pod.key)
            self._ledger.agenda.failed(pod_subject(pod.key), now)
            self._ledger.agenda.touch(hold_subject(offer.hold.parent))
        expect_no_more(self._ledger, node_subject(node))

    def unpark(self, pod: Pod, now: datetime) -> None:
        """Let go of a claim that cannot be started; it is decided anew after a pause."""
        node = self._owners.pop(pod.key, "")
        for claim in [each for each in self._parked.get(node, ()) if each[0].key == pod.key]:
            self._unreserve(claim)
            self._keep(node, [each for each in self._parked[node] if each is not claim])
            self._ledger.agenda.touch(hold_subject(claim[1].hold.parent))
        self._ledger.state.unexpect(pod.key)
        self._ledger.agenda.failed(pod_subject(pod.key), now)

    def _next(self, node: str) -> Sequence | None:
        """The next handover on a node: everybody at the door of the claim that came first."""
        ledger = self._ledger
        waiting = [claim for claim in self._parked[node] if not self._is_unmounted(claim)]
        self._starting = []
        if not waiting:
            return None
        door = ledger.door(waiting[0][0])
        if ledger.unsettled_on(node, latches=door == 1):
            expect_no_more(ledger, node_subject(node))
            ledger.spares.dismiss(node)
            return None
        if door == 1 and blocks(ledger, node):
            # No more guardians until those under way are known, or there might always be some.
            expect(ledger, node_subject(node), node)
            return None
        sequence = self._handover(node, door, waiting)
        if sequence is None or door == 2:
            expect_no_more(ledger, node_subject(node))
        return sequence

    def _handover(self, node: str, door: int, waiting: list[Claim]) -> Sequence | None:
        """The handover of those who wait at that door, as far as they go together."""
        ledger = self._ledger
        group = [claim for claim in waiting if ledger.door(claim[0]) == door]
        scarce = short_of_places(ledger, node)
        alone = [claim for claim in group if not _is_quick(claim, scarce and door == 2)]
        if alone:
            group = alone[:1] if alone[0] is group[0] else group[: group.index(alone[0])]
        self._starting = group
        self._keep(node, [claim for claim in self._parked[node] if claim not in group])
        claims = one_after_another(self._taken_up(group))
        if not claims:
            return None
        for _, offer in claims:
            if not offer.hold.allocate_once:  # What is left wakes those who come too late for this.
                ledger.shelve(offer.hold, None)
        if door == 1:
            if not within(claims[0]):
                return nominate_only(claims, ledger.policy.namespace)
            leaving = frozenset(offer.guardian.key for _, offer in claims)
            waiting_too = rivals_on(ledger, node, min(pod.priority for pod, _ in claims), leaving)
            waiting_too += standing_claims(ledger, node)  # They are made again afterwards.
            return through_gate(claims, ledger.policy.namespace, waiting_too)
        latches = latches_for(claims, ledger.policy.namespace, one_each=scarce)
        if not _is_quick(claims[0], scarce):
            return latch_only(claims, latches)
        spares = {latch.key: ledger.spares.take(latch.requests) for latch in latches}
        found = {key: ledger.pods[spare] for key, spare in spares.items() if spare is not None}
        return through_latch(claims, latches, found)

    def _keep(self, node: str, claims: list[Claim]) -> None:
        if claims:
            self._parked[node] = claims
        else:
            del self._parked[node]

    def _taken_up(self, group: list[Claim]) -> list[Claim]:
        """Park claims no longer, and give those that are as they were; the rest is decided anew."""
        good: list[Claim] = []
        for claim in group:
            pod, offer = claim
            self._unreserve(claim)
            self._owners.pop(pod.key, None)
            self._ledger.state.unexpect(pod.key)
            owner = self._owner_of(claim)
            if owner is not None and self._stands(offer):
                self._ledger.state.expect(owner, offer.node)
                good.append(claim)
                continue
            if owner is not None:
                self._ledger.agenda.touch(pod_subject(pod.key))
            if str(offer.hold.parent) in self._ledger.holds:
                self._ledger.agenda.touch(hold_subject(offer.hold.parent))
        return good

    def _owner_of(self, claim: Claim) -> Pod | None:
        """The owner of a parked claim as it is now; None where it may no longer go there."""
        pod, offer = claim
        known = self._ledger.pods.get(pod.key)
        same = known is not None and known.uid == pod.uid
        return known if same and known is not None and self._may_go(known, offer.node) else None

    def _stands(self, offer: Offer) -> bool:
        """Whether the guardian that was offered still keeps its hold's room."""
        hold = self._ledger.holds.get(str(offer.hold.parent))
        guardian = self._ledger.guardian_of(hold) if hold is not None else None
        return guardian is not None and guardian.uid == offer.guardian.uid

    def _unreserve(self, claim: Claim) -> None:
        reserved, parent = self._ledger.reserved, str(claim[1].hold.parent)
        others = [each for each in reserved.pop(parent, ()) if each[0].key != claim[0].key]
        if others:
            reserved[parent] = others

    def _is_unmounted(self, claim: Claim) -> bool:
        """Whether volumes of an owner have still to be bound; its hold is kept for it until then.

        Not once the guardian that it was to replace is another: then all is decided anew.
        """
        pod, offer = claim
        known, hold = self._ledger.pods.get(pod.key), self._ledger.holds.get(str(offer.hold.parent))
        if known is None or known.uid != pod.uid or hold is None:
            return False
        ours = self._stands(offer) and self._ledger.door(known) == 2
        return ours and not self._ledger.volumes.is_ready(known)

    def _may_go(self, pod: Pod, node: str) -> bool:
        """Whether a pod still waits at a door, and we may bind it there with its volumes."""
        ledger = self._ledger
        if ledger.door(pod) != 2 or not pod.claims:
            return ledger.door(pod) > 0
        there = ledger.nodes.get(node)
        mounted = there is not None and reached(pod, there) and in_zone(pod, there)
        return mounted and ledger.volumes.is_ready(pod)


def within(claim: Claim) -> bool:
    """Whether the owner, and what stays held, need nothing but the guardian's room."""
    pod, offer = claim
    return (pod.requests + offer.kept).fits_in(offer.guardian.requests)


def short_of_places(ledger: Ledger, node: str) -> bool:
    """Whether a node is so full by number of pods that each place has to be kept by itself.

    While one latch stands for many owners, kube-scheduler may place others on the node. Where many
    places are free they take those, and no owner's.
    """
    state = ledger.state
    free = state.free_places(node) - len(tuple(state.nominated_on(node)))
    return free < ledger.policy.places_to_spare


def _is_quick(claim: Claim, scarce: bool) -> bool:
    """Whether an owner needs nothing that is free now: neither room nor, if scarce, a place.

    The owner takes the guardian's place; who keeps the rest of the hold needs another one.
    """
    return within(claim) and not (scarce and claim[1].kept)


def left_beside(ledger: Ledger, hold: Hold) -> Resources | None:
    """What owners who wait for a handover leave of a reusable hold, for others to go with them.

    None if they have to go alone: through the gate, or because they need more than the hold has.
    """
    claims = ledger.reserved.get(str(hold.parent), ())
    if hold.allocate_once or not claims:
        return None
    (first, offered), (_, last) = claims[0], claims[-1]
    scarce = short_of_places(ledger, offered.node)
    quick = offered.claims and _is_quick((first, offered), scarce)
    together = quick and ledger.door(first) == 2
    return last.kept if together and last.kept else None


def rivals_on(ledger: Ledger, node: str, priority: int, leaving: frozenset[Key]) -> list[Pod]:
    """Guardians of ours that wait and could take the room that others are about to leave."""
    return rivals(ledger, node, priority, lambda rival: unfit(ledger, rival, node, leaving) is None)
