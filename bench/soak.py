"""Half an hour of churn with a hostile tenant on a real control plane: is anything lost, or leaked?

An honest tenant has holds and a Headroom that nobody claims, which must never lose a guardian, and
makes holds and owners all the time, through both doors. A hostile one, with a quota for two pods,
makes Headrooms of 100,000 slots, holds that are refused, pods with forged labels and claims, pods
that never fit and absurd numbers, and deletes them again. The operator is a process of its own,
under its own account. Its memory is sampled; growth is the mean of the last fifth of the time over
that of the fifth after the warm-up. An operator that loses its Lease, as on a machine that is too
busy, is started again, as a Deployment would; memory is then judged from that start on. Exit 1 if a
hold was lost or memory grew by 5 % or more.

    python -m bench.soak [--minutes 30] [--warmup 5] [--pace 2] [--seed 1]
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import itertools
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from bench.hostile import CLAIMED, HONEST, HOSTILE, KEPT, PARENT, Hostile, Ledger, delete, headroom
from bench.lab import Json, Lab, cpu_seconds, hold, install, lab, percentile
from bench.lab import pod as plain_pod
from headroom.core.objects import Pod
from headroom.wire.kinds import (
    EVENTS,
    HEADROOMS,
    HOLDS,
    NAMESPACES,
    PODS,
    RESOURCE_QUOTAS,
)
from headroom.wire.kinds import NODES as NODE_KIND
from headroom.wire.manifests import Installation, install_objects
from testbed.controlplane import ControlPlane

HOME = "headroom-system"
NODES = 10
PATIENCE_S = 120.0
EVENT_S = 3.0  # An event may be written a moment after what it tells.
SAMPLE_S = 5.0
GROWTH_LIMIT = 0.05


def guardian_of(here: Lab, parent: str, namespace: str = HONEST) -> list[Pod]:
    return [
        pod
        for pod in here.pods.values()
        if pod.key.namespace == namespace and pod.annotations.get(PARENT) == parent and pod.node
    ]


class Honest:
    """A tenant that uses holds as intended, and records what goes wrong."""

    def __init__(self, here: Lab, seen: Ledger) -> None:
        self._here = here
        self._seen = seen
        self._numbers = itertools.count()
        self._kept: dict[str, str] = {}

    async def settle(self) -> None:
        """Create what must exist all the time."""
        kept = [hold(f"kept-{n}", "100m", {"app": f"nobody-{n}"}) for n in range(KEPT)]
        await self._here.create_all(HOLDS.path(HONEST), kept)
        await self._here.create(HEADROOMS.path(HONEST), headroom("kept", KEPT, HONEST, "100m"))
        done = await self._here.until("all kept", lambda: len(self._standing()) == 2 * KEPT, 120)
        if not done:
            raise RuntimeError(f"only {len(self._standing())} of {2 * KEPT} are held")
        self._kept = self._standing()

    def look(self) -> None:
        """Record each of those guardians that was replaced."""
        now = self._standing()
        for name, uid in self._kept.items():
            if now.get(name) != uid:
                self._seen.lost.append(f"minute {self._seen.minute:.1f}: {name} lost its guardian")
        self._kept |= now

    def _standing(self) -> dict[str, str]:
        parents = {f"Hold/{HONEST}/kept-{n}" for n in range(KEPT)} | {f"Headroom/{HONEST}/kept"}
        return {
            pod.key.name: pod.uid
            for pod in self._here.pods.values()
            if pod.annotations.get(PARENT) in parents and pod.key.namespace == HONEST and pod.node
        }

    async def churn(self, pause: float) -> None:
        """Create holds and their owners without end, alternating between the doors."""
        for door in itertools.cycle(("gate", "ours")):
            await asyncio.sleep(pause)
            name = f"c-{next(self._numbers)}"
            try:
                self._seen.handovers.append((self._seen.minute, await self._once(name, door)))
            except TimeoutError as late:
                self._seen.lost.append(f"minute {self._seen.minute:.1f}: {late}")
            await self._clean(name)

    async def _once(self, name: str, door: str) -> float:
        here, parent = self._here, f"Hold/{HONEST}/{name}"
        await here.create(HOLDS.path(HONEST), hold(name, "200m", {"app": name}))
        if not await here.until(
            f"{name} held", lambda: bool(guardian_of(here, parent)), PATIENCE_S
        ):
            raise TimeoutError(f"{name} is not held")
        spec: Json = {"schedulingGates": [{"name": "headroom.dev/claim"}]}
        if door == "ours":
            spec = {"schedulerName": "headroom-scheduler"}
        began = time.perf_counter()
        await here.create(PODS.path(HONEST), plain_pod(name, "200m", labels={"app": name}, **spec))
        bound = await here.until(f"{name} bound", lambda: bool(here.bound([name])), PATIENCE_S)
        if not bound:
            raise TimeoutError(f"{name} waits for its hold")
        claimed = [
            pod.annotations.get(CLAIMED) for pod in here.pods.values() if pod.key.name == name
        ]
        if claimed != [parent]:
            raise TimeoutError(
                f"{name} did not get its hold but {claimed}: {await self._why(name)}"
            )
        return here.bound_at[name] - began

    async def _why(self, name: str) -> str:
        """What the cluster says about a pod without its hold: the pod, its events, bad nodes."""
        found = [pod for pod in self._here.pods.values() if pod.key.name == name]
        seen = [(pod.key.namespace, pod.node, pod.gates, dict(pod.annotations)) for pod in found]
        await asyncio.sleep(EVENT_S)
        events = await self._items(EVENTS.path(HONEST), f"involvedObject.name={name}")
        told = [f"{each.get('reason')}: {each.get('message')}" for each in events]
        nodes = await self._items(NODE_KIND.path())
        tainted = [each["metadata"]["name"] for each in nodes if each["spec"].get("taints")]
        return f"{seen}; {'; '.join(told) or 'no event'}; nodes with taints: {tainted}"

    async def _items(self, path: str, fields: str = "") -> list[Json]:
        asked = f"{path}?fieldSelector={fields}" if fields else path
        answer = await self._here.client.send("GET", asked, repeatable=True)
        return list(json.loads(answer.body).get("items", ())) if answer.ok else []

    async def _clean(self, name: str) -> None:
        for path in (PODS.path(HONEST, name), HOLDS.path(HONEST, name)):
            await delete(self._here, path)
        for times in (self._here.sent_at, self._here.bound_at, self._here.running_at):
            times.pop(name, None)


class Deployment:
    """The operator's process, which is started again when it ends."""

    def __init__(self, plane: ControlPlane, kubeconfig: Path, log: Path) -> None:
        self._command = (sys.executable, "-m", "headroom", "run", "--kubeconfig", str(kubeconfig))
        self._log = log
        self._process = self._start()
        self.cpu = 0.0

    def memory(self) -> float | None:
        """The memory of the process in MiB; None if it had ended and was started again."""
        status = Path(f"/proc/{self._process.pid}/status").read_text()
        sizes = [line.split()[1] for line in status.splitlines() if line.startswith("VmRSS")]
        if sizes:
            self.cpu = cpu_seconds({"operator": self._process.pid})["operator"]
            return int(sizes[0]) / 1024
        self._process.wait()
        self._process = self._start()
        return None

    def stop(self) -> None:
        self._process.terminate()
        self._process.wait(20)

    def _start(self) -> subprocess.Popen[str]:
        with self._log.open("a") as errors:
            process = subprocess.Popen(
                self._command, stdout=subprocess.PIPE, stderr=errors, text=True
            )
        line = process.stdout.readline() if process.stdout else ""
        if line.strip() != "ready":
            raise RuntimeError(f"the operator did not get ready: {self._log.read_text()[-2000:]}")
        return process


