"""What is written on a latch, and the writes that it may need. `latch_decision` says which of them.

The claims of a latch say which pod gets which hold; an empty hold means free room of the node.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from functools import lru_cache

from headroom.core.actions import Bind, DeletePod, MoveLatch
from headroom.core.eviction.occupants import steps_to_end
from headroom.core.fast_dataclass import dataclass
from headroom.core.holds import Hold
from headroom.core.names import (
    CLAIMS_ANNOTATION,
    PARENT_ANNOTATION,
    SLOT_ANNOTATION,
    USERS_ANNOTATION,
)
from headroom.core.objects import Key, Pod, identity
from headroom.core.plan import Sequence, Step, Work
from headroom.core.subjects import Subject, hold_subject, pod_subject

LONGEST_REMEMBERED = 4096  # Memory is not there for tenants to fill with long annotations.

PREEMPTS = "preempts"
"""The last word of a claim for which others have to give way."""


@dataclass(frozen=True, slots=True)
class LatchClaim:
    """One line of a latch's claims: this pod was to get this hold (or free room, if empty).

    With `preempts` less important pods are to give way for it first.
    """

    owner: Key
    uid: str
    parent: str
    parent_uid: str = ""
    preempts: bool = False


@dataclass(frozen=True, slots=True)
class OpenClaim:
    """A claim whose owner still waits: can it be finished, and if not, why.

    `mounted`: the owner has its volumes. If it `preempts` and does not fit, `victims` are the pods
    that still have to be told to end; None if it cannot have the hold in this way either.
    """

    owner: Pod
    hold: Hold | None
    guardian: Pod | None
    unfit: str | None
    preempts: bool = False
    mounted: bool = True
    victims: tuple[Pod, ...] | None = None


def claims_text(claims: tuple[tuple[str, str], ...]) -> str:
    """Format the claims of a latch, one on each line."""
    return "\n".join(f"{owner} {parent}".rstrip() for owner, parent in claims)


def claims_on(latch: Pod) -> tuple[LatchClaim, ...]:
    """Parse the claims of a latch; lines of another format are ignored."""
    if CLAIMS_ANNOTATION not in latch.annotations:
        return ()
    text = latch.annotations[CLAIMS_ANNOTATION]
    return _remembered(text) if len(text) <= LONGEST_REMEMBERED else _claims_in(text)


def _claims_in(text: str) -> tuple[LatchClaim, ...]:
    claims = []
    for line in text.splitlines():
        owner, _, hold = line.partition(" ")
        parent, _, rest = hold.partition(" ")
        uid, _, how = rest.partition(" ")
        parts = owner.split("/")
        if len(parts) == 3:
            key = Key(parts[0], parts[1])
            claims.append(LatchClaim(key, parts[2], parent, uid, how == PREEMPTS))
    return tuple(claims)


_remembered = lru_cache(maxsize=512)(_claims_in)  # A latch is looked at several times.


def kept_for(pod: Pod) -> str:
    """The hold that a guardian or a latch names as the one it keeps room for."""
    whole, slot = pod.annotations.get(PARENT_ANNOTATION, ""), pod.annotations.get(SLOT_ANNOTATION)
    return identity(whole, slot) if slot else whole


def users_on(latch: Pod) -> tuple[str, ...]:
    """The uids of owners that had the room of a slot when its latch was made."""
    return tuple(latch.annotations.get(USERS_ANNOTATION, "").split())


def told_by(hold: Hold, latches: Iterable[Pod]) -> frozenset[str]:
    """The uids of owners of a hold that latches name; only the operator may write latches.

    These are owners that use the hold, and owners whose handover was in progress: an operator that
    dies right after the handover has written them nowhere else.
    """
    this, seen = (hold.parent.identity, hold.parent.uid), tuple(latches)
    lines = (line for latch in seen for line in claims_on(latch))
    named = (line.uid for line in lines if (line.parent, line.parent_uid) == this)
    return frozenset((*named, *(uid for latch in seen for uid in users_on(latch))))


def parents_on(latch: Pod) -> tuple[str, ...]:
    """The holds that a latch was created for, each once."""
    claimed = [claim.parent for claim in claims_on(latch)]
    return tuple(dict.fromkeys((kept_for(latch), *claimed)))


def finish(latch: Pod, claim: OpenClaim) -> Sequence | None:
    """The writes that complete a handover; None if the owner no longer fits."""
    if claim.unfit is not None:
        return None
    owner, hold, guardian = claim.owner, claim.hold, claim.guardian
    parent = hold.parent if hold is not None else None
    steps: tuple[Step, ...] = ((Bind(owner.key, owner.uid, latch.nominated, parent),),)
    if guardian is not None:
        steps = ((DeletePod(guardian.key, guardian.uid),), *steps)
    return Sequence(Work.DOOR2_FINISH, _subjects(latch, owner, hold), steps)


def make_way(
    latch: Pod, owner: Pod, hold: Hold, victims: tuple[Pod, ...], now: datetime
) -> Sequence:
    """End pods, each with the grace that it has, while the latch keeps what they leave."""
    for_whom = f"by pod {owner.key}, which is more important, for the room of {hold.parent.title}"
    steps = steps_to_end(victims, for_whom, now)
    return Sequence(Work.PREEMPT, _subjects(latch, owner, hold), steps)


def keep_for_hold(latch: Pod, hold: Hold) -> Sequence:
    """Change a latch to keep room for the hold alone: its owner does not come."""
    move = MoveLatch(latch.key, latch.uid, hold.parent, latch.nominated, ())
    return Sequence(Work.RELATCH, _subjects(latch, None, hold), ((move,),))


def _subjects(latch: Pod, owner: Pod | None, hold: Hold | None) -> tuple[Subject, ...]:
    pods = tuple(pod_subject(pod.key) for pod in (latch, owner) if pod is not None)
    return (*pods, hold_subject(hold.parent)) if hold is not None else pods


def remove(latch: Pod) -> Sequence:
    """Delete a latch."""
    return Sequence(Work.UNLATCH, (pod_subject(latch.key),), ((DeletePod(latch.key, latch.uid),),))
