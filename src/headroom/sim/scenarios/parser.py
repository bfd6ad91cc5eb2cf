"""Parse the parts of a Scenario document; the types of its fields were checked before.

This module checks what a schema cannot express: that the objects of a step are valid manifests,
that a kind is served, that a selector can be parsed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from headroom.core.holds import Problem
from headroom.sim.api import basic_validation
from headroom.sim.api.registry import Registry
from headroom.sim.api.values import Json
from headroom.sim.pools import Pool
from headroom.sim.scenarios.model import (
    Act,
    Apply,
    Delete,
    Drain,
    Expect,
    Finish,
    KubeletState,
    OperatorState,
    Patch,
    Scale,
    Step,
    StepTarget,
)
from headroom.sim.scenarios.schema import ACTS, with_scenarios
from headroom.sim.selectors import parse_selector
from headroom.wire.decode import thing_from
from headroom.wire.durations import parse_duration
from headroom.wire.errors import DecodeError
from headroom.wire.kind_codecs import KindCodecs
from headroom.wire.kinds import NODES, PODS, find_kind
from headroom.wire.schema.lint import odd_parts
from headroom.wire.schema.notation import Catalogue
from headroom.wire.schema.validation import type_of, validate
from headroom.wire.yamls import Document

ReadFile = Callable[[Path], tuple[Json, ...]]


@dataclass(frozen=True, slots=True)
class Known:
    """The kinds that files may contain, and the fields of each."""

    registry: Registry
    catalogue: Catalogue

    @classmethod
    def by(cls, codecs: KindCodecs) -> Known:
        """The kinds that a simulator with these dialects knows."""
        registry = Registry(codecs)
        return cls(registry, with_scenarios(registry.catalogue))

    @property
    def scalable(self) -> tuple[str, ...]:
        return tuple(sorted(name for name, kind in self.registry.items() if kind.scale))


def seconds(text: Any) -> float:
    """A Go duration in seconds."""
    return parse_duration(str(text)).total_seconds()


def pool_from(given: Json) -> Pool:
    """Read a pool; cpu, memory and pods have defaults."""
    given = {name: value for name, value in given.items() if value is not None}
    count = int(given.get("count", 1))
    capacity = {
        "cpu": str(given.get("cpu", "4")),
        "memory": str(given.get("memory", "16Gi")),
        "pods": str(given.get("pods", 110)),
        **{name: str(amount) for name, amount in (given.get("resources") or {}).items()},
    }
    pool = Pool(
        name=str(given["name"]),
        count=count,
        most=int(given.get("max", count)),
        capacity=capacity,
        labels={str(key): str(value) for key, value in (given.get("labels") or {}).items()},
        taints=tuple(given.get("taints") or ()),
        price=float(given.get("price") or 0.0),
    )
    delay = given.get("bootDelay")
    return pool if delay is None else replace(pool, boot_delay=seconds(delay))


def value_problems(obj: Json) -> list[Problem]:
    """What is wrong with an object whose fields have the right types; one kind of problem."""
    return [*basic_validation.problems(obj)] or [*decode_problems(obj)] or [*odd_parts(obj)]


def decode_problems(obj: Json) -> Iterator[Problem]:
    """Values of a pod or node that have the right type and are still invalid."""
    resource = find_kind(str(obj.get("apiVersion")), str(obj.get("kind")))
    if resource in (PODS, NODES):
        try:
            thing_from(resource, obj)
        except DecodeError as error:
            yield Problem(error.path, error.problem)


class StepReader:
    """Reads the steps of one document and collects their errors."""

    def __init__(self, document: Document, folder: Path, read_file: ReadFile, known: Known) -> None:
        self.problems: list[str] = []
        self._known = known
        self._document = document
        self._folder = folder
        self._read_file = read_file
        self._path = ""

    def step(self, index: int, given: Json) -> Step | None:
        """Read one step; None if it is invalid."""
        self._path = f"spec.steps[{index}]"
        before = len(self.problems)
        act = self._act(next(name for name in ACTS if name in given), given)
        at = seconds(given["at"])
        if at < 0:
            self._blame("at", "before the start")
        if len(self.problems) > before:
            return None
        line = f"{self._document.source}:{self._document.line_of(self._path)}"
        return Step(at, act, line)

    def _act(self, name: str, given: Json) -> Act:
        value = given[name]
        match name:
            case "apply":
                return Apply(tuple(o for i, file in enumerate(value) for o in self._file(i, file)))
            case "objects":
                return Apply(tuple(self._object(i, item) for i, item in enumerate(value)))
            case "delete":
                return Delete(self._target(name, value))
            case "patch":
                return Patch(self._target(name, value), given["with"])
            case "scale":
                return Scale(
                    self._target(name, value, self._known.scalable), int(given["replicas"])
                )
            case "finish":
                phase = str(given.get("phase", "Succeeded"))
                return Finish(self._target(name, value, ("Pod",)), phase)
            case "drain":
                return Drain(str(value))
            case "kubelet":
                return KubeletState(str(value), given["state"] == "running")
            case "operator":
                return OperatorState(str(value))
            case _:
                return self._expect(value)

    def _file(self, index: int, name: str) -> tuple[Json, ...]:
        """Read a file that a step names; a missing file is reported at the step."""
        path = self._folder / name
        if not path.exists():
            self._blame(f"apply[{index}]", f"{path} cannot be read: there is no such file")
            return ()
        return self._read_file(path)

    def _object(self, index: int, given: Json) -> Json:
        """Check an inline object of the scenario like a separate document."""
        where = f"objects[{index}]"
        found = type_of(given, self._known.catalogue)
        if isinstance(found, Problem):
            self._blame(f"{where}.{found.path}", found.message)
            return given
        problems = validate(given, found, self._known.catalogue)
        for problem in problems or value_problems(given):
            self._blame(f"{where}.{problem.path}", problem.message)
        self._known_kind(f"{where}.kind", str(given.get("kind")))
        if not (given.get("metadata") or {}).get("name"):
            self._blame(f"{where}.metadata.name", "missing: every object needs a name")
        return given

    def _target(self, act: str, given: Json, only: tuple[str, ...] = ()) -> StepTarget:
        kind = str(given["kind"])
        self._known_kind(f"{act}.kind", kind)
        if only and kind not in only:
            self._blame(f"{act}.kind", f"{act} takes {' or '.join(only)}, not {kind}")
        return StepTarget(kind, self._namespace(kind, given), str(given["name"]))

    def _namespace(self, kind: str, given: Mapping[str, Any]) -> str:
        known = self._known.registry.get(kind)
        if known is not None and not known.namespaced:
            return ""
        return str(given.get("namespace") or "default")

    def _expect(self, given: Json) -> Expect:
        kind = str(given["kind"])
        self._known_kind("expect.kind", kind)
        selector = str(given.get("labelSelector") or "")
        try:
            parse_selector(selector)
        except ValueError as error:
            self._blame("expect.labelSelector", str(error))
        count = given.get("count")
        return Expect(
            kind,
            str(given.get("namespace") or ""),
            str(given.get("name") or ""),
            selector,
            given.get("where") or {},
            None if count is None else int(count),
        )

    def _known_kind(self, where: str, kind: str) -> None:
        if kind not in self._known.registry:
            names = ", ".join(sorted(self._known.registry))
            self._blame(where, f"{kind!r} is not a kind that is known here; known are {names}")

    def _blame(self, where: str, words: str) -> None:
        self.problems.append(str(self._document.error(f"{self._path}.{where}", words)))
