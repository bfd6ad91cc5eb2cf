"""An informer: watches one kind through lost connections, restarts and compaction.

    list ──▶ follow ──stream ended──▶ follow from the last version
     ▲          │ 410 Gone, or refused again and again
     └──────────┘ the new list is reported as a difference (see `list_diff`)

A list is streamed (the first part of a watch) if the server supports it, otherwise read in pages.
Bookmarks arrive about once a minute, so a longer silence means that the connection is dead. Errors
are reported and retried with a jittered, bounded backoff. `informer_set` runs one informer for each
kind and merges their events.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from urllib.parse import urlencode

from headroom.core.objects import Key
from headroom.kube.client import Client
from headroom.kube.errors import (
    CannotReach,
    Closed,
    ConfigError,
    Expired,
    Forbidden,
    KubeError,
    NoSuchKind,
    Refused,
    Silence,
    Unauthorized,
)
from headroom.kube.lines import LineSplitter
from headroom.kube.list_diff import Mirror, key_of
from headroom.kube.watch_health import WatchHealth
from headroom.ports import Event
from headroom.wire.decode import (
    DecodeThing,
    WatchEvent,
    decode_list,
    decode_thing,
    decode_watch,
    listed_identity,
)
from headroom.wire.errors import DecodeError, Unreadable
from headroom.wire.kinds import Resource


@dataclass(frozen=True, slots=True)
class WatchTuning:
    """Times and sizes of a watch; tests use small ones."""

    quiet_seconds: float = 70.0
    renew_seconds: tuple[int, int] = (
        300,
        600,
    )  # The server ends a watch after a random time.
    page_size: int = 500
    first_backoff: float = 0.1
    longest_backoff: float = 5.0
    attempts_to_start: int = 4  # Refusals of the first list (a server that starts) before we raise.
    attempts_to_resume: int = 3  # Refusals of a resumed watch before everything is listed again.


@dataclass(frozen=True, slots=True)
class WatchScope:
    """Which objects of a kind; empty parts mean all."""

    resource: Resource
    namespace: str = ""
    labels: str = ""
    fields: str = ""
    must_exist: bool = False  # True: a kind that the server does not serve ends the watch.
    may_be_hidden: bool = False  # True: without the permission, none are assumed.

    def path(self, **query: str) -> str:
        """The path of the list or watch, with its query."""
        if self.labels:
            query["labelSelector"] = self.labels
        if self.fields:
            query["fieldSelector"] = self.fields
        path = self.resource.path(self.namespace)
        return f"{path}?{urlencode(query)}" if query else path


@dataclass(frozen=True, slots=True)
class Trouble:
    """An error that is being handled; `retry_in` is None if nothing is retried."""

    resource: Resource
    message: str
    retry_in: float | None = None
    about: str = ""  # the object, if it is about one that cannot be decoded
    bug: bool = False  # whether decoding raised an exception


@dataclass(frozen=True, slots=True)
class Listener:
    """Receives batches of events, the end of the first list, and errors."""

    tell: Callable[[list[Event]], Awaitable[None]]
    synced: Callable[[], Awaitable[None]]
    trouble: Callable[[Trouble], None]
    shown: Callable[[], Awaitable[None]] | None = None  # what was hidden can be listed now


class _NotStreamed(Refused):
    """The server cannot stream a list; read pages instead."""


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
        self.pulse = pulse or WatchHealth(asyncio.get_running_loop().time)
        self.hidden = ""  # why this kind cannot be listed, if that is allowed
        self.lists = 0
        self.lines = 0
        self._client = client
        self._scope = scope
        self._listener = listener
        self._tuning = tuning or WatchTuning()
        self._read = decode
        self._mirror = Mirror()
        self._version = ""
        self._streams_lists = True
        self._synced = False
        self._failures = 0
        self._random = random.Random()

    def keys(self) -> frozenset[Key]:
        """The known objects, as far as they were reported."""
        return self._mirror.keys()

    async def run(self) -> None:
        """List, watch, and recover from errors, until cancelled."""
        while True:
            try:
                if not self._version and not self._streams_lists:
                    await self._list_pages()
                await self._follow()
            except KubeError as error:
                await self._recover(error)

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
                    await self._hear(complete)
                    self.pulse.heard()
                    self._failures = 0
        if not heard:  # An empty stream must not become a busy loop.
            raise CannotReach(f"the watch of {self._scope.resource} ended before it began")

    def _watch_path(self) -> str:
        query = {
            "watch": "true",
            "allowWatchBookmarks": "true",
            "timeoutSeconds": str(self._random.randint(*self._tuning.renew_seconds)),
        }
        if self._version:
            query["resourceVersion"] = self._version
        else:
            query["sendInitialEvents"] = "true"
            query["resourceVersionMatch"] = "NotOlderThan"
            self._mirror.begin()
            self.lists += 1
        return self._scope.path(**query)

    async def _hear(self, lines: list[bytes]) -> None:
        """Report some lines in one batch, or in two if a list ends among them."""
        batch: list[Event] = []
        broken: KubeError | None = None
        self.lines += len(lines)
        try:
            for line in lines:
                event = self._decode(line)
                if event is not None and self._take(event, batch):
                    await self._list_is_complete(batch)
                    batch = []
        except KubeError as error:
            broken = error
        if batch:  # Also what came before the error.
            await self._listener.tell(batch)
        if broken is not None:
            raise broken

    def _decode(self, line: bytes) -> WatchEvent | None:
        if self._mirror.listing and self._is_known(line):
            return None
        try:
            return decode_watch(self._scope.resource, line, self._read)
        except DecodeError as error:
            self._listener.trouble(Trouble(self._scope.resource, str(error)))
            return None

    def _is_known(self, line: bytes) -> bool:
        """Whether a line of a new list repeats what was told: most of tens of thousands do."""
        if not len(self._mirror):
            return False
        found = listed_identity(line)
        key = Key(found.namespace, found.name)
        if not found.version or not self._mirror.has(key, found.uid, found.version):
            return False
        self._mirror.keep(key)
        return True

    def _take(self, event: WatchEvent, batch: list[Event]) -> bool:
        """Process one event; return whether it ends a list."""
        match event.type:
            case "ADDED" | "MODIFIED" if event.thing is not None:
                batch += self._mirror.see(event.thing)
            case "DELETED":
                key = key_of(event.thing) if event.thing is not None else event.key
                batch += self._mirror.lose(key) if key is not None else ()
            case "BOOKMARK":
                return self._bookmark(event, batch)
            case "ERROR":
                raise self._stream_error(event)
            case _ if event.key is not None:
                self._mirror.keep(event.key)
        if event.problem is not None:
            self._listener.trouble(_unreadable(self._scope.resource, event.problem))
        if event.version and not self._mirror.listing:
            self._version = event.version
        return False

    def _bookmark(self, event: WatchEvent, batch: list[Event]) -> bool:
        if self._mirror.listing and not event.initial_end:
            # The server treated our list as a plain watch: it does not support streamed lists.
            raise self._no_streamed_lists("it sends no mark at the end of the list")
        if event.version:
            self._version = event.version
        if not event.initial_end:
            return False
        batch += self._mirror.finish()
        return True

    def _stream_error(self, event: WatchEvent) -> Refused:
        what = f"watch {self._scope.resource}"
        if event.code == 410:
            return Expired(410, f"cannot {what}: {event.message}")
        if self._mirror.listing and event.code != 429:
            return self._no_streamed_lists(event.message)
        return Refused(event.code, f"cannot {what}: HTTP {event.code}: {event.message}")

    def _no_streamed_lists(self, reason: str) -> Refused:
        return _NotStreamed(501, f"cannot stream the list of {self._scope.resource}: {reason}")

    async def _list_pages(self) -> None:
        """Read a whole list page by page; its version is where the watch begins."""
        what = f"list {self._scope.resource}"
        self._mirror.begin()
        self.lists += 1
        token = ""
        while True:
            query = {"limit": str(self._tuning.page_size)}
            if token:
                query["continue"] = token
            body = await self._client.get(self._scope.path(**query), what)
            self.pulse.heard()
            try:
                page = decode_list(self._scope.resource, body, self._read)
            except DecodeError as error:
                raise Refused(502, f"cannot {what}: {error}") from error
            batch = [event for thing in page.items for event in self._mirror.see(thing)]
            for problem in page.problems:
                self._mirror.keep(_key_in(problem.subject))
                self._listener.trouble(_unreadable(self._scope.resource, problem))
            token = page.continue_token
            if not token:
                self._version = page.version
                batch += self._mirror.finish()
                return await self._list_is_complete(batch)
            await self._listener.tell(batch)

    async def _list_is_complete(self, batch: list[Event]) -> None:
        """Report the end of a list; after the first list, that everything was reported."""
        if batch:
            await self._listener.tell(batch)
        if self.hidden:
            self.hidden = ""
            if self._listener.shown is not None:
                await self._listener.shown()
        await self._hide()

    async def _hide(self) -> None:
        """Stop others from waiting for a list."""
        if not self._synced:
            self._synced = True
            await self._listener.synced()

    async def _recover(self, error: KubeError) -> None:
        """Decide how to continue after an error, report it, and wait."""
        if self._client.closed:
            raise Closed("the client was closed") from error
        self.pulse.tried()
        self._failures += 1
        match error:
            case Expired():
                self._version = ""
                if self._failures == 1:
                    return
            case _NotStreamed() | Refused(status=400 | 422) | Silence() if self._streaming_a_list:
                self._streams_lists = False
                return
            case Forbidden() if self._must_give_up and self._scope.may_be_hidden:
                self.hidden = str(error)
                await self._hide()
            case Unauthorized() | Forbidden() | ConfigError() if self._must_give_up:
                raise error
            case NoSuchKind() if self._scope.must_exist and not self._synced:
                raise error
            case Refused() if self._failures >= self._tuning.attempts_to_resume:
                self._version = ""
            case _:
                pass
        pause = self._backoff(error)
        self._listener.trouble(Trouble(self._scope.resource, str(error), pause))
        await asyncio.sleep(pause)

    @property
    def _streaming_a_list(self) -> bool:
        return not self._version and self._streams_lists

    @property
    def _must_give_up(self) -> bool:
        return not self._synced and self._failures >= self._tuning.attempts_to_start

    def _backoff(self, error: KubeError) -> float:
        exponent = min(self._failures - 1, 16)
        longest: float = min(self._tuning.first_backoff * 2**exponent, self._tuning.longest_backoff)
        asked = error.retry_after if isinstance(error, Refused) else 0.0
        return max(asked, longest * (0.5 + self._random.random() / 2))


def _unreadable(resource: Resource, problem: DecodeError) -> Trouble:
    bug = isinstance(problem, Unreadable)
    return Trouble(resource, str(problem), about=problem.subject or str(resource), bug=bug)


def _key_in(subject: str) -> Key:
    """Parse `Pod/shop/web-0` or `Node/a` into a key."""
    namespace, _, name = subject.partition("/")[2].rpartition("/")
    return Key(namespace, name)
