"""Guardians that somebody else has ended: hold their room again, or what is left of it.

A pod more important than any hold may preempt a guardian. kube-scheduler ends the whole guardian,
even for a pod that needs little of its room. The rest still belongs to the hold: a latch keeps it
at once, and then a guardian for the rest is created. The same is done for a guardian that somebody
deletes while its node could still have it. The memory of the hold says on which node that happened.
"""

from __future__ import annotations

from dataclasses import replace

from headroom.core.allocation import to_keep
from headroom.core.holds import PREEMPTIBLE, Hold
from headroom.core.latches import kept_for
from headroom.core.names import LOCKED_PRIORITY, ROLE_GUARDIAN, ROLE_LABEL
from headroom.core.objects import Pod
from headroom.core.resources import EMPTY, Resources
from headroom.engine.ledger import Ledger
from headroom.engine.node_fit import unfit
from headroom.scheduling.choose import ChosenNode, choose


def note_preempted(ledger: Ledger, pod: Pod, gone: bool = False) -> None:
    """Remember where a guardian was preempted.

    The watch may show that it is `gone` without showing why before; then the pods that are
    nominated to its node tell.
    """
    if not pod.node or pod.labels.get(ROLE_LABEL) != ROLE_GUARDIAN:
        return
    nominated = ledger.state.nominated_on(pod.node) if gone else ()
    if any(other.priority > LOCKED_PRIORITY for other in nominated) or (pod.preempted and not gone):
        parent = kept_for(pod)
        ledger.memory[parent] = replace(ledger.memory[parent], preempted_on=pod.node)


def rest_of(ledger: Ledger, hold: Hold, node: str, standing: Pod | None) -> Resources:
    """What is left of a hold's room on the node where somebody else ended its guardian.

    Nothing where nobody did, or where all of it is to be had on another node, unless the hold
    belongs to this one.
    """
    owners = ledger.claimants_of(hold)
    if not node or standing is not None or hold.mode == PREEMPTIBLE:
        return EMPTY
    if any(pod.node != node for pod in owners):
        return EMPTY
    stays = bool(owners or hold.template.node)
    elsewhere = None if stays else choose(hold.template.pod, ledger.state)
    known = ledger.nodes.get(node)
    if known is None or (isinstance(elsewhere, ChosenNode) and elsewhere.node != node):
        return EMPTY
    going = {pod.key for pod in (*ledger.latches_of(hold), *ledger.guardians_of(hold))}
    free = known.allocatable
    for pod in (*ledger.state.pods_on(node), *ledger.state.nominated_on(node)):
        free = free if pod.key in going else free.minus(pod.requests)
    asked = to_keep(hold, [pod for pod in owners if not pod.finished])
    part = Resources({name: min(amount, free[name]) for name, amount in asked.items()})
    template = hold.template.pod
    wanted = Pod(template.key, requests=part, placement=template.placement)
    return part if unfit(ledger, wanted, node, frozenset(going)) is None else EMPTY
