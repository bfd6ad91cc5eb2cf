"""The operator in a large cluster: start, memory, CPU at rest, and handovers while it lists again.

An API server is filled with nodes and running pods (`stock`); then the operator starts. Beside it
stand a plain list of the same pods and nodes that nobody decodes, and kube-scheduler, which keeps
the same objects. Handovers come with and without a list of everything again (`forgetful` ends the
operator's watches and refuses to resume them), beside plain pods that come at the same time.

    python -m bench.large [--nodes 5000] [--pods 50000] [--seconds 60] [--owners 100]
                          [--profile FILE] [--rows FILE]
"""

from __future__ import annotations

import argparse
import asyncio
import http.client
import json
import os
import re
import ssl
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from bench import rows
from bench.field import CpuMeter, Spent, known_kinds, memory_mb
from bench.lab import (
    NAMESPACE,
    Json,
    Lab,
    cpu_seconds,
    hold,
    install,
    lab,
    operator,
    percentile,
    pod,
)
from bench.rows import RATIO, Aim, Row
from bench.stock import fill
from headroom.core.names import ROLE_LABEL, SCHEDULER_NAME
from headroom.kube.client import Client
from headroom.kube.kubeconfig import find_access
from headroom.wire.kinds import HOLDS, PODS
from testbed.controlplane import ControlPlane
from testbed.identities import ADMIN

PAGE = 500  # as kubectl asks
CONTINUE = re.compile(rb'"continue":"([^"]+)"')
LISTED = ("/api/v1/pods", "/api/v1/nodes")
OWNER = {"app": "owner"}
PACE = 20.0
PATIENCE_S = 180.0
SETTLE_S = 3.0
CHANGES_A_SECOND = 1.0
SCHEDULER = "kube-scheduler"
TOLD = 5  # errors of watches that are shown
QUIET, LISTING = "quiet", "listing"


@dataclass
class Result:
    """What was measured, in seconds, MB and cores."""

    nodes: int
    pods: int
    filled_s: float = 0.0
    list_s: float = 0.0
    list_mb: float = 0.0
    ready_s: float = 0.0
    ready_cpu_s: float = 0.0
    memory: dict[str, dict[str, float]] = field(default_factory=dict)
    rest: dict[str, Spent] = field(default_factory=dict)
    waits: dict[str, list[float]] = field(default_factory=dict)
    lost: int = 0
    troubles: int = 0  # errors of watches, as the operator of the handovers reported them

    @property
    def scale(self) -> str:
        return f"{self.nodes:,} nodes, {self.pods:,} pods"


def plain_list(plane: ControlPlane) -> tuple[float, float]:
    """Seconds and MB of reading the same objects without looking at them, page by page."""
    context = ssl.create_default_context(cadata=plane.identities.authority_pem)
    address = urlsplit(plane.server).netloc
    token = plane.identities.token(ADMIN)
    headers = {"Authorization": f"Bearer {token}", "Accept": "application/json"}
    read = 0
    began = time.perf_counter()
    connection = http.client.HTTPSConnection(address, context=context, timeout=PATIENCE_S)
    for path in LISTED:
        page = f"{path}?limit={PAGE}"
        while page:
            connection.request("GET", page, headers=headers)
            answer = connection.getresponse()
            body = answer.read()
            if answer.status != http.HTTPStatus.OK:
                raise RuntimeError(f"{page}: {answer.status} {body[:300]!r}")
            read += len(body)
            following = CONTINUE.search(body[:1000])  # It stands before the objects.
            page = f"{path}?limit={PAGE}&continue={following[1].decode()}" if following else ""
    connection.close()
    return time.perf_counter() - began, read / 1e6


@contextmanager
def started(
    plane: ControlPlane, folder: Path, profile: Path | None, found: Result
) -> Iterator[subprocess.Popen[str]]:
    """The operator, with how long it took until it was ready."""
    began = time.perf_counter()
    with operator(plane, folder / "operator.log", profile=profile) as process:
        found.ready_s = time.perf_counter() - began
        found.ready_cpu_s = cpu_seconds({"operator": process.pid})["operator"]
        yield process


async def rest(here: Lab, pids: dict[str, int], seconds: float, changes: float) -> Spent:
    """What everybody uses while nothing happens, or while now and then a pod changes."""
    meter = CpuMeter(pids)
    began = time.perf_counter()
    for turn in range(max(1, int(seconds * changes))):
        if changes:
            await _change_a_pod(here, turn)
        due = began + ((turn + 1) / changes if changes else seconds)
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
    return meter.spent()


