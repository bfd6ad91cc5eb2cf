"""Guardians that must be renewed: created from an older template, or too old.

The successor is created first and the old guardian is deleted when the successor has a node, so the
room is never free in between. If both do not fit, the old one is replaced under a latch
(`handover.shrink`). Two names alternate, so that both guardians can exist at the same time.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from headroom.core.allocation import is_short
from headroom.core.derived_names import guardian_names, shape_of
from headroom.core.fast_dataclass import dataclass
from headroom.core.holds import Hold
from headroom.core.names import SHAPE_ANNOTATION
from headroom.core.objects import Pod
from headroom.core.plan import earliest


@dataclass(frozen=True, slots=True)
class Guardians:
    """The guardians of one hold by their role.

    `standing` keeps the room, or waits for it; `successor` will replace it and has no node yet;
    `needless` are to be deleted. `due`: the standing one has a node and must be renewed.
    """

    standing: Pod | None
    successor: Pod | None = None
    needless: tuple[Pod, ...] = ()
    due: bool = False

    @property
    def settled(self) -> bool:
        """Whether a guardian has its node, and none is to come instead of it."""
        return self.standing is not None and bool(self.standing.node) and not self.due


NO_GUARDIANS = Guardians(None)


def guardian_roles(hold: Hold, guardians: Sequence[Pod], now: datetime) -> Guardians:
    """Give each guardian its role: one with a node comes before one that waits, then the newest.

    If an owner has a part of a slot, a whole guardian comes before one that keeps the rest.
    """
    healthy = [pod for pod in guardians if not pod.finished and pod.deleted is None]
    seated = [pod for pod in healthy if pod.node]
    new = [pod for pod in seated if not outdated(hold, pod, now)]
    waiting = [pod for pod in healthy if not pod.node and not outdated(hold, pod, now)]
    whole = [pod for pod in new if not is_short(hold, pod)]
    standing = next(iter((*whole, *new, *seated, *waiting)), None)
    successor = None
    if standing is not None and standing.node and not whole:
        successor = next(iter(waiting), None)
    kept = [pod.uid for pod in (standing, successor) if pod is not None]
    needless = tuple(
        pod for pod in guardians if pod.deleted is None and (pod.finished or pod.uid not in kept)
    )
    due = standing is not None and bool(standing.node) and standing not in new
    return Guardians(standing, successor, needless, due)


def outdated(hold: Hold, guardian: Pod, now: datetime) -> bool:
    """Whether a guardian must be renewed."""
    if not has_shape_of(hold, guardian) or not _has_owners(hold, guardian):
        return True
    created = guardian.created
    if created is None:
        return False
    # The API server stamps whole seconds: one made in the second of a start is not older than it.
    started = hold.fresh_since.replace(microsecond=0) if hold.fresh_since else None
    if started is not None and started <= now and created.replace(microsecond=0) < started:
        return True
    return bool(hold.lifetime) and hold.lifetime is not None and created + hold.lifetime <= now


def has_shape_of(hold: Hold, guardian: Pod) -> bool:
    """Whether a guardian is as it would be made now; one that does not say so is taken as such."""
    return guardian.annotations.get(SHAPE_ANNOTATION) in (None, shape_of(hold))


def healthiest(hold: Hold, guardians: Sequence[Pod]) -> Pod | None:
    """The guardian that counts: of two that are sound, the one that has a node."""
    sound = [pod for pod in guardians if not pod.finished and pod.deleted is None]
    if len(sound) > 1:
        return max(sound, key=lambda pod: (bool(pod.node), has_shape_of(hold, pod), pod.key))
    return sound[0] if sound else None


def _has_owners(hold: Hold, guardian: Pod) -> bool:
    """Whether a guardian has the controller and the further owner that one would be made with.

    One from before there were SlotSets is controlled by the object that asked for it, and stays.
    """
    first, further = hold.template.controller, hold.template.owner
    if first is not None:
        controllers = [owner.uid for owner in guardian.owners if owner.controller]
        if first.uid not in controllers and hold.parent.uid not in controllers:
            return False
    return further is None or any(owner.uid == further.uid for owner in guardian.owners)


def outdated_at(hold: Hold, guardian: Pod, now: datetime) -> datetime | None:
    """When a guardian that is not to be renewed yet will be; None for never."""
    created = guardian.created
    if created is None:
        return None
    by_age = created + hold.lifetime if hold.lifetime else None
    by_start = hold.fresh_since if hold.fresh_since and hold.fresh_since > now else None
    return earliest(by_age, by_start)


def successor_name(hold: Hold, standing: Pod) -> str:
    """The one of a hold's two guardian names that is free."""
    first, second = guardian_names(hold)
    return second if standing.key.name == first else first
