"""Keep-alive connections to one API server: taken for a request, given back for the next."""

from __future__ import annotations

import asyncio
import ssl
from dataclasses import dataclass
from ipaddress import ip_address

from headroom.kube.http1 import Connection
from headroom.kube.openings import Openings

HAPPY_EYEBALLS_SECONDS = 0.25


@dataclass(frozen=True, slots=True)
class Target:
    """Where a pool connects to; `server_name` is what the certificate must say."""

    host: str
    port: int
    tls: ssl.SSLContext | None
    server_name: str = ""


class Pool:
    """Idle connections to one target, the last used first."""

    def __init__(self, target: Target, idle_seconds: float, connect_seconds: float) -> None:
        self._target = target
        self._connect_seconds = connect_seconds
        self._idle_seconds = idle_seconds
        self._idle: list[Connection] = []
        self._open: set[Connection] = set()
        self._openings: Openings[Connection] = Openings(Connection.close)
        self._closed = False

    def take(self, now: float) -> Connection | None:
        """An idle connection that is still good; None if there is none."""
        while self._idle:
            connection = self._idle.pop()
            if connection.reusable and now - connection.used_at < self._idle_seconds:
                return connection
            connection.close()
        return None

    async def connect(self) -> Connection:
        """A new connection; what goes wrong, also taking too long, is an OSError."""
        return await self._openings.open(self._connect())

    async def _connect(self) -> Connection:
        loop = asyncio.get_running_loop()
        target = self._target
        async with asyncio.timeout(self._connect_seconds):
            _, connection = await loop.create_connection(
                lambda: Connection(loop),
                target.host,
                target.port,
                ssl=target.tls,
                server_hostname=(target.server_name or target.host) if target.tls else None,
                happy_eyeballs_delay=None if _is_address(target.host) else HAPPY_EYEBALLS_SECONDS,
            )
        self._open.add(connection)
        connection.gone.add_done_callback(lambda _: self._open.discard(connection))
        return connection

    def give_back(self, connection: Connection, now: float) -> None:
        """Keep a connection for the next request, if it can serve one."""
        if self._closed or not connection.reusable:
            connection.close()
            return
        connection.used_at = now
        self._idle.append(connection)

    async def close(self) -> None:
        """Close every connection, also those in use."""
        self.retire()
        await self._openings.settle()
        connections = list(self._open)
        for connection in connections:
            connection.close()
        await asyncio.gather(*(connection.gone for connection in connections))

    def retire(self) -> None:
        """Keep nothing any more; what is in use ends with its request."""
        self._closed = True
        for connection in self._idle:
            connection.close()
        self._idle.clear()


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True