async def _change_a_pod(here: Lab, turn: int) -> None:
    path = PODS.path("team-0", f"service-000-6d4cf56db6-{turn % 100:05x}")
    body = f'{{"metadata":{{"annotations":{{"turn":"{turn}"}}}}}}'.encode()
    kind = "application/merge-patch+json"
    answer = await here.client.send("PATCH", path, body, kind, repeatable=True)
    if answer.status >= 300:
        raise RuntimeError(f"{path}: {answer.status} {answer.body[:300]!r}")


async def make_holds(here: Lab, prefix: str, count: int) -> None:
    holds = (hold(f"{prefix}-{number}", "500m", OWNER) for number in range(count))
    await here.create_all(HOLDS.path(NAMESPACE), holds)

    def held() -> bool:
        return sum(bool(p.node) and ROLE_LABEL in p.labels for p in here.pods.values()) >= count

    await here.until("every hold stands", held, PATIENCE_S)
    await asyncio.sleep(SETTLE_S)


async def come(here: Lab, prefix: str, count: int, **spec: object) -> list[float]:
    """Let pods come at a pace, and say how long each waited for its node."""
    names = [f"{prefix}-{number}" for number in range(count)]
    bodies = (pod(name, "500m", labels=OWNER, **spec) for name in names)
    await here.create_paced(PODS.path(NAMESPACE), bodies, PACE)
    await here.until(f"{prefix}: all bound", lambda: here.bound(names) == count, PATIENCE_S)
    return [here.bound_at[name] - here.sent_at[name] for name in names if name in here.bound_at]


async def handovers(here: Lab, found: Result, when: str, owners: int) -> None:
    """Plain pods and owners at the same time, so that both meet the same machine."""
    plain, ours = await asyncio.gather(
        come(here, f"plain-{when}", owners),
        come(here, f"owner-{when}", owners, schedulerName=SCHEDULER_NAME),
    )
    found.waits[f"plain {when}"], found.waits[f"owner {when}"] = plain, ours
    found.lost += owners - len(ours)


async def at_rest(
    plane: ControlPlane, process: subprocess.Popen[str], found: Result, seconds: float
) -> None:
    """Memory, and CPU with and without changes."""
    scheduler = plane.pid(SCHEDULER)
    pids = {"operator": process.pid} | ({SCHEDULER: scheduler} if scheduler else {})
    client = Client(find_access(str(plane.kubeconfig), "", False))
    here = Lab(client)  # Nobody follows the pods: the operator's CPU is what counts here.
    try:
        await asyncio.sleep(SETTLE_S)
        found.memory = {name: memory_mb(pid) for name, pid in pids.items()}
        for name, changes in (("nothing", 0.0), ("1 change/s", CHANGES_A_SECOND)):
            say(f"at rest, {name} …")
            found.rest[name] = await rest(here, pids, seconds, changes)
    finally:
        await client.close()


async def handing_over(
    plane: ControlPlane, relay: subprocess.Popen[str], found: Result, owners: int
) -> None:
    """Handovers in peace, then while the operator lists everything again."""
    async with lab(plane) as here:
        await here.until("all pods seen", lambda: len(here.pods) >= found.pods, PATIENCE_S)
        for when in (QUIET, LISTING):
            await make_holds(here, when, owners)
            say(f"handovers, {when} …")
            if when == LISTING and relay.stdin is not None:
                relay.stdin.write("\n")
                relay.stdin.flush()
            await handovers(here, found, when, owners)


@contextmanager
def forgetful(plane: ControlPlane, folder: Path) -> Iterator[tuple[subprocess.Popen[str], Path]]:
    """The API server behind `forgetful`, with the kubeconfig that leads there."""
    who = (plane.server, str(plane.identities.authority_file), plane.identities.token(ADMIN))
    command = (sys.executable, "-m", "bench.forgetful", *who)
    root = Path(__file__).resolve().parents[1]
    with subprocess.Popen(
        command, cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            address = process.stdout.readline().strip() if process.stdout else ""
            kubeconfig = folder / "forgetful.kubeconfig"
            kubeconfig.write_text(json.dumps(_kubeconfig(address)))
            yield process, kubeconfig
        finally:
            process.terminate()


def _kubeconfig(address: str) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "forgetful", "cluster": {"server": address}}],
        "contexts": [{"name": "forgetful", "context": {"cluster": "forgetful"}}],
        "current-context": "forgetful",
    }


