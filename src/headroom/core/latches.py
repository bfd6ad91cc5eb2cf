"""What to do about a latch: finish the handover it stands for, or take it away in time.

A latch says by its claims which pod was to get which hold; an empty hold means free room of the
node. Everything here is worked out from what is in the API, so a restarted operator does the same.

    claims open ──(stood long enough, owner fits)──▶ delete guardian, bind ──▶ claims settled
        └──(owner gone or does not fit)─────────────────────────────────────▶ claims settled
    claims settled ──(linger)──▶ latch deleted
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from headroom.core.actions import Action, Bind, DeletePod
from headroom.core.holds import Hold
from headroom.core.names import CLAIMS_ANNOTATION, PARENT_ANNOTATION, SLOT_ANNOTATION
from headroom.core.objects import Key, Pod, identity
from headroom.core.plan import Sequence, hold_subject, pod_subject


@dataclass(frozen=True, slots=True)
class LatchClaim:
    """One line of a latch's claims: this pod was to get this hold (or free room, if empty)."""

    owner: Key
    uid: str
    parent: str
    parent_uid: str = ""


@dataclass(frozen=True, slots=True)
class OpenClaim:
    """A claim whose owner still waits: can it be finished, and if not, why."""

    owner: Pod
    hold: Hold | None
    guardian: Pod | None
    unfit: str | None


def claims_text(claims: tuple[tuple[str, str], ...]) -> str:
    """Spell a latch's claims, a line each."""
    return "\n".join(f"{owner} {parent}".rstrip() for owner, parent in claims)


def claims_on(latch: Pod) -> tuple[LatchClaim, ...]:
    """Read a latch's claims; a line that is not ours is passed over."""
    text = latch.annotations.get(CLAIMS_ANNOTATION)
    return _claims_in(text) if text else ()


@lru_cache(maxsize=4096)  # A latch is looked at several times in its short life.
def _claims_in(text: str) -> tuple[LatchClaim, ...]:
    claims = []
    for line in text.splitlines():
        owner, _, hold = line.partition(" ")
        parent, _, uid = hold.partition(" ")
        parts = owner.split("/")
        if len(parts) == 3:
            claims.append(LatchClaim(Key(parts[0], parts[1]), parts[2], parent, uid))
    return tuple(claims)


def kept_for(pod: Pod) -> str:
    """The hold that a guardian or a latch says it stands for."""
    told = pod.annotations
    return identity(told.get(PARENT_ANNOTATION, ""), told.get(SLOT_ANNOTATION, ""))


def parents_on(latch: Pod) -> tuple[str, ...]:
    """The holds that a latch was made for, each once."""
    parents = [kept_for(latch)]
    parents += [claim.parent for claim in claims_on(latch)]
    return tuple(dict.fromkeys(parents))


def finish(latch: Pod, claim: OpenClaim) -> Sequence | None:
    """Hand over what the latch keeps, or nothing if the owner no longer fits."""
    if claim.unfit is not None:
        return None
    subjects = [pod_subject(latch.key), pod_subject(claim.owner.key)]
    steps: list[tuple[Action, ...]] = []
    if claim.hold is not None:
        subjects.append(hold_subject(claim.hold.parent))
    if claim.guardian is not None:
        steps.append((DeletePod(claim.guardian.key, claim.guardian.uid),))
    parent = claim.hold.parent if claim.hold is not None else None
    steps.append((Bind(claim.owner.key, claim.owner.uid, latch.nominated, parent),))
    return Sequence("door2-finish", tuple(subjects), tuple(steps))


def remove(latch: Pod) -> Sequence:
    """Take a latch away."""
    return Sequence("unlatch", (pod_subject(latch.key),), ((DeletePod(latch.key, latch.uid),),))
