"""Find room for a burst of pods: free room first, then where the fewest Preemptible slots must go.

kube-scheduler makes room for one pod at a time: it evicts, waits and retries. If several pods
arrive that would each preempt, the slots in their way are deleted together, as few as possible. A
pod that would have to evict pods other than our slots is left to kube-scheduler.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from headroom.core.objects import Key, Placement, Pod
from headroom.core.resources import Resources
from headroom.scheduling.choose import ChosenNode, choose
from headroom.scheduling.filters import feasible_on
from headroom.scheduling.state import ClusterState
from headroom.scheduling.supposition import supposed

Shape = tuple[Resources, Placement, int, bool]


@dataclass(frozen=True, slots=True)
class BurstView:
    """The pods of a burst, the most urgent first, and what is on its way already.

    `served` are pods for which room was made, with their nodes; `going` are guardians that were
    given up for them. `guardians` are those that may be given up, by node: the first ones first.
    """

    burst: tuple[Pod, ...]
    served: tuple[tuple[Pod, str], ...]
    going: tuple[Pod, ...]
    guardians: Mapping[str, tuple[Pod, ...]]


@dataclass(frozen=True, slots=True)
class BurstDecision:
    """The guardians that go, and where there is room for which pod: made for it, or free.

    `left_out` are pods for which there is no room, the first of each shape.
    """

    released: tuple[Pod, ...]
    rooms: Mapping[Key, str]
    free: Mapping[Key, str]
    left_out: tuple[Pod, ...]


def decide(view: BurstView, state: ClusterState) -> BurstDecision:
    """Find each pod its room. The state is not changed: pods are placed in a copy."""
    trial, left = supposed(state), dict(view.guardians)
    for pod, node in view.served:
        trial.add_pod(pod, node)
    for guardian in view.going:
        trial.remove_pod(guardian.key)
    useless: dict[Shape, set[str]] = {}  # by shape that finds no free room: nodes of no help
    left_out: dict[Shape, Pod] = {}
    released: list[Pod] = []
    rooms: dict[Key, str] = {}
    free: dict[Key, str] = {}
    for pod in view.burst:
        shape = (pod.requests, pod.placement, pod.priority, pod.preempts)
        if shape in left_out:
            continue
        chosen = choose(pod, trial) if shape not in useless else None
        if isinstance(chosen, ChosenNode):
            trial.add_pod(pod, chosen.node)
            free[pod.key] = chosen.node
            continue
        in_vain = useless.setdefault(shape, set())
        for node, there in left.items() if pod.preempts else ():
            going = _needed(pod, node, there, trial) if node not in in_vain else None
            if going is None:
                in_vain.add(node)
                continue
            left[node] = tuple(each for each in there if each not in going)
            for guardian in going:
                trial.remove_pod(guardian.key)
            trial.add_pod(pod, node)
            released += going
            rooms[pod.key] = node
            break
        else:
            left_out[shape] = pod
    return BurstDecision(tuple(released), rooms, free, tuple(left_out.values()))


def _needed(
    pod: Pod, node: str, guardians: tuple[Pod, ...], state: ClusterState
) -> list[Pod] | None:
    """The guardians that have to go for a pod to fit on a node; None if that is not enough."""
    lower = [each for each in guardians if each.priority < pod.priority]
    if feasible_on(pod, node, state, frozenset(each.key for each in lower)) is not None:
        return None
    going: list[Pod] = []
    while feasible_on(pod, node, state, frozenset(each.key for each in going)) is not None:
        going.append(lower[len(going)])
    return going
