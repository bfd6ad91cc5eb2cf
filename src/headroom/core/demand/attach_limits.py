"""Count how many volumes a node can attach, as kube-scheduler's NodeVolumeLimits does.

A CSI driver reports its limit for a node in the CSINode of that node. Volumes are counted by
driver. A volume counts once, however many pods of the node mount it. A claim without a volume
counts as one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from headroom.core.demand.volumes import Storage, mounts
from headroom.core.objects import Pod

Attachment = tuple[str, str]  # a driver, and a volume or the claim that waits for one


def attachments(pod: Pod, storage: Storage) -> frozenset[Attachment]:
    """The volumes that a pod has attached, as far as they are known."""
    found = mounts(pod.key.namespace, dict.fromkeys(pod.claims), storage) if pod.claims else ()
    return frozenset(
        (each.driver, each.volume.name if each.volume else f"{pod.key.namespace}/{each.claim}")
        for each in found
        if each.driver
    )


def are_too_many(
    wanted: frozenset[Attachment], others: Iterable[Pod], node: str, storage: Storage
) -> bool:
    """Whether a node cannot attach these volumes beside those of other pods there."""
    known = storage.drivers.get(node)
    limited = {driver for driver, _ in wanted if known is not None and driver in known.limits}
    if known is None or not limited:
        return False
    there = frozenset(each for pod in others if pod.claims for each in attachments(pod, storage))
    attached = Counter(driver for driver, _ in there)
    new = Counter(driver for driver, _ in wanted - there)
    return any(
        new[driver] and attached[driver] + new[driver] > known.limits[driver] for driver in limited
    )