def hand_over(plane: ControlPlane, folder: Path, found: Result, owners: int) -> None:
    log = folder / "again.log"
    with (
        forgetful(plane, folder) as (relay, kubeconfig),
        operator(plane, log, kubeconfig=kubeconfig),
    ):
        asyncio.run(handing_over(plane, relay, found, owners))
    told = [line for line in log.read_text().splitlines() if "watch_trouble" in line]
    found.troubles = len(told)
    say("\n".join(told[:TOLD]))


def report(found: Result) -> str:
    lines = [
        f"{found.scale}; filled in {found.filled_s:.0f} s",
        f"plain list          {found.list_s:8.1f} s  {found.list_mb:8.0f} MB",
        f"ready               {found.ready_s:8.1f} s  {found.ready_cpu_s:8.1f} s of CPU",
    ]
    for name, memory in found.memory.items():
        lines.append(f"{name:<20}{memory['now']:8.0f} MB now {memory['peak']:8.0f} MB at most")
    for name, spent in found.rest.items():
        used = ", ".join(f"{who} {100 * cores:.2f} %" for who, cores in spent.cores.items())
        lines.append(f"at rest, {name}: {used} of a core; strangers {spent.others_cores:.1f} cores")
    for name, waits in found.waits.items():
        p50, p99 = (percentile(waits, part) * 1000 for part in (0.5, 0.99))
        lines.append(f"{name:<20} p50 {p50:8.0f} ms  p99 {p99:8.0f} ms  of {len(waits)}")
    trouble = f"watches had {found.troubles} errors"
    lines.append(f"owners lost: {found.lost}; {trouble}; load {os.getloadavg()[0]:.1f}")
    return "\n".join(lines)


def page_rows(found: Result) -> Iterator[Row]:
    """What the page shows of it."""
    scale = found.scale
    listed = "plain list"
    yield Row("operator start", found.ready_s, "s", listed, found.list_s, Aim(30.0), scale)
    memory = {name: each["now"] for name, each in found.memory.items()}
    peer = memory.get(SCHEDULER)
    yield Row("operator memory", memory["operator"], "MB", SCHEDULER, peer, Aim(400.0), scale)
    for name, spent in found.rest.items():
        cores = {who: 100 * used for who, used in spent.cores.items()}
        what = f"operator at rest, {name}"
        yield Row(what, cores["operator"], "%", SCHEDULER, cores.get(SCHEDULER), Aim(5.0), scale)
    for when in (QUIET, LISTING):
        if waits := found.waits.get(f"owner {when}"):
            plain = 1000 * percentile(found.waits[f"plain {when}"], 0.5)
            told = f"handover p50, {when}"
            aim = Aim(2.0, of=RATIO)
            yield Row(told, 1000 * percentile(waits, 0.5), "ms", "plain pod", plain, aim, scale)


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=5000)
    parser.add_argument("--pods", type=int, default=50_000)
    parser.add_argument("--seconds", type=float, default=60.0, help="of each look at rest")
    parser.add_argument("--owners", type=int, default=100, help="0: no handovers")
    parser.add_argument("--profile", type=Path, help="run the operator under cProfile (slower)")
    rows.add_option(parser)
    options = parser.parse_args()
    found = Result(options.nodes, options.pods)
    with (
        tempfile.TemporaryDirectory() as scratch,
        ControlPlane.start(controller_manager=False) as plane,
    ):
        install(plane, known_kinds())
        say("filling …")
        found.filled_s = fill(plane, options.nodes, options.pods)
        say(f"filled in {found.filled_s:.0f} s; listing …")
        found.list_s, found.list_mb = plain_list(plane)
        say(f"listed in {found.list_s:.1f} s; starting …")
        with started(plane, Path(scratch), options.profile, found) as process:
            say(f"ready in {found.ready_s:.1f} s …")
            asyncio.run(at_rest(plane, process, found, options.seconds))
            found.memory["operator"]["peak"] = memory_mb(process.pid)["peak"]
        if options.owners:
            hand_over(plane, Path(scratch), found, options.owners)
    print(report(found))
    rows.write(options.rows, page_rows(found))


if __name__ == "__main__":
    main()
