"""The writes and events on pods that slots follow: label, release, unlabel; why one waits."""

from __future__ import annotations

from datetime import datetime

from headroom.core.actions import LabelPod, Tell, Ungate
from headroom.core.demand.followers import Following
from headroom.core.objects import Pod
from headroom.core.sizes.follow import Follow
from headroom.core.statuses import tell_pod


def next_write(owner: Pod, needs: Following, rule: Follow, label: str) -> LabelPod | Ungate | None:
    """The one write that an owner needs next: labelled before it is released."""
    if needs.over:
        left = label in owner.labels and owner.deleted is None
        return LabelPod(owner.key, owner.uid, label, None) if left else None
    if needs.slots and owner.labels.get(label) != owner.uid:
        return LabelPod(owner.key, owner.uid, label, owner.uid)
    if needs.release:
        return Ungate(owner.key, owner.uid, rule.gate, owner.gates.index(rule.gate))
    return None


def owner_telling(owner: Pod, needs: Following, now: datetime) -> Tell | None:
    """The event that says on a pod why it waits or goes without."""
    match needs.reason:
        case "CannotFollow":
            words = f"no slots can be made for what follows it: {needs.message}"
        case "DeadlinePassed":
            words = needs.message
        case _:
            return None
    return tell_pod(owner, needs.reason, words, now, warn=True)
