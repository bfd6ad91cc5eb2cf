"""A process that only receives every node of a cluster and every change.

It runs our own watch and decoder, so its CPU time is the cost of receiving before any decision. It
prints `ready` when it has the whole list. `heartbeats` starts it.
"""

from __future__ import annotations

import asyncio
import sys

from headroom.kube.cluster import connect
from headroom.kube.watch_scope import WatchScope
from headroom.ports import Synced
from headroom.wire.kinds import NODES


async def receive(kubeconfig: str) -> None:
    """Receive until killed."""
    cluster = connect(kubeconfig, scopes=(WatchScope(NODES),))
    async for event in cluster.watch():
        if isinstance(event, Synced):
            print("ready", flush=True)


if __name__ == "__main__":
    asyncio.run(receive(sys.argv[1]))
