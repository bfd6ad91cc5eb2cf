"""The credentials of every request: headers built once per grant, and the TLS context.

`client` requests the current grant before a request and a new one after a 401. If many requests
wait for a renewal, it happens once.
"""

from __future__ import annotations

import asyncio
import ssl

from multidict import CIMultiDict

from headroom import __version__
from headroom.kube.access import Access
from headroom.kube.credentials import Credentials, Grant
from headroom.kube.errors import ConfigError, PlainHttp
from headroom.kube.tls import tls_context

JSON = "application/json"


class RequestAuth:
    """The current credentials for one API server."""

    def __init__(self, access: Access) -> None:
        self.credentials = Credentials(access)
        self.tls: ssl.SSLContext | None = None
        self._access = access
        self._grant: Grant | None = None
        self._renewing = asyncio.Lock()
        self._headers: dict[str, CIMultiDict[str]] = {}

    async def current(self) -> Grant:
        """The current grant; renewed first if needed."""
        grant = self._grant
        if grant is None or self.credentials.due:
            return await self.renew(grant)
        return grant

    async def renew(self, old: Grant | None) -> Grant:
        """Replace a grant, once for all requests that wait for it."""
        async with self._renewing:
            current = self._grant
            if current is not None and current is not old:
                return current  # Another request has renewed it meanwhile.
            refused = not self.credentials.due
            grant = await self.credentials.renew()
            # A new context means new connections, so a good one is kept. After a refusal the
            # certificate is read from its files again.
            if old is None or refused or grant.key_pair != old.key_pair:
                self.tls = tls_context(self._access.endpoint, grant.key_pair)
            self._grant = grant
            self._headers = {}
            return grant

    def forget(self) -> None:
        """Read everything again before the next request: a CA may have been rotated."""
        self._grant = None

    def headers(self, content_type: str) -> CIMultiDict[str]:
        """The headers of a request with this type of body."""
        headers = self._headers.get(content_type)
        if headers is None:
            headers = self._headers[content_type] = self._made(content_type)
        return headers

    def _made(self, content_type: str) -> CIMultiDict[str]:
        headers = [
            ("Accept", JSON),
            ("Accept-Encoding", "identity"),
            ("Content-Type", content_type),
            ("User-Agent", f"headroom/{__version__}"),
            *self._access.user.headers,
        ]
        if self._grant is not None and self._grant.authorization:
            self._check_encrypted()
            headers.append(("Authorization", self._grant.authorization))
        for name, value in headers:
            if not value.isprintable():
                raise ConfigError(
                    f"{self._access.origin}: the header {name} would have a line break in it",
                    "check the token or user in the kubeconfig",
                )
        return CIMultiDict(headers)

    def _check_encrypted(self) -> None:
        """Refuse to send credentials without TLS, because others could read them."""
        endpoint = self._access.endpoint
        if not (endpoint.encrypted or endpoint.plain_http):
            raise PlainHttp(endpoint.server, self._access.origin)
