"""aiohttp's pool of connections, with workarounds for connections that aiohttp and asyncio lose."""

from __future__ import annotations

import asyncio
from weakref import WeakSet

import aiohttp
from aiohttp.client_proto import ResponseHandler
from aiohttp.tracing import Trace

IDLE_SECONDS = 60.0  # The API server closes idle connections after 90 s; we must be first.
SETTLE_SECONDS = 1.0
TURNS_TO_NOTICE = 3  # of the event loop: transport, TLS, reader.


class Connector(aiohttp.TCPConnector):
    """Completes every connection that it starts, and can break all of them.

    asyncio (3.11) leaks the socket of a TLS connection that is cancelled before its handshake
    begins. So a cancelled caller leaves, the connection is completed in the background, and then
    closed.
    """

    def __init__(self) -> None:
        # The client limits requests; streams must never wait for a place.
        super().__init__(limit=0, keepalive_timeout=IDLE_SECONDS)
        self._leaving = False
        self._making: set[asyncio.Task[ResponseHandler]] = set()
        self._transports: WeakSet[asyncio.Transport] = WeakSet()

    async def _create_connection(
        self, req: aiohttp.ClientRequest, traces: list[Trace], limits: aiohttp.ClientTimeout
    ) -> ResponseHandler:
        if self._leaving:  # aiohttp retries by itself when a connection breaks.
            raise TimeoutError
        making = asyncio.create_task(super()._create_connection(req, traces, limits))
        self._making.add(making)
        making.add_done_callback(self._making.discard)
        try:
            await asyncio.wait({making})
        except asyncio.CancelledError:
            making.add_done_callback(_throw_away)
            raise
        if making.cancelled():
            raise TimeoutError
        protocol = making.result()
        if protocol.transport is not None:
            self._transports.add(protocol.transport)
        return protocol

    async def break_all(self) -> None:
        """Break every connection under its reader; with aiohttp's close the reader waits."""
        self._leaving = True
        if self._making:
            _, late = await asyncio.wait(list(self._making), timeout=SETTLE_SECONDS)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)
        for transport in list(self._transports):
            transport.abort()
        for _ in range(TURNS_TO_NOTICE):
            await asyncio.sleep(0)


def _throw_away(making: asyncio.Task[ResponseHandler]) -> None:
    if making.cancelled() or making.exception() is not None:
        return
    transport = making.result().transport
    if transport is not None:
        transport.abort()
