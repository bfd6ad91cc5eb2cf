"""The input of a command: a live cluster, or files that describe one.

`get` and `explain` read objects as plain JSON, so that they can print them unchanged, and as core
values, so that they can make decisions. A simulation's Result, a dump and manifests are all just
objects.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from headroom.cli.dialects import NAMES, chosen, dialect_of
from headroom.cli.errors import Misuse, parsed
from headroom.cli.files import text_of
from headroom.cli.output import say
from headroom.core.demand.resource_quotas import ResourceQuota
from headroom.core.headrooms.announced_pods import PodAutoscaler
from headroom.core.headrooms.headrooms import Headroom, Workload
from headroom.core.holds import Hold
from headroom.core.objects import Namespace, Node, Pod
from headroom.core.quotas.quota import Quota
from headroom.ports import Thing
from headroom.wire.errors import DecodeError
from headroom.wire.kind_codecs import NATIVE, KindCodecs
from headroom.wire.kinds import (
    AUTOSCALERS,
    HEADROOMS,
    HOLDS,
    NAMESPACES,
    NODES,
    PODS,
    RESOURCE_QUOTAS,
    WORKLOADS,
    Resource,
)
from headroom.wire.times import parse_time
from headroom.wire.yamls import Document, load
from headroom.wire.yamls.documents import Read, read_text

Json = Mapping[str, Any]
WATCHED = (NODES, NAMESPACES, PODS, HOLDS, HEADROOMS)
RESULT_KINDS = ("Result", "Dump")
WORLD_KINDS = (*RESULT_KINDS, "Scenario")  # documents that describe a cluster


@dataclass(frozen=True, slots=True)
class Where:
    """Which cluster or which files, and which kinds of them, as the command line says.

    Workloads need no name: those that a headroom copies are read with it. With files, dialects need
    no name either: their objects are recognized.

    `namespace` is the namespace of the command. `local`: nothing outside of it matters; otherwise
    everything is read that the permissions allow. The command fails without permission for the
    kinds in `needed`, and for those in `everywhere` without permission for all namespaces.
    """

    files: tuple[Path, ...] = ()
    kubeconfig: str = ""
    context: str = ""
    kinds: tuple[Resource, ...] = WATCHED
    dialects: tuple[str, ...] = ()
    namespace: str = ""
    local: bool = False
    foreign: bool = True  # False: of the dialects, only the kinds in `kinds`
    needed: tuple[Resource, ...] = ()
    everywhere: tuple[Resource, ...] = ()
    documents: tuple[Document, ...] = ()  # files that were read before


@dataclass(frozen=True, slots=True)
class World:
    """Objects at the time `now`; `raw` and the decoded values are the same objects.

    `memo` keeps what was worked out from them once: a changed copy of a world begins with none.
    """

    raw: tuple[Json, ...]
    nodes: tuple[Node, ...]
    pods: tuple[Pod, ...]
    holds: tuple[Hold, ...]
    namespaces: tuple[Namespace, ...]
    now: datetime
    headrooms: tuple[Headroom, ...] = ()
    workloads: tuple[Workload, ...] = ()
    autoscalers: tuple[PodAutoscaler, ...] = ()
    quotas: tuple[Quota, ...] = ()
    resource_quotas: tuple[ResourceQuota, ...] = ()
    codecs: KindCodecs = NATIVE
    unseen: frozenset[str] = frozenset()  # kinds (plural) without permission
    unseen_elsewhere: frozenset[str] = frozenset()  # visible in one namespace only
    memo: dict[str, Any] = field(init=False, default_factory=dict, repr=False, compare=False)

    @property
    def sees_room(self) -> bool:
        """Whether the free room is known: every node and every pod is visible."""
        return not ({NODES.plural, PODS.plural} & (self.unseen | self.unseen_elsewhere))

    def of(self, kind: str) -> list[Json]:
        """The raw objects of one kind, by namespace and name."""
        found = [item for item in self.raw if item.get("kind") == kind]
        return sorted(found, key=_place)


def read_world(where: Where) -> World:
    """Read everything that the command may need."""
    if where.files or where.documents:
        from headroom.cli.formats.progress import waiting

        names = dict.fromkeys((*map(str, where.files), *(each.source for each in where.documents)))
        with waiting(f"reading {', '.join(names)}"):
            return _from_files(where)
    from headroom.cli.live.object_reader import read_cluster

    return asyncio.run(read_cluster(where))


def look_in(
    where: tuple[str, str], given: str, files: Sequence[Path] | None, otherwise: str = ""
) -> str:
    """The namespace: the given one, or the context's; for files, `otherwise`.

    `where` is the kubeconfig and the context.
    """
    if given or files:
        return given or otherwise
    from headroom.kube.kubeconfig import find_access

    return find_access(*where).namespace


def _from_files(where: Where) -> World:
    raw: list[Json] = []
    now: datetime | None = None
    named: list[str] = []
    read = documents_in(where.files)
    for item in (*where.documents, *read):
        if item.data.get("kind") in RESULT_KINDS:
            raw += _objects_of(item)
            named += recorded(item.data)
            now = _end_of(item) or now
        elif item.data.get("kind") == "Scenario":
            raw += _nodes_of(item)
            now = now or _start_of(item.data)
        else:
            raw.append(item.data)
    codecs = chosen((*where.dialects, *named, *spoken(raw)))
    ahead = (*WORKLOADS, AUTOSCALERS)
    kinds = (*WATCHED, *where.kinds, *ahead, *filter(codecs.reads, codecs.resources))
    return decoded(raw, kinds, now or datetime.now(UTC), codecs)


def documents_in(files: Sequence[Path], read: Read = read_text) -> list[Document]:
    """Every document of these files."""
    return [document for path in files for document in _documents(path, read)]


def recorded(result: Json) -> list[str]:
    """The dialects in a result or a dump; unknown ones are from a later version and are skipped."""
    names = result.get("dialects")
    return [each for each in names if each in NAMES] if isinstance(names, list) else []


def _nodes_of(scenario: Document) -> list[Json]:
    """The nodes of a scenario's pools at the start; its steps are not run here."""
    from headroom.sim.scenarios.nodes import nodes_at_the_start

    nodes, problems = nodes_at_the_start(scenario)
    if problems:
        raise Misuse("\n".join(problems), "fix the file and try again")
    if (scenario.data.get("spec") or {}).get("steps"):
        say(
            f"note: {scenario.source}: only the nodes of a Scenario's pools are used here; "
            f"to run its steps, use a result: headroom simulate {scenario.source} -o json"
        )
    return nodes


