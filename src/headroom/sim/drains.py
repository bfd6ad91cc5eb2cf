"""Drain a node as `kubectl drain --ignore-daemonsets --force` does.

The node is cordoned, and every pod except those of DaemonSets is evicted. A pod that a budget
protects is retried every few seconds, without a time limit. Like kubectl, it does not notice pods
that are created later.
"""

from __future__ import annotations

import asyncio
from functools import partial

from headroom.sim.actor_context import ActorContext
from headroom.sim.api.values import Json, Ref, controller_of, ref_of, uid_of
from headroom.sim.errors import ApiError

_ASK_AGAIN = 5.0
_REFUSED_FOR_NOW = 429


class Drains:
    """Drains nodes."""

    def __init__(self, stage: ActorContext) -> None:
        self._stage = stage
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def start(self, node: str) -> None:
        """Cordon a node and start to evict its pods; an unknown node is an `ApiError`."""
        server = self._stage.server
        server.merge_patch(Ref("Node", "", node), {"spec": {"unschedulable": True}})
        for pod in self._stage.pods.on_node(node):
            if (controller_of(pod) or {}).get("kind") != "DaemonSet":
                uid = uid_of(pod)
                task = self._stage.loop.create_task(self._evict(pod))
                self._tasks[uid] = task
                task.add_done_callback(partial(self._ended, uid))

    def _ended(self, uid: str, _: asyncio.Task[None]) -> None:
        del self._tasks[uid]

    async def _evict(self, pod: Json) -> None:
        while True:
            try:
                self._stage.server.evict(ref_of(pod), uid=uid_of(pod))
                return
            except ApiError as error:
                if error.code != _REFUSED_FOR_NOW:
                    return  # It was deleted, or it cannot be evicted.
            await asyncio.sleep(_ASK_AGAIN)
