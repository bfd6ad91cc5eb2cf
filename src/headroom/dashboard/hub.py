"""One snapshot of the cluster for all open pages: built at most once a second, and only on demand.

Pages call `current`; the first call in a second builds the snapshot, and the others share it.
Snapshots that differ get a number, and the last few are kept, so that a page that reconnects gets a
difference. An error while a snapshot is built is reported and affects nothing else: the last good
snapshot stays.
"""

from __future__ import annotations

import asyncio
import secrets
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Protocol

import msgspec

from headroom.dashboard.document import FORMAT, Document, VisibleScope, difference, visible

PACE_S = 1.0
KEPT = 16
MOST_ENCODED = 64
MOST_BYTES = 32 * 2**20  # of all encoded data that is kept


def contained(work: Callable[[], None], trouble: Callable[[Exception], None]) -> None:
    """Run code for a page; an error is reported and affects nothing else."""
    try:
        work()
    except Exception as error:  # An error of a page must not end the operator.
        trouble(error)


class NoSnapshot(Exception):
    """No snapshot could be built yet; the reason was reported."""


class PictureFeed(Protocol):
    """The source of snapshots: an operator, a simulation or a file."""

    async def sections(self) -> Document:
        """The current data, without format and revision."""
        ...

    async def pods_on(self, node: str) -> list[dict[str, Any]] | None:
        """The pods of a node; None if the node does not exist."""
        ...

    async def find_pods(self, text: str, scope: VisibleScope) -> dict[str, Any]:
        """Pods with a text in their `namespace/name`, as far as the user may see them."""
        ...

    async def explain(self, reference: str, scope: VisibleScope) -> dict[str, Any] | None:
        """The output of `headroom explain` for `Kind/namespace/name`; None if it does not exist."""
        ...


class Hub:
    """Numbers the snapshots of a feed and encodes what is sent to pages."""

    def __init__(
        self, feed: PictureFeed, trouble: Callable[[Exception], None], pace: float = PACE_S
    ) -> None:
        self.feed = feed
        self.pace = pace
        self.epoch = secrets.token_hex(4)
        self.made = 0  # snapshots so far, also those that no page needed
        self._trouble = trouble
        self._lock = asyncio.Lock()
        self._newest: Document = {}
        self._made_at: float | None = None
        self._kept: OrderedDict[int, Document] = OrderedDict()
        self._encoded: OrderedDict[tuple[int, int, VisibleScope], bytes] = OrderedDict()
        self._bytes = 0

    async def current(self) -> Document:
        """The newest snapshot, at most `pace` seconds old; the last good one after an error."""
        async with self._lock:
            now = asyncio.get_running_loop().time()
            if self._made_at is None or now - self._made_at >= self.pace:
                await self._renew()
                self._made_at = asyncio.get_running_loop().time()
            return self._newest

    async def _renew(self) -> None:
        try:
            sections = await self.feed.sections()
        except Exception as trouble:  # An error of a page must not end the operator.
            self._trouble(trouble)
            if not self._newest:
                raise NoSnapshot from trouble
            return
        self.made += 1
        revision = self._newest.get("revision", 0) + 1
        found: Document = {"format": FORMAT, "hidden": [], **sections, "revision": revision}
        if self._newest and difference(self._newest, found) is None:
            self._newest = {**self._newest, "at": found["at"]}
            return
        self._newest = found
        self._kept[revision] = found
        while len(self._kept) > KEPT:
            self._kept.popitem(last=False)

    def past(self, event_id: str) -> Document | None:
        """The snapshot that a page says it has; None if it was dropped or is from another hub."""
        epoch, _, number = event_id.partition(".")
        if epoch != self.epoch or not number.isdecimal() or len(number) > 18:
            return None
        return self._kept.get(int(number))

    def id_of(self, document: Document) -> str:
        return f"{self.epoch}.{document['revision']}"

    def snapshot(self, document: Document, scope: VisibleScope) -> bytes:
        """A whole snapshot as JSON, as far as the user may see it."""
        return self._remembered(
            (0, document["revision"], scope),
            lambda: msgspec.json.encode({**visible(document, scope), "id": self.id_of(document)}),
        )

    def change(self, old: Document, new: Document, scope: VisibleScope) -> bytes:
        """A difference as JSON; empty if the user would see none."""

        def encoded() -> bytes:
            found = difference(visible(old, scope), visible(new, scope))
            return msgspec.json.encode(found) if found is not None else b""

        return self._remembered((old["revision"], new["revision"], scope), encoded)

    def _remembered(self, key: tuple[int, int, VisibleScope], make: Callable[[], bytes]) -> bytes:
        found = self._encoded.get(key)
        if found is None:
            found = self._encoded[key] = make()
            self._bytes += len(found)
            while len(self._encoded) > MOST_ENCODED or (
                self._bytes > MOST_BYTES and len(self._encoded) > 1
            ):
                self._bytes -= len(self._encoded.popitem(last=False)[1])
        return found
