"""The numbers of a simulation for people: the whole run, then waits, then missing slots.

All numbers come from the summary that `-o json` prints, so that both always agree.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from headroom.cli.formats.progress import HOUR, MINUTE, span
from headroom.cli.output import columns, first_rows
from headroom.core.findings.doors import OWNERS_WITHOUT_DOOR

if TYPE_CHECKING:
    from headroom.sim.scenarios.report import Result

MOST_ROWS = 15
DAY = 24 * HOUR
GROUP_HEADINGS = (
    "PODS OF",
    "CREATED",
    "STARTED",
    "WAITING",
    "P50",
    "P95",
    "P99",
    "EVICTED",
    "PREEMPTED",
    "FAILED",
)
Numbers = Mapping[str, Any]


def result_table(result: Result) -> str:
    """All tables of a result."""
    parts = [columns(("WHAT", "VALUE"), _rows(result)), _groups(result.summary)]
    parts.append(_slots(result.summary["slots"]["objects"]))
    parts.append(_doors(result.summary["owners_without_door"]))
    return "\n\n".join(part for part in parts if part)


def _rows(result: Result) -> list[tuple[str, str]]:
    summary = result.summary
    pods, slots = summary["pods"], summary["slots"]
    return [
        ("scenario", f"{result.scenario}, seed {result.seed}"),
        ("from", result.start),
        ("to", result.end),
        ("pods", _pods(pods)),
        *zip(("wait p50", "wait p95", "wait p99"), waits(pods), strict=True),
        ("slots", _slot_counts(slots)),
        ("held in all", _held(summary["held"])),
        ("claims", f"{summary['claims']}, missed {summary['misses']}"),
        ("cost", _cost(summary)),
        ("not as expected", str(len(result.failures) + len(result.violations))),
    ]


def _pods(pods: Numbers) -> str:
    """`100 created, 2 started, never started 98`; zeros are left out."""
    words = [f"{pods['created']} created", f"{pods['started']} started"]
    never = pods["created"] - pods["started"]
    if never:
        words.append(f"never started {never}")
    words += [f"{pods[end]} {end}" for end in ("evicted", "preempted", "failed") if pods[end]]
    return ", ".join(words)


def _slot_counts(slots: Numbers) -> str:
    words = [f"{slots['wished']} wanted", f"{slots['held']} held at the end"]
    words += [f"{slots[end]} {end}" for end in ("evicted", "preempted") if slots[end]]
    return ", ".join(words)


def _held(held: Numbers) -> str:
    words = [f"{held.get('cpu_core_hours', 0)} cpu hours"]
    if held.get("memory_gib_hours"):
        words.append(f"{held['memory_gib_hours']} GiB hours of memory")
    others = held.get("resource_hours") or {}
    return ", ".join([*words, *(f"{others[name]} hours of {name}" for name in others)])


def _cost(summary: Numbers) -> str:
    pools = summary["cost_by_pool"]
    told = ", ".join(f"{pool} {pools[pool]}" for pool in pools)
    return f"{summary['cost']} ({told})" if len(pools) > 1 else str(summary["cost"])


def _groups(summary: Numbers) -> str:
    """Owners and all other pods, then each workload, the longest waits first."""
    rows = []
    if summary["owners"]["created"]:
        rows += [_group("owners of held room", summary["owners"])]
        rows += [_group("all others", summary["others"])]
    workloads = summary["workloads"]
    names = sorted(workloads, key=lambda name: (-(workloads[name]["p99_wait_s"] or 0), name))
    most = len(rows) + MOST_ROWS
    rows += [_group(name, workloads[name]) for name in names]
    if not rows:
        return ""
    return first_rows(GROUP_HEADINGS, rows, most)


def _group(name: str, numbers: Numbers) -> tuple[str, ...]:
    counts = [str(numbers[key]) for key in ("created", "started", "waiting")]
    ends = [str(numbers[end] or "") for end in ("evicted", "preempted", "failed")]
    return (name, *counts, *waits(numbers), *ends)


def _slots(objects: Mapping[str, Numbers]) -> str:
    """Objects that keep room, and how much; incomplete ones first."""
    names = sorted(
        objects, key=lambda name: (objects[name]["held"] >= objects[name]["wished"], name)
    )
    rows = [(name, str(objects[name]["wished"]), str(objects[name]["held"])) for name in names]
    if not rows:
        return ""
    return first_rows(("SLOTS OF", "WISHED", "HELD"), rows, MOST_ROWS)


def _doors(found: Mapping[str, str]) -> str:
    """Objects whose owners use no door, in one sentence each."""
    return "\n".join(f"{OWNERS_WITHOUT_DOOR}: {name}: {found[name]}" for name in found)


def waits(numbers: Numbers) -> list[str]:
    """The waiting times that half, 95 % and 99 % of the pods did not exceed."""
    return [waited(numbers[f"p{share}_wait_s"]) for share in (50, 95, 99)]


def waited(seconds: float | None) -> str:
    """A waiting time for people: `0.012 s`, `90.5 s`, `12m5s`, `3h20m`, `1d2h`."""
    if seconds is None:
        return ""
    if seconds < 2 * MINUTE:
        return f"{seconds:g} s"
    whole = int(seconds)
    return span(whole) if whole < DAY else f"{whole // DAY}d{whole % DAY // HOUR}h"
