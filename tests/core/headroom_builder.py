"""Headrooms for tests in one short line each: `headroom(Replicas(3), cpu=1)`."""

from __future__ import annotations

from typing import Any

from headroom.core.headrooms.headrooms import Headroom, Slot, Workload, WorkloadRef
from headroom.core.holds import PodTemplate
from headroom.core.names import API_VERSION
from headroom.core.objects import Parent
from headroom.core.sizes.kind import Size
from headroom.core.sizes.percent import Percent
from headroom.core.sizes.replicas import Replicas
from tests.builders import NAMESPACE, NOON, Amount, owned_by, pod

WEB = WorkloadRef("apps/v1", "Deployment", "web")


def headroom(
    size: Size | None = None, cpu: Amount | None = 1, memory: Amount | None = None, **parts: Any
) -> Headroom:
    """A headroom for pods labelled app=web; a percentage is of the Deployment web."""
    size = size if size is not None else Replicas(3)
    slot = Slot(template=shape(cpu, memory, **parts.pop("pod", {})))
    return Headroom(
        parent=Parent(API_VERSION, "Headroom", NAMESPACE, "burst", uid="uid-of-burst"),
        slot=Slot(source=WEB) if isinstance(size, Percent) else slot,
        size=size,
        owners=(owned_by(app="web"),),
        created=NOON,
        **parts,
    )


def shape(cpu: Amount | None = 1, memory: Amount | None = None, **parts: Any) -> PodTemplate:
    return PodTemplate(pod("", cpu, memory, uid="", **parts))


def web(replicas: int, **parts: Any) -> Workload:
    """The Deployment web, with pods of one cpu."""
    return Workload(WEB, NAMESPACE, replicas, parts.pop("template", shape(1)), **parts)
