"""An API server that forgets what it told: passes all on, and ends every watch when told to.

A line on its standard input ends the watches; each of them is answered 410 Gone when it wants to
go on from where it was, as an API server does whose history is too short. So a client has to list
everything again, while writes go on as before. Reads come from one client, over plain HTTP.
The client needs no credentials: it speaks for whoever the token belongs to. Started by `large`, as
`forgetful SERVER AUTHORITY_FILE TOKEN`; its first line says its address.
"""

from __future__ import annotations

import asyncio
import contextlib
import ssl
import sys

import aiohttp
from aiohttp import web

GONE = b'{"type":"ERROR","object":{"kind":"Status","code":410,"message":"too old"}}\n'
DROPPED = frozenset({"host", "transfer-encoding", "content-length", "connection"})
LARGEST = 1 << 24


class Forgetful:
    """Forwards requests, and remembers which watches must not go on."""

    def __init__(self, server: str, token: str, session: aiohttp.ClientSession) -> None:
        self._server = server
        self._token = token
        self._session = session
        self._watches: set[asyncio.Task[object]] = set()
        self._gone: set[str] = set()
        self._followed: set[str] = set()

    def forget(self) -> None:
        """End every watch; none of them can be resumed."""
        self._gone |= self._followed
        for watch in list(self._watches):
            watch.cancel()

    async def serve(self, request: web.Request) -> web.StreamResponse:
        if request.query.get("watch") == "true":
            return await self._watch(request)
        body = await request.read()
        async with self._send(request, body) as answer:
            headers = {
                name: value
                for name, value in answer.headers.items()
                if name.lower() not in DROPPED | {"content-encoding"}
            }
            return web.Response(body=await answer.read(), status=answer.status, headers=headers)

    async def _watch(self, request: web.Request) -> web.StreamResponse:
        told = web.StreamResponse(headers={"Content-Type": "application/json"})
        self._followed.add(request.path)
        if "sendInitialEvents" not in request.query and request.path in self._gone:
            self._gone.discard(request.path)
            await told.prepare(request)
            await told.write(GONE)
            return told
        here = asyncio.current_task()
        async with self._send(request, None) as answer:
            told.set_status(answer.status)
            await told.prepare(request)
            if here is not None:
                self._watches.add(here)
            try:
                async for chunk in answer.content.iter_any():
                    await told.write(chunk)
            except asyncio.CancelledError:  # Ended by us, or by a client that has gone.
                if request.transport is not None:
                    request.transport.abort()
                raise
            finally:
                if here is not None:
                    self._watches.discard(here)
        return told

    def _send(
        self, request: web.Request, body: bytes | None
    ) -> contextlib.AbstractAsyncContextManager[aiohttp.ClientResponse]:
        headers = {
            name: value for name, value in request.headers.items() if name.lower() not in DROPPED
        }
        headers["Authorization"] = f"Bearer {self._token}"
        url = self._server + request.raw_path
        return self._session.request(request.method, url, data=body, headers=headers)


async def run(server: str, authority: str, token: str) -> None:
    """Serve until the standard input ends."""
    context = ssl.create_default_context(cafile=authority)
    connector = aiohttp.TCPConnector(ssl=context, limit=0)
    timeout = aiohttp.ClientTimeout(total=None)
    async with aiohttp.ClientSession(connector=connector, timeout=timeout) as session:
        relay = Forgetful(server, token, session)
        app = web.Application(client_max_size=LARGEST)
        app.router.add_route("*", "/{path:.*}", relay.serve)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        port = runner.addresses[0][1]
        sys.stdout.write(f"http://127.0.0.1:{port}\n")
        sys.stdout.flush()
        while await asyncio.to_thread(sys.stdin.readline):
            relay.forget()
        await runner.cleanup()


if __name__ == "__main__":
    asyncio.run(run(*sys.argv[1:4]))
