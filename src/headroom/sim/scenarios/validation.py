"""Validate parts of a scenario: nodes of pools, and the start time."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from headroom.core.holds import Problem
from headroom.sim.pools import Pool
from headroom.sim.scenarios.parser import value_problems
from headroom.wire.times import parse_time

FIRST = datetime(1970, 1, 1, tzinfo=UTC)
LAST = datetime(8000, 1, 1, tzinfo=UTC)
OWN_FIELDS = ("cpu", "memory", "pods")


def start_from(text: str) -> datetime:
    """The start time of a run; a ValueError says what is wrong with it."""
    at = parse_time(text)
    if not FIRST <= at < LAST:
        raise ValueError(f"{text!r} is out of range: a run begins between 1970 and 7999")
    return at


def pool_problems(pool: Pool, path: str) -> Iterator[Problem]:
    """What an API server would refuse in the nodes of a pool, by the fields of the pool."""
    told: set[str] = set()
    for problem in value_problems(pool.node(0)):
        where = f"{path}{_field(problem.path)}"
        if where not in told:
            told.add(where)
            yield Problem(where, problem.message)


def _field(path: str) -> str:
    if path.startswith("metadata.labels"):
        return ".labels"
    if path.startswith("metadata"):
        return ".name"
    if path.startswith("spec.taints"):
        return path.removeprefix("spec")
    for group in ("status.allocatable", "status.capacity"):
        if path.startswith(group):
            resource = path.removeprefix(group).strip(".[]")
            return f".{resource}" if resource in OWN_FIELDS else f".resources[{resource}]"
    return ""
