"""The holds and the owners that a latch names: what is missing, and who gets no room.

`latch_decision` decides about the latch itself. `engine.latch_controller` builds the views; this
module has the rules about them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime

from headroom.core.allocation import is_short, keeps_rest, kept_beside, policy_refusal, room_to_keep
from headroom.core.claims import standing_refusal
from headroom.core.fast_dataclass import dataclass
from headroom.core.fences import returns
from headroom.core.holds import Hold
from headroom.core.latches import LatchClaim
from headroom.core.node.view import Unfit
from headroom.core.objects import Key, Pod
from headroom.core.policy import Policy
from headroom.core.quotas.charges import is_charge
from headroom.core.renewal import healthiest
from headroom.core.resources import EMPTY, TOO_MANY_PODS, Resources


@dataclass(frozen=True, slots=True)
class LatchedHold:
    """A hold that a latch was made for.

    `users` have the room of the hold: owners of a slot where it was last held, otherwise those with
    a claim. `writing`: something is written about the hold, `writing_status`: its status is.
    `relieved`: another latch keeps what owners leave where no guardian has a place.
    """

    hold: Hold
    guardians: tuple[Pod, ...]
    owners: tuple[Pod, ...]
    users: tuple[Pod, ...]
    writing: bool = False
    writing_status: bool = False
    relieved: bool = False


def is_due(each: LatchedHold, places: int) -> bool:
    """Whether the guardian of a hold, or where it has no place a latch of its own, is to come.

    `places` is how many more pods the node of the latch accepts by number. A slot is looked for
    elsewhere, or has its claim.
    """
    hold = each.hold
    if hold.terminal or (places < 1 and (not returns(hold) or each.relieved)):
        return False
    size = room_to_keep(hold, each.users)
    if not size:
        return False
    guardian = healthiest(hold, each.guardians)
    if each.writing or guardian is None or is_charge(guardian):
        return True
    rest = keeps_rest(hold) and not is_short(hold, guardian)
    return rest and not size.fits_in(guardian.requests)


def is_bare(each: LatchedHold, latch: Pod, came: Iterable[Pod], places: int) -> bool:
    """Whether a hold says that it is held on the node of a latch, and only the latch keeps it.

    It says so until the API server has taken the status that says otherwise. `came` are the owners
    that have got their room under the latch. A node without a place for one more pod keeps its room
    by itself.
    """
    hold, node = each.hold, latch.nominated
    if hold.slot or hold.terminal or places < 1:
        return False
    told = hold.status.phase == "Available" and hold.status.node == node
    if not (told or each.writing_status) or any(pod.node == node for pod in each.guardians):
        return False
    given = sum((pod.requests for pod in came), EMPTY)
    return bool(latch.requests.minus(given) and room_to_keep(hold, each.owners))


@dataclass(frozen=True, slots=True)
class LatchedOwner:
    """An owner that a latch names and that has no node yet.

    `hold` is the very hold that it was to get, `guardian` keeps its room on the node of the latch.
    `users` have a claim on the hold, and `latches` were made for it. `own_latches` name the owner.
    `places` is how many more pods the node accepts beside it.
    """

    owner: Pod
    claim: LatchClaim
    hold: Hold | None
    guardian: Pod | None
    users: tuple[Pod, ...]
    latches: tuple[Pod, ...]
    own_latches: frozenset[Key]
    places: int


@dataclass(frozen=True, slots=True)
class LatchedNode:
    """The node of a latch. `standing` are the latches there, each with what guardians still keep
    of that for which it was made."""

    unfit: Unfit
    labels: Mapping[str, str]
    standing: tuple[tuple[Pod, Resources], ...]

    @property
    def counted_twice(self) -> frozenset[Key]:
        """Latches whose guardians still stand there: their room is not needed twice."""
        found = (latch for latch, guarded in self.standing if latch.requests.fits_in(guarded))
        return frozenset(latch.key for latch in found)


def why_not(
    latch: Pod, each: LatchedOwner, node: LatchedNode, policy: Policy, now: datetime
) -> str | None:
    """Why an owner does not get its room; None if it does.

    It must fit where the latch stands, and so must what stays held of its hold.
    """
    owner, hold, guardian = each.owner, each.hold, each.guardian
    without = node.counted_twice | each.own_latches | {latch.key}
    if guardian is not None:
        without |= {guardian.key}
    why = node.unfit(owner, without)
    if hold is not None and guardian is not None:
        kept = kept_beside(hold, guardian.requests, owner.requests)
        if why is None and kept and not returns(hold) and each.places < 1:
            why = TOO_MANY_PODS
        if not _covers(latch, each.latches, hold, guardian):
            why = why or "what keeps the rest of its hold is gone"
    return why or (_refusal(each, node.labels, policy, now) if each.claim.parent else None)


def _covers(latch: Pod, latches: tuple[Pod, ...], hold: Hold, guardian: Pod) -> bool:
    """Whether latches keep all that the guardian of a hold for many gives up.

    Where places are scarce there are several of them, and one may not have come to stand.
    """
    if hold.allocate_once and not keeps_rest(hold):
        return True
    stand = (other.requests for other in latches if other.nominated == latch.nominated)
    return guardian.requests.fits_in(sum(stand, EMPTY))


def _refusal(
    each: LatchedOwner, labels: Mapping[str, str], policy: Policy, now: datetime
) -> str | None:
    """Why the rules of its hold do not let an owner in any more."""
    hold, users = each.hold, each.users
    if hold is None or standing_refusal(hold, each.owner, policy, now, labels):
        return "its hold is gone"
    if hold.allocate_once:  # Who carries a claim came first.
        return "its hold is given to another" if users else None
    return policy_refusal(hold, [user for user in users if not user.finished], each.owner)
