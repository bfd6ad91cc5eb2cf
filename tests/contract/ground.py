"""What the contract stands on: a Cluster, and a way to change and look at things behind its back.

Each adapter brings a Ground; the suite knows nothing else of it. `Watching` reads the stream beside
a test and waits for what should come.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import aclosing
from typing import Any, Protocol, Self, TypeVar

from headroom.core.holds import Hold
from headroom.core.objects import Key, Pod
from headroom.ports import Cluster, Event, Lost, Seen, Synced
from headroom.wire.kinds import Resource

Json = dict[str, Any]
T = TypeVar("T")


class Ground(Protocol):
    """One cluster under test; `namespace` is the test's own."""

    namespace: str

    @property
    def cluster(self) -> Cluster: ...

    def run(self, story: Coroutine[Any, Any, None]) -> None:
        """Run a test's story to its end, on whatever loop the cluster lives."""
        ...

    async def make(self, resource: Resource, manifest: Json) -> str:
        """Create an object as anybody else would, and return its uid."""
        ...

    async def look(self, resource: Resource, name: str) -> Json | None:
        """Read an object past the cluster under test; None if there is none."""
        ...

    async def remove(self, resource: Resource, name: str) -> None: ...


class Watching:
    """Reads a cluster's stream from when it is entered."""

    def __init__(self, cluster: Cluster) -> None:
        self.events: list[Event] = []
        self._cluster = cluster
        self._news = asyncio.Condition()
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self._read())
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _read(self) -> None:
        stream: Any = self._cluster.watch()
        async with aclosing(stream):
            async for event in stream:
                async with self._news:
                    self.events.append(event)
                    self._news.notify_all()

    async def until(self, find: Callable[[Event], T | None]) -> T:
        """Wait for an event in which something is found, from the first on."""
        position = 0
        async with self._news:
            while True:
                for event in self.events[position:]:
                    found = find(event)
                    if found is not None:
                        return found
                position = len(self.events)
                await self._news.wait()

    async def synced(self) -> None:
        await self.until(lambda event: event if isinstance(event, Synced) else None)

    async def pod(self, key: Key, fits: Callable[[Pod], bool] = lambda _: True) -> Pod:
        """Wait until the pod is told to be there, and such."""

        def find(event: Event) -> Pod | None:
            match event:
                case Seen(Pod() as pod) if pod.key == key and fits(pod):
                    return pod
            return None

        return await self.until(find)

    async def hold(self, key: Key, fits: Callable[[Hold], bool] = lambda _: True) -> Hold:
        """Wait until the hold is told to be there, and such."""

        def find(event: Event) -> Hold | None:
            match event:
                case Seen(Hold() as hold) if hold.key == key and fits(hold):
                    return hold
            return None

        return await self.until(find)

    async def pod_gone(self, key: Key) -> Pod:
        return await self.until(lambda event: lost(event, Pod, key))


def lost(event: Event, kind: type[T], key: Key | None = None) -> T | None:
    """The object of this kind that an event says was deleted."""
    match event:
        case Lost(thing) if isinstance(thing, kind):
            return thing if key is None or getattr(thing, "key", None) == key else None
    return None


def pod_manifest(name: str, **spec: Any) -> Json:
    """A pod that no controller of the ground moves on its own."""
    container = {"name": "main", "image": "none", "resources": {"requests": {"cpu": "100m"}}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name},
        "spec": {"schedulerName": "nobody", "containers": [container], **spec},
    }


def hold_manifest(name: str, **spec: Any) -> Json:
    container = {"name": "main", "resources": {"requests": {"cpu": "500m", "memory": "64Mi"}}}
    return {
        "apiVersion": "headroom.dev/v1alpha1",
        "kind": "Hold",
        "metadata": {"name": name},
        "spec": {
            "template": {"spec": {"containers": [container]}},
            "owners": [{"labelSelector": {"matchLabels": {"app": "web"}}}],
            **spec,
        },
    }


def headroom_manifest(name: str, **spec: Any) -> Json:
    return {
        "apiVersion": "headroom.dev/v1alpha1",
        "kind": "Headroom",
        "metadata": {"name": name},
        "spec": {
            "slot": {"template": {"resources": {"requests": {"cpu": "500m"}}}},
            "size": {"replicas": 2},
            "owners": [{"labelSelector": {"matchLabels": {"app": "web"}}}],
            **spec,
        },
    }


def workload_manifest(name: str, **spec: Any) -> Json:
    labels = {"app": name}
    return {
        "metadata": {"name": name},
        "spec": {
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": pod_manifest(name)["spec"]},
            **spec,
        },
    }


def node_manifest(name: str) -> Json:
    amounts = {"cpu": "4", "memory": "8Gi", "pods": "110"}
    ready = {"type": "Ready", "status": "True"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}},
        "status": {"capacity": amounts, "allocatable": amounts, "conditions": [ready]},
    }
