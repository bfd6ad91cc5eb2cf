"""A control plane with thousands of fake nodes, with writes and CPU counted, for other benchmarks.

A `Field` is a fresh control plane with its audit log and its own client. The client limits of
kube-scheduler and kube-controller-manager are raised until they are never reached, and fake nodes
renew their leases rarely, so that only the work itself is measured.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import subprocess
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from bench import audit
from bench.coverage import Coverage
from bench.lab import NAMESPACE, Json, Lab, cpu_seconds, install, operator
from headroom.kube.client import Client
from headroom.kube.kubeconfig import find_access
from headroom.wire.crds import crds, headroom_crd
from testbed.controlplane import ControlPlane

UNBOUND = ("--kube-api-qps=10000", "--kube-api-burst=20000")
SLOT_CPU = "500m"
SLOT_MEMORY = "512Mi"
QUIET_CORES = 0.15  # All components together; what is still used then is heartbeats and leases.
QUIET_SAMPLE_S = 1.0


@dataclass
class Field:
    """A control plane with many nodes."""

    plane: ControlPlane
    nodes: list[str]
    writes: audit.AuditLog
    folder: Path

    def pids(self) -> dict[str, int]:
        found = {name: self.plane.pid(name) for name in self.plane.component_names}
        return {name: pid for name, pid in found.items() if pid}

    @contextlib.contextmanager
    def operator(self, profile: Path | None = None) -> Iterator[subprocess.Popen[str]]:
        """Our operator, as an admin like the other controllers."""
        log = self.folder / "operator.log"
        with operator(self.plane, log, profile=profile) as process:
            yield process

    @contextlib.asynccontextmanager
    async def watched(self, coverage: Coverage) -> AsyncIterator[Lab]:
        """A client, with the coverage kept up to date."""
        ours = self.plane.kubeconfig_for(audit.BENCH_USER, ("system:masters",))
        client = Client(find_access(str(ours), "", False))
        following = asyncio.create_task(coverage.follow(client))
        try:
            yield Lab(client)
        finally:
            following.cancel()
            await asyncio.gather(following, return_exceptions=True)
            await client.close()


@contextlib.contextmanager
def field(nodes: int, *, cpu: str = "16", audited: bool = True) -> Iterator[Field]:
    """A fresh control plane with this many nodes, ready and idle, with our CRDs."""
    lease = max(40, nodes // 10)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        log, flags = audit.start(folder)
        with ControlPlane.start(
            kwok=True,
            apiserver_args=flags if audited else (),
            scheduler_args=UNBOUND,
            controller_manager_args=(*UNBOUND, f"--node-monitor-grace-period={2 * lease}s"),
            kwok_lease_seconds=lease,
        ) as plane:
            names = plane.add_fake_nodes(nodes, cpu=cpu, memory="64Gi")
            plane.wait_nodes_ready(nodes, timeout_s=300)
            install(plane, known_kinds())
            ready = Field(plane, names, log, folder)
            until_quiet(ready.pids())
            yield ready


def known_kinds() -> list[Json]:
    """Every kind of ours, Headroom too."""
    made = crds()
    extra = headroom_crd()
    known = {definition["metadata"]["name"] for definition in made}
    return made if extra["metadata"]["name"] in known else [*made, extra]


def until_quiet(pids: Mapping[str, int], seconds: float = 60.0) -> float:
    """Wait until these processes are almost idle; return how long that took."""
    began = time.perf_counter()
    used = sum(cpu_seconds(dict(pids)).values())
    while time.perf_counter() - began < seconds:
        time.sleep(QUIET_SAMPLE_S)
        now = sum(cpu_seconds(dict(pids)).values())
        if (now - used) / QUIET_SAMPLE_S < QUIET_CORES:
            break
        used = now
    return time.perf_counter() - began


@dataclass(frozen=True)
class Spent:
    """CPU seconds of some processes, and of everything else on the machine, between two samples."""

    by: dict[str, float]
    seconds: float
    others: float

    def beyond(self, idle: Mapping[str, float]) -> dict[str, float]:
        """What each used above its idle use, which is given in cores."""
        return {name: max(0.0, used - idle[name] * self.seconds) for name, used in self.by.items()}

    @property
    def cores(self) -> dict[str, float]:
        return {name: used / max(self.seconds, 1e-9) for name, used in self.by.items()}

    @property
    def others_cores(self) -> float:
        """How many cores other processes used meanwhile, which makes wall times unreliable."""
        return self.others / max(self.seconds, 1e-9)


class CpuMeter:
    """Samples CPU time now, and again to calculate what was used."""

    def __init__(self, pids: Mapping[str, int]) -> None:
        self._pids = dict(pids)
        self._began = time.perf_counter()
        self._before = cpu_seconds(self._pids)
        self._rest = _machine_seconds() - time.process_time()

    def spent(self) -> Spent:
        after = cpu_seconds(self._pids)
        by = {name: after[name] - self._before[name] for name in self._pids}
        rest = _machine_seconds() - time.process_time() - self._rest
        took = time.perf_counter() - self._began
        return Spent(by, took, max(0.0, rest - sum(by.values())))


async def idle_cores(pids: Mapping[str, int], seconds: float) -> dict[str, float]:
    """How much of a core each process uses while idle."""
    meter = CpuMeter(pids)
    await asyncio.sleep(seconds)
    return meter.spent().cores


def _machine_seconds() -> float:
    """CPU time that all processes on this machine have used so far."""
    figures = Path("/proc/stat").read_text().partition("\n")[0].split()[1:]
    user, nice, system, _, _, irq, soft, steal = map(int, figures[:8])
    return (user + nice + system + irq + soft + steal) / os.sysconf("SC_CLK_TCK")


def memory_mb(pid: int) -> dict[str, float]:
    """The memory of a process: now, and its maximum so far."""
    found = {}
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        name, _, value = line.partition(":")
        if name in ("VmRSS", "VmHWM"):
            found[name] = int(value.split()[0]) / 1024
    return {"now": found["VmRSS"], "peak": found["VmHWM"]}


def slot_template() -> Json:
    return {"resources": {"requests": {"cpu": SLOT_CPU, "memory": SLOT_MEMORY}}}


def headroom(name: str, **spec: object) -> Json:
    """A Headroom with one slot on every node."""
    return {
        "apiVersion": "headroom.dev/v1alpha1",
        "kind": "Headroom",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {
            "slot": {"template": slot_template()},
            "size": {"perNode": {"slots": 1}},
            "owners": [{"labelSelector": {"matchLabels": {"app": "owner"}}}],
            **spec,
        },
    }


def daemonset(name: str) -> Json:
    """A DaemonSet of pods of the same shape."""
    labels = {"app": name}
    container = {"name": "main", "image": "pause", **slot_template()}
    template = {
        "metadata": {"labels": labels},
        "spec": {"containers": [container], "terminationGracePeriodSeconds": 0},
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {"selector": {"matchLabels": labels}, "template": template},
    }
