"""A real control plane as a world for stories: kwok keeps the nodes and runs the pods."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from typing import Any

from headroom.wire.kinds import CLAIM_INDEXES, EVENTS, HOLDS, LEASES, NAMESPACES, NODES, PODS
from testbed.api import ApiFailure
from testbed.controlplane import ControlPlane
from testbed.nodes import fake_node
from tests.stories.operating import ThreadedOperator
from tests.stories.things import NAMESPACE, Json
from tests.stories.world import World

POLL_S = 0.03
KINDS = {item.kind: item for item in (PODS, NODES, HOLDS, EVENTS, NAMESPACES, CLAIM_INDEXES)}
NOW = {"gracePeriodSeconds": 0, "propagationPolicy": "Background"}


class RealWorld(World):
    """A story told by real Kubernetes; what it made is taken away at its end."""

    def __init__(self, plane: ControlPlane) -> None:
        self.plane = plane
        self.operator: ThreadedOperator | None = None
        self._nodes: list[str] = []

    def add_node(self, name: str, cpu: int = 4, memory: str = "16Gi", **more: Any) -> None:
        if name in self._nodes:
            return  # Kept from the last story.
        pods = str(more.pop("pods", 110))
        node = fake_node(
            name, {"cpu": str(cpu), "memory": memory, "pods": pods}, more.pop("labels", {})
        )
        node["spec"] = more
        self.plane.api.create(NODES.path(), node)
        self._nodes.append(name)
        self.plane.wait_nodes_ready(1, names=[name])

    def apply(self, *things: Json) -> None:
        for thing in things:
            resource = KINDS[thing["kind"]]
            self.plane.api.create(resource.path(thing["metadata"].get("namespace", "")), thing)

    def delete(self, kind: str, name: str, namespace: str = NAMESPACE) -> None:
        self.plane.api.delete(KINDS[kind].path(namespace, name), NOW)

    def patch(self, kind: str, name: str, change: Json, namespace: str = NAMESPACE) -> None:
        self.plane.api.patch(KINDS[kind].path(namespace, name), change)

    def finish(self, name: str, phase: str = "Succeeded", namespace: str = NAMESPACE) -> None:
        path = PODS.path(namespace, name, "status")
        self.plane.api.patch(path, {"status": {"phase": phase}})

    def all(self, kind: str) -> list[Json]:
        return self.plane.api.items(KINDS[kind].path())

    def start_operator(self, **settings: Any) -> None:
        self.operator = ThreadedOperator(self.plane.kubeconfig, settings)

    def kill_operator(self) -> None:
        if self.operator is not None:
            self.operator.kill()
            self.operator = None

    def cut_operator_after(self, writes: int, backwards: bool = False) -> None:
        if self.operator is not None:
            self.operator.cut_after(writes, backwards)

    def operator_is_cut(self) -> bool:
        return self.operator is not None and self.operator.cut.is_set()

    def pass_time(self, seconds: float) -> None:
        time.sleep(seconds)

    def until(self, what: str, true: Callable[[], bool], seconds: float = 30) -> None:
        deadline = time.monotonic() + seconds
        while not true():
            if time.monotonic() > deadline:
                raise AssertionError(f"not within {seconds} s: {what}\n{self.picture()}")
            time.sleep(POLL_S)

    def close(self) -> None:
        """Take away whatever the story left, holds first, nodes and their leases last."""
        self.clear()
        for name in self._nodes:
            self._remove(NODES.path("", name))
            self._remove(LEASES.path("kube-node-lease", name))
        self._nodes.clear()

    def clear(self) -> None:
        """Take away whatever the story left but the nodes, for another one on the same."""
        self.kill_operator()
        for resource in (HOLDS, PODS, CLAIM_INDEXES, EVENTS):
            for item in self.plane.api.items(resource.path()):
                metadata = item["metadata"]
                if metadata["namespace"] != "kube-system":
                    self._remove(resource.path(metadata["namespace"], metadata["name"]))
        self.until("all pods gone", lambda: not self.all("Pod"))

    def _remove(self, path: str) -> None:
        with contextlib.suppress(ApiFailure):
            self.plane.api.delete(path, NOW)

    def picture(self) -> str:
        """Every pod and every hold, a line each."""
        lines = []
        for item in self.all("Pod"):
            metadata, spec, status = item["metadata"], item["spec"], item.get("status", {})
            gates = [gate["name"] for gate in spec.get("schedulingGates", ())]
            seen = {"node": spec.get("nodeName"), "gates": gates, "phase": status.get("phase")}
            seen |= {"nominated": status.get("nominatedNodeName"), "reason": status.get("reason")}
            seen |= {"annotations": metadata.get("annotations"), "born": metadata["uid"][:8]}
            told = {key: value for key, value in seen.items() if value}
            lines.append(f"pod {metadata['name']} {told}")
        for item in self.all("Hold"):
            status = item.get("status", {})
            seen = {key: status.get(key) for key in ("phase", "nodeName", "currentOwners")}
            lines.append(f"hold {item['metadata']['name']} {seen}")
        return "\n".join(lines)
