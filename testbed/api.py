"""A small client for the API server: JSON over HTTPS, one kept-alive connection for each thread.

It is enough to create thousands of nodes quickly and to read them. Headroom has its own client in
`src/`; this one is separate on purpose, so that the testbed never depends on what it tests.
"""

from __future__ import annotations

import http.client
import json
import ssl
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeAlias, TypeVar
from urllib.parse import urlsplit

# Objects of the API are arbitrary JSON; this module reads only what it needs.
Json: TypeAlias = dict[str, Any]
_Item = TypeVar("_Item")

_PARALLEL = 8
_TIMEOUT_S = 60.0
_PATCH = "application/merge-patch+json"


class ApiFailure(Exception):
    """The API server refused the request, with this status code and this text."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(f"{status}: {text}")
        self.status = status


class Api:
    """Requests as the user of the token."""

    def __init__(self, server: str, authority_pem: str, token: str) -> None:
        self._address = urlsplit(server).netloc
        self._tls = ssl.create_default_context(cadata=authority_pem)
        self._headers = {"Authorization": f"Bearer {token}", "Accept": "application/json"}
        self._connections = threading.local()

    def get(self, path: str) -> Json:
        """Return the object or list at the path."""
        return self._request("GET", path)

    def items(self, path: str) -> list[Json]:
        """Return the items of the list at the path."""
        found: list[Json] = self._request("GET", path)["items"]
        return found

    def create(self, path: str, body: Json) -> Json:
        return self._request("POST", path, body)

    def ensure(self, path: str, body: Json) -> None:
        """Create the object unless one with its name exists."""
        try:
            self.create(path, body)
        except ApiFailure as failure:
            if failure.status != http.HTTPStatus.CONFLICT:
                raise

    def patch(self, path: str, body: Json) -> Json:
        """Apply a JSON merge patch."""
        return self._request("PATCH", path, body, _PATCH)

    def delete(self, path: str, body: Json | None = None) -> Json:
        return self._request("DELETE", path, body)

    def is_ready(self) -> bool:
        """Whether the server says that it is ready; False if it cannot be reached."""
        try:
            status, _ = self._exchange("GET", "/readyz", None, {})
        except (OSError, http.client.HTTPException):
            return False
        return status == http.HTTPStatus.OK

    def _request(
        self, method: str, path: str, body: Json | None = None, kind: str = "application/json"
    ) -> Json:
        payload = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": kind} if payload else {}
        status, answer = self._exchange(method, path, payload, headers)
        if status >= http.HTTPStatus.BAD_REQUEST:
            raise ApiFailure(status, _message(answer))
        decoded: Json = json.loads(answer)
        return decoded

    def _exchange(
        self, method: str, path: str, payload: bytes | None, headers: dict[str, str]
    ) -> tuple[int, bytes]:
        """Send one request; retry once on a new connection if a kept one is dead."""
        kept = getattr(self._connections, "current", None)
        if kept is not None:
            try:
                return self._send(kept, method, path, payload, headers)
            except (ConnectionError, http.client.HTTPException, ssl.SSLError):
                kept.close()
        fresh = http.client.HTTPSConnection(self._address, context=self._tls, timeout=_TIMEOUT_S)
        self._connections.current = None
        try:
            answer = self._send(fresh, method, path, payload, headers)
        except BaseException:
            fresh.close()
            raise
        self._connections.current = fresh
        return answer

    def _send(
        self,
        connection: http.client.HTTPSConnection,
        method: str,
        path: str,
        payload: bytes | None,
        headers: dict[str, str],
    ) -> tuple[int, bytes]:
        connection.request(method, path, payload, {**self._headers, **headers})
        response = connection.getresponse()
        return response.status, response.read()

    def close(self) -> None:
        """Close this thread's connection."""
        kept = getattr(self._connections, "current", None)
        if kept is not None:
            kept.close()
            self._connections.current = None

    def for_each(self, call: Callable[[_Item], object], items: Iterable[_Item]) -> None:
        """Make many calls in parallel; raise the first failure when all are done."""

        def work(batch: list[_Item]) -> None:
            try:
                for item in batch:
                    call(item)
            finally:
                self.close()

        todo = list(items)
        batches = [todo[offset::_PARALLEL] for offset in range(_PARALLEL)]
        with ThreadPoolExecutor(_PARALLEL) as pool:
            list(pool.map(work, filter(None, batches)))


def _message(answer: bytes) -> str:
    """The message of a Status object, or the raw answer."""
    try:
        return str(json.loads(answer)["message"])
    except (ValueError, KeyError, TypeError):
        return answer.decode(errors="replace").strip()
