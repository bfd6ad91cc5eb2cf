"""Requests to one API server: pooled, limited, retried if that is safe, with fresh credentials.

The caller says whether a request may be repeated (`repeatable`); a request that was certainly not
executed is always repeated. `session` sends, `request_auth` has the credentials. `watch` and
`cluster` use this client.
"""

from __future__ import annotations

import asyncio
import copy
import random
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass

from headroom.kube.access import Access
from headroom.kube.answers import Answer, refusal
from headroom.kube.errors import CannotReach, Unauthorized, Uncertain, Untrusted
from headroom.kube.request_auth import JSON, RequestAuth
from headroom.kube.servertime import ServerTime
from headroom.kube.session import Session, hang_up


@dataclass(frozen=True, slots=True)
class Tuning:
    """Timeouts and limits of a client; the defaults are for an operator."""

    in_flight: int = 48
    connect_seconds: float = 5.0
    request_seconds: float = 15.0
    attempts: int = 5
    first_backoff: float = 0.05
    largest_answer: int = 2**28  # Far above a page of the largest usual objects.
    patience: float = 10.0  # No retry starts later than this after the first attempt.


class Client:
    """One API server and one user."""

    def __init__(self, access: Access, tuning: Tuning | None = None) -> None:
        self.access = access
        self.tuning = tuning or Tuning()
        self.requests: Counter[tuple[str, int]] = Counter()
        self.retries = 0
        self._auth = RequestAuth(access)
        self._session = Session(
            access,
            self._auth,
            self.tuning.connect_seconds,
            self.tuning.request_seconds,
            self.tuning.largest_answer,
        )
        self._slots = asyncio.Semaphore(self.tuning.in_flight)
        self._random = random.Random()

    def lane(self, in_flight: int = 2) -> Client:
        """The same client with its own queue, for requests that must not wait behind a burst."""
        beside = copy.copy(self)
        beside._slots = asyncio.Semaphore(in_flight)
        return beside

    async def send(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        content_type: str = JSON,
        repeatable: bool = False,
    ) -> Answer:
        """Send until there is a final answer, whatever its status.

        Raises CannotReach if nothing was executed, Uncertain if that is unknown.
        """
        safe = repeatable or method == "GET"
        loop = asyncio.get_running_loop()
        give_up = loop.time() + self.tuning.patience
        attempt = 0
        while True:
            attempt += 1
            answer: Answer | None = None
            trouble: CannotReach | None = None
            try:
                answer = await self._authorized(method, path, body, content_type)
            except CannotReach as error:
                trouble = error
            if answer is not None and not _worth_repeating(answer, safe):
                return answer
            pause = self._pause(attempt, answer)
            last = attempt >= self.tuning.attempts or loop.time() + pause > give_up
            if trouble is not None and (last or not _may_repeat(trouble, safe)):
                raise trouble
            if answer is not None and last:
                return answer
            self.retries += 1
            await asyncio.sleep(pause)

    async def get(self, path: str, what: str) -> bytes:
        """Read something; anything but success is an error that says `what` failed."""
        answer = await self.send("GET", path)
        if not answer.ok:
            raise refusal(answer, what)
        return answer.body

    @asynccontextmanager
    async def stream(
        self, path: str, what: str, quiet: float
    ) -> AsyncIterator[AsyncIterator[bytes]]:
        """Open an endless answer as chunks; silence for `quiet` seconds is an error."""
        used = await self._auth.current()
        response = await self._session.open_stream(path, quiet)
        if response.status == 401:
            hang_up(response)
            await self._auth.renew(used)
            response = await self._session.open_stream(path, quiet)
        self.requests["WATCH", response.status] += 1
        try:
            if response.status >= 300:
                answer = await self._session.finish(response)
                self._check_known(answer)
                raise refusal(answer, what)
            async with aclosing(self._session.chunks(response, quiet)) as chunks:
                yield chunks
        finally:
            hang_up(response)

    async def close(self) -> None:
        """Close every connection."""
        await self._session.close()

    async def __aenter__(self) -> Client:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @property
    def server_time(self) -> ServerTime:
        """The time of the server's clock."""
        return self._session.server_time

    @property
    def closed(self) -> bool:
        return self._session.closed

    async def _authorized(
        self, method: str, path: str, body: bytes | None, content_type: str
    ) -> Answer:
        """One attempt; after a 401 it is repeated once with fresh credentials."""
        async with self._slots:
            used = await self._auth.current()
            answer = await self._session.send(method, path, body, content_type)
            self.requests[method, answer.status] += 1
            if answer.status == 401:
                await self._auth.renew(used)
                answer = await self._session.send(method, path, body, content_type)
                self.requests[method, answer.status] += 1
                self._check_known(answer)
        return answer

    def _check_known(self, answer: Answer) -> None:
        if answer.status == 401:
            server, origin = self.access.endpoint.server, self.access.origin
            raise Unauthorized(
                401,
                f"{server} does not accept our credentials ({origin})",
                self._auth.credentials.diagnosis(),
            )

    def _pause(self, attempt: int, answer: Answer | None) -> float:
        """A jittered backoff: half fixed, half random, plus the time that the server requested."""
        backoff: float = self.tuning.first_backoff * 2 ** (attempt - 1)
        jittered = backoff * (0.5 + self._random.random() / 2)
        return jittered + (answer.retry_after if answer is not None else 0.0)


def _worth_repeating(answer: Answer, safe: bool) -> bool:
    """429, and 5xx with Retry-After, mean "not done, retry"; other 5xx are uncertain."""
    if answer.status == 429:
        return True
    return answer.status >= 500 and (safe or answer.retry_after > 0)


def _may_repeat(trouble: CannotReach, safe: bool) -> bool:
    """Whether a retry is safe and can succeed."""
    if isinstance(trouble, Untrusted):
        return False
    return safe or not isinstance(trouble, Uncertain)
