"""Calculate the requests of a pod from its containers, as kube-scheduler 1.36 does.

The rules are those of component-helpers' `PodRequests`: containers are added up; of init containers
the largest need at any one time counts; sidecars keep running and so add to what starts after them;
pod-level requests replace the sum; overhead is added; during a resize the largest of desired,
allocated and actual counts. Sums are capped at 2^63-1, as single quantities are: a pod that
requests more fits nowhere. `wire` reads the parts from JSON; `objects.Pod` contains the result.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from headroom.core.quantity import MAX_INT64
from headroom.core.resources import CPU, EMPTY, MEMORY, Resources

# Stand-ins for what a container leaves open; kube-scheduler counts them for scoring only.
STAND_INS = Resources({CPU: 100, MEMORY: 200 * 1024 * 1024})

Amounts = Mapping[str, int]
"""Amounts by name. A name with zero is present: it differs from a name left open."""


@dataclass(frozen=True, slots=True)
class ContainerNeed:
    """What one container asks for (spec), runs with and was promised (status, None if not told)."""

    name: str = ""
    requests: Amounts = EMPTY
    limits: Amounts = EMPTY
    sidecar: bool = False
    actual: Amounts | None = None
    allocated: Amounts | None = None


@dataclass(frozen=True, slots=True)
class PodNeed:
    """Everything of a pod that says how much it needs.

    The pod-level parts are `spec.resources` and, in `pod_actual` and `pod_allocated`, the
    `resources` and `allocatedResources` of its status. `infeasible` says that the node has refused
    a resize for good (condition PodResizePending, reason Infeasible).
    """

    containers: tuple[ContainerNeed, ...] = ()
    init_containers: tuple[ContainerNeed, ...] = ()
    overhead: Amounts = EMPTY
    pod_requests: Amounts = EMPTY
    pod_limits: Amounts = EMPTY
    pod_actual: Amounts | None = None
    pod_allocated: Amounts | None = None
    infeasible: bool = False


def effective_requests(pod: PodNeed) -> Resources:
    """Give what kube-scheduler counts for the pod against a node's room."""
    return Resources(_pod_amounts(pod, EMPTY))


def growth_of(pod: PodNeed) -> Resources:
    """Give what a running pod asks for beyond what its node has promised it."""
    given = replace(
        pod,
        containers=tuple(map(_as_given, pod.containers)),
        init_containers=tuple(map(_as_given, pod.init_containers)),
        pod_requests=pod.pod_requests if pod.pod_allocated is None else pod.pod_allocated,
    )
    return effective_requests(pod).minus(effective_requests(given))


def _as_given(container: ContainerNeed) -> ContainerNeed:
    if container.allocated is None:
        return container
    return replace(container, requests=container.allocated)


def nonzero_requests(pod: PodNeed) -> Resources:
    """Give what kube-scheduler counts for the pod when it scores, with stand-ins for gaps."""
    return Resources(_pod_amounts(pod, _stand_ins(pod)))


def _stand_ins(pod: PodNeed) -> Amounts:
    """With pod-level requests, a stand-in is used only for what nothing in the pod asks for."""
    if not _pod_level_requests(pod):
        return STAND_INS
    asked = _pod_amounts(pod, EMPTY)
    return {name: amount for name, amount in STAND_INS.items() if name not in asked}


def _pod_amounts(pod: PodNeed, stand_ins: Amounts) -> dict[str, int]:
    total = _sum_of_containers(pod, stand_ins)
    asked = _pod_level_requests(pod)
    if asked and pod.pod_actual is not None:
        settled = _in_flight(asked, pod.pod_actual, pod.pod_allocated, pod.infeasible)
        asked = {name: settled.get(name, 0) for name in asked}
    total.update(asked)
    _add(total, pod.overhead)
    return total


def _sum_of_containers(pod: PodNeed, stand_ins: Amounts) -> dict[str, int]:
    total: dict[str, int] = {}
    for container in pod.containers:
        _add(total, _container_amounts(container, pod.infeasible, stand_ins))
    if not pod.init_containers:
        return total
    started: dict[str, int] = {}
    peak: dict[str, int] = {}
    for container in pod.init_containers:
        # What has ended cannot be resized: only sidecars are looked up in the status.
        lasting = container if container.sidecar else _as_asked(container)
        asked = _container_amounts(lasting, pod.infeasible, stand_ins)
        if container.sidecar:
            _add(total, asked)
            _add(started, asked)
            _raise(peak, started)
        else:
            while_it_runs = dict(started)
            _add(while_it_runs, asked)
            _raise(peak, while_it_runs)
    _raise(total, peak)
    return total


def _container_amounts(container: ContainerNeed, infeasible: bool, stand_ins: Amounts) -> Amounts:
    asked: Amounts = container.requests
    # The API server makes a request of a limit without one; a template has not been there yet.
    if container.limits:
        asked = {**container.limits, **asked}
    if container.actual is not None:
        asked = _in_flight(asked, container.actual, container.allocated, infeasible)
    return {**stand_ins, **asked} if stand_ins else asked


def _in_flight(
    asked: Amounts, actual: Amounts, allocated: Amounts | None, infeasible: bool
) -> dict[str, int]:
    """Take the largest amount by name; what was asked counts unless it can never be given."""
    largest = {} if infeasible else dict(asked)
    _raise(largest, actual)
    _raise(largest, allocated or EMPTY)
    return largest


def _pod_level_requests(pod: PodNeed) -> Amounts:
    """The pod-level requests after the API server's defaults; empty when there are none.

    With pod-level limits, what is not requested for the pod is what its containers request, and
    what they do not request either is the limit.
    """
    if not pod.pod_requests and not pod.pod_limits:
        return EMPTY
    asked = {name: amount for name, amount in pod.pod_requests.items() if _is_pod_level(name)}
    if pod.pod_limits:
        unsettled = PodNeed(
            containers=tuple(_as_asked(container) for container in pod.containers),
            init_containers=tuple(_as_asked(container) for container in pod.init_containers),
        )
        summed = _sum_of_containers(unsettled, EMPTY)
        from_containers = {name: summed[name] for name in (CPU, MEMORY) if name in summed}
        from_limits = {name: n for name, n in pod.pod_limits.items() if _is_pod_level(name)}
        asked = {**from_limits, **from_containers, **asked}
    return asked


def _as_asked(container: ContainerNeed) -> ContainerNeed:
    return ContainerNeed(
        requests=container.requests, limits=container.limits, sidecar=container.sidecar
    )


def _is_pod_level(name: str) -> bool:
    return name in (CPU, MEMORY) or name.startswith("hugepages-")


def _add(total: dict[str, int], more: Amounts) -> None:
    for name, amount in more.items():
        total[name] = min(total.get(name, 0) + amount, MAX_INT64)


def _raise(total: dict[str, int], least: Amounts) -> None:
    """Raise each amount to at least that of `least`."""
    for name, amount in least.items():
        if name not in total or amount > total[name]:
            total[name] = amount
