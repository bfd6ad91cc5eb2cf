"""Tenants that come, use everything there is, and go: each with names that nobody had before."""

from __future__ import annotations

import contextlib
import copy

from headroom.sim.errors import ApiError
from headroom.sim.world import SimWorld
from tests.fuzz.basics import Json
from tests.fuzz.samples import OBJECTS, SLOT_SET
from tests.fuzz.wishes import HEADROOMS
from tests.fuzz.worlds import acceptable
from tests.stories.followers import claim, following, gated, volume
from tests.stories.things import headroom, hold, pod, workload

ROOM = {"cpu": "8", "memory": "32Gi", "pods": "60"}
CLUSTER_WIDE = (
    "Node",
    "Namespace",
    "PersistentVolume",
    "StorageClass",
    "CSINode",
    "Quota",
    "Reservation",
)

# Sizes that depend on the load and the workloads of all others have stories of their own.
LIVED_WITH = [each for each in OBJECTS if each not in (*HEADROOMS[4:], SLOT_SET)]


class Tenant:
    """One namespace, one node, and one of everything, named by a number."""

    def __init__(self, world: SimWorld, number: int) -> None:
        self._world = world
        self._number = number
        self.namespace = f"tenant-{number}"
        self._made: list[tuple[str, str, str]] = []

    def come(self) -> None:
        """Make what is wished for, and objects of every kind that we read."""
        n = self._number
        limits = {"headroom.dev/limits": "slots=3"} if n % 3 == 1 else {}
        self._put(_thing("Namespace", self.namespace, {"headroom.dev/claims": "enabled"}, limits))
        labels = {"pool": f"pool-{n}", "zone": f"zone-{n}", "kubernetes.io/hostname": f"node-{n}"}
        node = _thing("Node", f"node-{n}", labels)
        self._put({**node, "status": {"capacity": ROOM, "allocatable": ROOM}})
        if n % 3 == 2:
            quota = _thing("ResourceQuota", f"quota-{n}")
            self._put({**quota, "spec": {"hard": {"pods": "4"}}})
        self._wish(n)
        for sample in LIVED_WITH:
            self._put_sample(sample)

    def _wish(self, n: int) -> None:
        kinds: tuple[Json, ...] = ({}, {"allocateOnce": False}, {"ttl": "40s"})
        for index, more in enumerate(kinds):
            self._put(hold(f"hold-{n}-{index}", "500m", f"app-{n}-{index}", **more))
        self._put(hold(f"large-{n}", "500", f"large-{n}"))
        self._put(workload("Deployment", f"web-{n}", "100m", replicas=2))
        pinned = {"nodeSelector": {"pool": f"pool-{n}"}}
        near: Json = {"size": {"perNode": {"slots": 1}}, "template": pinned}
        learnt = {"adaptive": {"startWithin": "5s", "ratio": 0.9}}
        load: Json = {"size": {"utilization": {"threshold": 0.5}}, "mode": "Preemptible"}
        web: Json = {"app": f"web-{n}", "source": f"web-{n}"}
        self._put(headroom(f"replicas-{n}", "100m", f"replicas-{n}", replicas=3))
        self._put(headroom(f"greedy-{n}", "10m", f"greedy-{n}", replicas=100_000))
        self._put(headroom(f"percent-{n}", size={"percent": 100}, **web))
        self._put(headroom(f"chunk-{n}", chunk="Node", replicas=1, **web))
        self._put(headroom(f"near-{n}", "10m", f"near-{n}", **near))
        self._put(headroom(f"load-{n}", "100m", **load))
        self._put(headroom(f"learnt-{n}", "100m", f"learnt-{n}", size=learnt))
        self._put(following(f"beside-{n}", "100m"))
        self._put(claim(f"claim-{n}", f"volume-{n}"))
        self._put(volume(f"volume-{n}"))

    def use(self) -> None:
        """Send owners through both doors, and pods that never fit, contend or keep apart."""
        n = self._number
        self._put(gated(f"leader-{n}", f"claim-{n}"))
        self._put(pod(f"gated-{n}", "500m", f"app-{n}-0", gated=True))
        self._put(pod(f"ours-{n}", "200m", f"app-{n}-1", ours=True))
        self._put(pod(f"slot-{n}", "100m", f"replicas-{n}", ours=True))
        self._put(pod(f"near-{n}", "10m", f"near-{n}", gated=True))
        self._put(pod(f"learnt-{n}", "100m", f"learnt-{n}", gated=True))
        self._put(pod(f"stuck-{n}", 1, "nobody", ours=True, memory="900Ti"))
        self._put(pod(f"stuck-gated-{n}", 1, f"large-{n}", gated=True, memory="900Ti"))
        for index in range(2):
            rival = pod(f"port-{n}-{index}", "10m")
            rival["spec"]["containers"][0]["ports"] = [{"containerPort": 80, "hostPort": 8000 + n}]
            self._put(rival)
        apart = pod(f"apart-{n}", "10m", f"apart-{n}", ours=True)
        term = {"labelSelector": {"matchLabels": {"app": f"apart-{n}"}}, "topologyKey": f"key-{n}"}
        always = {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
        apart["spec"]["affinity"] = {"podAntiAffinity": always}
        self._put(apart)
        odd = pod(f"odd-{n}", "1m", nodeName=f"node-{n}")
        asked = odd["spec"]["containers"][0]["resources"]
        asked["requests"] |= {f"example.com/nobody-has-{n}-{index}": "1" for index in range(5)}
        asked["limits"] = asked["requests"]
        self._put(odd)

    def go(self) -> None:
        """Take everything away, the namespace and the node last."""
        kinds = {kind for kind, _, _ in self._made} | {"ReplicaSet", "Pod"}
        for kind in sorted(kinds - set(CLUSTER_WIDE)):
            for item in self._world.list(kind, self.namespace):
                self._delete(kind, self.namespace, item["metadata"]["name"])
        for kind, namespace, name in reversed(self._made):
            self._delete(kind, namespace, name)

    def _put_sample(self, sample: Json) -> None:
        made: Json = copy.deepcopy(sample)
        metadata = made["metadata"]
        if made["kind"] in ("Node", "Namespace"):
            return
        metadata["name"] = f"{metadata['name']}-{self._number}"
        metadata.pop("uid", None)
        taken = acceptable(made)
        if taken is not None:
            self._put(taken)

    def _put(self, thing: Json) -> None:
        wide = thing["kind"] in CLUSTER_WIDE
        if not wide:
            thing["metadata"]["namespace"] = self.namespace
        with contextlib.suppress(ApiError):
            self._world.apply(thing)
            place = "" if wide else self.namespace
            self._made.append((thing["kind"], place, thing["metadata"]["name"]))

    def _delete(self, kind: str, namespace: str, name: str) -> None:
        with contextlib.suppress(ApiError, KeyError):
            self._world.delete(kind, namespace, name, 0)


def _thing(
    kind: str,
    name: str,
    labels: dict[str, str] | None = None,
    annotations: dict[str, str] | None = None,
) -> Json:
    metadata: Json = {"name": name, "labels": labels or {}, "annotations": annotations or {}}
    return {"apiVersion": "v1", "kind": kind, "metadata": metadata}
