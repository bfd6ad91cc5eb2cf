"""A cluster in memory where korder's objects are served: nodes of eight cores and one operator."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

from headroom.core.policy import Policy
from headroom.dialects.korder import KORDER
from headroom.engine.engine import Engine
from headroom.runtime.operator import Operator
from headroom.sim.world import SimWorld
from headroom.wire.kind_codecs import KindCodecs

Json = dict[str, Any]
API = "core.korder.dev/v1alpha1"
MONDAY_NOON = datetime(2027, 1, 4, 12, tzinfo=UTC)


class QuotaWorld:
    """What a story about quotas does and sees."""

    def __init__(self, sim: SimWorld) -> None:
        self.sim = sim

    def quota(self, name: str = "team", hard: Json | None = None, **spec: Any) -> None:
        """Apply a Quota; for the whole cluster unless a scope is given."""
        spec = {"scope": {"type": "Cluster"}, "hard": hard or {}, **spec}
        self._apply("Quota", {"name": name}, spec)

    def order(self, name: str, cpu: str = "2", replicas: int = 1, **more: Any) -> None:
        metadata = {"name": name, "namespace": more.pop("namespace", "shop")}
        metadata |= {"labels": more.pop("labels", {})}
        shape: Json = {"resources": {"requests": {"cpu": cpu}}, "duration": "1h"}
        template = {
            "metadata": {"labels": more.pop("ticket_labels", {})},
            "spec": shape | more.pop("template", {}),
        }
        strategy = {"type": "OneTime"}
        spec = {"replicas": replicas, "strategy": strategy, "template": template, **more}
        self._apply("Order", metadata, spec)

    def ticket(self, name: str, cpu: str = "2", **more: Any) -> None:
        metadata = {"name": name, "namespace": more.pop("namespace", "shop")}
        metadata |= {"labels": more.pop("labels", {})}
        asked = {"cpu": cpu, **more.pop("more", {})}
        spec = {"resources": {"requests": asked, "limits": asked}, "duration": "1h", **more}
        self._apply("Ticket", metadata, spec)

    def settle(self, seconds: float = 10) -> None:
        self.sim.run_for(seconds)

    def tickets(self, phase: str = "") -> list[str]:
        """The names of the tickets in a phase, or of all."""
        found = self.sim.list("Ticket")
        return sorted(
            each["metadata"]["name"]
            for each in found
            if not phase or each.get("status", {}).get("phase") == phase
        )

    def guardians(self) -> int:
        pods = self.sim.list("Pod")
        return sum("headroom.dev/role" in pod["metadata"].get("labels", {}) for pod in pods)

    def get(self, kind: str, name: str, namespace: str = "shop") -> Json:
        found = self.sim.get(kind, "" if kind == "Quota" else namespace, name)
        assert found is not None, f"there is no {kind} {name}"
        return dict(found)

    def condition(self, kind: str, name: str, type: str) -> Json:
        """One condition of an object; empty if it has none of this type."""
        found = self.get(kind, name)["status"].get("conditions", [])
        return next((each for each in found if each["type"] == type), {})

    def used(self, name: str = "team") -> Json:
        used: Json = self.get("Quota", name)["status"].get("used", {})
        return used

    def restart(self) -> None:
        """End the operator at once, and start another."""
        self.sim.kill_operator()
        start(self.sim)
        self.settle()

    def _apply(self, kind: str, metadata: Json, spec: Json) -> None:
        self.sim.apply({"apiVersion": API, "kind": kind, "metadata": metadata, "spec": spec})


@contextmanager
def world(nodes: int = 4, at: datetime = MONDAY_NOON) -> Iterator[QuotaWorld]:
    """A cluster with a few nodes, the namespaces shop and mill, and an operator."""
    with SimWorld(at, codecs=KindCodecs([KORDER])) as sim:
        for number in range(nodes):
            room = {"cpu": "8", "memory": "32Gi", "pods": "110", "example.com/gpu": "4"}
            status = {"capacity": room, "allocatable": room}
            metadata = {"name": f"node-{number}"}
            node = {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "status": status}
            sim.apply(node)
        for name in ("shop", "mill"):
            sim.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
        start(sim)
        yield QuotaWorld(sim)


def start(sim: SimWorld) -> None:
    sim.start_operator(lambda cluster, clock: Operator(cluster, clock, Engine(Policy())))
