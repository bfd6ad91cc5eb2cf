"""The rest of a hold's room on a node where somebody else ended its guardian.

A pod more important than any hold may preempt a guardian. kube-scheduler ends the whole guardian,
even for a pod that needs little of its room. The rest still belongs to the hold: a latch keeps it
at once, and then a guardian for the rest is created. The same is done for a guardian that somebody
deletes while its node could still have it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from headroom.core.allocation import room_to_keep
from headroom.core.holds import PREEMPTIBLE, Hold
from headroom.core.names import LOCKED_PRIORITY, ROLE_GUARDIAN, ROLE_LABEL
from headroom.core.node.view import Unfit
from headroom.core.objects import Key, Node, Pod
from headroom.core.resources import EMPTY, Resources


@dataclass(frozen=True, slots=True)
class PreemptedView:
    """A hold without a guardian, and the node on which it had one.

    `counted` are the pods that kube-scheduler counts there, `ours` those of them that are the
    hold's own. `elsewhere` says on which node all of the hold would find room; empty for none.
    """

    hold: Hold
    node: Node
    owners: tuple[Pod, ...]
    counted: tuple[Pod, ...]
    ours: frozenset[Key]
    unfit: Unfit
    elsewhere: Callable[[], str]


def was_preempted(guardian: Pod, gone: bool, nominated: Iterable[Pod]) -> bool:
    """Whether somebody preempted a guardian.

    The watch may show that it is `gone` without showing why before; then the pods that are
    nominated to its node tell.
    """
    if not guardian.node or guardian.labels.get(ROLE_LABEL) != ROLE_GUARDIAN:
        return False
    return any(pod.priority > LOCKED_PRIORITY for pod in nominated) if gone else guardian.preempted


def rest(hold: Hold, standing: Pod | None, freeze: Callable[[], PreemptedView | None]) -> Resources:
    """What is left of a hold whose guardian somebody else ended; nothing if the node is gone.

    Nothing is asked of one that has a guardian again, or that pods may take the room of.
    """
    view = freeze() if standing is None and hold.mode != PREEMPTIBLE else None
    return rest_of(view) if view is not None else EMPTY


def rest_of(view: PreemptedView) -> Resources:
    """What is left of a hold's room on the node where somebody else ended its guardian.

    Nothing where all of it is to be had on another node, unless the hold belongs to this one.
    """
    hold, owners, node = view.hold, view.owners, view.node
    if any(pod.node != node.name for pod in owners):
        return EMPTY
    if not (owners or hold.template.node) and view.elsewhere() not in ("", node.name):
        return EMPTY
    free = node.allocatable
    for pod in view.counted:
        free = free if pod.key in view.ours else free.minus(pod.requests)
    part = room_to_keep(hold, [pod for pod in owners if not pod.finished]).at_most(free)
    template = hold.template.pod
    wanted = Pod(template.key, requests=part, placement=template.placement)
    return part if view.unfit(wanted, view.ours) is None else EMPTY
