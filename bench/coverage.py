"""Which nodes have one of our pods, as a watch shows it, and the minimum over time.

Distinct nodes are counted: ten guardians on one node cover one node. `see` and `lose` process the
events of a watch; `follow` connects them to a real cluster.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from headroom.core.names import ROLE_GUARDIAN, ROLE_LABEL
from headroom.core.objects import Key, Pod
from headroom.kube.client import Client
from headroom.kube.cluster import KubeCluster
from headroom.kube.watch_scope import WatchScope
from headroom.ports import Lost, Seen
from headroom.wire.kinds import PODS


def is_guardian(pod: Pod) -> bool:
    return pod.labels.get(ROLE_LABEL) == ROLE_GUARDIAN


@dataclass
class Coverage:
    """The nodes covered by the pods that `counts` selects."""

    counts: Callable[[Pod], bool] = is_guardian
    on: dict[Key, str] = field(default_factory=dict)  # the node of each pod that covers it now
    pods_on: Counter[str] = field(default_factory=Counter)
    known: set[str] = field(default_factory=set)  # the uid of every pod that ever counted
    born: dict[str, float] = field(default_factory=dict)  # by uid: when each pod was first seen
    homes: dict[str, str] = field(default_factory=dict)  # the node that each of those came to
    bound_at: dict[str, float] = field(default_factory=dict)  # by node: when it was first covered
    lowest: int = 0
    most_on_one: int = 0
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def covered(self) -> int:
        """How many distinct nodes have such a pod, bound and not deleted."""
        return len(self.pods_on)

    def see(self, pod: Pod, now: float) -> None:
        """Process the current state of a pod."""
        if not self.counts(pod):
            return
        if pod.uid not in self.known:
            self.known.add(pod.uid)
            self.born[pod.uid] = now
        if not pod.occupies_node or pod.deleted:
            self.lose(pod.key)
        elif pod.key not in self.on:
            self.on[pod.key] = pod.node
            self.pods_on[pod.node] += 1
            if pod.uid in self.born:
                self.homes[pod.uid] = pod.node
            self.bound_at.setdefault(pod.node, now)
            self.most_on_one = max(self.most_on_one, self.pods_on[pod.node])

    def lose(self, key: Key) -> None:
        """Process that a pod covers nothing any more."""
        node = self.on.pop(key, "")
        if not node:
            return
        self.pods_on[node] -= 1
        if not self.pods_on[node]:
            del self.pods_on[node]
            self.lowest = min(self.lowest, self.covered)

    def begin_anew(self) -> None:
        """Start counting new pods, and the minimum, again."""
        self.born.clear()
        self.homes.clear()
        self.lowest = self.covered
        self.most_on_one = max(self.pods_on.values(), default=0)

    async def follow(self, client: Client) -> None:
        """Watch a cluster without end."""
        async for event in KubeCluster(client, (WatchScope(PODS),)).watch():
            match event:
                case Seen(Pod() as pod):
                    self.see(pod, time.perf_counter())
                case Lost(Pod(key=key)):
                    self.lose(key)
                case _:
                    continue
            self.changed.set()

    async def until_covered(self, nodes: int, seconds: float) -> bool:
        """Wait until this many nodes are covered; return whether that happened in time."""
        deadline = time.perf_counter() + seconds
        while self.covered < nodes:
            left = deadline - time.perf_counter()
            if left <= 0:
                return False
            self.changed.clear()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self.changed.wait(), min(left, 1.0))
        return True
