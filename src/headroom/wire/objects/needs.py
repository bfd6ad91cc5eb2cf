"""What a pod asks for, from its JSON: read once per spelling, worked out by core's rules.

The texts of everything that takes part (containers, their statuses, overhead, pod-level resources)
make the spelling; pods of one workload share it, and with it the sums.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from msgspec import Raw

from headroom.core.requests import (
    ContainerNeed,
    PodNeed,
    effective_requests,
    growth_of,
    nonzero_requests,
)
from headroom.core.resources import EMPTY, Resources
from headroom.wire.amounts import read_amounts
from headroom.wire.objects.intern import Interned
from headroom.wire.objects.podjson import (
    Container,
    ContainerStatus,
    JsonObject,
    PodSpec,
    PodStatus,
)
from headroom.wire.objects.reader import ABSENT, Reader, spelling, spellings


class PodNeeds(NamedTuple):
    """What a pod asks for, and the same with kube-scheduler's stand-ins for what it leaves open.

    `growth` is what its node cannot give it yet, of a running pod that is being resized.
    """

    requests: Resources
    nonzero: Resources
    growth: Resources = EMPTY


class _Requirements(JsonObject):
    requests: Raw = ABSENT
    limits: Raw = ABSENT


class _SpelledContainer(NamedTuple):
    resources: bytes
    sidecar: bool
    actual: bytes
    allocated: bytes


class _SpelledNeeds(NamedTuple):
    """The text of every part that says how much a pod needs; empty where a part is absent."""

    containers: tuple[_SpelledContainer, ...]
    init_containers: tuple[_SpelledContainer, ...]
    overhead: bytes
    pod_level: bytes
    pod_actual: bytes
    pod_allocated: bytes
    infeasible: bool
    deferred: bool


_read_requirements = Reader(_Requirements)
_NOT_TOLD = (b"", b"")


def needs_of(spec: PodSpec, status: PodStatus) -> PodNeeds:
    """Work out what a pod asks for; DecodeError names the path of a wrong part."""
    answer = _resize(status)
    overhead, asked, actual, allocated = spellings(
        spec.overhead, spec.resources, status.resources, status.allocated_resources
    )
    return _needs(
        _SpelledNeeds(
            _spelled(spec.containers, status.container_statuses, False),
            _spelled(spec.init_containers, status.init_container_statuses, True),
            overhead,
            asked,
            actual,
            allocated,
            "Infeasible" in answer,
            "Deferred" in answer,
        )
    )


def _spelled(
    containers: list[Container] | None, statuses: list[ContainerStatus] | None, init: bool
) -> tuple[_SpelledContainer, ...]:
    if not containers:
        return ()
    told = {each.name: each for each in statuses} if statuses else {}
    found = []
    for each in containers:
        status = told.get(each.name)
        actual, allocated = _NOT_TOLD
        if status is not None:
            actual, allocated = spellings(status.resources, status.allocated_resources)
        sidecar = init and each.restart_policy == "Always"
        found.append(_SpelledContainer(spelling(each.resources), sidecar, actual, allocated))
    return tuple(found)


def _resize(status: PodStatus) -> list[str | None]:
    """What the node has answered to a resize: refused for good, or put off; mostly nothing."""
    if not status.conditions:
        return []
    return [each.reason for each in status.conditions if each.type == "PodResizePending"]


def _read(spelled: _SpelledNeeds) -> PodNeeds:
    pod_level = _requirements(spelled.pod_level, "spec.resources")
    actual = _requirements(spelled.pod_actual, "status.resources")
    need = PodNeed(
        containers=_containers(spelled.containers, "containers"),
        init_containers=_containers(spelled.init_containers, "initContainers"),
        overhead=read_amounts(spelled.overhead, "spec.overhead"),
        pod_requests=pod_level.requests,
        pod_limits=pod_level.limits,
        pod_actual=actual.requests if spelled.pod_actual else None,
        pod_allocated=_told(spelled.pod_allocated, "status.allocatedResources"),
        infeasible=spelled.infeasible,
    )
    growth = growth_of(need) if spelled.deferred else EMPTY
    return PodNeeds(effective_requests(need), nonzero_requests(need), growth)


_needs: Interned[_SpelledNeeds, PodNeeds] = Interned(_read)


def _containers(spelled: tuple[_SpelledContainer, ...], field: str) -> tuple[ContainerNeed, ...]:
    return tuple(
        _container(each, f"spec.{field}[{index}].resources", each.sidecar or field == "containers")
        for index, each in enumerate(spelled)
    )


def _container(spelled: _SpelledContainer, path: str, resizable: bool) -> ContainerNeed:
    """Read one container; an init container that ends cannot be resized, so its status is idle."""
    asked = _requirements(spelled.resources, path)
    told = resizable and bool(spelled.actual)
    return ContainerNeed(
        requests=asked.requests,
        limits=asked.limits,
        sidecar=spelled.sidecar,
        actual=_requirements(spelled.actual, path).requests if told else None,
        allocated=_told(spelled.allocated, path) if told else None,
    )


class _ReadNeeds(NamedTuple):
    requests: Mapping[str, int]
    limits: Mapping[str, int]


def _requirements(text: bytes, path: str) -> _ReadNeeds:
    read = _read_requirements(text or b"{}", path)
    return _ReadNeeds(
        read_amounts(spelling(read.requests), f"{path}.requests"),
        read_amounts(spelling(read.limits), f"{path}.limits"),
    )


def _told(text: bytes, path: str) -> Mapping[str, int] | None:
    return read_amounts(text, path) if text else None
