"""Check whether owners of a hold or headroom use no door, in objects that were read once."""

from __future__ import annotations

from headroom.cli.source import World
from headroom.core.findings import doors
from headroom.core.headrooms.headrooms import Headroom
from headroom.core.holds import Hold


def without_door(world: World, wish: Hold | Headroom, across_namespaces: bool = False) -> str:
    """Name a pod without a door, and the remedies; empty if there is none.

    If an operator has reported it, its report counts: it has seen gates that were removed since.
    """
    if wish.status.conditions:
        return doors.told_in(wish.status.conditions)
    asking = doors.asking_for_doors(wish)
    if asking is None:
        return ""
    enabled = {each.name for each in world.namespaces if doors.opted_in(each)}
    schedulers = world.codecs.schedulers
    using = {
        owner.uid for pod in world.pods if doors.at_door(pod, schedulers) for owner in pod.owners
    }
    for pod in sorted(world.pods, key=lambda pod: pod.key):
        if (
            doors.may_lack_door(pod)
            and not doors.at_door(pod, schedulers)
            and pod.key.namespace not in enabled
            and not any(owner.uid in using for owner in pod.owners)
            and doors.is_for(asking, pod, across_namespaces)
        ):
            return doors.remark(pod.key)
    return ""


def told_reason(wish: Hold | Headroom) -> str:
    """The reason to show in a list if there is no more urgent one."""
    return doors.OWNERS_WITHOUT_DOOR if doors.told_in(wish.status.conditions) else ""
