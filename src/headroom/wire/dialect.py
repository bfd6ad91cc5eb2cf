"""A dialect: everything that is needed to serve the objects of another system, as data.

Its decoders convert foreign objects to values of core (Hold, Headroom, Quota), so that the code
that decides does not know the dialect. Rules of the other system are parts of these values, behind
protocols of core. Its `render` builds the requests for actions about foreign objects. Dialects are
defined in `headroom.dialects` and enabled by name; the adapters get the enabled ones.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from msgspec import Raw

from headroom.core.actions import Action
from headroom.core.headrooms.headrooms import Headroom
from headroom.core.objects import Pod
from headroom.ports import Thing
from headroom.wire.admission_policies.cel import Confined
from headroom.wire.kinds import Resource
from headroom.wire.schema.notation import Catalogue
from headroom.wire.writes import Write

Decode = Callable[[bytes | Raw], Thing]
Dress = Callable[[Headroom, bytes | Raw], Headroom]
DressPod = Callable[[Pod], Pod]


@dataclass(frozen=True, slots=True)
class Rival:
    """Another controller of the same objects; it holds this Lease, in any namespace."""

    lease: str
    who: str


@dataclass(frozen=True, slots=True)
class Dialect:
    """`render` answers None for an action that is not about its objects.

    `schedulers` are names that owners may have in `spec.schedulerName` to come through our second
    door; `asks` are pod annotations by which owners ask for a hold, in any namespace; `rules` are
    the operator's further rights (RBAC rules). `catalogue` adds the fields of its kinds to those
    known, so that manifests are checked where no API server does.
    """

    name: str
    decoders: Mapping[Resource, Decode]
    render: Callable[[Action], Write | None] = lambda _: None
    definitions: Callable[[], list[dict[str, Any]]] = list
    rules: tuple[dict[str, Any], ...] = ()
    schedulers: frozenset[str] = frozenset()
    asks: tuple[str, ...] = ()
    annotations: tuple[str, ...] = ()  # prefixes of pod annotations that it reads
    claims: tuple[
        str, ...
    ] = ()  # pod annotations that it writes beside a claim, and that go with it
    owner_labels: tuple[str, ...] = ()  # labels that it writes on owners
    catalogue: Callable[[Catalogue], Catalogue] | None = None
    rivals: tuple[Rival, ...] = ()
    reads: Mapping[Resource, Decode] = field(default_factory=dict)  # decoders for our own kinds
    follows: tuple[Resource, ...] = ()  # Kubernetes' kinds that it needs to see
    classes: tuple[dict[str, Any], ...] = ()  # PriorityClasses that it needs
    guardian_classes: tuple[str, ...] = ()  # those of them that guardians have
    headrooms: tuple[tuple[str, str], ...] = ()  # ours to write: namespace (empty: our own), name
    namespaces: tuple[str, ...] = ()  # where guardians live, besides those that are served
    confined: tuple[Confined, ...] = ()  # what of its kinds the operator may write
    objects: tuple[dict[str, Any], ...] = ()  # further objects that it needs, in this order
    flags: tuple[str, ...] = ()  # flags of `headroom run` that configure it
    dress: Dress | None = None  # adds what it reads in our Headrooms
    dress_pod: DressPod | None = None  # what it reads in the labels and annotations of pods

    @property
    def kinds(self) -> tuple[Resource, ...]:
        return tuple(self.decoders)
