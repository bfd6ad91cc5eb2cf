"""Shared parts of benchmarks on a real control plane: a cluster, the operator, times of pods.

The operator runs in its own process; the benchmark only creates objects and watches. Times are
measured in this process, from just before a pod's creation is sent until the watch shows its node.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from headroom.core.objects import Key, Pod
from headroom.kube.client import Client
from headroom.kube.cluster import KubeCluster
from headroom.kube.kubeconfig import find_access
from headroom.kube.watch_scope import WatchScope
from headroom.ports import Lost, Seen
from headroom.wire.crds import crds
from headroom.wire.kinds import HOLDS, PODS, Resource
from headroom.wire.manifests import priority_classes
from testbed.api import ApiFailure
from testbed.controlplane import ControlPlane

Json = dict[str, Any]
NAMESPACE = "default"
JSON_TYPE = "application/json"
LOOK_S = 0.1


@contextlib.contextmanager
def cluster(
    nodes: int,
    cpu: int,
    apiserver_args: tuple[str, ...] = (),
    scheduler_args: tuple[str, ...] = (),
) -> Iterator[ControlPlane]:
    """A control plane with fake nodes of this size and our CRDs."""
    with ControlPlane.start(
        kwok=True, apiserver_args=apiserver_args, scheduler_args=scheduler_args
    ) as plane:
        plane.add_fake_nodes(nodes, cpu=str(cpu), memory="256Gi", pods=250)
        plane.wait_nodes_ready(nodes)
        install(plane, crds())
        yield plane


def install(plane: ControlPlane, definitions: Iterable[Json]) -> None:
    """Install these CRDs and our priority classes; return when the API server serves them."""
    made = list(definitions)
    objects = "\n---\n".join(json.dumps(item) for item in (*made, *priority_classes()))
    plane.kubectl("apply", "--server-side", "-f", "-", input=objects)
    _until_served(plane, [_collection(definition) for definition in made])


def _collection(definition: Json) -> str:
    spec = definition["spec"]
    return f"/apis/{spec['group']}/{spec['versions'][0]['name']}/{spec['names']['plural']}"


def _until_served(plane: ControlPlane, paths: Iterable[str]) -> None:
    """Wait until the API server serves our kinds, a moment after it has accepted their CRDs."""
    for _ in range(100):
        with contextlib.suppress(ApiFailure):
            for path in paths:
                plane.api.get(path)
            return
        time.sleep(0.1)
    raise RuntimeError("the API server does not serve our kinds")


@contextlib.contextmanager
def operator(
    plane: ControlPlane,
    log: Path,
    kubeconfig: Path | None = None,
    profile: Path | None = None,
    flags: tuple[str, ...] = (),
) -> Iterator[subprocess.Popen[str]]:
    """The operator as its own process, ready; stopped at the end.

    It is the cluster's admin unless a kubeconfig is given. With `profile` it runs under cProfile,
    slower, and writes its profile at its end; `flags` are further flags of `headroom run`.
    """
    program: tuple[str, ...] = (str(Path(sys.executable).with_name("headroom")),)
    if profile:
        program = (sys.executable, "-m", "cProfile", "-o", str(profile), "-m", "headroom")
    command = (*program, "run", "--kubeconfig", str(kubeconfig or plane.kubeconfig), *flags)
    with log.open("w") as errors:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True)
        try:
            line = process.stdout.readline() if process.stdout else ""
            if line.strip() != "ready":
                raise RuntimeError(f"the operator did not get ready: {log.read_text()[-2000:]}")
            yield process
            if process.poll() is not None:
                raise RuntimeError(f"the operator ended by itself: {log.read_text()[-2000:]}")
        except BaseException:
            print(log.read_text()[-4000:], file=sys.stderr)
            raise
        finally:
            process.terminate()
            process.wait(20)


@dataclass
class Lab:
    """A client, and all pods of the cluster as the watch shows them."""

    client: Client
    pods: dict[Key, Pod] = field(default_factory=dict)
    sent_at: dict[str, float] = field(default_factory=dict)
    bound_at: dict[str, float] = field(default_factory=dict)
    running_at: dict[str, float] = field(default_factory=dict)

    async def follow(self) -> None:
        """Keep `pods` and the times up to date, without end."""
        watcher = KubeCluster(self.client, (WatchScope(PODS),))
        async for event in watcher.watch():
            now = time.perf_counter()
            match event:
                case Seen(Pod() as pod):
                    self.pods[pod.key] = pod
                    if pod.node:
                        self.bound_at.setdefault(pod.key.name, now)
                    if pod.phase == "Running":
                        self.running_at.setdefault(pod.key.name, now)
                case Lost(Pod(key=key)):
                    self.pods.pop(key, None)

    async def until(self, what: str, ready: Callable[[], bool], seconds: float) -> bool:
        """Wait until a condition on the pods is true; return whether that happened in time.

        It is checked a few times a second, not at every event: with thousands of pods the check
        itself would use the measured cores.
        """
        deadline = time.perf_counter() + seconds
        while not ready():
            left = deadline - time.perf_counter()
            if left <= 0:
                print(f"  not within {seconds:.0f} s: {what}", file=sys.stderr)
                return False
            await asyncio.sleep(min(left, LOOK_S))
        return True

    def bound(self, names: Iterable[str]) -> int:
        """How many of these pods have a node."""
        return sum(name in self.bound_at for name in names)

    async def create(self, path: str, body: Json) -> None:
        self.sent_at[body["metadata"]["name"]] = time.perf_counter()
        answer = await self.client.send(
            "POST", path, json.dumps(body).encode(), JSON_TYPE, repeatable=False
        )
        if answer.status >= 300:
            raise RuntimeError(f"{path}: {answer.status} {answer.body[:300]!r}")

    async def create_all(self, path: str, bodies: Iterable[Json], at_once: int = 24) -> None:
        """Create many objects, as fast as the API server takes them."""
        waiting = list(bodies)
        waiting.reverse()

        async def worker() -> None:
            while waiting:
                await self.create(path, waiting.pop())

        await asyncio.gather(*(worker() for _ in range(at_once)))

    async def create_paced(self, path: str, bodies: Iterable[Json], per_second: float) -> None:
        """Create objects one after another, at a steady pace."""
        start = time.perf_counter()
        sending = []
        for number, body in enumerate(bodies):
            await asyncio.sleep(max(0.0, start + number / per_second - time.perf_counter()))
            sending.append(asyncio.create_task(self.create(path, body)))
        await asyncio.gather(*sending)

    async def delete_pods(self, wanted: Callable[[Pod], bool]) -> None:
        """Delete pods at once, and wait until they are gone."""
        keys = [pod.key for pod in self.pods.values() if wanted(pod)]
        await self._delete_all([PODS.path(key.namespace, key.name) for key in keys])
        await self.until("pods gone", lambda: not any(key in self.pods for key in keys), 60)

    async def delete_holds(self, kind: Resource = HOLDS, besides: str = "-") -> None:
        """Delete every hold whose name does not begin so, one by one: thousands in one call take
        longer than a call may.
        """
        listed = await self.client.get(kind.path(), f"list the {kind.plural}")
        names = (item["metadata"] for item in json.loads(listed)["items"])
        await self._delete_all(
            [
                kind.path(name.get("namespace", ""), name["name"])
                for name in names
                if not name["name"].startswith(besides)
            ]
        )

    async def _delete_all(self, waiting: list[str]) -> None:
        body = json.dumps({"gracePeriodSeconds": 0}).encode()

        async def worker() -> None:
            while waiting:
                await self.client.send("DELETE", waiting.pop(), body, JSON_TYPE, repeatable=True)

        await asyncio.gather(*(worker() for _ in range(24)))


@contextlib.asynccontextmanager
async def lab(plane: ControlPlane, user: str = "") -> AsyncIterator[Lab]:
    """A lab on a control plane, following its pods; as a user of its own, if one is named."""
    config = plane.kubeconfig_for(user, ("system:masters",)) if user else plane.kubeconfig
    client = Client(find_access(str(config), "", False))
    here = Lab(client)
    following = asyncio.create_task(here.follow())
    try:
        yield here
    finally:
        following.cancel()
        await asyncio.gather(following, return_exceptions=True)
        await client.close()


def cpu_seconds(pids: dict[str, int]) -> dict[str, float]:
    """CPU time that each of these processes has used so far; noise affects it little."""
    tick = os.sysconf("SC_CLK_TCK")
    used = {}
    for name, pid in pids.items():
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        used[name] = (int(fields[11]) + int(fields[12])) / tick
    return used


def component_pids(plane: ControlPlane, process: subprocess.Popen[str]) -> dict[str, int]:
    """All processes that work for a handover: the control plane, and the operator."""
    found = {name: plane.pid(name) for name in plane.component_names}
    return {name: pid for name, pid in found.items() if pid} | {"operator": process.pid}


def cpu_table(rows: dict[str, dict[str, float]], title: str = "CPU ms per owner") -> str:
    """CPU by component: less sensitive to a noisy machine than any time."""
    names = sorted(next(iter(rows.values())))
    width = max(map(len, rows))
    short = [name.removeprefix("kube-")[:14] for name in names]
    lines = [
        title,
        " " * width + "".join(f"{name:>16}" for name in (*short, "all")),
    ]
    for what, cpu in rows.items():
        figures = [cpu[name] for name in names]
        cells = "".join(f"{value:>16.2f}" for value in (*figures, sum(figures)))
        lines.append(f"{what:<{width}}{cells}")
    return "\n".join(lines)


def percentile(values: list[float], part: float) -> float:
    """The value below which this share of the values lies; nan for an empty list."""
    if not values:
        return float("nan")
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))]


def pod(name: str, cpu: str, **spec: Any) -> Json:
    labels = spec.pop("labels", {})
    container = {"name": "main", "image": "app", "resources": {"requests": {"cpu": cpu}}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": NAMESPACE, "labels": labels},
        "spec": {"containers": [container], "terminationGracePeriodSeconds": 0, **spec},
    }


def hold(name: str, cpu: str, labels: dict[str, str]) -> Json:
    container = {"name": "main", "image": "app", "resources": {"requests": {"cpu": cpu}}}
    return {
        "apiVersion": "headroom.dev/v1alpha1",
        "kind": "Hold",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {
            "template": {"spec": {"containers": [container]}},
            "owners": [{"labelSelector": {"matchLabels": labels}}],
        },
    }
