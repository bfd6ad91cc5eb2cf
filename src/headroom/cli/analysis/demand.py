"""Read arrivals of pods from a trace, a cluster, a dump, a simulation or Prometheus."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from headroom.wire.times import parse_time
from headroom.wire.traces.parser import Arrival
from headroom.wire.traces.series import Series, series_of

if TYPE_CHECKING:
    from headroom.cli.source import Where
    from headroom.core.objects import LabelSelector, Pod

Amount = TypeVar("Amount")
PASSED_OVER = ("DaemonSet", "Node")  # Their pods are bound to one node each.
ENOUGH = 0.95  # A slot is large enough for this share of the pods.


@dataclass(slots=True)
class KnownArrivals:
    """Arrivals, and notes about their source."""

    series: Series
    source: str
    notes: list[str] = field(default_factory=list)
    shape: dict[str, str] = field(default_factory=dict)


def from_trace(path: Path) -> KnownArrivals:
    """The arrivals of a CSV file."""
    from headroom.core.quantity import parse_quantity
    from headroom.wire.traces.files import arrivals_of

    found = KnownArrivals(series_of(arrivals_of(path), str(path)), str(path))
    for index, resource in ((1, "cpu"), (2, "memory")):
        amounts: Counter[str] = Counter()
        for shape, pods in found.series.shapes.items():
            if shape[index]:
                amounts[shape[index]] += pods
        ordered = sorted(amounts.items(), key=lambda each: parse_quantity(each[0]).milli_value())
        if ordered:
            found.shape[resource] = _enough(ordered)
    return found


def from_run(document: Mapping[str, Any], source: str) -> KnownArrivals:
    """The pods that were created in a simulation, also those that have ended."""
    start = parse_time(str(document.get("start"))).timestamp()
    made = [
        Arrival(start + float(entry["at"]))
        for entry in document.get("journal") or ()
        if entry.get("what") == "pod_created" and "role" not in entry
    ]
    return KnownArrivals(series_of(made, source), f"the pods created in {source}")


def from_pods(
    pods: Iterable[Pod], source: str, selector: LabelSelector | None = None
) -> KnownArrivals:
    """The existing pods: when each was created, and what it requests."""
    from headroom.core.amounts import format_amount
    from headroom.core.names import ROLE_LABEL
    from headroom.core.resources import CPU, MEMORY
    from headroom.core.selection import matches

    chosen = sorted(
        (pod.created, pod.key.namespace, pod.key.name, pod)
        for pod in pods
        if pod.created is not None
        and ROLE_LABEL not in pod.labels
        and not any(owner.controller and owner.kind in PASSED_OVER for owner in pod.owners)
        and (selector is None or matches(selector, pod.labels))
    )
    arrivals = (Arrival(created.timestamp()) for created, *_ in chosen)
    found = KnownArrivals(series_of(arrivals, source), source)
    for resource in (CPU, MEMORY):
        amounts = Counter(pod.requests[resource] for *_, pod in chosen if pod.requests[resource])
        if amounts:
            found.shape[resource] = format_amount(resource, _enough(sorted(amounts.items())))
    found.notes.append(
        "only pods that still exist are seen, so those that ended are missing: "
        "a trace (--trace) or Prometheus (--prometheus) knows more"
    )
    return found


def from_files(
    paths: Sequence[Path], where: Where, selector: LabelSelector | None
) -> KnownArrivals:
    """The pods of a dump or of manifests, or all pods of a simulation's result."""
    from headroom.cli.files import text_of
    from headroom.cli.source import read_world
    from headroom.wire.yamls import load
    from headroom.wire.yamls.documents import read_text

    if len(paths) == 1:
        for document in load(text_of(paths[0], read_text, "--from"), str(paths[0])):
            if document.data.get("kind") == "Result" and document.data.get("journal"):
                return from_run(document.data, str(paths[0]))
    named = ", ".join(map(str, paths))
    return from_pods(read_world(where).pods, f"the pods in {named}", selector)


def _enough(ordered: Sequence[tuple[Amount, int]]) -> Amount:
    """The smallest amount that is enough for most of the pods; the amounts are sorted."""
    total, seen = sum(pods for _, pods in ordered), 0
    for amount, pods in ordered:
        seen += pods
        if seen >= ENOUGH * total:
            return amount
    return ordered[-1][0]
