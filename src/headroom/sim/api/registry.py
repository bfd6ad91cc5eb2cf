"""The kinds that one cluster serves: those of `kinds`, and those that its dialects define.

The kinds of a dialect come from its CRDs, so the simulator serves them as a real API server would:
with status and scale subresources if the definition has them, and checked by the same schema.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

from headroom.core.objects import Node, Pod
from headroom.ports import Thing
from headroom.sim.api.kinds import KINDS, Kind
from headroom.sim.api.values import Json, Stored, dig
from headroom.sim.errors import bad_request
from headroom.wire.kind_codecs import NATIVE, KindCodecs
from headroom.wire.kinds import NODES, PODS, Resource
from headroom.wire.schema.notation import Catalogue


class Registry(Mapping[str, Kind]):
    """Kinds by name."""

    def __init__(self, codecs: KindCodecs = NATIVE) -> None:
        self.codecs = codecs
        self.catalogue: Catalogue = codecs.catalogue()
        self.reads_pods_plainly = codecs.reads_plainly(PODS)
        self._plain = frozenset(kind for kind in (PODS, NODES) if codecs.reads_plainly(kind))
        self._kinds = dict(KINDS)
        for dialect in codecs.dialects:
            for kind in _kinds_of(dialect.definitions, dialect.kinds):
                self._kinds[kind.name] = kind

    def __getitem__(self, name: str) -> Kind:
        return self._kinds[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._kinds)

    def __len__(self) -> int:
        return len(self._kinds)

    def served(self, name: str) -> Kind:
        """The kind with this name; a request for an unknown kind is an error."""
        if name not in self._kinds:
            raise bad_request(f"kind {name!r} is unknown")
        return self._kinds[name]

    def decode(self, obj: Json) -> Thing:
        """An object as the operator decodes it."""
        if isinstance(obj, Stored) and obj.told is not None:
            return obj.told
        kind = self[str(obj["kind"])].resource
        if not isinstance(obj, Stored):
            return self.codecs.thing_from(kind, obj)
        if kind not in self._plain:
            obj.told = self.codecs.thing_from(kind, obj)
            return obj.told
        if obj.plain is None:
            obj.plain = obj.again()
        if obj.plain is None:
            read = self.codecs.thing_from(kind, obj)
            if not isinstance(read, Pod | Node):
                return read
            obj.plain = read
        obj.told = obj.plain
        return obj.told


@cache
def _kinds_of(definitions: Callable[[], list[Json]], watched: tuple[Resource, ...]) -> list[Kind]:
    """The kinds of a dialect; cached, because schemas are large and simulators frequent."""
    return [_defined(definition, watched) for definition in definitions()]


def _defined(definition: Json, watched: tuple[Resource, ...]) -> Kind:
    """The kind that a CRD defines, in the version that its dialect uses."""
    spec: dict[str, Any] = definition["spec"]
    names = spec["names"]
    followed = {kind.version for kind in watched if kind.kind == names["kind"]}
    versions = [version for version in spec["versions"] if version["name"] in followed]
    version = (versions or spec["versions"])[0]
    resource = Resource(
        spec["group"],
        version["name"],
        names["plural"],
        names["kind"],
        namespaced=spec["scope"] == "Namespaced",
    )
    path = str(dig(version, "subresources", "scale", "specReplicasPath") or "")
    return Kind(
        resource,
        has_status=dig(version, "subresources", "status") is not None,
        scale=tuple(part for part in path.split(".") if part),
        custom=True,
    )
