"""Manifests that a verb is asked about: read, checked against their schema, decoded.

As with `simulate`, everything that is wrong is told at once, with file, line and field, before
anything is done. Headrooms and Holds, also those of a dialect, are what is asked about; workloads
may come with them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from headroom.cli.dialects import chosen
from headroom.cli.errors import Misuse
from headroom.cli.source import World, spoken
from headroom.core.holds import Hold
from headroom.core.standing.headrooms import Headroom, Workload
from headroom.ports import Thing
from headroom.wire.errors import DecodeError
from headroom.wire.kinds import HEADROOMS, HOLDS, WORKLOADS
from headroom.wire.schema.checking import check
from headroom.wire.speech import Speech
from headroom.wire.yamls import Document, load

ASKED = (HEADROOMS, HOLDS)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the files ask for, and the workloads that come with it."""

    asked: tuple[Headroom | Hold, ...]
    workloads: tuple[Workload, ...] = ()

    def beside(self, world: World) -> World:
        """The world with the workloads of the files in place of its own of these names."""
        names = {(each.ref, each.namespace) for each in self.workloads}
        kept = [each for each in world.workloads if (each.ref, each.namespace) not in names]
        return replace(world, workloads=(*kept, *self.workloads))


def read_wanted(files: Sequence[Path], namespace: str, dialects: Sequence[str] = ()) -> Wanted:
    """Read the manifests; Misuse tells all that is wrong with them."""
    documents = [document for path in files for document in load(_text(path), str(path))]
    speech = chosen((*dialects, *spoken([document.data for document in documents])))
    known = speech.catalogue()
    problems = [str(error) for document in documents for error in check(document, known)]
    if problems:
        raise Misuse("\n".join(problems), "nothing was done; mend the files and try again")
    things = [
        thing
        for document in documents
        if (thing := _thing(document, namespace, speech)) is not None
    ]
    asked = tuple(thing for thing in things if isinstance(thing, Headroom | Hold))
    if not asked:
        raise Misuse("there is no Headroom and no Hold in these files")
    return Wanted(asked, tuple(thing for thing in things if isinstance(thing, Workload)))


def _thing(document: Document, namespace: str, speech: Speech) -> Thing | None:
    data = document.data
    resource = speech.find_kind(str(data.get("apiVersion", "")), str(data.get("kind", "")))
    if resource is None or resource not in (*ASKED, *WORKLOADS, *speech.foreign):
        return None
    try:
        placed = in_namespace(data, namespace) if resource.namespaced else data
        return speech.thing_from(resource, placed)
    except DecodeError as error:
        raise Misuse(str(document.error(error.path, error.problem))) from error


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
