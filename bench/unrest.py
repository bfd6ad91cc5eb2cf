"""What nodes do all day: report their status at a steady pace, or flap.

`heartbeats` sends the patch that a kubelet sends when nothing changed. `flaps` plans a storm, the
same one for the same seed; `storm` carries it out. Nodes are patched as `bench.field` made them;
one that shall be not ready is kept so against kwok by an annotation.
"""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from bench.lab import Json
from headroom.kube.client import Client
from headroom.wire.kinds import NODES

STRATEGIC = "application/strategic-merge-patch+json"
SLEEPS_ANNOTATION = "testbed.headroom.dev/sleeps"
AT_ONCE = 24
KUBELET_CONDITIONS = ("MemoryPressure", "DiskPressure", "PIDPressure", "Ready")


@dataclass
class Sent:
    """What became of the patches."""

    done: int = 0
    refused: int = 0
    latest_s: float = 0.0  # how far behind its time the latest one was sent


@dataclass(frozen=True, order=True)
class Flap:
    """One node away for a while; times are seconds from the start of the storm."""

    begins: float
    node: str
    kind: str  # "cordon" or "not ready"
    lasts: float


async def heartbeats(client: Client, nodes: Sequence[str], every: float, seconds: float) -> Sent:
    """Patch the status of each node every so many seconds, spread evenly, nothing but times."""
    count = int(len(nodes) * seconds / every)
    pace = every / len(nodes)
    sent, began = Sent(), time.perf_counter()
    numbers = iter(range(count))

    async def worker() -> None:
        for number in numbers:
            late = await _wait_for(began + number * pace)
            sent.latest_s = max(sent.latest_s, late)
            await _patch(client, sent, nodes[number % len(nodes)], heartbeat(), "status")

    await asyncio.gather(*(worker() for _ in range(AT_ONCE)))
    await _wait_for(began + seconds)
    return sent


def heartbeat() -> Json:
    """The status of a kubelet to which nothing happened."""
    now = _timestamp()
    conditions = [{"type": kind, "lastHeartbeatTime": now} for kind in KUBELET_CONDITIONS]
    return {"status": {"conditions": conditions}}


def flaps(nodes: Sequence[str], seconds: float, seed: int = 1) -> list[Flap]:
    """Plan a storm: each node again and again away and back, cordoned or not ready, in time order.

    All are back when the storm ends.
    """
    chance = random.Random(seed)
    planned = []
    for node in nodes:
        at = chance.uniform(0, 5)
        while (lasts := chance.uniform(1, 8)) + at < seconds:
            kind = chance.choice(("cordon", "not ready"))
            planned.append(Flap(round(at, 3), node, kind, round(lasts, 3)))
            at += lasts + chance.uniform(1, 8)
    return sorted(planned)


async def storm(client: Client, planned: Sequence[Flap], seconds: float) -> Sent:
    """Carry the plan out; returns when the storm's time is over and every node is back."""
    sent, began = Sent(), time.perf_counter()
    turns = sorted(
        turn
        for flap in planned
        for turn in (
            (flap.begins, flap.node, flap.kind, True),
            (flap.begins + flap.lasts, flap.node, flap.kind, False),
        )
    )
    # All turns of one node belong to one worker, so that none overtakes another.
    lanes: list[list[tuple[float, str, str, bool]]] = [[] for _ in range(AT_ONCE)]
    lane_of = {node: number % AT_ONCE for number, node in enumerate({t[1]: 0 for t in turns})}
    for turn in turns:
        lanes[lane_of[turn[1]]].append(turn)

    async def worker(lane: list[tuple[float, str, str, bool]]) -> None:
        for at, node, kind, away in lane:
            sent.latest_s = max(sent.latest_s, await _wait_for(began + at))
            if kind == "cordon":
                await _patch(client, sent, node, {"spec": {"unschedulable": away or None}})
            else:
                await _set_ready(client, sent, node, ready=not away)

    await asyncio.gather(*map(worker, lanes))
    await _wait_for(began + seconds)
    return sent


async def _set_ready(client: Client, sent: Sent, node: str, *, ready: bool) -> None:
    """Make a node ready or not; kwok leaves those asleep alone."""
    asleep: Json = {"metadata": {"annotations": {SLEEPS_ANNOTATION: None if ready else "true"}}}
    now = _timestamp()
    condition = {
        "type": "Ready",
        "status": "True" if ready else "False",
        "reason": "KubeletReady" if ready else "KubeletNotReady",
        "lastHeartbeatTime": now,
        "lastTransitionTime": now,
    }
    await _patch(client, sent, node, asleep)
    await _patch(client, sent, node, {"status": {"conditions": [condition]}}, "status")


async def _patch(client: Client, sent: Sent, node: str, body: Json, subresource: str = "") -> None:
    path = NODES.path(name=node, subresource=subresource)
    answer = await client.send("PATCH", path, json.dumps(body).encode(), STRATEGIC, repeatable=True)
    if answer.ok:
        sent.done += 1
    else:
        sent.refused += 1


async def _wait_for(moment: float) -> float:
    """Sleep until then; return by how much it was too late already."""
    left = moment - time.perf_counter()
    if left > 0:
        await asyncio.sleep(left)
    return max(0.0, -left)


def _timestamp() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