async def sample(seen: Ledger, honest: Honest, replica: Deployment) -> None:
    """Record the operator's memory and check the kept guardians, without end."""
    while True:
        size = await asyncio.to_thread(replica.memory)
        if size is None:
            seen.restarts.append(seen.minute)
        else:
            seen.memory.append((seen.minute, size))
        honest.look()
        await asyncio.sleep(SAMPLE_S)


async def play(plane: ControlPlane, replica: Deployment, options: Any) -> Ledger:
    """Run all tenants for the requested time."""
    async with lab(plane) as here:
        seen = Ledger(time.perf_counter())
        honest, hostile = Honest(here, seen), Hostile(here, seen, options.seed)
        await honest.settle()
        seen.began = time.perf_counter()
        workers = 4
        tasks = [
            asyncio.create_task(each)
            for each in (
                *(honest.churn(workers / options.pace) for _ in range(workers)),
                hostile.attack(1 / options.pace),
                sample(seen, honest, replica),
            )
        ]
        done, _ = await asyncio.wait(
            tasks, timeout=options.minutes * 60, return_when=asyncio.FIRST_EXCEPTION
        )
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for task in done:
            task.result()  # What ended before its time has failed.
        return seen


def growth(seen: Ledger, minutes: float, warmup: float) -> float:
    """How much larger the memory was in the last fifth than in the fifth after the warm-up."""
    warmup += max(seen.restarts, default=0.0)
    part = (minutes - warmup) / 5
    early = [size for at, size in seen.memory if warmup <= at < warmup + part]
    late = [size for at, size in seen.memory if at >= minutes - part]
    if not early or not late:
        return float("nan")
    return statistics.mean(late) / statistics.mean(early) - 1


