"""How Karpenter packs pods that wait onto machines to come: the machine is chosen last.

A machine in thought is any of the pools that would take all pods put on it so far; each pod that is
added may rule some out, and in the end the cheapest that is left is ordered. Pods are taken by CPU,
then memory, the largest first; one that fits nowhere yet (it may want to be next to another one) is
tried again as long as others find a place. Pods go to nodes that are there before machines in
thought, to the emptiest of these before a new one.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from headroom.core.objects import Key, Node, Pod
from headroom.core.resources import CPU, MEMORY, Resources
from headroom.sim.controllers.autoscaler_fleet import Fleet
from headroom.sim.controllers.autoscaler_model import Model
from headroom.sim.pools import Pool


@dataclass(slots=True)
class Claim:
    """A machine in thought: the pools that it may be of, the cheapest first, and its pods."""

    name: str
    pools: list[Pool]
    pods: list[Pod] = field(default_factory=list)


class Packing:
    """Puts pods onto nodes and machines in thought; nothing is ordered here."""

    def __init__(self, fleet: Fleet, model: Model) -> None:
        self._fleet = fleet
        self._model = model
        self._left = {pool.name: left for pool, left in fleet.left_to_order()}
        self.claims: list[Claim] = []
        self._made = 0

    def pack(self, pods: Sequence[Pod]) -> list[Pod]:
        """Find a place for each pod; return those that have none."""
        waiting = deque(sorted(pods, key=lambda pod: (-pod.requests[CPU], -pod.requests[MEMORY])))
        tried: dict[Key, int] = {}  # how many waited when a pod was last put back
        while waiting and tried.get(waiting[0].key) != len(waiting):
            pod = waiting.popleft()
            if not self._add(pod):
                waiting.append(pod)
                tried[pod.key] = len(waiting)
        return list(waiting)

    def _add(self, pod: Pod) -> bool:
        if self._model.place_first(pod, frozenset(claim.name for claim in self.claims)):
            return True
        for claim in sorted(self.claims, key=lambda each: len(each.pods)):
            if self._extend(claim, pod):
                return True
        self._made += 1
        claim = Claim(f"machine-to-come-{self._made}", self._fleet.pools())
        if self._extend(claim, pod):
            self.claims.append(claim)
            return True
        self._model.remove_node(claim.name)
        return False

    def _extend(self, claim: Claim, pod: Pod) -> bool:
        """Put a pod onto a machine in thought, if one of its pools would take it as well."""
        fitting = [pool for pool in self._orderable(claim) if self._takes(claim, pool, pod)]
        kept = fitting or claim.pools
        self._shape(claim, kept[0])
        if not fitting:
            return False
        claim.pools = fitting
        claim.pods.append(pod)
        self._model.put(pod, claim.name)
        return True

    def _orderable(self, claim: Claim) -> Iterator[Pool]:
        """The pools of a claim that have a machine left beside those of other claims."""
        for pool in claim.pools:
            others = sum(each.pools[0] is pool for each in self.claims if each is not claim)
            if others < self._left.get(pool.name, 0):
                yield pool

    def _takes(self, claim: Claim, pool: Pool, pod: Pod) -> bool:
        self._shape(claim, pool)
        return self._model.fits_on(pod, claim.name)

    def _shape(self, claim: Claim, pool: Pool) -> None:
        """Let the machine in thought be one of this pool, with the daemons that come with it."""
        node, daemons = self._fleet.imagined(pool, claim.name)
        self._model.reshape(node, daemons, claim.pods)


def missing_daemons(daemons: Sequence[Pod], there: Sequence[Pod]) -> Resources:
    """What daemons that are not on their node yet will ask for, as Karpenter works it out."""
    wanted = sum((pod.requests for pod in daemons), Resources())
    return wanted.minus(sum((pod.requests for pod in there), Resources()))


def stand_in(node: Node, requests: Resources) -> Pod:
    """A pod that takes the room of daemons to come."""
    return replace(Pod(Key("", f"daemons-of-{node.name}")), requests=requests)
