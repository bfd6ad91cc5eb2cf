"""Read the manifests that a command gets: parse, check against the schema, decode.

As in `simulate`, all errors are reported together, with file, line and field, before anything is
done. The command is about the Headrooms and Holds, also those of dialects; workloads may be in the
same files.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from headroom.cli.dialects import chosen
from headroom.cli.errors import Misuse
from headroom.cli.source import WORLD_KINDS, World, counted, spoken
from headroom.core.demand.resource_quotas import ResourceQuota
from headroom.core.headrooms.headrooms import Headroom, Workload
from headroom.core.holds import Hold
from headroom.core.objects import Namespace
from headroom.ports import Thing
from headroom.wire import kinds
from headroom.wire.errors import DecodeError
from headroom.wire.kind_codecs import KindCodecs
from headroom.wire.schema.defaults import with_defaults
from headroom.wire.schema.lint import odd_parts, written_twice
from headroom.wire.schema.notation import Catalogue
from headroom.wire.schema.validation import check, type_of
from headroom.wire.yamls import Document, ManifestError

ASKED = (kinds.HEADROOMS, kinds.HOLDS)


@dataclass(frozen=True, slots=True)
class Wanted:
    """The wanted objects in the files, the workloads beside them, and where each is written."""

    asked: tuple[Headroom | Hold, ...]
    workloads: tuple[Workload, ...] = ()
    quotas: tuple[ResourceQuota, ...] = ()
    namespaces: tuple[Namespace, ...] = ()
    places: Mapping[str, Document] = field(default_factory=dict)
    around: tuple[Document, ...] = ()  # other objects in the files: nodes, pods, whole clusters

    def beside(self, world: World) -> World:
        """The world in which objects of the files replace those with the same name."""
        names = {(each.ref, each.namespace) for each in self.workloads}
        kept = [each for each in world.workloads if (each.ref, each.namespace) not in names]
        limits = {each.key for each in self.quotas}
        quotas = [each for each in world.resource_quotas if each.key not in limits]
        made = {each.name for each in self.namespaces}
        others = [each for each in world.namespaces if each.name not in made]
        return replace(
            world,
            namespaces=(*others, *self.namespaces),
            workloads=(*kept, *self.workloads),
            resource_quotas=(*quotas, *self.quotas),
        )


def is_world(document: Document) -> bool:
    """Whether the document describes a cluster: a Scenario, a dump or a result."""
    return document.data.get("kind") in WORLD_KINDS


def read_wanted(
    documents: Sequence[Document], namespace: str, dialects: Sequence[str] = ()
) -> Wanted:
    """Read manifests; raise Misuse with all errors."""
    around = [document for document in documents if is_world(document)]
    documents = [document for document in documents if not is_world(document)]
    codecs = chosen((*dialects, *spoken([document.data for document in documents])))
    known = codecs.catalogue()
    problems = [str(error) for document in documents for error in _problems(document, known)]
    problems += [str(error) for error in written_twice(documents)]
    if problems:
        raise Misuse("\n".join(problems), "nothing was done; fix the files and try again")
    things: list[Thing] = []
    places: dict[str, Document] = {}
    for document in documents:
        thing = _thing(document, namespace, codecs)
        if isinstance(thing, Headroom | Hold):
            places[thing.parent.whole] = document
        if thing is not None:
            things.append(thing)
        else:
            around.append(_placed(document, namespace, codecs))
    asked = tuple(thing for thing in things if isinstance(thing, Headroom | Hold))
    if not asked:
        raise Misuse("there is no Headroom and no Hold in these files", _elsewhere(around))
    workloads = tuple(thing for thing in things if isinstance(thing, Workload))
    quotas = tuple(thing for thing in things if isinstance(thing, ResourceQuota))
    namespaces = tuple(thing for thing in things if isinstance(thing, Namespace))
    return Wanted(asked, workloads, quotas, namespaces, places, tuple(around))


def _placed(document: Document, namespace: str, codecs: KindCodecs) -> Document:
    """A document with the namespace that its object would have."""
    data = document.data
    resource = codecs.find_kind(str(data.get("apiVersion", "")), str(data.get("kind", "")))
    if resource is None or not resource.namespaced:
        return document
    return replace(document, data=in_namespace(data, namespace))


def _elsewhere(around: Sequence[Document]) -> str:
    """A hint where other objects that the user may look for can be found."""
    for world in filter(is_world, around):
        if world.data.get("kind") == "Scenario":
            return f"to run the steps of a Scenario: headroom simulate {world.source}"
        return f"to see what is held there: headroom get holds --from {world.source}"
    return ""


def _problems(document: Document, known: Catalogue) -> list[ManifestError]:
    odd = odd_parts(document.data)
    return check(document, known) or [document.error(each.path, each.message) for each in odd]


def _thing(document: Document, namespace: str, codecs: KindCodecs) -> Thing | None:
    data = document.data
    resource = codecs.find_kind(str(data.get("apiVersion", "")), str(data.get("kind", "")))
    if resource is None or resource not in (
        *ASKED,
        *kinds.WORKLOADS,
        kinds.AUTOSCALERS,
        kinds.NAMESPACES,
        kinds.RESOURCE_QUOTAS,
        *codecs.foreign,
    ):
        return None
    try:
        placed = in_namespace(data, namespace) if resource.namespaced else data
        return codecs.thing_from(resource, counted(_stored(placed, codecs)))
    except DecodeError as error:
        raise Misuse(str(document.error(error.path, error.problem))) from error


def _stored(data: dict[str, Any], codecs: KindCodecs) -> dict[str, Any]:
    """The object with the defaults that an API server would store, so that both compare equal."""
    catalogue = codecs.catalogue()
    found = type_of(data, catalogue)
    return with_defaults(data, found, catalogue) if isinstance(found, str) else data


def in_namespace(data: Mapping[str, Any], namespace: str) -> dict[str, Any]:
    """The object with its own namespace, or with this one if it has none."""
    metadata = {"namespace": namespace, **(data.get("metadata") or {})}
    return {**data, "metadata": metadata}
