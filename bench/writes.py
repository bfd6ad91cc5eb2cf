"""What one write costs: CPU of every component for each kind of request that a handover makes.

Pods, latches, nominations, bindings, statuses of a Hold and events, so many of each, one kind after
the other on fake nodes; one watcher follows the pods as the operator does. What the components take
when nothing happens is measured first and taken off. Beside them stands a plain pod, placed by
kube-scheduler. From these a bound follows: how fast owners could come at best, if the operator
itself took no time at all.

    python -m bench.writes [--count 500] [--nodes 100]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import time
from collections.abc import Iterable
from dataclasses import dataclass, field

from bench.lab import NAMESPACE, Json, Lab, cluster, cpu_seconds, cpu_table, hold, lab, pod
from headroom.wire.kinds import EVENTS, HOLDS, PODS
from testbed.controlplane import ControlPlane

AT_ONCE = 16
GROUP = 10  # guardians of one node that go together
QUIET_S = 1.0
JSON_TYPE, MERGE = "application/json", "application/merge-patch+json"
POD_PATH, HOLD_PATH = PODS.path(NAMESPACE), HOLDS.path(NAMESPACE)

HANDOVER = ("make an owner", "bind it", "nominate a latch", "delete a guardian")
"""What a handover with a latch that serves again cannot do without; its status comes later."""

PLAIN = "a plain pod, from its creation until it runs"


@dataclass
class Request:
    method: str
    path: str
    body: Json
    content_type: str = JSON_TYPE


@dataclass
class Scale:
    """Weighs kinds of requests: CPU milliseconds for each, by component."""

    here: Lab
    pids: dict[str, int]
    idle: dict[str, float] = field(default_factory=dict)  # CPU seconds in a second of rest
    found: dict[str, dict[str, float]] = field(default_factory=dict)

    async def rest(self, seconds: float = 5.0) -> None:
        before = cpu_seconds(self.pids)
        await asyncio.sleep(seconds)
        after = cpu_seconds(self.pids)
        self.idle = {name: (after[name] - before[name]) / seconds for name in before}

    async def weigh(self, what: str, requests: Iterable[Request], each: int = 1) -> None:
        await asyncio.sleep(QUIET_S)
        waiting = list(requests)
        count, before, began = len(waiting) * each, cpu_seconds(self.pids), time.perf_counter()

        async def worker() -> None:
            while waiting:
                await self._send(waiting.pop())

        await asyncio.gather(*(worker() for _ in range(AT_ONCE)))
        await asyncio.sleep(QUIET_S)  # What others do with it belongs to it.
        self._note(what, count, before, time.perf_counter() - began)

    async def _send(self, request: Request) -> None:
        body = json.dumps(request.body).encode()
        answer = await self.here.client.send(
            request.method, request.path, body, request.content_type, repeatable=False
        )
        if answer.status >= 300:
            raise RuntimeError(f"{request.method} {request.path}: {answer.status} {answer.body!r}")

    async def weigh_groups(self, names: list[str], place: dict[str, str]) -> None:
        """What the end of a guardian costs where one request ends those of a whole group."""
        groups = [names[first : first + GROUP] for first in range(0, len(names), GROUP)]
        for number, group in enumerate(groups):
            bodies = (
                pod(name, "500m", schedulerName="somebody-else", labels={"group": str(number)})
                for name in group
            )
            await self.here.create_all(POD_PATH, bodies, AT_ONCE)
            await asyncio.gather(*(self._send(_bind(name, place[name])) for name in group))
        await self.weigh(
            f"delete {GROUP} guardians in one request, each",
            (_delete_group(number) for number in range(len(groups))),
            each=GROUP,
        )

    async def weigh_plain(self, names: list[str]) -> None:
        """What a pod costs that kube-scheduler places, with all that it does for it."""

        def all_run() -> bool:
            return all(name in self.here.running_at for name in names)

        began, before = time.perf_counter(), cpu_seconds(self.pids)
        await self.here.create_all(POD_PATH, (pod(name, "10m") for name in names), AT_ONCE)
        await self.here.until("all run", all_run, 120)
        await asyncio.sleep(QUIET_S)
        self._note(PLAIN, len(names), before, time.perf_counter() - began)

    def _note(self, what: str, count: int, before: dict[str, float], took: float) -> None:
        after = cpu_seconds(self.pids)
        self.found[what] = {
            name: max(0.0, after[name] - before[name] - self.idle[name] * took) * 1000 / count
            for name in before
        }

    def together(self, kinds: Iterable[str]) -> float:
        return sum(sum(self.found[kind].values()) for kind in kinds)


async def weigh_all(scale: Scale, names: list[str], nodes: list[str]) -> None:
    """One kind after the other; later ones need what earlier ones made."""
    latches = [f"latch-{name}" for name in names]
    gate = {"schedulingGates": [{"name": "headroom.dev/latch"}]}
    place = {name: nodes[number % len(nodes)] for number, name in enumerate(names)}
    await scale.rest()
    await scale.weigh(
        "make a latch", (Request("POST", POD_PATH, pod(name, "500m", **gate)) for name in latches)
    )
    await scale.weigh(
        "nominate a latch",
        (
            Request(
                "PATCH",
                f"{POD_PATH}/{name}/status",
                {"status": {"nominatedNodeName": nodes[0]}},
                MERGE,
            )
            for name in latches
        ),
    )
    await scale.weigh("delete a latch", map(_delete, latches))
    await scale.weigh(
        "make an owner",
        (
            Request("POST", POD_PATH, pod(name, "500m", schedulerName="somebody-else"))
            for name in names
        ),
    )
    await scale.weigh("bind it", (_bind(name, place[name]) for name in names))
    await scale.weigh("delete a guardian", map(_delete, names))  # A bound pod like any other.
    await scale.weigh_groups(names, place)
    await scale.weigh(
        "make a Hold",
        (Request("POST", HOLD_PATH, hold(name, "500m", {"app": "x"})) for name in names),
    )
    await scale.weigh(
        "tell a Hold's status",
        (Request("PATCH", f"{HOLD_PATH}/{name}/status", _used_up(name), MERGE) for name in names),
    )
    await scale.weigh(
        "tell an event", (Request("POST", EVENTS.path(NAMESPACE), _event(name)) for name in names)
    )


def _delete(name: str) -> Request:
    return Request("DELETE", f"{POD_PATH}/{name}", {"gracePeriodSeconds": 0})


def _delete_group(number: int) -> Request:
    return Request(
        "DELETE", f"{POD_PATH}?labelSelector=group%3D{number}", {"gracePeriodSeconds": 0}
    )


def _bind(name: str, node: str) -> Request:
    target = {"kind": "Node", "name": node}
    body = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": name}, "target": target}
    return Request("POST", f"{POD_PATH}/{name}/binding", body)


def _used_up(name: str) -> Json:
    owner = {"namespace": NAMESPACE, "name": name, "uid": name}
    return {"status": {"phase": "Succeeded", "nodeName": "fake-0", "currentOwners": [owner]}}


def _event(name: str) -> Json:
    about = {"kind": "Pod", "namespace": NAMESPACE, "name": name}
    words = {"reason": "Claimed", "message": "got the room of a hold", "type": "Normal"}
    return {"metadata": {"name": f"told-{name}"}, "involvedObject": about, **words}


async def run(plane: ControlPlane, count: int) -> Scale:
    nodes = [item["metadata"]["name"] for item in plane.api.items("/api/v1/nodes")]
    pids = {name: plane.pid(name) for name in plane.component_names}
    async with lab(plane) as here:
        scale = Scale(here, {name: pid for name, pid in pids.items() if pid})
        await weigh_all(scale, [f"pod-{number}" for number in range(count)], nodes)
        await scale.weigh_plain([f"plain-{number}" for number in range(count)])
    return scale


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--nodes", type=int, default=100)
    options = parser.parse_args()
    with cluster(options.nodes, 32) as plane:
        scale = asyncio.run(run(plane, options.count))
    print(cpu_table(scale.found, "CPU ms per write"))
    plain, handover = scale.together((PLAIN,)), scale.together(HANDOVER)
    print(f"a plain pod: {plain:.1f} ms; the writes of a handover on its way: {handover:.1f} ms")
    print(f"so with an operator that costs nothing: {plain / handover:.2f} times the rate at best")


if __name__ == "__main__":
    main()
