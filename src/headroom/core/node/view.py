"""One node, frozen: who has a claim on its room, and what keeps it there.

`engine.freeze` builds a `NodeView` when a decision needs one, from pods, their annotations and the
writes in progress. `core.node.kept_room` has the functions that read it. They change nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from datetime import datetime
from types import MappingProxyType
from typing import Any

from headroom.core.allocation import keeps_rest, room_to_keep
from headroom.core.fast_dataclass import dataclass
from headroom.core.holds import Hold
from headroom.core.latches import LatchClaim, claims_on, users_on
from headroom.core.objects import Key, Pod
from headroom.core.renewal import healthiest
from headroom.core.resources import EMPTY, Resources

Unfit = Callable[[Pod, frozenset[Key]], str | None]
"""Why a pod would not fit on a node without these other pods; None if it would fit."""

NOTHING: Mapping[Any, Any] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class HoldRoom:
    """One hold, and the pods that keep or use its room.

    `owners` have a claim on the hold. `slot_users` are owners that use the room of a slot where the
    slot was last held. `latches` keep room for the hold itself. `named_by` are all latches that
    were made for the hold or for its owners. `node` is where the hold's room was last seen.
    """

    hold: Hold
    guardians: tuple[Pod, ...] = ()
    owners: tuple[Pod, ...] = ()
    slot_users: tuple[Pod, ...] = ()
    latches: tuple[Pod, ...] = ()
    named_by: tuple[Pod, ...] = ()
    node: str = ""
    moving: frozenset[Key] = frozenset()  # latches that are being written
    firm_from: Mapping[Key, datetime] = field(default_factory=lambda: NOTHING)  # by latch
    bound_by_us: Mapping[LatchClaim, Resources] = field(default_factory=lambda: NOTHING)
    took_over: frozenset[Key] = frozenset()  # latches that have their room from a guardian

    @property
    def name(self) -> str:
        return self.hold.parent.identity

    @property
    def guardian(self) -> Pod | None:
        """The healthy guardian, if there is one: of two, the one that has a node."""
        return healthiest(self.hold, self.guardians)

    @property
    def users(self) -> tuple[Pod, ...]:
        """Owners that have their room."""
        return (*(pod for pod in self.owners if pod.occupies_node), *self.slot_users)

    @property
    def lacking(self) -> Resources:
        """What neither an owner uses nor a guardian keeps. It may be free for a moment."""
        return self._beyond_guardian(room_to_keep(self.hold, self.users))

    @property
    def latch_keys(self) -> frozenset[Key]:
        return frozenset(latch.key for latch in self.latches)

    def users_on(self, node: str) -> tuple[Pod, ...]:
        """Owners that have their room on this node."""
        return tuple(pod for pod in self.owners if pod.node == node and not pod.finished)

    def lacking_on(self, node: str) -> Resources:
        """The same as `lacking`, if only owners on this node count."""
        return self._beyond_guardian(room_to_keep(self.hold, self.users_on(node)))

    def latched_on(self, node: str) -> Resources:
        """What a latch on a node keeps for the hold, or for an owner on its way into the hold."""
        kept, own = EMPTY, self.latch_keys
        for latch in self.named_by:
            served = latch.key in own and bool(claims_on(latch))
            if latch.nominated == node and not served:
                kept = kept.largest(latch.requests)
        return kept

    def _beyond_guardian(self, size: Resources) -> Resources:
        guardian = self.guardian
        return size.minus(guardian.requests) if guardian is not None and guardian.node else size


@dataclass(frozen=True, slots=True)
class HeldRoom:
    """A hold that may be claimed. `moving`: it is being written, or an owner is about to get it."""

    room: HoldRoom
    moving: bool


@dataclass(frozen=True, slots=True)
class StandingFence:
    """A fence, and since when the watch shows it."""

    pod: Pod
    since: datetime | None


@dataclass(frozen=True, slots=True)
class NodeView:
    """A node at one moment.

    `nominated` are the pods that kube-scheduler counts there before they are bound; `unsettled` are
    those of them that count twice for a moment. `claims` are latches by which holds keep their
    claim on room that owners use. `arriving` are the guardians that we are binding there.
    `returning` are the holds that have owners there, or had some; `owed_since` says for which of
    them room is free, and since when. `places` is how many more pods the node accepts by number.
    """

    name: str
    known: bool
    unfit: Unfit
    labels: Mapping[str, str]
    nominated: tuple[Pod, ...] = ()
    unsettled: frozenset[Key] = frozenset()
    claims: tuple[tuple[Pod, HoldRoom], ...] = ()
    arriving: tuple[tuple[HoldRoom, Resources], ...] = ()
    returning: tuple[HoldRoom, ...] = ()
    owed_since: Mapping[str, datetime] = field(default_factory=lambda: NOTHING)
    fences: tuple[StandingFence, ...] = ()
    places: int = 0
    places_without_arrivals: int = 0
    handing_over: bool = False
    fence_changing: bool = False

    @property
    def claim_keys(self) -> frozenset[Key]:
        return frozenset(latch.key for latch, _ in self.claims)


def is_claim(latch: Pod, hold: Hold) -> bool:
    """Whether a latch keeps a hold's claim on room that owners use: all of it, also their part."""
    return not claims_on(latch) and (keeps_rest(hold) or bool(users_on(latch)))
