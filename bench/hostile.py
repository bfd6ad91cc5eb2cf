"""The hostile tenant of the soak, and the record of what happened."""

from __future__ import annotations

import asyncio
import itertools
import json
import random
import time
from dataclasses import dataclass, field

from bench.lab import JSON_TYPE, Json, Lab, hold
from bench.lab import pod as plain_pod
from headroom.wire.kinds import HEADROOMS, HOLDS, PODS, Resource

HONEST = "default"
HOSTILE = "mallory"
PARENT = "headroom.dev/parent"
CLAIMED = "headroom.dev/claimed"
KEPT = 20  # holds of the honest tenant that nobody claims, and as many slots
MOST_HOSTILE = 60  # objects of the hostile tenant at a time


@dataclass
class Ledger:
    """What was observed during the soak."""

    began: float
    memory: list[tuple[float, float]] = field(default_factory=list)  # minute, MiB
    handovers: list[tuple[float, float]] = field(default_factory=list)  # minute, seconds
    lost: list[str] = field(default_factory=list)
    hostile: int = 0
    refused: int = 0
    restarts: list[float] = field(default_factory=list)  # minutes

    @property
    def minute(self) -> float:
        return (time.perf_counter() - self.began) / 60


def headroom(name: str, replicas: int, namespace: str, cpu: str) -> Json:
    return {
        "apiVersion": "headroom.dev/v1alpha1",
        "kind": "Headroom",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "slot": {"template": {"resources": {"requests": {"cpu": cpu}}}},
            "size": {"replicas": replicas},
            "owners": [{"labelSelector": {"matchLabels": {"app": f"never-{name}"}}}],
        },
    }


class Hostile:
    """A tenant with few permissions and bad intentions."""

    def __init__(self, here: Lab, seen: Ledger, seed: int) -> None:
        self._here = here
        self._seen = seen
        self._random = random.Random(seed)
        self._numbers = itertools.count()
        self._made: list[str] = []

    async def attack(self, pause: float) -> None:
        while True:
            await asyncio.sleep(pause * self._random.uniform(0.5, 1.5))
            if len(self._made) >= MOST_HOSTILE or self._random.random() < 0.3:
                for _ in range(min(len(self._made), self._random.choice((1, 3, 10)))):
                    await delete(
                        self._here, self._made.pop(self._random.randrange(len(self._made)))
                    )
            for _ in range(self._random.choice((1, 1, 2, 8))):
                await self._make()

    async def _make(self) -> None:
        name = f"m-{next(self._numbers)}"
        kind, body = self._random.choice(
            (self._greedy, self._refused, self._forged, self._stuck, self._absurd)
        )(name)
        body["metadata"]["namespace"] = HOSTILE
        answer = await self._here.client.send(
            "POST", kind.path(HOSTILE), json.dumps(body).encode(), JSON_TYPE, repeatable=False
        )
        self._seen.hostile += 1
        if answer.ok:
            self._made.append(kind.path(HOSTILE, name))
        else:
            self._seen.refused += 1

    def _greedy(self, name: str) -> tuple[Resource, Json]:
        return HEADROOMS, headroom(name, self._random.choice((3, 100, 100_000)), HOSTILE, "10m")

    def _refused(self, name: str) -> tuple[Resource, Json]:
        cpu = self._random.choice(("10m", f"{self._random.randint(1, 9999)}m", "5000"))
        return HOLDS, hold(name, cpu, {"app": self._random.choice(("web", name))})

    def _forged(self, name: str) -> tuple[Resource, Json]:
        made = plain_pod(name, "10m", labels={"app": f"nobody-{self._random.randrange(KEPT)}"})
        made["metadata"]["annotations"] = {
            PARENT: f"Hold/{HONEST}/kept-{self._random.randrange(KEPT)}",
            CLAIMED: f"Hold/{HONEST}/kept-{self._random.randrange(KEPT)}",
        }
        return PODS, made

    def _stuck(self, name: str) -> tuple[Resource, Json]:
        spec: Json = {"schedulerName": "headroom-scheduler"}
        if self._random.random() < 0.5:
            spec = {"schedulingGates": [{"name": "headroom.dev/claim"}]}
        return PODS, plain_pod(name, "900", labels={"app": "web"}, **spec)

    def _absurd(self, name: str) -> tuple[Resource, Json]:
        made = plain_pod(name, "1m", labels={"app": "x" * 63}, nodeName="no-such-node")
        asked = made["spec"]["containers"][0]["resources"]["requests"]
        asked["ephemeral-storage"] = "9000000000000000000"
        made["metadata"]["annotations"] = {"headroom.dev/claimed-slot": "9" * 5000}
        return PODS, made


async def delete(here: Lab, path: str) -> None:
    body = json.dumps({"gracePeriodSeconds": 0}).encode()
    await here.client.send("DELETE", path, body, JSON_TYPE, repeatable=True)
