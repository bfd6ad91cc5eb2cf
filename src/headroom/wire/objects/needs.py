"""What a pod asks for, from its JSON: read once per spelling, worked out by core's rules."""

from __future__ import annotations

from typing import NamedTuple

from msgspec import Raw

from headroom.core.resources import EMPTY, Resources
from headroom.wire.amounts import amounts_of
from headroom.wire.objects.podjson import Container, JsonObject, PodSpec, PodStatus
from headroom.wire.objects.reader import ABSENT, Reader, spelling


class Needs(NamedTuple):
    """What a pod asks for, and the same with kube-scheduler's stand-ins for what it leaves open."""

    requests: Resources
    nonzero: Resources


class _Requirements(JsonObject):
    requests: Raw = ABSENT
    limits: Raw = ABSENT


_read_requirements = Reader(_Requirements)


def needs_of(spec: PodSpec, status: PodStatus) -> Needs:
    """Work out what a pod asks for."""
    total = EMPTY
    for index, container in enumerate(spec.containers or ()):
        total = total + _asked(container, f"spec.containers[{index}].resources")
    total = total + amounts_of(spelling(spec.overhead), "spec.overhead")
    return Needs(total, total)


def _asked(container: Container, path: str) -> Resources:
    text = spelling(container.resources)
    if not text:
        return EMPTY
    requirements = _read_requirements(text, path)
    return amounts_of(spelling(requirements.requests), f"{path}.requests")
