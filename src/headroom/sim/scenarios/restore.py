"""An initial state: objects of a dump, of a result, or of `kubectl get -o yaml`.

They are restored with their uids, times and statuses, so that guardians keep their holds and
controllers their pods. Objects that are being deleted are left out. Pods whose controllers are not
in the file lose their owner references, because the garbage collector would delete them. Pods of
the current revision of a DaemonSet or StatefulSet have another hash in a real cluster; they get
ours, because they would be replaced otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from headroom.core.names import ROLE_LABEL
from headroom.sim.api.values import Json, dig, uid_of
from headroom.sim.scenarios.liveobjects import newest_time, with_our_revisions
from headroom.sim.scenarios.parser import Known, decode_problems
from headroom.wire.times import format_time, parse_time
from headroom.wire.yamls import Document

WORLD_KINDS = ("Result", "Dump")
_LEFT_OUT = ("Event", "ClaimIndex")  # The operator creates its indexes again.


@dataclass(frozen=True, slots=True)
class Restored:
    """The restored objects, their time, and notes for the reader."""

    objects: tuple[Json, ...] = ()
    at: datetime | None = None
    notes: tuple[str, ...] = ()


NOTHING = Restored()


def is_world(document: Document) -> bool:
    """Whether a document is a whole initial state instead of one object."""
    return document.data.get("kind") in WORLD_KINDS and "objects" in document.data


def is_live(document: Document) -> bool:
    """Whether an object was read from a cluster: manifests do not have these fields."""
    metadata = document.data.get("metadata")
    return isinstance(metadata, Mapping) and all(
        isinstance(metadata.get(name), str) and metadata[name]
        for name in ("uid", "resourceVersion", "creationTimestamp")
    )


def restored(
    documents: Sequence[Document], live: Sequence[Document], known: Known, problems: list[str]
) -> Restored:
    """Read the initial state of some files, at most one, and single objects of a cluster.

    Errors are added to the problems.
    """
    if not documents and not live:
        return NOTHING
    problems += [
        str(extra.error("kind", f"a second world; the first is in {documents[0].source}"))
        for extra in documents[1:]
    ]
    items = [(each.data, each, "") for each in live]
    for document in documents[:1]:
        inside = document.data.get("objects")
        if not isinstance(inside, list):
            problems.append(str(document.error("objects", "a list is expected")))
            return NOTHING
        items += [(item, document, f"objects[{index}]") for index, item in enumerate(inside)]
    found: list[Json] = []
    unknown: dict[str, int] = {}
    for item, document, place in items:
        words = _wrong_with(item, known)
        if words is not None:
            path = f"{place}{words[0]}".removeprefix(".")
            problems.append(str(document.error(path, words[1])))
        elif item["kind"] not in known.registry:
            unknown[item["kind"]] = unknown.get(item["kind"], 0) + 1
        elif item["kind"] not in _LEFT_OUT and not dig(item, "metadata", "deletionTimestamp"):
            found.append(item)
    alone, objects = _without_strange_owners(found)
    at = _end(documents[0], problems) if documents else newest_time(found)
    notes = list(_notes(unknown, alone))
    if not documents and at is not None:
        notes.append(f"taken as of {format_time(at)}, the newest time in the objects of a cluster")
    return Restored(with_our_revisions(objects), at, tuple(notes))


def _wrong_with(item: Any, known: Known) -> tuple[str, str] | None:
    """The path and the message for an invalid object; None for a valid one."""
    if not isinstance(item, Mapping) or not isinstance(item.get("metadata"), Mapping):
        return "", "not an object: kind and metadata are expected"
    if not isinstance(item.get("kind"), str) or not item["metadata"].get("name"):
        return "", "every object has a kind and a name"
    for part in ("spec", "status"):
        if not isinstance(item.get(part, {}), Mapping):
            return f".{part}", "an object with fields is expected"
    problem = next(decode_problems(item), None) if item["kind"] in known.registry else None
    return None if problem is None else (f".{problem.path}", problem.message)


def _without_strange_owners(objects: Iterable[Json]) -> tuple[int, tuple[Json, ...]]:
    """The objects without references to owners outside of them, and how many had one."""
    there = list(objects)
    uids = {uid_of(obj) for obj in there}
    alone, kept = 0, []
    for obj in there:
        owners = obj["metadata"].get("ownerReferences") or []
        known = [owner for owner in owners if owner.get("uid") in uids]
        ours = ROLE_LABEL in (obj["metadata"].get("labels") or {})
        if len(known) < len(owners) and not ours:
            alone += 1
            obj = {**obj, "metadata": {**obj["metadata"], "ownerReferences": known}}
        kept.append(obj)
    return alone, tuple(kept)


def _end(document: Document, problems: list[str]) -> datetime | None:
    end = document.data.get("end")
    try:
        return parse_time(str(end)) if end else None
    except ValueError as error:
        problems.append(str(document.error("end", str(error))))
        return None


def _notes(unknown: dict[str, int], alone: int) -> Iterable[str]:
    if unknown:
        told = ", ".join(f"{kind} {unknown[kind]}" for kind in sorted(unknown))
        yield f"not restored, because they are not simulated: {told}"
    if alone:
        yield f"objects without their owners have no controller and are not replaced: {alone}"
