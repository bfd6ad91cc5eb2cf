"""The embedded cluster beside a real one: the same objects into both, the same picture out.

A picture leaves out what cannot be equal: uids, times, hashes and the random part of names. Fake
nodes (kwok) stand in for real ones, so a picture shows controllers and kube-scheduler at work.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from headroom.sim.api.kinds import KINDS
from headroom.sim.world import SimWorld
from headroom.wire.yamls import load
from testbed.controlplane import ControlPlane
from testbed.nodes import fake_node
from tests.patience import TookTooLong, deadline_after
from tests.sim.things import Json, node

PATIENCE = 40.0
_UID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_HASH = r"-[a-z0-9]{8,10}\b"
_SUFFIX = r"(?:-[a-z0-9]{8,10})?-[a-z0-9]{5}\b"
_HASHED = ("controller-revision-hash", "pod-template-hash")
_SPEC = ("nodeName", "hostname", "subdomain", "priority", "priorityClassName", "affinity")
_TIMES = re.compile(r"Time$|^last|^observedGeneration$")
_NODES = "/api/v1/nodes"
_LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"
Picture = list[Any]


@dataclass
class Beside:
    """Two clusters that are told the same; `owners` are the names that random suffixes follow."""

    plane: ControlPlane
    world: SimWorld
    owners: list[str] = field(default_factory=list)

    def add_node(self, name: str, cpu: str, **labels: str) -> None:
        """Let a node join; pods come when kwok looks after it, else it may miss them."""
        real = f"{name}-{len(self.owners)}"
        made = fake_node(real, {"cpu": cpu, "memory": "16Gi", "pods": "110"}, labels)
        made["spec"] = {"taints": [{"key": "example.com/joining", "effect": "NoExecute"}]}
        self.plane.api.create(_NODES, made)
        while not any(_name(lease) == real for lease in self.plane.api.items(_LEASES)):
            time.sleep(0.05)  # a real cluster takes real time
        self.plane.api.patch(f"{_NODES}/{real}", {"spec": {"taints": None}})
        self.plane.wait_nodes_ready(1, [real])
        stored = self.plane.api.get(f"{_NODES}/{real}")
        self.world.apply(node(real, cpu=cpu, labels=stored["metadata"]["labels"]))
        self.owners.append(real)

    def node(self, index: int) -> str:
        """The name of the node that was added so and so many before."""
        return [name for name in self.owners if self.world.get("Node", "", name)][index]

    def apply(self, obj: Json) -> None:
        self.owners.append(obj["metadata"]["name"])
        namespace = obj["metadata"].get("namespace", "")
        self.plane.api.create(KINDS[obj["kind"]].resource.path(namespace), obj)
        self.world.apply(obj)

    def apply_file(self, path: Path) -> None:
        """Apply a file as it is: with kubectl there, document by document here."""
        self.plane.kubectl("apply", "-f", str(path))
        for document in load(path.read_text(encoding="utf-8"), path.name):
            self.owners.append(document.data["metadata"]["name"])
            self.world.apply(document.data)

    def patch(self, kind: str, name: str, patch: Json) -> None:
        self.plane.api.patch(self._path(kind, name), patch)
        self.world.patch(kind, self._namespace(kind), name, patch)

    def delete(self, kind: str, name: str) -> None:
        """Delete as kubectl does: what was owned goes too."""
        self.plane.api.delete(self._path(kind, name), {"propagationPolicy": "Background"})
        self.world.delete(kind, self._namespace(kind), name)

    def rest(self) -> None:
        """Let whole seconds pass there, and everybody hear of what was agreed on."""
        time.sleep(2)  # a real cluster takes real time

    def finish(self, app: str, phase: str) -> None:
        """Let the running pods that are labelled `app` end, here and there."""
        for pod in self.plane.api.items(KINDS["Pod"].resource.path("default")):
            if _runs(pod, app):
                path = f"{self._path('Pod', pod['metadata']['name'])}/status"
                self.plane.api.patch(path, {"status": {"phase": phase}})
        for here in self.world.list("Pod"):
            if _runs(here, app):
                self.world.finish("default", here["metadata"]["name"], phase)

    def drain(self, name: str) -> None:
        """Empty a node: kubectl there, which returns when all is gone; its likeness here."""
        options = ("--ignore-daemonsets", "--force", "--delete-emptydir-data", "--timeout=60s")
        self.plane.kubectl("drain", name, *options)
        self.world.drain(name)

    def agree(
        self,
        picture: Callable[[list[Json], Beside], Picture],
        kind: str,
        patience: float = PATIENCE,
    ) -> Picture:
        """Wait until the real cluster's picture of a kind is ours; show both if it never is."""
        self.world.run_for(20)
        ours = picture([dict(item) for item in self.world.list(kind)], self)
        deadline = deadline_after(patience)
        namespace = self._namespace(kind)
        while True:
            theirs = picture(self.plane.api.items(KINDS[kind].resource.path(namespace)), self)
            if ours == theirs:
                return ours
            if time.monotonic() > deadline:
                raise TookTooLong(_difference(ours, theirs))
            time.sleep(0.1)  # a real cluster takes real time

    def plain(self, text: str) -> str:
        """A text without uids and the random parts of names."""
        for owner in sorted(self.owners, key=lambda name: (-len(name), name)):
            text = re.sub(rf"\b{re.escape(owner)}{_SUFFIX}", f"{owner}-*", text)
            text = re.sub(rf"\b{re.escape(owner)}{_HASH}", f"{owner}-<hash>", text)
        return _UID.sub("<uid>", text)

    def _path(self, kind: str, name: str) -> str:
        return KINDS[kind].resource.path(self._namespace(kind), name)

    def _namespace(self, kind: str) -> str:
        return "default" if KINDS[kind].namespaced else ""


