"""Requests to one API server: pooled, bounded, retried where that is safe, credentials kept fresh.

A handover is a few requests in a row, so the path of one request is short: headers are prebuilt,
URLs arrive encoded, bodies are bytes. Whether a request may be repeated is the caller's knowledge
(`repeatable`); one that surely was not carried out is always repeated. `watch` streams through
here, `cluster` writes through here; `transport` words what goes wrong.
"""

from __future__ import annotations

import asyncio
import random
import ssl
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import aiohttp
from multidict import CIMultiDict
from yarl import URL

from headroom import __version__
from headroom.kube.access import Access
from headroom.kube.answers import Answer, refusal, retry_after
from headroom.kube.credentials import Credentials, Grant
from headroom.kube.errors import CannotReach, Unauthorized, Uncertain, Untrusted
from headroom.kube.tls import tls_context
from headroom.kube.transport import TRANSPORT_ERRORS, translated

JSON = "application/json"
READ_BUFFER = 2**18
IDLE_SECONDS = 60.0  # The API server closes idle connections after 90 s; we must be first.


@dataclass(frozen=True, slots=True)
class Tuning:
    """How patient and how greedy a client is; the defaults serve an operator."""

    in_flight: int = 48
    connect_seconds: float = 5.0
    request_seconds: float = 15.0
    attempts: int = 5
    first_backoff: float = 0.05
    patience: float = 10.0  # No retry starts later than this after the first attempt.


