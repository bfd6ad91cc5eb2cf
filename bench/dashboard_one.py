"""The measured process of `bench.dashboard`: a ledger of any size, its page, and churn.

There is no API server: the benchmark measures what a page costs the operator's loop. Pods are
created and deleted at a steady rate through the engine; a timer records how late the loop is, which
is how long a handover would wait. Each line on standard input is answered with the numbers since
the last one.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import resource
import sys
import time
from dataclasses import replace
from datetime import UTC, datetime

from bench.lab import percentile
from headroom.cli.pages.live import LiveFeed
from headroom.core.headrooms.headrooms import Headroom, HeadroomStatus, Slot
from headroom.core.names import PARENT_ANNOTATION, ROLE_GUARDIAN, ROLE_LABEL
from headroom.core.objects import Key, Node, Parent, Pod
from headroom.core.policy import Policy
from headroom.core.resources import Resources
from headroom.core.sizes.replicas import NOTHING
from headroom.dashboard.access import Local
from headroom.dashboard.hub import Hub
from headroom.dashboard.pages import Pages
from headroom.engine.engine import Engine
from headroom.ports import Seen, Synced
from headroom.runtime.http import Address, Health, HttpServer
from headroom.runtime.metrics import Metrics
from headroom.wire.kind_codecs import NATIVE

GI = 2**30
BEAT_S = 0.005


def now() -> datetime:
    return datetime.now(UTC)


def the_node(number: int) -> Node:
    labels = {
        "kubernetes.io/hostname": f"node-{number:05}",
        "karpenter.sh/nodepool": f"pool-{number % 9}",
        "topology.kubernetes.io/zone": f"zone-{number % 3}",
        "node.kubernetes.io/instance-type": f"m{number % 5}.large",
    }
    room = Resources({"cpu": 16_000, "memory": 64 * GI, "pods": 110})
    return Node(f"node-{number:05}", uid=f"n{number}", labels=labels, allocatable=room)


def the_pod(number: int, nodes: int) -> Pod:
    guardian = number % 10 == 0
    return Pod(
        Key(f"team-{number % 50}", f"pod-{number:06}"),
        uid=f"p{number}",
        labels={ROLE_LABEL: ROLE_GUARDIAN} if guardian else {"app": f"app-{number % 200}"},
        annotations={PARENT_ANNOTATION: "Headroom/team-0/burst"} if guardian else {},
        node="" if number % 100 == 7 else f"node-{number % nodes:05}",
        phase="Pending" if number % 100 == 7 else "Running",
        unschedulable_message="0/5000 nodes are available: 5000 Insufficient cpu.",
        requests=Resources({"cpu": 500, "memory": GI}),
        created=now(),
    )


def filled_engine(nodes: int, pods: int) -> Engine:
    engine = Engine(Policy(namespace="headroom-system"))
    moment = now()
    for number in range(nodes):
        engine.observe(Seen(the_node(number)), moment)
    for number in range(pods):
        engine.observe(Seen(the_pod(number, nodes)), moment)
    for number in range(200):
        parent = Parent("headroom.dev/v1alpha1", "Headroom", f"team-{number % 50}", f"h-{number}")
        status = HeadroomStatus(desired=20, held=20)
        engine.observe(Seen(Headroom(parent, Slot(), NOTHING, status=status)), moment)
    engine.observe(Synced(), moment)
    return engine


class Stopwatch:
    """The delay of the loop, and the resources of the process."""

    def __init__(self, pages: Pages, hub: Hub) -> None:
        self._pages = pages
        self._hub = hub
        self.late: list[float] = []
        self._since = (time.perf_counter(), time.process_time(), 0, 0)

    async def beat(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            due = loop.time() + BEAT_S
            await asyncio.sleep(BEAT_S)
            self.late.append(loop.time() - due)

    def take(self) -> dict[str, float]:
        wall, cpu, sent, made = self._since
        fresh = (time.perf_counter(), time.process_time(), self._pages.sent, self._hub.made)
        self._since = fresh
        seconds = fresh[0] - wall
        late, self.late = self.late, []
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        return {
            "seconds": seconds,
            "late_p50_ms": 1000 * percentile(late, 0.5),
            "late_p99_ms": 1000 * percentile(late, 0.99),
            "late_max_ms": 1000 * max(late, default=0.0),
            "cpu_percent": 100 * (fresh[1] - cpu) / seconds,
            "peak_mib": peak,
            "messages_per_second": (fresh[2] - sent) / seconds,
            "pictures_per_second": (fresh[3] - made) / seconds,
            "streams": self._pages.streams,
        }


async def churn(engine: Engine, feed: LiveFeed, nodes: int, pods: int, rate: float) -> None:
    """Pods that move between nodes, at a steady rate."""
    number = 0
    while True:
        await asyncio.sleep(1 / rate)
        number = (number + 7919) % pods
        moved = replace(the_pod(number, nodes), version=str(number))
        moved = replace(moved, node=f"node-{(number * 31) % nodes:05}", phase="Running")
        event = Seen(moved)
        feed.see(event)
        engine.observe(event, now())


async def serve(options: argparse.Namespace) -> None:
    engine = filled_engine(options.nodes, options.pods)

    def trouble(error: Exception) -> None:
        sys.stderr.write(f"page: {error!r}\n")

    feed = LiveFeed(engine.ledger, now, NATIVE, trouble)
    for pod in engine.ledger.pods.values():
        feed.see(Seen(pod))
    hub = Hub(feed, trouble)
    pages = Pages(hub, Local())
    server = HttpServer(
        Address("127.0.0.1", 0), Health(synced=True), Metrics("0"), mount=pages.mount
    )
    address = await server.start()
    watch = Stopwatch(pages, hub)
    tasks = [
        asyncio.create_task(watch.beat()),
        asyncio.create_task(churn(engine, feed, options.nodes, options.pods, options.rate)),
    ]
    sys.stdout.write(f"http://{address}/\n")
    sys.stdout.flush()
    while await asyncio.to_thread(sys.stdin.readline):
        sys.stdout.write(json.dumps(watch.take()) + "\n")
        sys.stdout.flush()
    for task in tasks:
        task.cancel()
    await server.stop()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=5000)
    parser.add_argument("--pods", type=int, default=50_000)
    parser.add_argument("--rate", type=float, default=100.0)
    asyncio.run(serve(parser.parse_args()))