def _name(obj: Json) -> str:
    return str(obj["metadata"]["name"])


def _runs(pod: Mapping[str, Any], app: str) -> bool:
    labels = pod["metadata"].get("labels", {})
    return bool(labels.get("app") == app and pod["status"].get("phase") == "Running")


def _difference(ours: Picture, theirs: Picture) -> str:
    """What only one of two pictures shows."""
    lines = [f"only ours: {each}" for each in ours if each not in theirs]
    return "\n".join(lines + [f"only theirs: {each}" for each in theirs if each not in ours])


def of_pods(found: list[Json], both: Beside) -> Picture:
    """Whose pods they are, where they are and what was added to them."""
    return sorted((_pod(item, both) for item in found), key=str)


def _pod(obj: Json, both: Beside) -> Json:
    meta, spec = obj["metadata"], obj["spec"]
    labels = {key: _value(key, value, both) for key, value in meta.get("labels", {}).items()}
    claims = [v for v in spec.get("volumes", ()) if "persistentVolumeClaim" in v]
    owners = [
        {key: both.plain(str(value)) for key, value in each.items() if key != "uid"}
        for each in meta.get("ownerReferences", ())
    ]
    return {
        "name": both.plain(meta["name"]),
        "generateName": both.plain(meta.get("generateName", "")),
        "labels": labels,
        "finalizers": meta.get("finalizers"),
        "going": "deletionTimestamp" in meta,
        "owners": owners,
        "spec": {key: spec.get(key) for key in _SPEC},
        "tolerations": spec.get("tolerations"),
        "claims": claims,
        "phase": obj["status"].get("phase"),
    }


def _value(key: str, value: str, both: Beside) -> str:
    return "<hash>" if key in _HASHED else both.plain(value)


def of_statuses(found: list[Json], both: Beside) -> Picture:
    """What controllers say of their objects, times left out."""
    shown = []
    for item in found:
        status = {key: _timeless(value, both) for key, value in item.get("status", {}).items()}
        kept = {key: value for key, value in status.items() if not _TIMES.search(key)}
        for key in ("currentRevision", "updateRevision"):
            if key in kept:
                kept[key] = both.plain(re.sub(r"-[^-]+$", "-<hash>", kept[key]))
        shown.append((item["metadata"]["name"], kept))
    return sorted(shown, key=str)


def _timeless(value: Any, both: Beside) -> Any:
    if isinstance(value, list):
        return sorted((_timeless(each, both) for each in value), key=str)
    if isinstance(value, dict):
        kept = ((key, each) for key, each in sorted(value.items()) if not _TIMES.search(key))
        return {key: both.plain(each) if key == "message" else each for key, each in kept}
    return value


def of_events(found: list[Json], both: Beside) -> Picture:
    """Who said what about whom, however often; nodes have kubelets of another kind."""
    return sorted(
        {
            (
                item.get("reportingComponent") or item["source"]["component"],
                item["involvedObject"]["kind"],
                both.plain(item["involvedObject"]["name"]),
                item["reason"],
                both.plain(item["message"]),
            )
            for item in found
            if item["involvedObject"]["kind"] not in ("Node", "Service")
            and "had untolerated taint" not in item["message"]  # A node may just have joined.
        }
    )


def of_preemptions(found: list[Json], both: Beside) -> Picture:
    """Who had to make room for whom and where, one after the other."""
    names = {item["involvedObject"]["uid"]: item["involvedObject"]["name"] for item in found}
    told = sorted((item for item in found if item["reason"] == "Preempted"), key=_told_at)
    return [
        (
            both.plain(item["involvedObject"]["name"]),
            both.plain(_UID.sub(lambda uid: names.get(uid[0], uid[0]), item["message"])),
        )
        for item in told
    ]


def _told_at(event: Json) -> str:
    """When it was told, to the microsecond there; here events stand in their order."""
    return str(event.get("eventTime") or "")
