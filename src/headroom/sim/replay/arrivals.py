"""One entry of a Scenario's `arrivals`: a trace, and the pods that are created from it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from random import Random
from typing import Any

from headroom.sim.api.values import Json, dig, put
from headroom.sim.kubelet.lifetimes import COMPLETE_AFTER
from headroom.wire.traces.files import arrivals_of
from headroom.wire.traces.parser import Arrival

WORKLOAD = "sim.headroom.dev/workload"
CLASS_LABEL = "sim.headroom.dev/class"
TRACE_LABEL = "sim.headroom.dev/trace"
KIND = "Trace"  # the kind of the workload that pods of a trace count as
MOST_SPECS = 256
SHAPE: Mapping[str, str] = {"cpu": "100m", "memory": "128Mi"}


@dataclass(frozen=True, slots=True)
class PodTrace:
    """The pods of one trace.

    `skip` is left out at its beginning; with `duration` None, pods run until they are deleted.
    `first`, `last` and `pods` describe the trace itself. With `clock`, its times are wall clock
    times, not seconds since the start of the run.
    """

    path: Path
    name: str
    template: Json
    duration: float | None = None
    scale: float = 1.0
    skip: float = 0.0
    first: float = 0.0
    last: float = 0.0
    pods: int = 0
    clock: bool = False
    _specs: dict[tuple[str, str], Json] = field(default_factory=dict, compare=False, repr=False)
    _labels: dict[str, Json] = field(default_factory=dict, compare=False, repr=False)

    def origin(self, start: datetime) -> float:
        """The second of the trace at which a run with this start time begins."""
        return start.timestamp() if self.clock else self.skip

    def end(self, start: datetime) -> float:
        """When its last pod arrives, in seconds after the start."""
        return max(0.0, self.last - self.origin(start))

    def due(self, start: datetime, seed: int) -> Iterator[tuple[float, Arrival]]:
        """How many pods arrive when, in seconds after the start; read lazily."""
        origin, chance = self.origin(start), Random(f"{seed}/{self.name}")
        for arrival in arrivals_of(self.path):
            pods = _scaled(arrival.pods, self.scale, chance)
            if pods and arrival.second >= origin:
                same = pods == arrival.pods
                yield arrival.second - origin, arrival if same else arrival._replace(pods=pods)

    def pod(self, index: int, arrival: Arrival) -> Json:
        """The pod with this number. Values of its line override the template."""
        metadata = dict(self.template.get("metadata") or {})
        namespace = str(metadata.get("namespace") or "default")
        notes = dict(metadata.get("annotations") or {})
        notes[WORKLOAD] = f"{KIND}/{namespace}/{self.name}"
        if arrival.kind:
            notes[WORKLOAD] += f"/{arrival.kind}"
        duration = self.duration if arrival.duration is None else arrival.duration
        if duration is not None:
            notes[COMPLETE_AFTER] = f"{duration:.3f}s"
        name = f"{self.name}-{index}"
        labels = self._labels_of(arrival.kind)
        whole = {"name": name, "namespace": namespace, "labels": labels, "annotations": notes}
        return {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {**metadata, **whole},
            "spec": self._spec(arrival),
        }

    def _labels_of(self, kind: str) -> Json:
        """The labels of a pod; pods of one class share them."""
        found = self._labels.get(kind)
        if found is None:
            if len(self._labels) >= MOST_SPECS:
                self._labels.clear()
            given = (self.template.get("metadata") or {}).get("labels") or {}
            found = {**given, TRACE_LABEL: self.name, **({CLASS_LABEL: kind} if kind else {})}
            self._labels[kind] = found
        return found

    def _spec(self, arrival: Arrival) -> Json:
        """The spec of a pod; lines with the same values share it."""
        values = (arrival.cpu, arrival.memory)
        found = self._specs.get(values)
        if found is None:
            if len(self._specs) >= MOST_SPECS:
                self._specs.clear()
            found = self._specs[values] = _spec(self.template.get("spec") or {}, arrival)
        return found


def _spec(given: Json, arrival: Arrival) -> Json:
    containers = given.get("containers") or [
        {"name": "main", "image": "trace", "resources": {"requests": dict(SHAPE)}}
    ]
    told = {"cpu": arrival.cpu, "memory": arrival.memory}
    requests = {name: amount for name, amount in told.items() if amount}
    if requests:
        before = dig(containers[0], "resources", "requests") or {}
        first = put(containers[0], {**before, **requests}, "resources", "requests")
        containers = [first, *containers[1:]]
    restart: dict[str, Any] = {"restartPolicy": "Never", **given}
    return {**restart, "containers": containers}


def _scaled(pods: int, scale: float, chance: Random) -> int:
    """The scaled number of pods: each is drawn at random, so that bursts stay bursts."""
    if scale == 1.0:
        return pods
    whole, rest = divmod(scale, 1.0)
    extra = sum(chance.random() < rest for _ in range(pods)) if rest else 0
    return pods * int(whole) + extra
