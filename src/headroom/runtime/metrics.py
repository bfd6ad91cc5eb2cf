"""The operator's metrics, in their own Prometheus registry.

Each operator has its own registry, not the library's global one, so that a test or a simulation can
run several. No label contains the name of a pod, a node or a hold: the number of label values is
bounded by the code (phases, doors, kinds of action), not by the cluster.
`docs/reference/metrics.md` explains each metric; a test checks that it is complete.
"""

from __future__ import annotations

import collections
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.core import CounterMetricFamily, Metric
from prometheus_client.registry import Collector

HANDOVER_BUCKETS = (0.005, 0.01, 0.02, 0.035, 0.05, 0.075, 0.1, 0.2, 0.35, 0.5, 1, 2, 5, 10, 30)
WAIT_BUCKETS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600)
PLAN_BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10)

PHASES = ("Pending", "Waiting", "Available", "Succeeded", "Failed")


@dataclass(slots=True, eq=False)
class LoopCounter(Collector):
    """A counter of the event loop's thread: `counts[labels] += 1`.

    Each line of a watch and each write is counted. A `Counter` has a lock and takes four calls.
    """

    name: str
    documentation: str
    labels: tuple[str, ...]
    counts: collections.Counter[tuple[str, ...]] = field(default_factory=collections.Counter)

    def collect(self) -> Iterator[Metric]:
        family = CounterMetricFamily(self.name, self.documentation, labels=self.labels)
        for values, count in tuple(self.counts.items()):  # Metrics are rendered in another thread.
            family.add_metric(values, count)
        yield family


class Metrics:
    """Every metric of the operator."""

    def __init__(self, version: str) -> None:
        disable_created_metrics()  # type: ignore[no-untyped-call]  # theirs is untyped
        # They double the series, and the creation time of a counter is not needed.
        self.registry = CollectorRegistry()
        self._about_holds()
        self._about_owners()
        self._about_the_operator()
        self.build_info.labels(version).set(1)

    def _about_holds(self) -> None:
        self.holds = Gauge("headroom_holds", "Holds by phase.", ["phase"], registry=self.registry)
        self.held = Gauge(
            "headroom_held",
            "What guardians keep on nodes, in base units (cores, bytes, pieces).",
            ["resource"],
            registry=self.registry,
        )
        self.slots = Gauge(
            "headroom_slots",
            "Slots of all headrooms: held, or pending.",
            ["state"],
            registry=self.registry,
        )
        self.promises = Gauge(
            "headroom_promises",
            "Headrooms by whether they keep their promise: True, False or Unknown.",
            ["kept"],
            registry=self.registry,
        )
        self.time_to_held = Histogram(
            "headroom_time_to_held_seconds",
            "From the creation of a hold to its guardian on a node.",
            buckets=WAIT_BUCKETS,
            registry=self.registry,
        )
        self.held_cost = Gauge(
            "headroom_held_cost_per_hour",
            "What guardians on nodes cost per hour: a price, or CPU hours where there is none.",
            ["unit"],
            registry=self.registry,
        )
        for phase in PHASES:
            self.holds.labels(phase)

    def _about_owners(self) -> None:
        self.handover = Histogram(
            "headroom_handover_seconds",
            "From the first write of a handover to its owner bound.",
            ["door"],
            buckets=HANDOVER_BUCKETS,
            registry=self.registry,
        )
        self.owner_wait = Histogram(
            "headroom_owner_pod_wait_seconds",
            "From the creation of an owner pod to its binding.",
            buckets=WAIT_BUCKETS,
            registry=self.registry,
        )
        self.hits = Counter("headroom_hits", "Owners that got a hold.", registry=self.registry)
        self.misses = Counter(
            "headroom_misses",
            "Pods that an owner rule matched and for which no hold was free.",
            registry=self.registry,
        )
        self.stolen = Counter(
            "headroom_stolen",
            "Claims taken back because the owner did not get its room.",
            registry=self.registry,
        )

    def _about_the_operator(self) -> None:
        self.actions = LoopCounter(
            "headroom_actions",
            "Writes to the cluster, by kind and outcome.",
            ("kind", "outcome"),
        )
        self.registry.register(self.actions)
        self.plan_seconds = Histogram(
            "headroom_plan_seconds",
            "Time spent on deciding, per plan.",
            buckets=PLAN_BUCKETS,
            registry=self.registry,
        )
        self.watch_events = LoopCounter(
            "headroom_watch_events",
            "Changes observed in the cluster, by kind of object.",
            ("kind",),
        )
        self.registry.register(self.watch_events)
        self.contained = Counter(
            "headroom_contained_errors",
            "Unexpected errors that affected one object only, by operation. All are bugs.",
            ["where"],
            registry=self.registry,
        )
        self.loop_lag = Gauge(
            "headroom_loop_lag_seconds",
            "Delay of the main loop at the last check.",
            registry=self.registry,
        )
        self.leader = Gauge(
            "headroom_leader", "1 while this replica leads.", registry=self.registry
        )
        self.synced = Gauge(
            "headroom_synced", "1 once every cache is synced.", registry=self.registry
        )
        self.build_info = Gauge(
            "headroom_build_info",
            "Always 1; tells the version.",
            ["version"],
            registry=self.registry,
        )

    def count_holds(self, by_phase: Mapping[str, int]) -> None:
        """Set the number of holds in each phase; missing phases are zero."""
        for phase in PHASES:
            self.holds.labels(phase).set(by_phase.get(phase, 0))

    def count_slots(self, held: int, pending: int) -> None:
        """Set the number of held slots, and of slots in progress."""
        self.slots.labels("held").set(held)
        self.slots.labels("pending").set(pending)

    def count_promises(self, by_word: Mapping[str, int]) -> None:
        """Set the number of headrooms that keep their promise, do not, or cannot be judged."""
        for word in ("True", "False", "Unknown"):
            self.promises.labels(word).set(by_word.get(word, 0))

    def render(self) -> bytes:
        """Return the text that Prometheus scrapes."""
        return generate_latest(self.registry)