class Client:
    """One API server and one user of it."""

    def __init__(self, access: Access, tuning: Tuning | None = None) -> None:
        self.access = access
        self.tuning = tuning or Tuning()
        self.credentials = Credentials(access)
        self.requests: Counter[tuple[str, int]] = Counter()
        self.retries = 0
        self._endpoint = access.endpoint
        self._slots = asyncio.Semaphore(self.tuning.in_flight)
        self._renewing = asyncio.Lock()
        self._session: aiohttp.ClientSession | None = None
        self._closed = False
        self._grant: Grant | None = None
        self._ssl: ssl.SSLContext | bool = True
        self._headers: dict[str, CIMultiDict[str]] = {}
        self._timeout = aiohttp.ClientTimeout(
            total=self.tuning.request_seconds, sock_connect=self.tuning.connect_seconds
        )
        self._random = random.Random()

    async def send(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        content_type: str = JSON,
        repeatable: bool = False,
    ) -> Answer:
        """Send until there is an answer worth returning, whatever its status.

        Raises CannotReach when nothing was carried out, Uncertain when nobody knows.
        """
        url = URL(self._endpoint.server + path, encoded=True)
        loop = asyncio.get_running_loop()
        give_up = loop.time() + self.tuning.patience
        for attempt in range(1, self.tuning.attempts + 1):
            answer: Answer | None = None
            trouble: CannotReach | None = None
            try:
                answer = await self._authorized(method, url, body, content_type)
            except Untrusted:
                raise
            except Uncertain as error:
                if not repeatable:
                    raise
                trouble = error
            except CannotReach as error:
                trouble = error
            if answer is not None and not _worth_repeating(answer, repeatable):
                return answer
            pause = self._pause(attempt, answer)
            if attempt == self.tuning.attempts or loop.time() + pause > give_up:
                break
            self.retries += 1
            await asyncio.sleep(pause)
        if answer is None:
            raise trouble or CannotReach(f"{self._endpoint.server}: no attempt was made")
        return answer

    async def get(self, path: str, what: str) -> bytes:
        """Read something; anything but success is an error that says `what` we could not do."""
        answer = await self.send("GET", path, repeatable=True)
        if not answer.ok:
            raise refusal(answer, what)
        return answer.body

    @asynccontextmanager
    async def stream(
        self, path: str, what: str, quiet: float
    ) -> AsyncIterator[AsyncIterator[bytes]]:
        """Open an endless answer as chunks; silence for `quiet` seconds is an error."""
        url = URL(self._endpoint.server + path, encoded=True)
        timeout = aiohttp.ClientTimeout(
            total=None, sock_connect=self.tuning.connect_seconds, sock_read=quiet
        )
        used = await self._current_grant()
        response = await self._open("GET", url, None, JSON, timeout)
        if response.status == 401:
            response.close()
            await self._renew(used)
            response = await self._open("GET", url, None, JSON, timeout)
        try:
            if response.status >= 300:
                answer = await self._finish("WATCH", response)
                self._check_known(answer)
                raise refusal(answer, what)
            self.requests["WATCH", response.status] += 1
            yield self._chunks(response)
        finally:
            response.close()

    async def close(self) -> None:
        """Close every connection."""
        self._closed = True
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def _authorized(
        self, method: str, url: URL, body: bytes | None, content_type: str
    ) -> Answer:
        """One attempt; a 401 is met with fresh credentials, once."""
        async with self._slots:
            used = await self._current_grant()
            answer = await self._once(method, url, body, content_type)
            if answer.status == 401:
                await self._renew(used)
                answer = await self._once(method, url, body, content_type)
                self._check_known(answer)
        return answer

    def _check_known(self, answer: Answer) -> None:
        if answer.status == 401:
            raise Unauthorized(
                401,
                f"{self._endpoint.server} does not accept our credentials ({self.access.origin})",
                self.credentials.diagnosis(),
            )

    async def _once(self, method: str, url: URL, body: bytes | None, content_type: str) -> Answer:
        response = await self._open(method, url, body, content_type, self._timeout)
        return await self._finish(method, response)

    async def _open(
        self,
        method: str,
        url: URL,
        body: bytes | None,
        content_type: str,
        limits: aiohttp.ClientTimeout,
    ) -> aiohttp.ClientResponse:
        if self._closed:
            raise CannotReach(f"{self._endpoint.server}: this client was closed")
        if self._session is None:
            self._session = self._new_session()
        try:
            return await self._session.request(
                method,
                url,
                data=body,
                headers=self._headers_for(content_type),
                timeout=limits,
                ssl=self._ssl,
                server_hostname=self._endpoint.tls_server_name or None,
                proxy=self._endpoint.proxy or None,
                allow_redirects=False,
            )
        except TRANSPORT_ERRORS as error:
            if isinstance(error, aiohttp.ClientConnectorCertificateError):
                self._grant = None  # The authority may have been rotated: read it again.
            raise translated(error, self.access) from error

    async def _finish(self, method: str, response: aiohttp.ClientResponse) -> Answer:
        """Read an answer to its end, so that the connection can serve again."""
        try:
            content = await response.read()
        except TRANSPORT_ERRORS as error:
            raise translated(error, self.access) from error
        self.requests[method, response.status] += 1
        return Answer(response.status, content, retry_after(response.headers))

    async def _chunks(self, response: aiohttp.ClientResponse) -> AsyncIterator[bytes]:
        try:
            async for chunk in response.content.iter_any():
                yield chunk
        except TRANSPORT_ERRORS as error:
            raise translated(error, self.access) from error

    async def _current_grant(self) -> Grant:
        """The grant to use now; renewed first when its time has come."""
        grant = self._grant
        if grant is None or self.credentials.due:
            return await self._renew(grant)
        return grant

    async def _renew(self, old: Grant | None) -> Grant:
        """Replace a grant, once for all requests that wait for it."""
        async with self._renewing:
            current = self._grant
            if current is not None and current is not old:
                return current  # Another request has renewed it meanwhile.
            refused = not self.credentials.due
            grant = await self.credentials.renew()
            # A new context means new connections, so a good one is kept; after a refusal the
            # certificate is read from its files again.
            if old is None or refused or grant.key_pair != old.key_pair:
                self._ssl = tls_context(self._endpoint, grant.key_pair)
            self._grant = grant
            self._headers = {}
            return grant

    def _headers_for(self, content_type: str) -> CIMultiDict[str]:
        """Headers are the same for every request of a content type: made once per grant."""
        headers = self._headers.get(content_type)
        if headers is None:
            headers = CIMultiDict(
                {
                    "Accept": JSON,
                    "Accept-Encoding": "identity",
                    "Content-Type": content_type,
                    "User-Agent": f"headroom/{__version__}",
                }
            )
            if self._grant is not None and self._grant.authorization:
                headers["Authorization"] = self._grant.authorization
            headers.extend(self.access.user.headers)
            self._headers[content_type] = headers
        return headers

    def _new_session(self) -> aiohttp.ClientSession:
        # Requests are bounded by our semaphore; streams must never wait for a slot of the pool.
        connector = aiohttp.TCPConnector(limit=0, keepalive_timeout=IDLE_SECONDS)
        return aiohttp.ClientSession(
            connector=connector,
            cookie_jar=aiohttp.DummyCookieJar(),
            read_bufsize=READ_BUFFER,
            auto_decompress=False,
            trust_env=False,
        )

    def _pause(self, attempt: int, answer: Answer | None) -> float:
        """Half of the backoff for sure, half by lot, and never less than the server asked for."""
        backoff: float = self.tuning.first_backoff * 2 ** (attempt - 1)
        jittered = backoff * (0.5 + self._random.random() / 2)
        asked = answer.retry_after if answer is not None else 0.0
        return asked + jittered


def _worth_repeating(answer: Answer, repeatable: bool) -> bool:
    """429, and 5xx with Retry-After, mean "not done, come again"; other 5xx leave it open."""
    if answer.status == 429:
        return True
    return answer.status >= 500 and (repeatable or answer.retry_after > 0)
