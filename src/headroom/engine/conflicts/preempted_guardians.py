"""Guardians that a pod more important than any hold has preempted: hold the rest again.

kube-scheduler ends the whole guardian, even for a pod that needs little of its room. The rest still
belongs to the hold: a latch keeps it at once, and when the other pod is bound, a guardian for the
rest is created.
"""

from __future__ import annotations

from headroom.core.holds import PREEMPTIBLE, Hold
from headroom.core.latches import kept_for
from headroom.core.names import LOCKED_PRIORITY, ROLE_GUARDIAN, ROLE_LABEL
from headroom.core.objects import Pod
from headroom.core.resources import EMPTY, Resources
from headroom.engine.ledger import Ledger
from headroom.engine.node_fit import unfit
from headroom.scheduling.choose import ChosenNode, choose


class Ousted:
    """Remembers on which node the guardian of a hold was preempted, until it has one again."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._nodes: dict[str, str] = {}

    def note(self, pod: Pod) -> None:
        """The watch shows a pod."""
        if pod.preempted and pod.node and pod.labels.get(ROLE_LABEL) == ROLE_GUARDIAN:
            self._nodes[kept_for(pod)] = pod.node

    def lost(self, pod: Pod | None) -> None:
        """The watch shows that a pod is gone; it may not have shown before why."""
        if pod is None or not pod.node or pod.labels.get(ROLE_LABEL) != ROLE_GUARDIAN:
            return
        nominated = self._ledger.state.nominated_on(pod.node)
        if any(other.priority > LOCKED_PRIORITY for other in nominated):
            self._nodes[kept_for(pod)] = pod.node

    def forget(self, hold: Hold) -> None:
        self._nodes.pop(str(hold.parent), None)

    def rest(self, hold: Hold, standing: Pod | None) -> Resources:
        """What is left of a hold's room where its guardian was preempted; nothing if it was not.

        Nothing either where all of it is to be had on another node.
        """
        node = self._nodes.get(str(hold.parent), "")
        if not node or hold.mode == PREEMPTIBLE or self._ledger.claimants_of(hold):
            return EMPTY
        if standing is not None:
            self.forget(hold)
            return EMPTY
        wanted = hold.template.pod
        elsewhere = choose(wanted, self._ledger.state)
        if isinstance(elsewhere, ChosenNode) and elsewhere.node != node:
            return EMPTY
        return self._part(hold, node)

    def _part(self, hold: Hold, node: str) -> Resources:
        ledger = self._ledger
        known = ledger.nodes.get(node)
        own = frozenset(latch.key for latch in ledger.latches_of(hold))
        if known is None:
            return EMPTY
        free = known.allocatable
        going = own | {pod.key for pod in ledger.guardians_of(hold)}
        for pod in (*ledger.state.pods_on(node), *ledger.state.nominated_on(node)):
            free = free if pod.key in going else free.minus(pod.requests)
        asked = hold.template.pod.requests
        part = Resources({name: min(amount, free[name]) for name, amount in asked.items()})
        fits = unfit(ledger, _asking(hold.template.pod, part), node, going) is None
        return part if fits else EMPTY


def _asking(pod: Pod, requests: Resources) -> Pod:
    return Pod(pod.key, requests=requests, placement=pod.placement)
