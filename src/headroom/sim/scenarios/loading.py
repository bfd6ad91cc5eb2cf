"""From files to a `Scenario`, or to a list of everything that is wrong with them.

Nothing runs before every file has been read and checked: each problem comes with file, line,
document and path of the field. Files named by a step are read here too, for the same reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from headroom.errors import HeadroomError
from headroom.sim.api import sanity
from headroom.sim.api.values import Json
from headroom.sim.pools import Autoscaling, Pool
from headroom.sim.scenarios.model import Scenario, Step
from headroom.sim.scenarios.reading import (
    Known,
    ReadFile,
    StepReader,
    decode_problems,
    pool_from,
    seconds,
)
from headroom.sim.scenarios.schema import API_VERSION, KIND
from headroom.sim.scenarios.sound import pool_problems, start_from
from headroom.sim.scenarios.sources import SourceBook
from headroom.wire.schema.checking import check
from headroom.wire.schema.sense import odd_parts, written_twice
from headroom.wire.speech import NATIVE, Speech
from headroom.wire.yamls import Document, ManifestError, load


class ScenarioError(HeadroomError):
    """Files that cannot be run: every problem in its own line."""

    exit_code = 2

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("\n".join(problems), "nothing was run; mend the files and try again")
        self.problems = tuple(problems)


def load_scenario(paths: Sequence[Path], speech: Speech = NATIVE) -> Scenario:
    """Read manifests and at most one Scenario document; ScenarioError tells all problems."""
    known = Known.by(speech)
    documents, problems = _read_all(paths)
    scenarios = [item for item in documents if _is_scenario(item)]
    problems += [
        str(extra.error("kind", f"a second Scenario; the first is in {scenarios[0].source}"))
        for extra in scenarios[1:]
    ]
    manifests = [item for item in documents if not _is_scenario(item)]
    for item in manifests:
        problems += problems_of(item, known)
    problems += [str(error) for error in written_twice(manifests)]
    scenario, book = Scenario(), SourceBook(known.registry)
    if scenarios:
        found = [str(error) for error in check(scenarios[0], known.catalogue)]
        problems += found
        if not found:
            scenario = _scenario(scenarios[0], known, book, problems)
            book.inline(scenarios[0])
    if problems:
        raise ScenarioError(problems)
    for item in manifests:
        book.manifest(item)
    return replace(scenario, objects=tuple(item.data for item in manifests), sources=book.found)


def problems_of(document: Document, known: Known) -> list[str]:
    """What is wrong with an ordinary manifest, or with asking us to run it."""
    errors = [str(error) for error in check(document, known.catalogue)]
    if errors:
        return errors
    if str(document.data["kind"]) not in known.registry:
        words = f"{document.data['kind']} is not modelled yet: the run would mislead without it"
        return [str(document.error("kind", words))]
    data = document.data
    found = [*sanity.problems(data)] or [*decode_problems(data)] or [*odd_parts(data)]
    return [str(document.error(problem.path, problem.message)) for problem in found]


def _read_all(paths: Sequence[Path]) -> tuple[list[Document], list[str]]:
    documents: list[Document] = []
    problems: list[str] = []
    for path in paths:
        try:
            found = load(read_text(path), str(path))
            documents += found
            if not found:
                problems.append(f"{path}: there is no object in it")
        except (ManifestError, OSError, UnicodeDecodeError) as error:
            problems.append(_unreadable(path, error))
    return documents, problems


def read_text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


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


def _scenario(document: Document, known: Known, book: SourceBook, problems: list[str]) -> Scenario:
    spec: dict[str, Any] = document.data.get("spec") or {}
    default = Scenario()
    read = _objects_of_file(known, book, problems)
    reader = StepReader(document, Path(document.source).parent, read, known)
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
    )


def _start(document: Document, spec: Json, problems: list[str]) -> datetime | None:
    try:
        return start_from(spec["start"]) if spec.get("start") else None
    except ValueError as error:
        problems.append(str(document.error("spec.start", str(error))))
        return None


def _too_late(document: Document, spec: Json, until: float) -> list[str]:
    """Steps that would never be done."""
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


def _objects_of_file(known: Known, book: SourceBook, problems: list[str]) -> ReadFile:
    """A reader of the files that steps name."""

    def read(path: Path) -> tuple[Json, ...]:
        documents, trouble = _read_all([path])
        problems.extend(trouble)
        for document in documents:
            problems.extend(problems_of(document, known))
            book.manifest(document)
        return tuple(document.data for document in documents)

    return read
