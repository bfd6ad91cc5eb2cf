"""Get back the room of a slot of a node that other pods use: they are ended, if this is allowed.

An administrator allows it for a namespace up to a priority (`preempt=N` in its limits). Our own
pods, owners of holds and slots, the cluster's own namespaces, and pods that a disruption budget
protects are spared. As few pods as possible give way, the least important first. A latch is
nominated before the first of them is ended, so that no other pod gets their room.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from datetime import datetime

from headroom.core.eviction.budgets import Budget, by_violation
from headroom.core.eviction.occupants import (
    Occupant,
    importance,
    may_end,
    steps_to_end,
    without_spared,
)
from headroom.core.holds import Hold
from headroom.core.names import LIMITS_ANNOTATION, LOCKED_PRIORITY
from headroom.core.objects import Key, Pod
from headroom.core.plan import Sequence, Work
from headroom.core.policy import Policy
from headroom.core.quotas.namespaces import LimitsError, NamespaceLimits
from headroom.core.subjects import hold_subject

Fits = Callable[[frozenset[Key]], bool]
"""Whether the slot would fit on its node if those pods were gone."""


@dataclass(frozen=True, slots=True)
class Reclaim:
    """What keeps a slot from coming back: `victims` are to give way, `leaving` are on their way.

    Without both its room is free. `refused` is why nobody gives way.
    """

    victims: tuple[Pod, ...] = ()
    leaving: tuple[Pod, ...] = ()
    refused: str = ""

    @property
    def free(self) -> bool:
        return not (self.victims or self.leaving or self.refused)

    @property
    def message(self) -> str:
        names = ", ".join(str(pod.key) for pod in (*self.victims, *self.leaving))
        return self.refused or (f"waits for the end of {names}" if names else "its room is free")


@dataclass(frozen=True, slots=True)
class ReclaimView:
    """A slot with `reclaim: Preempt` whose room others may have, and who is on its node.

    `waits`: it waited already for others to give way. `in_use`: an owner has it or is on its way,
    or its node is gone. `others` are on the node beside what is the slot's own. `fits` says whether
    the slot would fit there if some of them were gone.
    """

    hold: Hold
    waits: bool
    in_use: bool
    guardian: Pod | None
    limits: NamespaceLimits | LimitsError
    others: Callable[[], tuple[Occupant, ...]]
    fits: Fits
    budgets: Collection[Budget] = ()

    @property
    def is_lost(self) -> bool:
        """Whether kube-scheduler has found no room for a slot, or only a part of it is held."""
        if self.in_use or self.guardian is None:
            return self.waits and not self.in_use
        if self.guardian.node:
            return not self.hold.template.pod.requests.fits_in(self.guardian.requests)
        return bool(self.guardian.unschedulable_message or self.guardian.gates)


def reclaim(hold: Hold, freeze: Callable[[], ReclaimView], policy: Policy) -> Reclaim | None:
    """The pods that end for a hold; a view is built only for a slot with `reclaim: Preempt`."""
    return decide(freeze(), policy) if hold.reclaims and not hold.paused else None


def decide(view: ReclaimView, policy: Policy) -> Reclaim | None:
    """The pods that end for a slot; None if it is held like any other slot."""
    if not view.is_lost:
        return None
    limits = view.limits
    if isinstance(limits, NamespaceLimits) and limits.preempt is not None:
        found = _victims_below(view, limits.preempt, policy)
        # Without victims it waits as any guardian does, and an autoscaler may help.
        return found if found is not None and (view.waits or not found.free) else None
    if view.guardian is None or _victims_below(view, LOCKED_PRIORITY, policy) is None:
        return None  # Nobody else is in its way: it waits as any guardian does.
    return Reclaim(refused=not_allowed(view.hold, limits))


def _victims_below(view: ReclaimView, priority: int, policy: Policy) -> Reclaim | None:
    below = min(priority, LOCKED_PRIORITY)
    served = (each for each in view.others() if policy.serves(each.pod.key.namespace))
    others = [each.pod for each in served if each.hold is None and may_end(each.pod, below)]
    return victims(others, view.fits, view.budgets)


def not_allowed(hold: Hold, limits: NamespaceLimits | LimitsError) -> str:
    """Why no pod may be ended for a slot."""
    if isinstance(limits, LimitsError):
        return str(limits)
    return (
        "others have its room, and reclaim: Preempt needs an administrator's leave: "
        f"preempt=PRIORITY in the annotation {LIMITS_ANNOTATION} of namespace {hold.home}"
    )


def victims(others: Iterable[Pod], fits: Fits, budgets: Collection[Budget]) -> Reclaim | None:
    """Which of these pods must end for the slot; None if even all of them would not help."""
    staying = [pod for pod in others if pod.deleted is None]
    leaving = tuple(sorted((pod for pod in others if pod.deleted is not None), key=importance))
    gone = frozenset(pod.key for pod in leaving)
    if fits(frozenset()):
        return Reclaim()
    if fits(gone):
        return Reclaim(leaving=leaving)
    _, eligible = by_violation(sorted(staying, key=importance), budgets)
    gone |= {pod.key for pod in eligible}
    if not fits(gone):
        return None
    gone = without_spared(gone, eligible, fits)
    return Reclaim(tuple(pod for pod in eligible if pod.key in gone), leaving)


def end(hold: Hold, pods: tuple[Pod, ...], now: datetime) -> Sequence:
    """End pods for a slot, each with its own grace period."""
    why = f"for the room of {hold.parent.title}, which is kept on its node"
    return Sequence(Work.PREEMPT, (hold_subject(hold.parent),), steps_to_end(pods, why, now))
