"""Decide which pods end when a more important owner finds its hold in use.

A pod inside (an owner of the hold) returns its room to the hold only. A pod outside frees room of
the node. So only its own owners help a Restricted hold; both kinds help another hold. Owners of
other holds do not help, because their room is held again at once. First all candidates are removed
in the model. If the pod then fits, as many as possible are spared: first those whose disruption
budget would be violated, then pods outside, then the hold's own owners, the most important first.
A pod that is already terminating counts as gone.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial

from headroom.core.allocation import kept_beside, policy_refusal, room_to_keep
from headroom.core.claims import Offer, standing_refusal
from headroom.core.eviction.budgets import Budget, by_violation
from headroom.core.eviction.occupants import Occupant, importance, may_end, without_spared
from headroom.core.fast_dataclass import replace
from headroom.core.holds import LOCKED, Hold
from headroom.core.node.view import Unfit
from headroom.core.objects import NO_LABELS, Key, Pod
from headroom.core.policy import Policy
from headroom.core.resources import EMPTY, Resources

Fits = Callable[[Resources, frozenset[Key]], bool]
"""Whether a pod that asks for so much would fit on the hold's node if those pods were gone."""


@dataclass(frozen=True, slots=True)
class Crowd:
    """The pods on a hold's node that could end: its owners, and pods without a claim."""

    inside: tuple[Pod, ...]
    outside: tuple[Pod, ...] = ()

    def leaving(self) -> frozenset[Key]:
        return frozenset(
            pod.key for pod in (*self.inside, *self.outside) if pod.deleted is not None
        )


@dataclass(frozen=True, slots=True)
class HoldInUse:
    """A hold with owners in it, and who is on its node.

    `ours` count for nothing there: its guardians, and the latch under which others give way. `owed`
    is free, but returns to other holds.
    """

    hold: Hold
    node: str
    owners: tuple[Pod, ...]
    occupants: tuple[Occupant, ...]
    unfit: Unfit
    ours: frozenset[Key] = frozenset()
    owed: Resources = EMPTY
    labels: Mapping[str, str] = field(default_factory=lambda: NO_LABELS)  # of the node

    def crowd(self, policy: Policy) -> Crowd:
        """The pods that could end: owners, and pods without a claim."""
        inside = tuple(pod for pod in self.owners if pod.occupies_node)
        known = {pod.key for pod in inside}
        outside = (
            each.pod
            for each in self.occupants
            if each.pod.key not in known
            and policy.serves(each.pod.key.namespace)
            and not each.goes_back
        )
        return Crowd(inside, tuple(sorted(outside, key=importance)))

    def fits(self, pod: Pod, asked: Resources, gone: frozenset[Key]) -> bool:
        """Whether a pod with these requests would fit without the pods `gone`."""
        wanted = replace(pod, requests=asked + self.owed)
        return self.unfit(wanted, gone | self.ours) is None


@dataclass(frozen=True, slots=True)
class HoldToEnter:
    """A hold that may be for a pod, and into which it could get if others give way.

    The functions are asked one after the other, as long as the answers allow it. `moving`: the hold
    or its node is being written, or somebody is on the way in or out; what is left then is seen
    then. `use` freezes who is on its node; None if that is not known.
    """

    hold: Hold
    owners: Callable[[], Collection[Pod]]
    moving: Callable[[], bool]
    use: Callable[[], HoldInUse | None]

    def if_at_rest(self) -> HoldInUse | None:
        """The hold with its owners, unless no pods may end for it now."""
        if self.hold.allocate_once or self.hold.mode != LOCKED or not self.owners():
            return None
        return None if self.moving() else self.use()


def find_preemption(
    pod: Pod,
    holds: Iterable[HoldToEnter],
    policy: Policy,
    budgets: Collection[Budget],
    now: datetime,
) -> Offer | None:
    """Find the hold that the pod can get with the least harmful preemption; None if none.

    The least cost: the fewest budgets violated, then the least important of the most important
    victims, then the fewest.
    """
    ways: list[tuple[tuple[int, int, int, int], Offer]] = []
    for each in holds if pod.preempts else ():
        use = each.if_at_rest()
        gone = victims_in(use, pod, policy, budgets, now) if use is not None else None
        if use is not None and gone:
            violating, _ = by_violation(gone, budgets)
            cost = (len(violating), gone[0].priority, len(gone), len(ways))
            ways.append((cost, promise(use.hold, use.crowd(policy), gone, pod, use.node)))
    return min(ways, key=lambda way: way[0])[1] if ways else None


def victims_in(
    use: HoldInUse, pod: Pod, policy: Policy, budgets: Collection[Budget], now: datetime
) -> tuple[Pod, ...] | None:
    """The pods that must end so that the pod gets the hold; None if forbidden or useless."""
    if standing_refusal(use.hold, pod, policy, now, use.labels) is not None:
        return None
    return victims(use.hold, use.crowd(policy), pod, partial(use.fits, pod), budgets)


def victims(
    hold: Hold, crowd: Crowd, pod: Pod, fits: Fits, budgets: Collection[Budget] = ()
) -> tuple[Pod, ...] | None:
    """The pods that must end so that the pod gets the hold, the most important first.

    Empty if it is enough that terminating pods end; None if even all of them would not help.
    """
    if not pod.preempts:
        return None
    leaving = crowd.leaving()
    staying = (other for other in (*crowd.outside, *crowd.inside) if other.key not in leaving)
    eligible = [other for other in staying if may_end(other, pod.priority)]
    if not eligible and not leaving:  # As a rule, all are as important: no need to look further.
        return None
    suffices = partial(_gets_in, hold, crowd, pod, fits)
    if suffices(leaving):
        return ()
    gone = leaving | {other.key for other in eligible}
    if not eligible or not suffices(gone):
        return None
    inside = {other.key for other in crowd.inside}
    _, free_to_go = by_violation(sorted(eligible, key=importance), budgets)
    unbound = {other.key for other in free_to_go}
    first = sorted(
        eligible, key=lambda each: (each.key in unbound, each.key in inside, importance(each))
    )
    gone = without_spared(gone, first, suffices)
    return tuple(sorted((each for each in eligible if each.key in gone), key=importance))


def promise(hold: Hold, crowd: Crowd, gone: Iterable[Pod], pod: Pod, node: str) -> Offer:
    """What the pod gets when those are gone: the hold with what is then left of it."""
    left = _left(hold, crowd, crowd.leaving() | {other.key for other in gone})
    keeper = Pod(Key(hold.home, ""), node=node, requests=left)
    return Offer(hold, keeper, kept_beside(hold, left, pod.requests), preempts=True)


def _gets_in(hold: Hold, crowd: Crowd, pod: Pod, fits: Fits, gone: frozenset[Key]) -> bool:
    staying = [user for user in crowd.inside if user.key not in gone]
    if policy_refusal(hold, staying, pod) is not None:
        return False
    left = _left(hold, crowd, gone)
    if not pod.wish.needs_hold and not any(name in left for name in pod.requests):
        return False
    return fits(pod.requests + kept_beside(hold, left, pod.requests), gone)


def _left(hold: Hold, crowd: Crowd, gone: frozenset[Key]) -> Resources:
    """What nobody uses of the hold when those are gone."""
    return room_to_keep(hold, (user for user in crowd.inside if user.key not in gone))
