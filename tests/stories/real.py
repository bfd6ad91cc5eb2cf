"""A real control plane as a world for stories: kwok keeps the nodes and runs the pods.

The operator works under its installed account, with its installed rights and under the installed
policies; a story in which it asks for more fails at its end.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from headroom.wire.kind_codecs import NATIVE, KindCodecs
from headroom.wire.kinds import (
    AUTOSCALERS,
    BUDGETS,
    CLAIM_INDEXES,
    CSI_NODES,
    DAEMON_SETS,
    DEPLOYMENTS,
    EVENTS,
    HEADROOMS,
    HOLDS,
    JOBS,
    LEASES,
    NAMESPACES,
    NODES,
    PODS,
    PRIORITY_CLASSES,
    REPLICA_SETS,
    RESOURCE_QUOTAS,
    SLOT_SETS,
    STATEFUL_SETS,
    STORAGE_CLASSES,
    VOLUME_CLAIMS,
    VOLUMES,
    Resource,
)
from testbed.api import ApiFailure
from testbed.controlplane import ControlPlane
from testbed.nodes import fake_node
from tests.patience import TookTooLong, deadline_after
from tests.stories.operating import ThreadedOperator
from tests.stories.things import NAMESPACE, Json
from tests.stories.world import World

POLL_S = 0.03
NOT_FOUND = 404
TOO_MANY_REQUESTS = 429
LIMIT_RANGES = Resource("", "v1", "limitranges", "LimitRange")
SHARED = (NODES, NAMESPACES, PRIORITY_CLASSES)
LEFT: tuple[Resource, ...] = (
    HEADROOMS,
    HOLDS,
    AUTOSCALERS,
    DEPLOYMENTS,
    STATEFUL_SETS,
    JOBS,
    REPLICA_SETS,
    DAEMON_SETS,
    PODS,
    VOLUME_CLAIMS,
    VOLUMES,
    STORAGE_CLASSES,
    CSI_NODES,
    SLOT_SETS,
    CLAIM_INDEXES,
    RESOURCE_QUOTAS,
    LIMIT_RANGES,
    BUDGETS,
    EVENTS,
)
KINDS = {item.kind: item for item in (*SHARED, *LEFT)}
NOW = {"gracePeriodSeconds": 0, "propagationPolicy": "Background"}


class RealWorld(World):
    """A story told by real Kubernetes; what it made is taken away at its end."""

    def __init__(self, plane: ControlPlane, codecs: KindCodecs = NATIVE) -> None:
        self.plane = plane
        self._codecs = codecs
        seen = tuple(item for item in codecs.resources if item.kind not in KINDS)
        self._left = (*dict.fromkeys((*codecs.foreign, *seen)), *LEFT)
        self._kinds = {**KINDS, **{item.kind: item for item in (*codecs.foreign, *seen)}}
        self.operator: ThreadedOperator | None = None
        self._refused: dict[str, str] = {}
        self._nodes: list[str] = []
        self._looks: list[Callable[[], None]] = []

    def add_node(self, name: str, cpu: int = 4, memory: str = "16Gi", **more: Any) -> None:
        if name in self._nodes:
            return  # Kept from the last story.
        pods = str(more.pop("pods", 110))
        node = fake_node(
            name, {"cpu": str(cpu), "memory": memory, "pods": pods}, more.pop("labels", {})
        )
        node["spec"] = more
        self._add(node)

    def add_quiet_node(self, name: str, cpu: int = 4, pods: int = 110) -> None:
        """A node that kwok does not know of yet; nobody misses its heartbeat within a minute."""
        node = fake_node(name, {"cpu": str(cpu), "memory": "16Gi", "pods": str(pods)}, {})
        del node["metadata"]["annotations"]
        self._add(node)

    def rouse(self, node: str) -> None:
        for item in self.all("Pod"):
            metadata = item["metadata"]
            if item["spec"].get("nodeName") == node and item["status"]["phase"] == "Pending":
                with contextlib.suppress(ApiFailure):  # One of ours may be going just now.
                    self.finish(metadata["name"], "Running", metadata["namespace"])

    def _add(self, node: Json) -> None:
        name = node["metadata"]["name"]
        uid = self.plane.api.create(NODES.path(), node)["metadata"]["uid"]
        self._nodes.append(name)
        self.plane.wait_nodes_ready(1, names=[name])
        if "annotations" in node["metadata"]:
            self.until(f"kwok keeps {name}", lambda: self._is_kept(name, uid), seconds=60)

    def _is_kept(self, name: str, uid: str) -> bool:
        """Whether kwok holds the Lease of this very node: before that it may pass over its pods.

        The Lease of an earlier node of that name is about to go, and kwok notices with a pause.
        """
        leases = {
            item["metadata"]["name"]: item["metadata"]
            for item in self.plane.api.items(LEASES.path("kube-node-lease"))
        }
        owners = leases.get(name, {"ownerReferences": [{"uid": ""}]}).get("ownerReferences", ())
        return all(owner["uid"] == uid for owner in owners)

    def apply(self, *things: Json) -> None:
        for thing in things:
            resource = self._kinds[thing["kind"]]
            path = resource.path(thing["metadata"].get("namespace", ""))
            if resource is PRIORITY_CLASSES:
                self.plane.api.ensure(path, thing)
            else:
                self.plane.api.create(path, thing)

    def delete(self, kind: str, name: str, namespace: str = NAMESPACE) -> None:
        self.plane.api.delete(self._kinds[kind].path(namespace, name), NOW)
        if kind == "Node":
            self._nodes.remove(name)

    def patch(self, kind: str, name: str, change: Json, namespace: str = NAMESPACE) -> None:
        self.plane.api.patch(self._kinds[kind].path(namespace, name), change)

    def set_status(self, kind: str, name: str, status: Json, namespace: str = NAMESPACE) -> None:
        path = self._kinds[kind].path(namespace, name, "status")
        self.plane.api.patch(path, {"status": status})

    def scale(self, kind: str, name: str, replicas: int, namespace: str = NAMESPACE) -> None:
        path = self._kinds[kind].path(namespace, name, "scale")
        self.plane.api.patch(path, {"spec": {"replicas": replicas}})

    def evict(self, name: str, namespace: str = NAMESPACE) -> bool:
        body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name}}
        try:
            self.plane.api.create(PODS.path(namespace, name, "eviction"), body)
        except ApiFailure as refused:
            if refused.status != TOO_MANY_REQUESTS:
                raise
            return False
        return True

    def blink(self, node: str) -> None:
        """Kwok makes a node ready again as soon as it sees that it is not."""
        path = NODES.path("", node, "status")
        kept = self.plane.api.get(NODES.path("", node))["status"]["conditions"]
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        unready = {"type": "Ready", "status": "False", "lastTransitionTime": now}
        told = [unready if each["type"] == "Ready" else each for each in kept]
        self.plane.api.patch(path, {"status": {"conditions": told}})
        self.plane.wait_nodes_ready(1, names=[node])

    def on_look(self, look: Callable[[], None]) -> None:
        self._looks.append(look)

    def finish(self, name: str, phase: str = "Succeeded", namespace: str = NAMESPACE) -> None:
        path = PODS.path(namespace, name, "status")
        self.plane.api.patch(path, {"status": {"phase": phase}})

    def get(self, kind: str, name: str, namespace: str = NAMESPACE) -> Json | None:
        """Read one object, which costs both sides less than a list of all."""
        try:
            return self.plane.api.get(self._kinds[kind].path(namespace, name))
        except ApiFailure as failure:
            if failure.status != NOT_FOUND:
                raise
            return None

    def all(self, kind: str) -> list[Json]:
        return self.plane.api.items(self._kinds[kind].path())

    def start_operator(self, **settings: Any) -> None:
        self.operator = ThreadedOperator(self.plane.operator_kubeconfig(), settings, self._codecs)

    def kill_operator(self) -> None:
        if self.operator is not None:
            self.operator.kill()
            self._refused |= self.operator.refused
            self.operator = None

    def cut_operator_after(self, writes: int, backwards: bool = False) -> None:
        if self.operator is not None:
            self.operator.cut_after(writes, backwards)

    def slow_operator(self, seconds: float) -> None:
        if self.operator is not None:
            self.operator.delay(seconds)

    def operator_is_cut(self) -> bool:
        return self.operator is not None and self.operator.cut.is_set()

    def pass_time(self, seconds: float) -> None:
        time.sleep(seconds)

    def until(self, what: str, true: Callable[[], bool], seconds: float = 30) -> None:
        deadline = deadline_after(seconds)
        while not self._seen(true):
            if time.monotonic() > deadline:
                raise TookTooLong(f"waited too long: {what}\n{self.picture()}")
            time.sleep(POLL_S)

    def _seen(self, true: Callable[[], bool]) -> bool:
        for look in self._looks:
            look()
        return true()

    def close(self) -> None:
        """Take away whatever the story left, holds first, nodes and their leases last."""
        self.clear()
        for name in self._nodes:
            self._remove(NODES.path("", name))
            self._remove(LEASES.path("kube-node-lease", name))
        self._nodes.clear()
        assert not self._refused, "the operator was refused:\n" + "\n".join(self._refused.values())

    def clear(self) -> None:
        """Take away whatever the story left but the nodes, for another one on the same."""
        self.kill_operator()
        self._looks.clear()
        for resource in self._left:
            for item in self.plane.api.items(resource.path()):
                metadata = item["metadata"]
                namespace = metadata.get("namespace", "")
                if namespace == "kube-system":
                    continue
                path = resource.path(namespace, metadata["name"])
                if metadata.get("finalizers"):  # Nobody is left who would take them off.
                    with contextlib.suppress(ApiFailure):  # It may go with its owner.
                        self.plane.api.patch(path, {"metadata": {"finalizers": None}})
                self._remove(path)
        self.until("all pods gone", lambda: not self.all("Pod"))

    def _remove(self, path: str) -> None:
        with contextlib.suppress(ApiFailure):
            self.plane.api.delete(path, NOW)

    def picture(self) -> str:
        """Every pod, every hold and all that the operator told, a line each."""
        lines = []
        for item in self.all("Pod"):
            metadata, spec, status = item["metadata"], item["spec"], item.get("status", {})
            gates = [gate["name"] for gate in spec.get("schedulingGates", ())]
            seen = {"node": spec.get("nodeName"), "gates": gates, "phase": status.get("phase")}
            seen |= {"nominated": status.get("nominatedNodeName"), "reason": status.get("reason")}
            seen |= {"annotations": metadata.get("annotations"), "born": metadata["uid"][:8]}
            seen |= {"asks": spec["containers"][0].get("resources", {}).get("requests")}
            refused = [each for each in status.get("conditions", ()) if each["status"] == "False"]
            seen |= {"told": [each["message"] for each in refused if each.get("message")]}
            told = {key: value for key, value in seen.items() if value}
            lines.append(f"pod {metadata['name']} {told}")
        for item in self.all("Hold"):
            status = item.get("status", {})
            seen = {key: status.get(key) for key in ("phase", "nodeName", "currentOwners")}
            lines.append(f"hold {item['metadata']['name']} {seen}")
        for item in self.all("Event"):
            if "headroom" in (item.get("source") or {}).get("component", ""):
                about = item["involvedObject"]["name"]
                lines.append(f"told of {about}: {item['reason']}: {item['message']}")
        return "\n".join(lines)
