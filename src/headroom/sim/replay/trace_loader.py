"""The `arrivals` of a Scenario document as values; each trace is read once and checked."""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import isfinite
from pathlib import Path

from headroom.core.holds import Problem
from headroom.sim.api.values import Json
from headroom.sim.replay.arrivals import PodTrace
from headroom.sim.scenarios.parser import seconds, value_problems
from headroom.wire.traces.cells import CLOCK
from headroom.wire.traces.files import arrivals_of
from headroom.wire.traces.parser import Arrival, TraceError
from headroom.wire.yamls import Document

MOST_PODS = 10_000_000  # in one run; more is not useful
_NOT_IN_NAMES = re.compile(r"[^a-z0-9-]+")
_ENDINGS = (".gz", ".csv")


def read_arrivals(document: Document, folder: Path, problems: list[str]) -> tuple[PodTrace, ...]:
    """Every entry of `spec.arrivals`; errors are added to the problems, with file and line."""
    found: list[PodTrace] = []
    for index, given in enumerate((document.data.get("spec") or {}).get("arrivals") or ()):
        path = f"spec.arrivals[{index}]"
        try:
            each = _entry(given, folder)
        except TraceError as error:
            problems.append(str(document.error(f"{path}.trace", "this trace cannot be used:")))
            problems.extend(error.problems)
            continue
        for problem in _problems(each, found):
            problems.append(str(document.error(f"{path}.{problem.path}", problem.message)))
        found.append(each)
    return tuple(found)


def _entry(given: Json, folder: Path) -> PodTrace:
    trace = folder / str(given["trace"])
    first, last, pods, zone = None, 0.0, 0, ""
    for arrival in arrivals_of(trace):
        first = arrival.second if first is None else first
        last, pods, zone = arrival.second, pods + arrival.pods, arrival.zone
    duration = given.get("duration")
    return PodTrace(
        path=trace,
        name=str(given.get("name") or _name_of(trace)),
        template=given.get("template") or {},
        duration=None if duration is None else seconds(duration),
        scale=float(given.get("scale", 1.0)),
        skip=seconds(given.get("skip") or "0"),
        first=first or 0.0,
        last=last,
        pods=pods,
        clock=bool(zone) or (first or 0.0) >= CLOCK,
    )


def _name_of(trace: Path) -> str:
    name = trace.name.lower()
    for ending in _ENDINGS:
        name = name.removesuffix(ending)
    return _NOT_IN_NAMES.sub("-", name).strip("-")[:40].strip("-") or "trace"


def _problems(each: PodTrace, others: list[PodTrace]) -> Iterator[Problem]:
    if any(each.name == other.name for other in others):
        yield Problem("name", f"a second trace called {each.name!r}: give one of them a `name`")
    if each.skip and each.clock:
        yield Problem("skip", "the trace has times of the clock: set `start` to where to begin")
    elif each.skip > each.last:
        yield Problem("skip", f"the trace ends before, at {each.last:g} s")
    if not isfinite(each.scale):
        yield Problem("scale", "no number that pods can be counted with; write for example 0.1")
    elif each.pods * each.scale > MOST_PODS:
        words = f"{each.pods} pods are more than a run takes ({MOST_PODS})"
        yield Problem("scale", f"{words}; set scale: {MOST_PODS / each.pods:.2g} or less")
    own = ("metadata.name", "metadata.labels[sim.headroom.dev/trace]")
    for problem in value_problems(each.pod(0, Arrival(0.0))):
        where = "name" if problem.path in own else f"template.{problem.path}"
        yield Problem(where, problem.message)
