"""How Karpenter packs waiting pods onto future machines: the machine type is chosen last.

A planned machine can be of any pool that fits all pods packed onto it so far. Each added pod may
rule out pools; in the end the cheapest remaining pool is ordered. Pods are packed by CPU, then
memory, the largest first. A pod that fits nowhere yet (it may need to be next to another pod) is
retried as long as other pods are packed. Pods go to existing nodes first, then to the emptiest
planned machine, then to a new one.
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
class PlannedMachine:
    """A planned machine: the pools that it may be of, the cheapest first, and its pods."""

    name: str
    pools: list[Pool]
    pods: list[Pod] = field(default_factory=list)


class Packing:
    """Packs pods onto nodes and planned machines; orders nothing."""

    def __init__(self, fleet: Fleet, model: Model) -> None:
        self._fleet = fleet
        self._model = model
        self._left = {pool.name: left for pool, left in fleet.left_to_order()}
        self.planned: list[PlannedMachine] = []
        self._made = 0

    def pack(self, pods: Sequence[Pod]) -> list[Pod]:
        """Find a place for each pod; return the pods that have none."""
        waiting = deque(sorted(pods, key=lambda pod: (-pod.requests[CPU], -pod.requests[MEMORY])))
        tried: dict[Key, int] = {}  # how many waited when a pod was last queued again
        while waiting and tried.get(waiting[0].key) != len(waiting):
            pod = waiting.popleft()
            if not self._add(pod):
                waiting.append(pod)
                tried[pod.key] = len(waiting)
        return list(waiting)

    def _add(self, pod: Pod) -> bool:
        if self._model.place_first(pod, frozenset(machine.name for machine in self.planned)):
            return True
        for machine in sorted(self.planned, key=lambda each: len(each.pods)):
            if self._extend(machine, pod):
                return True
        self._made += 1
        machine = PlannedMachine(f"machine-to-come-{self._made}", self._fleet.pools())
        if self._extend(machine, pod):
            self.planned.append(machine)
            return True
        self._model.remove_node(machine.name)
        return False

    def _extend(self, machine: PlannedMachine, pod: Pod) -> bool:
        """Pack a pod onto a planned machine, if one of its pools also fits this pod."""
        fitting = [pool for pool in self._orderable(machine) if self._takes(machine, pool, pod)]
        kept = fitting or machine.pools
        self._shape(machine, kept[0])
        if not fitting:
            return False
        machine.pools = fitting
        machine.pods.append(pod)
        self._model.put(pod, machine.name)
        return True

    def _orderable(self, machine: PlannedMachine) -> Iterator[Pool]:
        """The pools of a planned machine that have a machine left beside other planned machines."""
        for pool in machine.pools:
            others = sum(each.pools[0] is pool for each in self.planned if each is not machine)
            if others < self._left.get(pool.name, 0):
                yield pool

    def _takes(self, machine: PlannedMachine, pool: Pool, pod: Pod) -> bool:
        self._shape(machine, pool)
        return self._model.fits_on(pod, machine.name)

    def _shape(self, machine: PlannedMachine, pool: Pool) -> None:
        """Model the planned machine as one of this pool, with the DaemonSet pods of this pool."""
        node, daemons = self._fleet.imagined(pool, machine.name)
        self._model.reshape(node, daemons, machine.pods)


def missing_daemons(daemons: Sequence[Pod], there: Sequence[Pod]) -> Resources:
    """The requests of DaemonSet pods that are not on their node yet, calculated as by Karpenter."""
    wanted = sum((pod.requests for pod in daemons), Resources())
    return wanted.minus(sum((pod.requests for pod in there), Resources()))


def stand_in(node: Node, requests: Resources) -> Pod:
    """A pod that takes the room of future DaemonSet pods."""
    return replace(Pod(Key("", f"daemons-of-{node.name}")), requests=requests)
