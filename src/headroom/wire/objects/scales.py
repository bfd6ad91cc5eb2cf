"""Workloads of kinds that we do not know: whatever has a scale subresource, read through that.

The scale says how many pods there are and by which labels they are found; the newest of them shows
their shape. `kube.scales` asks for these; the embedded cluster has no such kinds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

import msgspec
from msgspec import Raw

from headroom.core.headrooms.headrooms import Headroom, Workload, WorkloadRef
from headroom.core.holds import PodTemplate, Problem
from headroom.core.objects import Key, Pod
from headroom.ports import Thing
from headroom.wire.kinds import Resource
from headroom.wire.objects.codec import NUMBER, TEXT, TIME, Codec, Part
from headroom.wire.objects.findings import Findings
from headroom.wire.objects.metadata import METADATA, key_of, version_of
from headroom.wire.objects.podjson import Metadata
from headroom.wire.objects.templates import template_of

ANY_VERSION = "*"
_OVER = ("Succeeded", "Failed")


@dataclass(frozen=True, slots=True)
class ForeignKind:
    """A kind of which we know the name only; an empty group is the core group."""

    group: str
    kind: str

    def __str__(self) -> str:
        return f"{self.kind} of {self.group or 'core'}"

    @property
    def api_version(self) -> str:
        """What stands for it in a reference: which version is served is found out later."""
        return f"{self.group}/{ANY_VERSION}"


class _ServedKind(NamedTuple):
    name: str
    kind: str
    namespaced: bool


class _Scale(NamedTuple):
    replicas: int
    selector: str


class _Pod(NamedTuple):
    created: datetime | None
    deleted: datetime | None
    phase: str
    spec: dict[str, Any]


_SERVED = Codec(_ServedKind, name=TEXT, kind=TEXT, namespaced=Part(bool, True)).parts()
_SCALE = Codec(
    _Scale, replicas=NUMBER.named("status.replicas"), selector=TEXT.named("status.selector")
)
_PODS = Codec(
    _Pod,
    created=TIME.named("metadata.creationTimestamp"),
    deleted=TIME.named("metadata.deletionTimestamp"),
    phase=TEXT.named("status.phase"),
    spec=Part(dict[str, Any], {}),
).parts()
_read_served = Codec[tuple[_ServedKind, ...]](lambda found: found, found=_SERVED.named("resources"))
_read_version = Codec[str](lambda version: version, version=TEXT.named("preferredVersion.version"))
_read_object = Codec[Metadata](lambda metadata: metadata, metadata=METADATA)
_read_pods = Codec[tuple[_Pod, ...]](lambda found: found, found=_PODS.named("items"))


def foreign_kind(thing: Thing) -> ForeignKind | None:
    """The kind that a thing copies, if it is one that has to be asked for by its scale."""
    source = thing.slot.source if isinstance(thing, Headroom) else None
    if source is None or not source.api_version.endswith(f"/{ANY_VERSION}"):
        return None
    return ForeignKind(source.api_version.partition("/")[0], source.kind)


def preferred_version(data: bytes) -> str:
    """The version of a group that its server likes best."""
    return _read_version.whole(data)


def served_as(kind: ForeignKind, version: str, data: bytes) -> Resource | str:
    """Find a kind with a scale subresource in what a group serves, or say why it is none."""
    served = _read_served.whole(data)
    found = next((each for each in served if each.kind == kind.kind and "/" not in each.name), None)
    if found is None or not found.namespaced:
        return f"the API server has no {kind} in namespaces"
    if all(each.name != f"{found.name}/scale" for each in served):
        return f"{kind} has no scale subresource: it does not say how many pods there are"
    return Resource(kind.group, version, found.name, kind.kind)


def unread(kind: ForeignKind, data: bytes | Raw) -> Workload:
    """An object of the kind, before its scale was asked for."""
    metadata = _read_object.whole(data)
    return _workload(kind, key_of(metadata), **version_of(metadata))


def unusable(kind: ForeignKind, key: Key, why: str) -> Workload:
    """One that cannot be copied, and why: told where the buffer's author looks."""
    return _workload(kind, key, problems=(Problem(f"{kind}", why),))


def selector_of(scale: bytes) -> str:
    """The labels by which a scale's pods are found."""
    return _SCALE.whole(scale).selector


def scaled(kind: ForeignKind, found: Workload, scale: bytes, pods: bytes) -> Workload:
    """The workload that an object's scale and its pods come to: as many, of the newest's shape."""
    newest = _newest(_read_pods.whole(pods))
    findings = Findings()
    if newest is None:
        findings.add(f"{kind}", "has no pod yet whose shape a chunk could have")
        template = PodTemplate(Pod(Key(found.namespace, "")))
    else:
        shape = {name: value for name, value in newest.spec.items() if name != "nodeName"}
        raw = Raw(msgspec.json.encode({"spec": shape}))
        template = template_of(raw, found.namespace, findings)
    return Workload(
        ref=found.ref,
        namespace=found.namespace,
        replicas=_SCALE.whole(scale).replicas,
        template=template,
        problems=findings.problems,
        uid=found.uid,
        version=found.version,
    )


def _newest(pods: Sequence[_Pod]) -> _Pod | None:
    alive = [
        pod
        for pod in pods
        if pod.deleted is None and pod.phase not in _OVER and pod.created is not None
    ]
    return max(alive, key=lambda pod: str(pod.created), default=None)


def _workload(
    kind: ForeignKind,
    key: Key,
    problems: tuple[Problem, ...] = (),
    uid: str = "",
    version: str = "",
) -> Workload:
    return Workload(
        ref=WorkloadRef(kind.api_version, kind.kind, key.name),
        namespace=key.namespace,
        replicas=0,
        template=PodTemplate(Pod(Key(key.namespace, ""))),
        problems=problems,
        uid=uid,
        version=version,
    )
