"""An informer: watches one kind through lost connections, restarts and compaction.

    list ──▶ follow ──stream ended──▶ follow from the last version
     ▲          │ 410 Gone, or refused again and again
     └──────────┘ the new list is reported as a difference (see `list_diff`)

The first list is streamed (the first part of a watch) if the server supports it. During a streamed
list, an API server sends changes only after the list. So a new list is read in pages, and the watch
begins at the version of its first page, beside the other pages: an owner that arrives meanwhile
does not wait for the list. Bookmarks arrive about once a minute, so a longer silence means that the
connection is dead. Errors are reported and retried with a jittered, bounded backoff. `informer_set`
runs one informer for each kind and merges their events.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Iterable
from contextlib import aclosing

from msgspec import Raw

from headroom.core.objects import Key
from headroom.kube import errors
from headroom.kube.client import Client
from headroom.kube.lines import LineSplitter
from headroom.kube.list_diff import KnownObjects, key_of
from headroom.kube.watch_scope import (
    Listener,
    ListPages,
    Trouble,
    WatchHealth,
    WatchScope,
    WatchTuning,
    unreadable,
)
from headroom.ports import Event, Thing
from headroom.wire.decode import (
    DecodeThing,
    RawPage,
    WatchEvent,
    decode_deletion,
    decode_item,
    decode_thing,
    decode_watch,
    listed_identity,
)
from headroom.wire.errors import DecodeError
from headroom.wire.objects.reader import Identity, identity_of

AT_ONCE = 100  # objects of a page that are decoded before other tasks run: some milliseconds
CANNOT_STREAM = (400, 405, 422, 501)  # refusals of the parameter that requests a streamed list


class _NotStreamed(errors.RequestRefused):
    """The server cannot stream a list; read pages instead."""


class _BrokenOff(errors.RequestRefused):
    """An error within a stream."""


class Informer:
    """Watches one kind until cancelled, its client is closed, or the first list is refused."""

    def __init__(
        self,
        client: Client,
        scope: WatchScope,
        listener: Listener,
        tuning: WatchTuning | None = None,
        decode: DecodeThing = decode_thing,
        pulse: WatchHealth | None = None,
    ) -> None:
        self.pulse = pulse or WatchHealth(time.monotonic)
        self.hidden = ""  # why this kind cannot be listed, if that is allowed
        self.lists = 0
        self.lines = 0
        self._client = client
        self._scope = scope
        self._listener = listener
        self._tuning = tuning or WatchTuning()
        self._read = decode
        self._known = KnownObjects()
        self._telling = asyncio.Lock()  # Events are sent in the order of `_known`.
        self._pages: asyncio.Task[None] | None = None  # read beside the watch
        self._version = ""
        self._can_stream = True
        self._broken_streams = 0  # streamed lists that broke off, one after the other
        self._in_streamed_list = False
        self._listed = False  # whether any list was read to its end
        self._synced = False
        self._failures = 0
        self._random = random.Random()

    def keys(self) -> frozenset[Key]:
        """The known objects, as far as they were reported."""
        return self._known.keys()

    def start_from(self, version: str, things: Iterable[Thing]) -> None:
        """Watch from a list that was read already, instead of reading one."""
        for thing in things:
            self._known.update(thing)
        self._version, self._listed = version, True

    async def run(self) -> None:
        """List, watch, and recover from errors, until cancelled."""
        try:
            while True:
                try:
                    if not self._version and not self._streams_list:
                        await self._list_pages()
                    if self._pages is None:
                        await self._follow()
                    else:
                        await self._follow_beside_pages(self._pages)
                except errors.KubeError as error:
                    await self._recover(error)
        finally:
            await self._drop_pages()

    @property
    def _streams_list(self) -> bool:
        """Whether the next list is streamed: only the first one, before any pod is served."""
        willing = self._broken_streams < self._tuning.attempts_to_stream
        return self._can_stream and willing and not self._listed

    async def _follow_beside_pages(self, pages: asyncio.Task[None]) -> None:
        """Read one stream to its end, or until the pages beside it cannot be read."""
        follow = asyncio.create_task(self._follow())
        try:
            await asyncio.wait({follow, pages}, return_when=asyncio.FIRST_COMPLETED)
            if not pages.done():
                return await follow
            self._pages = None
            if pages.exception() is None:
                return await follow
        finally:
            follow.cancel()
            await asyncio.gather(follow, return_exceptions=True)
        self._version = ""
        return pages.result()

    async def _follow(self) -> None:
        """Read one stream to its end: from the last version, or a whole list and what follows."""
        heard = 0
        async with self._client.stream(
            self._watch_path(), f"watch {self._scope.resource}", self._tuning.quiet_seconds
        ) as chunks:
            self.pulse.heard()
            lines = LineSplitter()
            async for chunk in chunks:
                complete = lines.feed(chunk)
                if complete:
                    heard += len(complete)
                    if self._pages is None:  # The usual case: nobody else reports anything.
                        await self._hear(complete)
                    else:
                        async with self._telling:
                            await self._hear(complete)
                    self.pulse.heard()
                    if not self._known.listing:
                        self._failures = 0
        if not heard:  # An empty stream must not become a busy loop.
            raise errors.CannotReach(f"the watch of {self._scope.resource} ended before it began")
        if self._in_streamed_list:
            raise errors.Silence(f"the list of {self._scope.resource} ended before it was complete")

    def _watch_path(self) -> str:
        query = {
            "watch": "true",
            "allowWatchBookmarks": "true",
            "timeoutSeconds": str(self._random.randint(*self._tuning.renew_seconds)),
        }
        self._in_streamed_list = not self._version
        if self._version:
            query["resourceVersion"] = self._version
        else:
            query["sendInitialEvents"] = "true"
            query["resourceVersionMatch"] = "NotOlderThan"
            self._known.begin()
            self.lists += 1
        return self._scope.path(**query)

    async def _hear(self, lines: list[bytes]) -> None:
        """Report some lines in one batch, or in two if a list ends among them."""
        batch: list[Event] = []
        broken: errors.KubeError | None = None
        self.lines += len(lines)
        try:
            for line in lines:
                event = self._decode(line)
                if event is not None and self._take(event, batch):
                    await self._list_is_complete(batch)
                    batch = []
        except errors.KubeError as error:
            broken = error
        if batch:  # Also the lines before the error.
            await self._listener.tell(batch)
        if broken is not None:
            raise broken

    def _decode(self, line: bytes) -> WatchEvent | None:
        if self._in_streamed_list and len(self._known) and self._is_known(listed_identity(line)):
            return None
        gone = decode_deletion(line)
        if gone is not None and gone.key is not None and self._known.has(gone.key):
            return gone
        try:
            return decode_watch(self._scope.resource, line, self._read)
        except DecodeError as error:
            self._listener.trouble(Trouble(self._scope.resource, str(error)))
            return None

    def _is_known(self, found: Identity) -> bool:
        """Whether a list repeats a reported object: most of tens of thousands do."""
        key = Key(found.namespace, found.name)
        if not found.version or not self._known.has_version(key, found.uid, found.version):
            return False
        self._known.mark_listed(key)
        return True

    def _take(self, event: WatchEvent, batch: list[Event]) -> bool:
        """Process one event; return whether it ends a list."""
        match event.type:
            case "ADDED" | "MODIFIED" if event.thing is not None:
                batch += self._known.update(event.thing)
            case "DELETED":
                key = key_of(event.thing) if event.thing is not None else event.key
                batch += self._known.remove(key) if key is not None else ()
            case "BOOKMARK":
                return self._bookmark(event, batch)
            case "ERROR":
                raise self._stream_error(event)
            case _ if event.key is not None:
                self._known.mark_listed(event.key)
        if event.problem is not None:
            self._listener.trouble(unreadable(self._scope.resource, event.problem))
        if event.version and not self._in_streamed_list:
            self._version = event.version
        return False

    def _bookmark(self, event: WatchEvent, batch: list[Event]) -> bool:
        if self._in_streamed_list and not event.initial_end:
            # The server treated our list as a plain watch: it does not support streamed lists.
            raise self._no_streamed_lists("it sends no mark at the end of the list")
        if event.version:
            self._version = event.version
        if not self._in_streamed_list:
            return False
        self._in_streamed_list = False
        batch += self._known.finish()
        return True

    def _stream_error(self, event: WatchEvent) -> errors.RequestRefused:
        what = f"watch {self._scope.resource}"
        if event.code == 410:
            return errors.Expired(410, f"cannot {what}: {event.message}")
        if self._in_streamed_list and event.code in CANNOT_STREAM:
            return self._no_streamed_lists(event.message)
        return _BrokenOff(event.code, f"cannot {what}: HTTP {event.code}: {event.message}")

    def _no_streamed_lists(self, reason: str) -> errors.RequestRefused:
        return _NotStreamed(501, f"cannot stream the list of {self._scope.resource}: {reason}")

    async def _list_pages(self) -> None:
        """Read a list in pages; the watch begins at the version of the first, beside the others."""
        await self._drop_pages()
        self._broken_streams = 0
        self._in_streamed_list = False
        pages = ListPages(self._client, self._scope, self._tuning.page_size)
        self._known.begin()
        if self._listed and self._scope.first_fields:
            async for page in pages.read(fields=self._scope.first_fields):
                await self._take_page(page)
            self._known.begin()  # Only what the list itself shows exists.
        self.lists += 1
        async with aclosing(pages.read()) as first:
            page = await anext(first)
        await self._take_page(page)
        if page.continue_token:
            self._pages = asyncio.create_task(self._read_on(pages, page.continue_token))
        else:
            await self._end_of_pages()
        self._version = page.version

    async def _read_on(self, pages: ListPages, token: str) -> None:
        async with aclosing(pages.read(token)) as others:
            async for page in others:
                await self._take_page(page)
        await self._end_of_pages()

    async def _take_page(self, page: RawPage) -> None:
        """Report what is new on a page, some objects at a time, so that other tasks can run."""
        self.pulse.heard()
        for start in range(0, len(page.items), AT_ONCE):
            async with self._telling:
                batch = [
                    event
                    for raw in page.items[start : start + AT_ONCE]
                    for event in self._take_item(raw)
                ]
                if batch:
                    await self._listener.tell(batch)
            await asyncio.sleep(0)

    def _take_item(self, raw: Raw) -> list[Event]:
        found = identity_of(raw)
        if self._known.is_outdated(Key(found.namespace, found.name)) or self._is_known(found):
            return []
        thing = decode_item(self._scope.resource, raw, self._read)
        if not isinstance(thing, DecodeError):
            return self._known.update(thing)
        self._known.mark_listed(Key(found.namespace, found.name))
        self._listener.trouble(unreadable(self._scope.resource, thing))
        return []

    async def _end_of_pages(self) -> None:
        async with self._telling:
            await self._list_is_complete(self._known.finish())

    async def _drop_pages(self) -> None:
        if self._pages is not None:
            self._pages.cancel()
            await asyncio.gather(self._pages, return_exceptions=True)
            self._pages = None

    async def _list_is_complete(self, batch: list[Event]) -> None:
        """Report the end of a list; after the first list, that everything was reported."""
        self._listed = True
        self._broken_streams = 0
        if batch:
            await self._listener.tell(batch)
        if self.hidden:
            self.hidden = ""
            if self._listener.shown is not None:
                await self._listener.shown()
        await self._hide()

    async def _hide(self) -> None:
        """Stop other code from waiting for a list."""
        if not self._synced:
            self._synced = True
            await self._listener.synced()

    async def _recover(self, error: errors.KubeError) -> None:
        """Decide how to continue after an error, report it, and wait."""
        if self._client.closed:
            raise errors.Closed("the client was closed") from error
        self.pulse.tried()
        self._failures += 1
        match error:
            case errors.Expired():
                self._version = ""
                if self._failures == 1:
                    return
            case errors.RequestRefused(status=status) if (
                self._in_streamed_list and status in CANNOT_STREAM
            ):
                self._can_stream = False
                return
            case errors.RequestForbidden() if self._must_give_up and self._scope.may_be_hidden:
                self.hidden = str(error)
                await self._hide()
            case errors.Unauthorized() | errors.RequestForbidden() | errors.ConfigError() if (
                self._must_give_up
            ):
                raise error
            case errors.NoSuchKind() if self._scope.must_exist and not self._synced:
                raise error
            case errors.RequestRefused() if self._failures >= self._tuning.attempts_to_resume:
                self._version = ""
            case _:
                pass
        if self._in_streamed_list and isinstance(error, errors.Silence | _BrokenOff):
            self._broken_streams += 1  # Perhaps a list in pages succeeds.
        pause = self._backoff(error)
        self._listener.trouble(Trouble(self._scope.resource, str(error), pause))
        await asyncio.sleep(pause)

    @property
    def _must_give_up(self) -> bool:
        return not self._synced and self._failures >= self._tuning.attempts_to_start

    def _backoff(self, error: errors.KubeError) -> float:
        exponent = min(self._failures - 1, 16)
        longest: float = min(self._tuning.first_backoff * 2**exponent, self._tuning.longest_backoff)
        asked = error.retry_after if isinstance(error, errors.RequestRefused) else 0.0
        return max(asked, longest * (0.5 + self._random.random() / 2))
