"""The embedded cluster as a world for stories: virtual time, so waiting costs nothing."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from headroom.core.actions import Action
from headroom.core.policy import Policy
from headroom.engine.engine import Engine
from headroom.ports import Clock, Cluster
from headroom.runtime.operator import Operator
from headroom.sim.api.values import Ref
from headroom.sim.errors import ApiError
from headroom.sim.world import START, SimWorld
from headroom.wire.kind_codecs import NATIVE, KindCodecs
from headroom.wire.kinds import SLOT_SETS
from tests.stories.cutting import CutCluster
from tests.stories.things import NAMESPACE, Json
from tests.stories.world import World

UNSCOPED = frozenset({"Node", "Namespace", "PriorityClass", "Quota"})
BLINK_S = 5.0
TOO_MANY_REQUESTS = 429


class EmbeddedWorld(World):
    """A story told in memory."""

    def __init__(self, seed: int = 0, start: datetime = START, codecs: KindCodecs = NATIVE) -> None:
        self.sim = SimWorld(start, seed, codecs=codecs.following((SLOT_SETS,)))
        self._cutting: CutCluster | None = None

    def add_node(self, name: str, cpu: int = 4, memory: str = "16Gi", **more: Any) -> None:
        room = {"cpu": str(cpu), "memory": memory, "pods": str(more.pop("pods", 110))}
        self.sim.apply(
            {
                "apiVersion": "v1",
                "kind": "Node",
                "metadata": {"name": name, "labels": more.pop("labels", {})},
                "spec": more,
                "status": {"capacity": room, "allocatable": room},
            }
        )

    def add_quiet_node(self, name: str, cpu: int = 4, pods: int = 110) -> None:
        self.add_node(name, cpu, pods=pods)
        self.pass_time(1)
        self.sim.kubelets.stop(name)

    def rouse(self, node: str) -> None:
        self.sim.kubelets.resume(node)

    def apply(self, *things: Json) -> None:
        for thing in things:
            self.sim.apply(thing)

    def delete(self, kind: str, name: str, namespace: str = NAMESPACE) -> None:
        self.sim.delete(kind, "" if kind in UNSCOPED else namespace, name)

    def patch(self, kind: str, name: str, change: Json, namespace: str = NAMESPACE) -> None:
        self.sim.patch(kind, "" if kind in UNSCOPED else namespace, name, change)

    def set_status(self, kind: str, name: str, status: Json, namespace: str = NAMESPACE) -> None:
        obj = self.sim.server.get(Ref(kind, namespace, name))
        told = {**obj.get("status", {}), **status}
        self.sim.server.update({**obj, "status": told}, "status")

    def scale(self, kind: str, name: str, replicas: int, namespace: str = NAMESPACE) -> None:
        self.sim.server.scale(Ref(kind, namespace, name), replicas)

    def evict(self, name: str, namespace: str = NAMESPACE) -> bool:
        try:
            self.sim.server.evict(Ref("Pod", namespace, name))
        except ApiError as refused:
            if refused.code != TOO_MANY_REQUESTS:
                raise
            return False
        return True

    def blink(self, node: str) -> None:
        for ready in (False, True):
            self.set_ready(node, ready)
            self.pass_time(BLINK_S)

    def set_ready(self, node: str, ready: bool) -> None:
        """Let a node say that it is ready, or that it is not."""
        now = self.sim.store.timestamp()
        condition = {"type": "Ready", "status": str(ready), "lastTransitionTime": now}
        self.patch("Node", node, {"status": {"conditions": [condition]}})

    def on_look(self, look: Callable[[], None]) -> None:
        self.sim.store.listen("Pod", lambda change: look())

    def finish(self, name: str, phase: str = "Succeeded", namespace: str = NAMESPACE) -> None:
        self.sim.finish(namespace, name, phase)

    def all(self, kind: str) -> list[Json]:
        return [dict(item) for item in self.sim.list(kind)]

    def start_operator(self, **settings: Any) -> None:
        settings = {"slot_sets": True, **settings}
        self.sim.safety_check.across_namespaces = bool(settings.get("across_namespaces"))

        def factory(cluster: Cluster, clock: Clock) -> Operator:
            self._cutting = CutCluster(cluster)
            return Operator(self._cutting, clock, Engine(Policy(**settings)))

        self.sim.start_operator(factory)

    def kill_operator(self) -> None:
        self.sim.kill_operator()

    def cut_operator_after(self, writes: int, backwards: bool = False) -> None:
        if self._cutting is not None:
            self._cutting.cut_after(writes, backwards)

    def meddle_after(self, writes: int, meddle: Callable[[], None], pause_s: float) -> None:
        """Have something happen between two writes of the operator (see `cutting`)."""
        if self._cutting is not None:
            self._cutting.meddle_after(writes, meddle, pause_s)

    def meddled_after(self) -> Action | None:
        """The write after which it happened."""
        return self._cutting.meddled if self._cutting is not None else None

    def slow_operator(self, seconds: float) -> None:
        if self._cutting is not None:
            self._cutting.delay(seconds)

    def operator_is_cut(self) -> bool:
        return self._cutting is not None and self._cutting.cut.is_set()

    def pass_time(self, seconds: float) -> None:
        self.sim.run_for(seconds)

    def until(self, what: str, true: Callable[[], bool], seconds: float = 30) -> None:
        if not self.sim.run_until(true, seconds, step=0.05):
            raise AssertionError(f"not within {seconds} s: {what}\n{self.picture()}")

    def picture(self) -> str:
        """The last writes, a line each."""
        lines = []
        for at, write, outcome in self.sim.writes[-25:]:
            body = write.body if isinstance(write.body, dict) else {}
            name = write.name or body.get("metadata", {}).get("name", "")
            lines.append(f"{at:9.3f} {write.verb} {write.resource} {name} {write.subresource}")
            lines[-1] += f" → {outcome}"
        return "\n".join(lines)

    def close(self) -> None:
        self.sim.close()
