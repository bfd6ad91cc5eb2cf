"""A scenario as a value: the initial objects, the steps, and the end.

`loader` creates it from files, `steps` runs the steps. Times are virtual seconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from headroom.sim.api.values import Json, Ref
from headroom.sim.pools import NO_AUTOSCALING, Autoscaling, Pool
from headroom.sim.replay.arrivals import PodTrace
from headroom.sim.world import LONGEST, START
from headroom.wire.yamls import Document


@dataclass(frozen=True, slots=True)
class StepTarget:
    """The object of a step."""

    kind: str
    namespace: str
    name: str

    def __str__(self) -> str:
        return "/".join(part for part in (self.kind, self.namespace, self.name) if part)


@dataclass(frozen=True, slots=True)
class Apply:
    objects: tuple[Json, ...]


@dataclass(frozen=True, slots=True)
class Delete:
    target: StepTarget


@dataclass(frozen=True, slots=True)
class Patch:
    target: StepTarget
    patch: Json


@dataclass(frozen=True, slots=True)
class Scale:
    target: StepTarget
    replicas: int


@dataclass(frozen=True, slots=True)
class Finish:
    target: StepTarget
    phase: str


@dataclass(frozen=True, slots=True)
class Drain:
    node: str


@dataclass(frozen=True, slots=True)
class KubeletState:
    node: str
    running: bool


@dataclass(frozen=True, slots=True)
class OperatorState:
    state: str  # running | stopped | killed


@dataclass(frozen=True, slots=True)
class Expect:
    """How many objects of a kind should match `where`; None means at least one."""

    kind: str
    namespace: str = ""
    name: str = ""
    selector: str = ""
    where: Mapping[str, Any] = field(default_factory=dict)
    count: int | None = None


Act = Apply | Delete | Patch | Scale | Finish | Drain | KubeletState | OperatorState | Expect


@dataclass(frozen=True, slots=True)
class Step:
    at: float
    act: Act
    line: str = ""


@dataclass(frozen=True, slots=True)
class Source:
    """Where an object is defined: a document, and the position of the object in it."""

    document: Document
    inside: str = ""

    def at(self, path: str) -> str:
        """The file and the line of a field."""
        whole = f"{self.inside}.{path}" if self.inside and path else self.inside or path
        return f"{self.document.source}:{self.document.line_of(whole)}"


Sources = Mapping[Ref, Source]


@dataclass(frozen=True, slots=True)
class Scenario:
    """Everything that determines a run, except the version of the code.

    `restored` are the objects of the initial state; `sources` and `notes` are for messages.
    """

    name: str = "unnamed"
    start: datetime = START
    until: float | None = None
    seed: int = 0
    pools: tuple[Pool, ...] = ()
    autoscaling: Autoscaling = NO_AUTOSCALING
    objects: tuple[Json, ...] = ()
    steps: tuple[Step, ...] = ()
    arrivals: tuple[PodTrace, ...] = ()
    longest: float = field(default=LONGEST)
    restored: tuple[Json, ...] = ()
    notes: tuple[str, ...] = ()
    sources: Sources = field(default_factory=dict, compare=False)
