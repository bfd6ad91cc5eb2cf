"""A comparison as a table, as a document, and as one page with pictures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from headroom.cli.analysis.runs import ConfigurationRun, promised_to, summed
from headroom.cli.output import columns
from headroom.cli.views.results import waits
from headroom.core.names import API_VERSION
from headroom.plot.chart import Chart
from headroom.plot.marks import Bars, Dots, Steps
from headroom.plot.page import HtmlPage, HtmlTable, Paragraph, Section
from headroom.plot.scales import Axis, Unit
from headroom.plot.text import percent

HEADINGS = (
    *("CONFIGURATION", "PODS", "P50", "P95", "P99", "NEVER", "HITS", "MISSES"),
    *("PREEMPTED", "EVICTED", "IDLE SLOT HOURS", "COST", "IN TIME", "PROMISE"),
)
WORKLOAD_HEADINGS = ("WORKLOAD", "CONFIGURATION", "PODS", "P50", "P95", "P99", "NEVER")
MOST_WORKLOADS = 10


def document(runs: Sequence[ConfigurationRun], about: dict[str, Any]) -> dict[str, Any]:
    """For programs; numbers are averages over the seeds, waits are of all seeds together."""
    meant = promised_to(runs)
    return {
        "apiVersion": API_VERSION,
        "kind": "Comparison",
        **about,
        "configurations": [_entry(run, meant) for run in runs],
    }


def _entry(run: ConfigurationRun, meant: frozenset[str]) -> dict[str, Any]:
    achieved = run.achieved(meant)
    promise = run.promise
    return {
        "name": run.name,
        "pods": summed(run.waits),
        "workloads": run.workloads(),
        "hits": run.total("claims"),
        "misses": run.total("misses"),
        "preempted": run.total("pods", "preempted"),
        "evicted": run.total("pods", "evicted"),
        "slotsPreempted": run.total("slots", "preempted"),
        "slotsEvicted": run.total("slots", "evicted"),
        "idleSlotHours": round(run.slot_hours / run.count, 4),
        "cost": run.total("cost"),
        "costByPool": run.cost_by_pool(),
        "promise": {
            "ratio": promise.ratio,
            "startWithin": promise.start_within,
            "achieved": None if achieved is None else round(achieved, 6),
            "kept": None if achieved is None else achieved >= promise.ratio,
        },
        "troubles": run.troubles(),
    }


def text(found: dict[str, Any]) -> str:
    """For people: a row for each configuration, then workload by workload."""
    entries = found["configurations"]
    parts = [
        f"The same world under {len(entries)} configurations, {_seeds(found)}.",
        columns(HEADINGS, [row(entry) for entry in entries]),
    ]
    if pools := _pool_rows(entries):
        parts.append(columns(("COST BY POOL", *_pools(entries)), pools))
    if by_workload := _workload_rows(entries):
        parts.append(columns(WORKLOAD_HEADINGS, by_workload))
    for entry in entries:
        parts += [f"{entry['name']}: {words}" for words in entry["troubles"]]
    return "\n\n".join(parts)


def _seeds(found: dict[str, Any]) -> str:
    seeds = found["seeds"]
    return f"seed {seeds[0]}" if len(seeds) == 1 else f"seeds {seeds[0]} to {seeds[-1]}"


def _names(entries: Sequence[dict[str, Any]]) -> list[str]:
    return [str(entry["name"]) for entry in entries]


def row(entry: dict[str, Any]) -> tuple[str, ...]:
    """One configuration."""
    pods, promise = entry["pods"], entry["promise"]
    achieved = promise["achieved"]
    lost = [
        _number(entry[name] + entry[f"slots{name.title()}"]) for name in ("preempted", "evicted")
    ]
    return (
        str(entry["name"]),
        str(pods["created"]),
        *waits(pods),
        str(pods["neverStarted"] or ""),
        _number(entry["hits"]),
        _number(entry["misses"]),
        *lost,
        f"{entry['idleSlotHours']:.1f}",
        f"{entry['cost']:g}",
        "" if achieved is None else f"{achieved:.2%}",
        "" if achieved is None else ("kept" if promise["kept"] else "broken"),
    )


def _number(value: float) -> str:
    return f"{value:g}" if value else ""


def _pools(entries: Sequence[dict[str, Any]]) -> list[str]:
    return sorted({pool for entry in entries for pool in entry["costByPool"]})


def _pool_rows(entries: Sequence[dict[str, Any]]) -> list[tuple[str, ...]]:
    """The cost of each pool by configuration; with one pool the first table has it."""
    pools = _pools(entries)
    if len(pools) < 2:
        return []
    return [
        (str(entry["name"]), *(f"{entry['costByPool'].get(pool, 0):g}" for pool in pools))
        for entry in entries
    ]


def short_names(names: Sequence[str]) -> list[str]:
    """Short names of varied fields, without their common part: `replicas=4` for a long path.

    Pictures have little space. Names that would become equal stay long.
    """
    short = [", ".join(map(_last, name.split(", "))) for name in names]
    return short if len(set(short)) == len(names) else list(names)


def _last(part: str) -> str:
    path, equals, value = part.partition("=")
    return f"{path.rpartition('.')[2]}={value}" if equals else part


def _workload_rows(entries: Sequence[dict[str, Any]]) -> list[tuple[str, ...]]:
    """The workloads that waited longest in any configuration, with the numbers of each."""
    worst: dict[str, float] = {}
    for entry in entries:
        for name, numbers in entry["workloads"].items():
            worst[name] = max(worst.get(name, 0.0), numbers["p99_wait_s"] or 0.0)
    names = sorted(worst, key=lambda name: (-worst[name], name))[:MOST_WORKLOADS]
    return [
        _workload(name, str(entry["name"]), entry["workloads"][name])
        for name in names
        for entry in entries
        if name in entry["workloads"]
    ]


def _workload(name: str, configuration: str, numbers: dict[str, Any]) -> tuple[str, ...]:
    never = str(numbers["neverStarted"] or "")
    return (name, configuration, str(numbers["created"]), *waits(numbers), never)


def page(found: dict[str, Any], runs: Sequence[ConfigurationRun]) -> str:
    """One page with pictures."""
    names = short_names(_names(found["configurations"]))
    pairs = zip(found["configurations"], names, strict=True)
    entries = [{**entry, "name": name} for entry, name in pairs]
    runs = [replace(run, name=name) for run, name in zip(runs, names, strict=True)]
    table = HtmlTable(HEADINGS, tuple(row(entry) for entry in entries))
    by_workload = HtmlTable(WORKLOAD_HEADINGS, tuple(_workload_rows(entries)))
    sections = (
        Section("", tuple(map(Paragraph, _opening(found)))),
        Section("Waits", (_waits(entries), table)),
        Section("What it costs", (_trade(entries), _costs(entries))),
        Section("Slots held over time", (_held(runs),)),
        Section("Workload by workload", (by_workload,)),
    )
    return HtmlPage("Configurations compared", sections, "made by headroom compare").html()


def _opening(found: dict[str, Any]) -> list[str]:
    """What was compared, and which fields were varied."""
    names = _names(found["configurations"])
    parts = [part.partition("=") for name in names for part in name.split(", ")]
    varied = dict.fromkeys(path for path, equals, _ in parts if equals)
    told = [text(found).partition("\n")[0]]
    return [*told, f"Varied: {', '.join(varied)}."] if varied else told


def _waits(entries: Sequence[dict[str, Any]]) -> Chart:
    marks = tuple(
        Bars(
            f"p{share}", tuple(entry["pods"][f"p{share}_wait_s"] or 0.0 for entry in entries), tone
        )
        for tone, share in enumerate((50, 95, 99))
    )
    names = tuple(_names(entries))
    return Chart("How long pods waited, in seconds", marks, y=Axis("seconds"), categories=names)


def _costs(entries: Sequence[dict[str, Any]]) -> Chart:
    pools = _pools(entries)
    marks = tuple(
        Bars(pool, tuple(entry["costByPool"].get(pool, 0.0) for entry in entries), tone)
        for tone, pool in enumerate(pools)
    )
    return Chart("Cost by pool", marks, categories=tuple(_names(entries)), height=260)


def _trade(entries: Sequence[dict[str, Any]]) -> Chart:
    """Each configuration by idle slots and hits: up and left is better."""
    marks = []
    for tone, entry in enumerate(entries):
        achieved = entry["promise"]["achieved"]
        if achieved is not None:
            point = (float(entry["idleSlotHours"]), float(achieved))
            words = f"{entry['name']}: {percent(achieved)}"
            marks.append(Dots(str(entry["name"]), (point,), tone, (words,)))
    return Chart(
        "Pods that started in time, and what stood idle for it",
        tuple(marks),
        Axis("idle slot hours", low=0.0),
        Axis("started in time", Unit.PERCENT, high=1.0),
    )


def _held(runs: Sequence[ConfigurationRun]) -> Chart:
    marks = tuple(
        Steps(run.name, run.held, tone, dashed=tone >= 8)
        for tone, run in enumerate(runs)
        if run.held
    )
    return Chart("Slots held", marks, Axis("", Unit.SPAN), Axis("slots", low=0.0))