def by_minute(memory: list[tuple[float, float]]) -> list[float]:
    """The mean of each minute that has a sample."""
    minutes = sorted({int(at) for at, _ in memory})
    return [statistics.mean(size for at, size in memory if int(at) == each) for each in minutes]


def report(seen: Ledger, minutes: float, warmup: float, cpu: float) -> str:
    """A table over time, and the verdict."""
    series = ", ".join(f"{size:.0f}" for size in by_minute(seen.memory))
    rows = [f"memory by minute, MiB: {series}"]
    rows += ["  minutes   memory MiB   handovers   p50 ms   p99 ms"]
    step = max(1.0, minutes / 6)
    for number in range(6):
        first, last = number * step, (number + 1) * step
        sizes = [size for at, size in seen.memory if first <= at < last]
        times = [took for at, took in seen.handovers if first <= at < last]
        if sizes:
            rows.append(
                f"{first:4.0f}–{last:<4.0f} {statistics.mean(sizes):12.1f} {len(times):11}"
                f" {percentile(times, 0.5) * 1000:8.0f} {percentile(times, 0.99) * 1000:8.0f}"
            )
    grown = growth(seen, minutes, warmup)
    rows += [
        f"hostile writes {seen.hostile}, of which the API server refused {seen.refused}",
        f"restarts of the operator, at minute: {[round(at, 1) for at in seen.restarts]}",
        f"operator CPU {cpu:.0f} s; memory growth after {warmup:g} min: {grown:+.1%}",
        f"holds lost: {len(seen.lost)}",
        *seen.lost[:10],
    ]
    return "\n".join(rows)


def main() -> int:
    """Run the soak and report whether everything was as expected."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--warmup", type=float, default=5)
    parser.add_argument("--pace", type=float, default=2, help="handovers a second")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--log", type=Path, help="where the operator's log is kept")
    options = parser.parse_args()
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        plane = stack.enter_context(ControlPlane.start(kwok=True))
        plane.add_fake_nodes(NODES, cpu="16", memory="64Gi", pods=250)
        plane.wait_nodes_ready(NODES)
        everything = list(install_objects(Installation("example.com/headroom:1", replicas=0)))
        install(plane, [each for each in everything if each["kind"] == "CustomResourceDefinition"])
        rest = [each for each in everything if each["kind"] != "CustomResourceDefinition"]
        text = "\n---\n".join(json.dumps(each) for each in rest)
        plane.kubectl("apply", "--server-side", "--force-conflicts", "-f", "-", input=text)
        plane.api.ensure(NAMESPACES.path(), {"metadata": {"name": HOSTILE}})
        quota = {"metadata": {"name": "q"}, "spec": {"hard": {"pods": "2"}}}
        plane.api.create(RESOURCE_QUOTAS.path(HOSTILE), quota)
        seconds = int(options.minutes * 60) + 3600
        account = plane.service_account_kubeconfig(HOME, "headroom-operator", seconds=seconds)
        log = options.log or folder / "operator.log"
        replica = Deployment(plane, account, log)
        stack.callback(replica.stop)
        seen = asyncio.run(play(plane, replica, options))
    print(report(seen, options.minutes, options.warmup, replica.cpu))
    grown = growth(seen, options.minutes, options.warmup)
    return 1 if seen.lost or not grown < GROWTH_LIMIT else 0


if __name__ == "__main__":
    sys.exit(main())
