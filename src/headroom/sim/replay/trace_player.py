"""Create the pods of traces as virtual time passes, and delete those that have ended.

The next line of a trace is read after the one before was played, so a trace of millions of lines
needs no more memory than one of ten. A pod whose time is over is deleted, like the pod of a Job
after its time to live; otherwise the pods of a month would stay in the cluster.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime

from headroom.sim.api.decoder import changed_pod, pod_of
from headroom.sim.api.store import COMING, STATUS, ObjectChange
from headroom.sim.api.values import Ref, uid_of
from headroom.sim.errors import ApiError
from headroom.sim.replay.arrivals import TRACE_LABEL, PodTrace
from headroom.sim.world import SimWorld
from headroom.wire.traces.parser import Arrival, TraceError

CLEARED_AFTER = 1.0
MOST_TOLD = 5


class TracePlayer:
    """Plays the traces of one scenario in its world."""

    def __init__(
        self, world: SimWorld, traces: tuple[PodTrace, ...], fail: Callable[[str], None]
    ) -> None:
        self._world = world
        self._fail = fail
        self._refused = 0
        self._made = [0 for _ in traces]
        if traces:
            world.store.listen("Pod", self._on_pod, COMING | STATUS)

    def start(self, traces: tuple[PodTrace, ...], start: datetime, seed: int) -> None:
        """Schedule the first pods of each trace."""
        for index, trace in enumerate(traces):
            self._await(index, trace, trace.due(start, seed))

    def _await(self, index: int, trace: PodTrace, coming: Iterator[tuple[float, Arrival]]) -> None:
        try:
            upcoming = next(coming, None)
        except TraceError as error:  # It was valid before the run: the file has changed.
            self._fail(f"at {self._world.elapsed:g}s: {error.message}")
            return
        if upcoming is not None:
            at, arrival = upcoming
            self._world.loop.call_at(at, self._arrive, index, trace, arrival, coming)

    def _arrive(
        self, index: int, trace: PodTrace, arrival: Arrival, coming: Iterator[tuple[float, Arrival]]
    ) -> None:
        for _ in range(arrival.pods):
            pod = trace.pod(self._made[index], arrival)
            self._made[index] += 1
            try:
                self._world.server.create(pod)
            except ApiError as error:
                self._refused += 1
                if self._refused <= MOST_TOLD:
                    self._fail(f"at {self._world.elapsed:g}s ({trace.path}): {error.message}")
        self._await(index, trace, coming)

    def _on_pod(self, change: ObjectChange) -> None:
        pod = changed_pod(change)
        if not pod.finished or not pod.labels.get(TRACE_LABEL):
            return
        if change.old is None or not pod_of(change.old).finished:
            self._world.loop.call_later(CLEARED_AFTER, self._clear, change.ref, pod.uid)

    def _clear(self, ref: Ref, uid: str) -> None:
        pod = self._world.store.get(ref)
        if pod is not None and uid_of(pod) == uid:
            self._world.server.delete(ref, grace=0)
