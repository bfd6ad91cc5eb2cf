"""Decide what starts next on a node: a frozen value of the claims that wait for it in, a group out.

One handover a node at a time, whatever the door: in the middle of one, room counts twice, and
kube-scheduler would find the node too full for a second. What arrives meanwhile goes together,
with one latch or one round of writes for all, so a burst costs less per owner, not more.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from headroom.core.handover import Claim
from headroom.core.objects import Pod


@dataclass(frozen=True, slots=True)
class ParkedClaim:
    """A claim that waits for its turn. `owner` is its pod as it is now, if it may still go there.

    `ready`: its volumes are bound, or all is to be decided anew. `stands`: the guardian that was
    offered still keeps the room of the hold.
    """

    claim: Claim
    door: int
    owner: Pod | None
    ready: bool = True
    stands: bool = True


@dataclass(frozen=True, slots=True)
class NodeQueue:
    """The claims that wait for one node, in the order in which they came.

    `arriving`: an owner on its way there counts twice for a moment. `latched`: so does a latch that
    outlives its handover. `guardian_coming`: a guardian is being made that may land there. With
    `scarce` places for pods, each place has to be kept by itself.
    """

    claims: tuple[ParkedClaim, ...]
    arriving: bool = False
    latched: bool = False
    guardian_coming: bool = False
    scarce: bool = False


class Pause(Enum):
    """Why nothing starts on a node although a claim is ready."""

    UNSETTLED = "room counts twice"
    GUARDIANS = "guardians are being made"  # No more until those are known, or it might never end.


def next_handover(queue: NodeQueue) -> tuple[ParkedClaim, ...] | Pause | None:
    """The next handover on a node: everybody at the door of the claim that came first.

    Owners that need what is free now go alone. None if no claim is ready.
    """
    ready = [each for each in queue.claims if each.ready]
    if not ready:
        return None
    door = ready[0].door
    if queue.arriving or (door == 1 and queue.latched):
        return Pause.UNSETTLED
    if door == 1 and queue.guardian_coming:
        return Pause.GUARDIANS
    scarce = queue.scarce and door == 2
    group: list[ParkedClaim] = []
    for each in (claim for claim in ready if claim.door == door):
        if not is_quick(each.claim, scarce):
            return tuple(group) or (each,)
        group.append(each)
    return tuple(group)


def within(claim: Claim) -> bool:
    """Whether the owner, and what stays held, need nothing but the guardian's room."""
    pod, offer = claim
    return (pod.requests + offer.kept).fits_in(offer.guardian.requests)


def is_quick(claim: Claim, scarce: bool) -> bool:
    """Whether an owner needs nothing that is free now: neither room nor, if scarce, a place.

    The owner takes the guardian's place; who keeps the rest of the hold needs another one.
    """
    return within(claim) and not (scarce and claim[1].kept)
