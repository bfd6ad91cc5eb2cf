"""Manifests that a verb is asked about: read, checked against their schema, decoded.

As with `simulate`, everything that is wrong is told at once, with file, line and field, before
anything is done. Headrooms and Holds, also those of a dialect, are what is asked about; workloads
may come with them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from headroom.cli.dialects import chosen
from headroom.cli.errors import Misuse
from headroom.cli.source import World, counted, spoken
from headroom.core.demand.quotaroom import ResourceQuota
from headroom.core.holds import Hold
from headroom.core.objects import Namespace
from headroom.core.standing.headrooms import Headroom, Workload
from headroom.ports import Thing
from headroom.wire.errors import DecodeError
from headroom.wire.kinds import HEADROOMS, HOLDS, NAMESPACES, RESOURCE_QUOTAS, WORKLOADS
from headroom.wire.schema.checking import check, type_of
from headroom.wire.schema.defaults import with_defaults
from headroom.wire.schema.notation import Catalogue
from headroom.wire.schema.sense import odd_parts, written_twice
from headroom.wire.speech import Speech
from headroom.wire.yamls import Document, ManifestError, load

ASKED = (HEADROOMS, HOLDS)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the files ask for, the workloads that come with it, and where each is written."""

    asked: tuple[Headroom | Hold, ...]
    workloads: tuple[Workload, ...] = ()
    quotas: tuple[ResourceQuota, ...] = ()
    namespaces: tuple[Namespace, ...] = ()
    places: Mapping[str, Document] = field(default_factory=dict)

    def beside(self, world: World) -> World:
        """The world with what comes with the files in place of its own of these names."""
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


def read_wanted(files: Sequence[Path], namespace: str, dialects: Sequence[str] = ()) -> Wanted:
    """Read the manifests; Misuse tells all that is wrong with them."""
    documents = [document for path in files for document in _documents(path)]
    speech = chosen((*dialects, *spoken([document.data for document in documents])))
    known = speech.catalogue()
    problems = [str(error) for document in documents for error in _problems(document, known)]
    problems += [str(error) for error in written_twice(documents)]
    if problems:
        raise Misuse("\n".join(problems), "nothing was done; mend the files and try again")
    things: list[Thing] = []
    places: dict[str, Document] = {}
    for document in documents:
        thing = _thing(document, namespace, speech)
        if isinstance(thing, Headroom | Hold):
            places[thing.parent.whole] = document
        if thing is not None:
            things.append(thing)
    asked = tuple(thing for thing in things if isinstance(thing, Headroom | Hold))
    if not asked:
        raise Misuse("there is no Headroom and no Hold in these files")
    workloads = tuple(thing for thing in things if isinstance(thing, Workload))
    quotas = tuple(thing for thing in things if isinstance(thing, ResourceQuota))
    namespaces = tuple(thing for thing in things if isinstance(thing, Namespace))
    return Wanted(asked, workloads, quotas, namespaces, places)


def _documents(path: Path) -> list[Document]:
    found = load(_text(path), str(path))
    if not found:
        raise Misuse(f"{path}: there is no object in it")
    return found


def _problems(document: Document, known: Catalogue) -> list[ManifestError]:
    odd = odd_parts(document.data)
    return check(document, known) or [document.error(each.path, each.message) for each in odd]


def _thing(document: Document, namespace: str, speech: Speech) -> Thing | None:
    data = document.data
    resource = speech.find_kind(str(data.get("apiVersion", "")), str(data.get("kind", "")))
    if resource is None or resource not in (
        *ASKED,
        *WORKLOADS,
        NAMESPACES,
        RESOURCE_QUOTAS,
        *speech.foreign,
    ):
        return None
    try:
        placed = in_namespace(data, namespace) if resource.namespaced else data
        return speech.thing_from(resource, counted(_stored(placed, speech)))
    except DecodeError as error:
        raise Misuse(str(document.error(error.path, error.problem))) from error


def _stored(data: dict[str, Any], speech: Speech) -> dict[str, Any]:
    """The object with the defaults that an API server would store, so that both compare equal."""
    catalogue = speech.catalogue()
    found = type_of(data, catalogue)
    return with_defaults(data, found, catalogue) if isinstance(found, str) else data


def in_namespace(data: Mapping[str, Any], namespace: str) -> dict[str, Any]:
    """The object in its own namespace, or in this one where it names none."""
    metadata = {"namespace": namespace, **(data.get("metadata") or {})}
    return {**data, "metadata": metadata}


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as trouble:
        raise Misuse(f"{path}: {trouble.strerror or trouble}") from trouble
    except UnicodeDecodeError as trouble:
        raise Misuse(f"{path}: not a text file") from trouble
