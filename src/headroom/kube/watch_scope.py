"""Parts of an informer: its scope, its timeouts, its pages, its health, its listener."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from headroom.core.objects import Key
from headroom.kube.client import Client
from headroom.kube.errors import RequestRefused
from headroom.ports import Event
from headroom.wire.decode import RawPage, cut_list
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
    attempts_to_stream: int = 3  # Streamed lists that break off before one is read in pages.


@dataclass(frozen=True, slots=True)
class WatchScope:
    """Which objects of a kind; empty parts mean all."""

    resource: Resource
    namespace: str = ""
    labels: str = ""
    fields: str = ""
    must_exist: bool = False  # True: a kind that the server does not serve ends the watch.
    may_be_hidden: bool = False  # True: without the permission, none are assumed.
    first_fields: str = ""  # Fields of the objects that a new list reads before all others.

    def path(self, **query: str) -> str:
        """The path of the list or watch, with its query."""
        if self.labels:
            query["labelSelector"] = self.labels
        fields = ",".join(part for part in (self.fields, query.get("fieldSelector", "")) if part)
        if fields:
            query["fieldSelector"] = fields
        path = self.resource.path(self.namespace)
        return f"{path}?{urlencode(query)}" if query else path


@dataclass(frozen=True, slots=True)
class WatchedObject:
    """An object of a kind that is no part of the engine: what an informer must know of it.

    Its decoder returns it typed as Any, because it is none of the engine's things.
    """

    key: Key
    uid: str
    version: str
    content: Any


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


@dataclass(slots=True)
class WatchHealth:
    """When a watch last did something, and when it last received something, by a monotonic clock.

    A server sends a bookmark at least once a minute, and a watch that is silent for longer is
    reopened, so a healthy watch receives something about every minute. A watch that has not even
    retried for minutes is stuck. Health probes and the claim indexes depend on it.
    """

    clock: Callable[[], float]
    tried_at: float = 0.0
    heard_at: float = 0.0

    def __post_init__(self) -> None:
        self.tried_at = self.heard_at = self.clock()

    def tried(self) -> None:
        """The watch does something, even if it fails."""
        self.tried_at = self.clock()

    def heard(self) -> None:
        """The server sent something, and it was processed."""
        self.tried_at = self.heard_at = self.clock()

    @property
    def silent_for(self) -> float:
        return self.clock() - self.heard_at

    @property
    def stuck_for(self) -> float:
        return self.clock() - self.tried_at


def unreadable(resource: Resource, problem: DecodeError) -> Trouble:
    """The report of an object that cannot be decoded."""
    bug = isinstance(problem, Unreadable)
    return Trouble(resource, str(problem), about=problem.subject or str(resource), bug=bug)


@dataclass(frozen=True, slots=True)
class ListPages:
    """Reads the pages of a list: all of one version, split into objects, which are not decoded."""

    client: Client
    scope: WatchScope
    page_size: int

    async def read(self, token: str = "", fields: str = "") -> AsyncGenerator[RawPage, None]:
        """The pages from the one that `token` names (the first) to the last."""
        what = f"list {self.scope.resource}"
        while True:
            query = {"limit": str(self.page_size)}
            if fields:
                query["fieldSelector"] = fields
            if token:
                query["continue"] = token
            body = await self.client.get(self.scope.path(**query), what)
            try:
                page = cut_list(self.scope.resource, body)
            except DecodeError as error:
                raise RequestRefused(502, f"cannot {what}: {error}") from error
            yield page
            token = page.continue_token
            if not token:
                return