def _start_of(scenario: Json) -> datetime | None:
    """The start of a scenario, if set: schedules are evaluated at this time."""
    start = (scenario.get("spec") or {}).get("start")
    return parse_time(str(start)) if start else None


def spoken(raw: Sequence[Json]) -> list[str]:
    """The dialects of these objects."""
    kinds = {(str(item.get("apiVersion")), str(item.get("kind"))) for item in raw}
    return [
        name
        for name in NAMES
        if any((kind.api_version, kind.kind) in kinds for kind in dialect_of(name).kinds)
    ]


def decoded(
    raw: Sequence[Json], kinds: Sequence[Resource], now: datetime, codecs: KindCodecs
) -> World:
    """Decode the known kinds; an object that cannot be decoded is reported and skipped."""
    known = {(resource.api_version, resource.kind): resource for resource in kinds}
    things: list[Thing] = []
    readable: list[Json] = []
    for item in raw:
        resource = known.get((str(item.get("apiVersion", "")), str(item.get("kind", ""))))
        if resource is None:
            continue
        if not codecs.reads(resource):  # They are printed unchanged and affect no decision.
            readable.append(item)
            continue
        try:
            things.append(codecs.thing_from(resource, counted(item)))
            readable.append(item)
        except DecodeError as trouble:
            say(f"note: passed over {trouble.message}")
    return World(
        raw=tuple(readable),
        nodes=tuple(thing for thing in things if isinstance(thing, Node)),
        pods=tuple(thing for thing in things if isinstance(thing, Pod)),
        holds=tuple(thing for thing in things if isinstance(thing, Hold)),
        namespaces=tuple(thing for thing in things if isinstance(thing, Namespace)),
        now=now,
        headrooms=tuple(thing for thing in things if isinstance(thing, Headroom)),
        workloads=tuple(thing for thing in things if isinstance(thing, Workload)),
        autoscalers=tuple(thing for thing in things if isinstance(thing, PodAutoscaler)),
        quotas=tuple(thing for thing in things if isinstance(thing, Quota)),
        resource_quotas=tuple(thing for thing in things if isinstance(thing, ResourceQuota)),
        codecs=codecs,
    )


def counted(item: Json) -> Json:
    """A ResourceQuota without a status allows what its spec says; others are unchanged."""
    spec, status = item.get("spec") or {}, item.get("status") or {}
    if item.get("kind") != RESOURCE_QUOTAS.kind or not isinstance(status, Mapping):
        return item
    if status.get("hard") or not isinstance(spec, Mapping):
        return item
    return {**item, "status": {"hard": spec.get("hard") or {}}}


def _documents(path: Path, read: Read) -> list[Document]:
    found = load(text_of(path, read), str(path))
    if not found:
        raise Misuse(f"{path}: it contains no object")
    return found


def _objects_of(document: Document) -> list[Json]:
    result, path = document.data, document.source
    found: list[Json] = []
    for part in ("objects", "events"):
        items = result.get(part) or []
        if not isinstance(items, list):
            raise Misuse(f"{path}: {part}: a list is expected")
        for index, item in enumerate(items):
            if not isinstance(item, Mapping):
                raise Misuse(f"{path}: {part}[{index}]: an object with fields is expected")
        found += items
    return found


def _end_of(document: Document) -> datetime | None:
    end = document.data.get("end")
    return parsed(f"{document.source}: end", parse_time, str(end)) if end else None


def _place(item: Json) -> tuple[str, str]:
    metadata = item.get("metadata") or {}
    return (str(metadata.get("namespace", "")), str(metadata.get("name", "")))
