"""Load files into a `Scenario`, or report everything that is wrong with them.

Nothing runs before every file was read and checked. Each problem has file, line, document and path
of the field. Files that steps name are read here too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from math import floor
from pathlib import Path
from typing import Any

from headroom.errors import HeadroomError
from headroom.sim.api.values import Json
from headroom.sim.pools import Autoscaling, Pool
from headroom.sim.replay.arrivals import PodTrace
from headroom.sim.replay.trace_loader import read_arrivals
from headroom.sim.scenarios.model import Scenario, Step
from headroom.sim.scenarios.parser import (
    Known,
    ReadFile,
    StepReader,
    pool_from,
    seconds,
    value_problems,
)
from headroom.sim.scenarios.relevance import Relevance
from headroom.sim.scenarios.restore import is_live, is_world, restored
from headroom.sim.scenarios.schema import API_VERSION, KIND
from headroom.sim.scenarios.sources import SourceIndex
from headroom.sim.scenarios.validation import pool_problems, start_from
from headroom.wire.kind_codecs import NATIVE, KindCodecs
from headroom.wire.schema.lint import written_twice
from headroom.wire.schema.validation import check
from headroom.wire.yamls import Document, ManifestError, load
from headroom.wire.yamls.documents import Read, read_text


class ScenarioError(HeadroomError):
    """Invalid files: one line for each problem."""

    exit_code = 2

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("\n".join(problems), "nothing was run; fix the files and try again")
        self.problems = tuple(problems)


def load_scenario(
    paths: Sequence[Path],
    codecs: KindCodecs = NATIVE,
    strict: bool = False,
    read: Read = read_text,
) -> Scenario:
    """Read manifests, at most one Scenario and at most one initial state.

    A ScenarioError has all problems; with `strict`, also kinds that are not simulated.
    """
    known = Known.by(codecs)
    documents, problems = _read_all(paths, read)
    scenarios = [item for item in documents if _is_scenario(item)]
    problems += [
        str(extra.error("kind", f"a second Scenario; the first is in {scenarios[0].source}"))
        for extra in scenarios[1:]
    ]
    worlds = [item for item in documents if is_world(item)]
    others = [item for item in documents if not _is_scenario(item) and not is_world(item)]
    relevance = Relevance()
    played = relevance.sort(others, known, strict)
    live = [item for item in played if is_live(item)]
    manifests = [item for item in played if not is_live(item)]
    for item in manifests:
        problems += problems_of(item, known)
    problems += [str(error) for error in written_twice(played)]
    scenario, book = Scenario(), SourceIndex(known.registry)
    was = restored(worlds, live, known, problems)
    if scenarios:
        found = [str(error) for error in check(scenarios[0], known.catalogue)]
        problems += found
        if not found:
            reading = FileReader(known, book, relevance, read, strict)
            scenario = _scenario(scenarios[0], reading, problems)
            book.inline(scenarios[0])
    problems += relevance.problems
    if problems:
        raise ScenarioError(problems)
    for item in played:
        book.manifest(item)
    began = any((item.data.get("spec") or {}).get("start") for item in scenarios)
    return replace(
        scenario,
        start=scenario.start if began else was.at or _first(scenario.arrivals) or scenario.start,
        objects=tuple(item.data for item in manifests),
        sources=book.found,
        restored=was.objects,
        notes=(*was.notes, *relevance.notes()),
    )


@dataclass(frozen=True, slots=True)
class FileReader:
    """Everything needed to read the files of one run."""

    known: Known
    book: SourceIndex
    relevance: Relevance
    read: Read
    strict: bool

    def objects_of(self, problems: list[str]) -> ReadFile:
        """A reader of the files that steps name."""

        def objects(path: Path) -> tuple[Json, ...]:
            documents, trouble = _read_all([path], self.read)
            problems.extend(trouble)
            played = self.relevance.sort(documents, self.known, self.strict)
            for document in played:
                problems.extend(problems_of(document, self.known))
                self.book.manifest(document)
            return tuple(document.data for document in played)

        return objects


def problems_of(document: Document, known: Known) -> list[str]:
    """What is wrong with a manifest, or why its kind cannot be simulated."""
    errors = [str(error) for error in check(document, known.catalogue)]
    if errors:
        return errors
    if str(document.data["kind"]) not in known.registry:
        words = f"{document.data['kind']} is not modelled yet: the run would mislead without it"
        return [str(document.error("kind", words))]
    found = value_problems(document.data)
    return [str(document.error(problem.path, problem.message)) for problem in found]


def _read_all(paths: Sequence[Path], read: Read) -> tuple[list[Document], list[str]]:
    documents: list[Document] = []
    problems: list[str] = []
    for path in paths:
        try:
            found = load(read(path), str(path))
            documents += found
            if not found:
                problems.append(f"{path}: there is no object in it")
        except (ManifestError, OSError, UnicodeDecodeError) as error:
            problems.append(_unreadable(path, error))
    return documents, problems


def _unreadable(path: Path, error: Exception) -> str:
    match error:
        case ManifestError():
            return str(error)
        case OSError():
            return f"{path}: cannot be read: {error.strerror or error}"
        case _:
            return f"{path}: cannot be read: not a text file"


def _is_scenario(document: Document) -> bool:
    api_version = str(document.data.get("apiVersion", ""))
    group = API_VERSION.partition("/")[0]
    return document.data.get("kind") == KIND and api_version.partition("/")[0] == group


def _scenario(document: Document, reading: FileReader, problems: list[str]) -> Scenario:
    spec: dict[str, Any] = document.data.get("spec") or {}
    default = Scenario()
    read = reading.objects_of(problems)
    folder = Path(document.source).parent
    reader = StepReader(document, folder, read, reading.known)
    steps: list[Step] = []
    for index, given in enumerate(spec.get("steps") or ()):
        step = reader.step(index, given)
        if step is not None:
            steps.append(step)
    problems += reader.problems
    until = spec.get("until")
    if until is not None:
        problems += _too_late(document, spec, seconds(until))
    return Scenario(
        name=str((document.data.get("metadata") or {}).get("name") or default.name),
        start=_start(document, spec, problems) or default.start,
        until=None if until is None else seconds(until),
        seed=int(spec.get("seed") or 0),
        pools=_pools(document, spec, problems),
        autoscaling=_autoscaling(spec.get("autoscaler") or {}),
        steps=tuple(sorted(steps, key=lambda step: step.at)),
        arrivals=read_arrivals(document, folder, problems),
    )


def _first(arrivals: Sequence[PodTrace]) -> datetime | None:
    """When the first pod of traces with wall clock times arrives."""
    found = [each.first for each in arrivals if each.clock]
    return datetime.fromtimestamp(floor(min(found)), UTC) if found else None


def _start(document: Document, spec: Json, problems: list[str]) -> datetime | None:
    try:
        return start_from(spec["start"]) if spec.get("start") else None
    except ValueError as error:
        problems.append(str(document.error("spec.start", str(error))))
        return None


def _too_late(document: Document, spec: Json, until: float) -> list[str]:
    """Steps after the end of the run."""
    return [
        str(document.error(f"spec.steps[{index}].at", f"after the end ({spec['until']})"))
        for index, given in enumerate(spec.get("steps") or ())
        if seconds(given["at"]) > until
    ]


def _pools(document: Document, spec: Json, problems: list[str]) -> tuple[Pool, ...]:
    pools: list[Pool] = []
    for index, given in enumerate(spec.get("pools") or ()):
        pool = pool_from(given)
        for problem in pool_problems(pool, f"spec.pools[{index}]"):
            problems.append(str(document.error(problem.path, problem.message)))
        if any(pool.name == other.name for other in pools):
            where = f"spec.pools[{index}].name"
            problems.append(str(document.error(where, f"a second pool called {pool.name}")))
        pools.append(pool)
    return tuple(pools)


def _autoscaling(given: Json) -> Autoscaling:
    default = Autoscaling()
    after = given.get("scaleDownAfter")
    wait = default.scale_down_after if after is None else seconds(after)
    profile = str(given.get("profile") or default.profile)
    cutoff = given.get("priorityCutoff")
    return Autoscaling(
        bool(given.get("enabled")), wait, profile, None if cutoff is None else int(cutoff)
    )
