"""A wire between a client and the API server that a test can cut, freeze and mend."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import replace
from typing import Self
from urllib.parse import urlsplit

from headroom.kube.access import Access

CHUNK = 2**16


class Relay:
    """Passes bytes on in both directions; TLS goes through untouched."""

    def __init__(self, access: Access) -> None:
        target = urlsplit(access.endpoint.server)
        self._target = (target.hostname or "", target.port or 443)
        self._access = access
        self._open = True
        self._flowing = asyncio.Event()
        self._flowing.set()
        self._connections: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._flowing.set()
        await self.cut()
        if self._server is not None:
            self._server.close()

    @property
    def access(self) -> Access:
        """The access that goes through here."""
        assert self._server is not None
        port = self._server.sockets[0].getsockname()[1]
        endpoint = replace(self._access.endpoint, server=f"https://127.0.0.1:{port}")
        return replace(self._access, endpoint=endpoint)

    async def cut(self) -> None:
        """Close every connection and refuse new ones."""
        self._open = False
        tasks = list(self._connections)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def mend(self) -> None:
        self._open = True

    def freeze(self) -> None:
        """Keep the connections and pass nothing on."""
        self._flowing.clear()

    def thaw(self) -> None:
        self._flowing.set()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if not self._open:
            writer.close()
            return
        task = asyncio.ensure_future(self._serve(reader, writer))
        self._connections.add(task)
        task.add_done_callback(self._connections.discard)
        with suppress(asyncio.CancelledError):
            await task

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            upstream = await asyncio.open_connection(*self._target)
        except OSError:
            writer.close()
            return
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._pass(reader, upstream[1]))
                group.create_task(self._pass(upstream[0], writer))
        except* OSError:
            pass
        finally:
            writer.transport.abort()
            upstream[1].transport.abort()

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(CHUNK):
            await self._flowing.wait()
            writer.write(data)
            await writer.drain()
        raise ConnectionResetError
