"""The claim indexes of all namespaces, kept up to date by an informer of `kube.watch`.

An index that is not renewed becomes stale, and then no pod is gated; nor is one by an index that
cannot be read.
"""

from __future__ import annotations

import asyncio
from typing import Any

import structlog
from msgspec import Raw

from headroom.core.claim_gate import ClaimIndex
from headroom.core.names import INDEX_NAME
from headroom.core.objects import Key
from headroom.kube.client import Client
from headroom.kube.watch import Informer
from headroom.kube.watch_scope import Listener, Trouble, WatchedObject, WatchScope, WatchTuning
from headroom.ports import Seen
from headroom.wire.errors import DecodeError
from headroom.wire.kinds import CLAIM_INDEXES, Resource
from headroom.wire.objects.claimindexes import decode_index
from headroom.wire.objects.reader import identity_of

SCOPE = WatchScope(CLAIM_INDEXES, fields=f"metadata.name={INDEX_NAME}")
TUNING = WatchTuning(page_size=100)  # An index may have as many keys as fit into an object.
log = structlog.get_logger("headroom.webhook")


class ClaimIndexes:
    """The index of each namespace; `run` keeps them up to date."""

    def __init__(self, client: Client, tuning: WatchTuning = TUNING) -> None:
        self.synced = asyncio.Event()
        self._client = client
        self._tuning = tuning
        self._by_namespace: dict[str, ClaimIndex | None] = {}

    def of(self, namespace: str) -> ClaimIndex | None:
        """The index of a namespace, if there is one."""
        return self._by_namespace.get(namespace)

    async def run(self) -> None:
        """Watch until cancelled; raise only errors that a person must fix."""
        listener = Listener(self._tell, self._listed, _report)
        await Informer(self._client, SCOPE, listener, self._tuning, _decoded).run()

    async def _tell(self, batch: list[Any]) -> None:
        for event in batch:
            found: WatchedObject = event.thing
            if isinstance(event, Seen):
                self._by_namespace[found.key.namespace] = found.content
            else:
                self._by_namespace.pop(found.key.namespace, None)

    async def _listed(self) -> None:
        self.synced.set()


def _report(trouble: Trouble) -> None:
    pause = round(trouble.retry_in, 2) if trouble.retry_in is not None else None
    log.warning("index_trouble", problem=trouble.message, retry_in=pause)


def _decoded(resource: Resource, data: bytes | Raw) -> Any:
    """One index; an unreadable one takes the place of what was known of it."""
    found = identity_of(data)
    index: ClaimIndex | None = None
    try:
        index = decode_index(data)
    except DecodeError as error:
        log.warning("index_unreadable", namespace=found.namespace, problem=str(error))
    return WatchedObject(Key(found.namespace, found.name), found.uid, found.version, index)
