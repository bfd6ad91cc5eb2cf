"""The claim indexes of all namespaces, kept up to date by a watch.

It is smaller than `kube.watch`, which reports changes to the engine: here only the current state
matters, and after an error everything is listed again. This is safe: an index that is not renewed
becomes stale, and then no pod is gated.
"""

from __future__ import annotations

import asyncio
import random
from typing import Any

import msgspec
import structlog
from msgspec import Raw

from headroom.core.claim_gate import ClaimIndex
from headroom.core.names import INDEX_NAME
from headroom.core.waits.backoff import backoff
from headroom.kube.client import Client
from headroom.kube.errors import (
    CannotReach,
    ConfigError,
    Expired,
    KubeError,
    RequestForbidden,
    RequestRefused,
    Unauthorized,
)
from headroom.kube.lines import LineSplitter
from headroom.kube.watch_scope import ListPages, WatchScope, WatchTuning
from headroom.wire.errors import UNREADABLE_JSON, DecodeError
from headroom.wire.kinds import CLAIM_INDEXES
from headroom.wire.objects.claimindexes import decode_index
from headroom.wire.objects.reader import identity_of

SCOPE = WatchScope(CLAIM_INDEXES, fields=f"metadata.name={INDEX_NAME}")
log = structlog.get_logger("headroom.webhook")


TUNING = WatchTuning(page_size=100)  # An index may have as many keys as fit into an object.


class _Line(msgspec.Struct):
    type: str
    object: Raw


class _StreamStatus(msgspec.Struct):
    code: int = 0
    message: str = ""


class ClaimIndexes:
    """The index of each namespace; `run` keeps them up to date."""

    def __init__(self, client: Client, tuning: WatchTuning | None = None) -> None:
        self.synced = asyncio.Event()
        self._client = client
        self._tuning = tuning or TUNING
        self._by_namespace: dict[str, ClaimIndex] = {}
        self._version = ""
        self._failures = 0
        self._random = random.Random()

    def of(self, namespace: str) -> ClaimIndex | None:
        """The index of a namespace, if there is one."""
        return self._by_namespace.get(namespace)

    async def run(self) -> None:
        """List, watch, and start again after errors; raise only errors that a person must fix."""
        while True:
            try:
                if not self._version:
                    await self._list()
                await self._follow()
            except KubeError as error:
                await self._recover(error)

    async def _list(self) -> None:
        found: dict[str, ClaimIndex] = {}
        version = ""
        async for page in ListPages(self._client, SCOPE, self._tuning.page_size).read():
            for item in page.items:
                _take(item, found)
            version = page.version
        self._by_namespace, self._version = found, version
        self.synced.set()

    async def _follow(self) -> None:
        """Read one stream to its end; the next continues from there."""
        path = SCOPE.path(
            watch="true",
            allowWatchBookmarks="true",
            resourceVersion=self._version,
            timeoutSeconds=str(self._random.randint(*self._tuning.renew_seconds)),
        )
        what, heard = f"watch {CLAIM_INDEXES}", 0
        async with self._client.stream(path, what, self._tuning.quiet_seconds) as chunks:
            lines = LineSplitter()
            async for chunk in chunks:
                for line in lines.feed(chunk):
                    self._hear(_decoded(line, _Line, what))
                    heard += 1
                self._failures = 0
        if not heard:  # An empty stream must not become a busy loop.
            raise CannotReach(f"the watch of {CLAIM_INDEXES} ended before it began")

    def _hear(self, line: _Line) -> None:
        match line.type:
            case "ADDED" | "MODIFIED":
                _take(line.object, self._by_namespace)
            case "DELETED":
                self._by_namespace.pop(identity_of(line.object).namespace, None)
            case "ERROR":
                status = _decoded(line.object, _StreamStatus, f"watch {CLAIM_INDEXES}")
                kind = Expired if status.code == 410 else RequestRefused
                raise kind(status.code, f"cannot watch {CLAIM_INDEXES}: {status.message}")
        version = identity_of(line.object).version
        self._version = version or self._version

    async def _recover(self, error: KubeError) -> None:
        """Report the error, wait, and list everything again."""
        if (
            isinstance(error, Unauthorized | RequestForbidden | ConfigError)
            and not self.synced.is_set()
        ):
            raise error
        self._version = ""
        self._failures += 1
        if isinstance(error, Expired) and self._failures == 1:
            return
        tuning = self._tuning
        longest = backoff(tuning.first_backoff, self._failures - 1, tuning.longest_backoff)
        pause = longest * (0.5 + self._random.random() / 2)
        log.warning("index_trouble", problem=str(error), retry_in=round(pause, 2))
        await asyncio.sleep(pause)


def _take(item: Raw, into: dict[str, ClaimIndex]) -> None:
    """Store one index; an unreadable one gates no pods."""
    namespace = identity_of(item).namespace
    try:
        into[namespace] = decode_index(item)
    except DecodeError as error:
        into.pop(namespace, None)
        log.warning("index_unreadable", namespace=namespace, problem=str(error))


def _decoded(text: bytes | Raw, wanted: Any, what: str) -> Any:
    try:
        return msgspec.json.decode(text, type=wanted)
    except UNREADABLE_JSON as error:
        raise RequestRefused(502, f"cannot {what}: {error}") from error
