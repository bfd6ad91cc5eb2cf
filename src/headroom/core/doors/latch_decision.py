"""Decide about one latch: frozen view in, one `LatchDecision` out.

Most latches are only deleted, half a second after the last of their owners was bound. Before that,
one may be moved to the next handover of its size. Slow handovers, and those of an operator that
died, are finished here. All but the memory is derived from the API, so that a restarted operator
decides the same.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from headroom.core.fast_dataclass import dataclass, replace
from headroom.core.hold_lifecycle import is_leaving
from headroom.core.holds import Hold
from headroom.core.latches import (
    OpenClaim,
    claims_on,
    finish,
    keep_for_hold,
    make_way,
    remove,
    users_on,
)
from headroom.core.names import CLAIMS_ANNOTATION
from headroom.core.objects import Pod
from headroom.core.plan import Sequence
from headroom.core.policy import Policy


@dataclass(frozen=True, slots=True)
class LatchMemory:
    """What is remembered of a latch between two decisions.

    `since` is when it had done what it was for; `use` says what that was, and `guardians` which
    guardians stood by then. With `reusable` it may be moved to another handover. It is `dismissed`
    if somebody needs its node. `given_up`: its owners do not fit, and its holds go on without them.
    """

    use: tuple[str, ...] = ()
    guardians: frozenset[str] = frozenset()
    since: datetime | None = None
    reusable: bool = False
    dismissed: bool = False
    given_up: bool = False


NEW_LATCH = LatchMemory()
LONGEST_DUE = 10
"""How long a latch waits for a guardian that is due, in times of its linger."""


@dataclass(frozen=True, slots=True)
class LatchView:
    """One latch at a moment.

        created ──▶ nominated ──▶ shown by the watch ──▶ firm
                                                          │
        claim open ──(owner fits)──▶ guardian deleted, owner bound ──▶ settled
           ├──(its volumes are not bound)──▶ volumes bound ──▶ as above   ▲
           ├──(it preempts)──▶ less important pods end ──▶ as above       │
           │       └──(it cannot, or is gone)──▶ latch of the hold ───────┤
           ├──(owner gone)────────────────────────────────────────────────┤
           └──(does not fit for a while)──▶ given up: hold held again ────┘
        settled ──(linger, and guardians that are due have come)──▶ reusable ──▶ moved or deleted

    `firm_from` is None as long as the watch has not shown it. `waiting`: an owner that it names has
    no node yet; `open` are the claims of these, once the latch is firm. `writing`: a handover of
    one of them is in progress. `given_up` is a hold for which others gave way, and whose owner
    never came. `keeps_place`: it stands for a hold for as long as that waits. `guardians` stand on
    its node for holds that it was made for (by uid), `coming`: an owner of such a hold is on its
    way, `due`: such a guardian is. `bare`: such a hold still says that it is Available here, and
    only this latch keeps it. `fences` are those in whose place it stands. `waited_for`: somebody
    waits for a change of its node.
    """

    latch: Pod
    memory: LatchMemory = NEW_LATCH
    firm_from: datetime | None = None
    waiting: bool = False
    writing: bool = False
    open: tuple[OpenClaim, ...] = ()
    given_up: Hold | None = None
    keeps_place: bool = False
    guardians: frozenset[str] = frozenset()
    coming: bool = False
    due: bool = False
    bare: bool = False
    fences: tuple[str, ...] = ()
    waited_for: bool = False

    def must_wait(self, now: datetime) -> bool:
        """Whether nothing can be done yet: an event, a handover or a timer comes first."""
        early = self.firm_from is not None and now < self.firm_from
        waits = self.waiting or not claims_on(self.latch)
        return self.firm_from is None or self.writing or (early and waits)


@dataclass(frozen=True, slots=True)
class LatchDecision:
    """What a latch needs: writes, when to look again, what to remember.

    `mounts`: the volumes of this owner have to be bound first. `stuck`: the end of any pod may
    change the decision.
    """

    memory: LatchMemory
    sequence: Sequence | None = None
    wake_at: datetime | None = None
    mounts: OpenClaim | None = None
    stuck: bool = False


def decide(view: LatchView, policy: Policy, now: datetime) -> LatchDecision:
    """Complete the handovers of a latch, or remove the latch when it is no longer needed."""
    latch, memory = view.latch, view.memory
    if not latch.nominated:  # Made, but never put to use: whoever made it starts anew.
        return LatchDecision(memory, remove(latch))
    if view.must_wait(now):
        return LatchDecision(memory, wake_at=None if view.writing else view.firm_from)
    for claim in view.open:
        decision = _go_on(view, claim, now)
        if decision is not None:
            return decision
    if view.given_up is not None:
        return LatchDecision(replace(memory, reusable=False), keep_for_hold(latch, view.given_up))
    return _settled(view, policy, now)


def without_volumes(view: LatchView, claim: OpenClaim, why: str) -> LatchView:
    """The same, where the volumes of an owner cannot be bound on the node of the latch."""
    failed = replace(claim, unfit=why, victims=None)
    return replace(view, open=tuple(failed if each is claim else each for each in view.open))


def _go_on(view: LatchView, claim: OpenClaim, now: datetime) -> LatchDecision | None:
    """The next step for a claim whose owner waits; None if the owner does not fit."""
    latch, hold = view.latch, claim.hold
    if claim.unfit is None and not claim.mounted:
        return LatchDecision(view.memory, mounts=claim)
    sequence = finish(latch, claim)
    if sequence is None:
        if not claim.preempts or hold is None or hold.terminal:
            return None
        if claim.victims is None:
            sequence = keep_for_hold(latch, hold)
        elif claim.victims:
            sequence = make_way(latch, claim.owner, hold, claim.victims, now)
        else:
            return LatchDecision(view.memory, stuck=True)
    return LatchDecision(NEW_LATCH, sequence)


def _settled(view: LatchView, policy: Policy, now: datetime) -> LatchDecision:
    if view.keeps_place:
        return LatchDecision(NEW_LATCH)  # The decision about the hold comes back to it.
    memory, since = _remembered(view, now)
    linger = policy.latch_linger
    gone_at = since + linger
    late = now >= since + LONGEST_DUE * linger
    if view.coming or view.bare or (view.due and not late):
        gone_at = max(gone_at, now + linger)
    if view.waiting and view.due and late:  # A hold does nothing while it expects its owner.
        memory = replace(memory, given_up=True)
    if now < gone_at:
        return LatchDecision(memory, wake_at=gone_at)
    spare_until = gone_at + policy.latch_spare
    in_the_way = view.waited_for or memory.dismissed
    if claims_on(view.latch) and now < spare_until and not in_the_way:
        return LatchDecision(replace(memory, reusable=True), wake_at=spare_until)
    return LatchDecision(memory, remove(view.latch))


def _remembered(view: LatchView, now: datetime) -> tuple[LatchMemory, datetime]:
    """Since when a latch is not needed: a guardian that was bound under it begins that anew.

    Cycles of kube-scheduler that began before do not see that guardian, as with an owner. So does
    an owner on its way: what it leaves of its hold is held again only after it has come.
    """
    latch, memory = view.latch, view.memory
    use = (latch.nominated, latch.annotations.get(CLAIMS_ANNOTATION, ""), *view.fences)
    same = memory.use == use and view.guardians <= memory.guardians
    known = memory.since if same and not view.coming else None
    since = known if known is not None else now
    memory = LatchMemory(
        use, view.guardians, since, dismissed=memory.dismissed, given_up=same and memory.given_up
    )
    return memory, since


def keeps_place(latch: Pod, hold: Hold, users: Iterable[Pod], places: int) -> bool:
    """Whether a latch stands for a hold that waits for the end of a pod: that may take long.

    Or for what owners of a hold leave where no guardian has a place beside them.
    """
    if users_on(latch):
        here = any(pod.occupies_node and pod.node == latch.nominated for pod in users)
        return here and not hold.paused and places < 1
    if hold.status.node != latch.nominated:
        return False
    return hold.status.phase == "Waiting" or any(is_leaving(pod) for pod in users)


def keeps_claim(
    latch: Pod, hold: Hold, slot_users: Iterable[Pod], guardian: Pod | None, lost: bool = False
) -> bool:
    """Whether a latch stands for a slot that owners use and that is bound to their node.

    Or for one that is `lost`: others use its room, and are to give way.
    """
    here = hold.template.node or (guardian.node if guardian is not None else "")
    if hold.paused or latch.nominated != here:
        return False
    room = hold.template.pod.requests
    whole = guardian is not None and bool(guardian.node) and room.fits_in(guardian.requests)
    return not whole and (lost or any(pod.node == latch.nominated for pod in slot_users))
