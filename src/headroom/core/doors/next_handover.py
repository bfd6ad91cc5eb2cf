"""Decide which handover starts next on a node, from the claims that wait for the node.

A node has one handover at a time, through either door: during a handover room counts twice, and
kube-scheduler would find the node too full for a second one. Owners that arrive meanwhile go
together, with one latch or one round of writes for all. So a burst costs less per owner.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

from headroom.core.fast_dataclass import dataclass
from headroom.core.handover import Claim, is_quick
from headroom.core.objects import Pod
from headroom.core.policy import Policy
from headroom.core.resources import Resources


@dataclass(frozen=True, slots=True)
class ParkedClaim:
    """A claim that waits for its turn.

    `door` is where its owner came, `pod` the owner as it is now and `at_door` where it is now.
    `guardian` is the one that its hold has now. Behind door 2 an owner is `mounted` when its
    volumes are bound, and `reaches` the node with them.
    """

    claim: Claim
    door: int
    pod: Pod | None
    at_door: int
    guardian: Pod | None
    mounted: bool = True
    reaches: bool = True

    @property
    def stands(self) -> bool:
        """Whether the offered guardian still keeps the room of the hold."""
        return self.guardian is not None and self.guardian.uid == self.claim[1].guardian.uid

    @property
    def owner(self) -> Pod | None:
        """The owner, if it may still go to the node."""
        same = self.pod is not None and self.pod.uid == self.claim[0].uid
        return self.pod if same and self.at_door and self.mounted and self.reaches else None

    @property
    def ready(self) -> bool:
        """Whether its volumes are bound, or its guardian has changed: then it is decided again."""
        return self.mounted or not self.stands


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


def may_start(busy: bool, in_progress: int, policy: Policy) -> bool:
    """Whether a handover may start on a node that is `busy` or not, beside those in progress."""
    return not busy and in_progress < policy.handovers_at_once


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


def left_for_others(claims: Sequence[Claim], door: int, scarce: bool) -> Resources | None:
    """What owners who wait for a handover leave of their hold, for others to go with them.

    `door` is that of the first. None if they have to go alone: through the gate, because the hold
    is for one owner, or because they need more than it has.
    """
    if not claims or claims[0][1].hold.allocate_once:
        return None
    (first, offered), (_, last) = claims[0], claims[-1]
    quick = offered.claims and is_quick((first, offered), scarce)
    return last.kept if quick and door == 2 and last.kept else None
