"""A gateway before the API server that can say "too many requests", as overload protection does.

It speaks TLS with the API server's own certificate, passes everything on, streams too, and answers
429 to what a test tells it to refuse. It runs in a thread; `kubeconfig` leads through it.
"""

from __future__ import annotations

import asyncio
import json
import ssl
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Self

import aiohttp
from aiohttp import web

from testbed.controlplane import ControlPlane

Refuses = Callable[[str, str], bool]
HOP = frozenset({"host", "connection", "transfer-encoding", "content-length", "date"})
BUSY = {"kind": "Status", "code": 429, "reason": "TooManyRequests", "message": "too many requests"}


class Gateway:
    """`refuse` says of a method and a path whether it is answered with 429; nothing at first."""

    def __init__(self, plane: ControlPlane) -> None:
        self._plane = plane
        self.refuse: Refuses = lambda method, path: False
        self.refused = 0
        self._loop = asyncio.new_event_loop()
        self._stop = asyncio.Event()
        self._ready = threading.Event()
        self._port = 0
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._passing: set[asyncio.BaseTransport] = set()

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._ready.wait(30), "the gateway did not start"
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(30)

    def kubeconfig(self, through: Path) -> Path:
        """The same kubeconfig, led through here."""
        document = json.loads(through.read_text())
        document["clusters"][0]["cluster"]["server"] = f"https://127.0.0.1:{self._port}"
        path = through.with_suffix(".gateway")
        path.touch(mode=0o600)
        path.write_text(json.dumps(document))
        return path

    def cut(self) -> None:
        """End every request that is under way, watches above all: they have to ask again."""
        self._loop.call_soon_threadsafe(self._abort_all)

    def _abort_all(self) -> None:
        for transport in self._passing:
            if isinstance(transport, asyncio.Transport):
                transport.abort()

    def _run(self) -> None:
        self._loop.run_until_complete(self._serve())
        self._loop.close()

    async def _serve(self) -> None:
        identities = self._plane.identities
        served = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        served.load_cert_chain(identities.server_certificate_file, identities.server_key_file)
        trusted = ssl.create_default_context(cadata=identities.authority_pem)
        app = web.Application(client_max_size=2**26)
        connector = aiohttp.TCPConnector(ssl=trusted, limit=0)
        limits = aiohttp.ClientTimeout(total=None)
        async with aiohttp.ClientSession(
            connector=connector, timeout=limits, auto_decompress=False
        ) as session:

            async def handle(request: web.Request) -> web.StreamResponse:
                return await self._pass(session, request)

            app.router.add_route("*", "/{path:.*}", handle)
            runner = web.AppRunner(app, access_log=None, shutdown_timeout=1.0)
            await runner.setup()
            site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=served)
            await site.start()
            self._port = runner.addresses[0][1]
            self._ready.set()
            await self._stop.wait()
            await runner.cleanup()

    async def _pass(
        self, session: aiohttp.ClientSession, request: web.Request
    ) -> web.StreamResponse:
        if self.refuse(request.method, request.path):
            self.refused += 1
            return web.json_response(BUSY, status=429, headers={"Retry-After": "1"})
        transport = request.transport
        if transport is not None:
            self._passing.add(transport)
        try:
            return await self._pass_on(session, request)
        finally:
            if transport is not None:
                self._passing.discard(transport)

    async def _pass_on(
        self, session: aiohttp.ClientSession, request: web.Request
    ) -> web.StreamResponse:
        headers = {name: text for name, text in request.headers.items() if name.lower() not in HOP}
        body = await request.read()
        async with session.request(
            request.method, self._plane.server + request.path_qs, headers=headers, data=body or None
        ) as answer:
            kept = {name: text for name, text in answer.headers.items() if name.lower() not in HOP}
            reply = web.StreamResponse(status=answer.status, headers=kept)
            await reply.prepare(request)
            async for chunk in answer.content.iter_any():
                await reply.write(chunk)
            await reply.write_eof()
            return reply
