"""An API server on loopback: a test scripts its answers, it notes what it was asked."""

from __future__ import annotations

import asyncio
import json
import ssl
from collections import defaultdict, deque
from collections.abc import Coroutine, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from aiohttp import web

from headroom.kube.access import Access, Endpoint, Pem, User
from testbed.certs import Authority

Json = dict[str, Any]
TEST_SECONDS = 20.0
MOST_TURNS = 10_000


def run(main: Coroutine[Any, Any, None]) -> None:
    """Run a test's coroutine, and never for ever."""

    async def bounded() -> None:
        async with asyncio.timeout(TEST_SECONDS):
            await main

    asyncio.run(bounded())


@dataclass(frozen=True)
class Asked:
    """One request as it arrived."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True)
class Reply:
    """A whole answer."""

    status: int = 200
    body: Json = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Stream:
    """Pieces of an endless answer, and how it ends: `end`, `hang` or `cut` (the connection)."""

    pieces: tuple[bytes, ...] = ()
    then: str = "end"


@dataclass(frozen=True)
class Held:
    """An answer that comes when the test opens its gate."""

    gate: asyncio.Event
    reply: Reply


class Cut:
    """Take the request, and close the connection without a word."""


Step = Reply | Stream | Held | Cut


class FakeApi:
    """Answers each path with its script, step by step; the last step repeats, no script is 404.

    A script for `list PATH` or `watch PATH` answers such requests only: they may come side by side.
    """

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        self.asked: list[Asked] = []
        self.callers: set[tuple[str, int]] = set()
        self.port = 0
        self.busiest = 0
        self._busy = 0
        self._tls = tls
        self._scripts: dict[str, deque[Step]] = defaultdict(deque)
        self._runner: web.ServerRunner | None = None
        self._server: web.Server | None = None
        self._stopping = asyncio.Event()
        self._news = asyncio.Condition()
        self.gate: asyncio.Event | None = None

    def script(self, path: str, *steps: Step) -> None:
        self._scripts[path].extend(steps)

    def access(self, user: User | None = None, ca: str = "") -> Access:
        scheme = "https" if self._tls else "http"
        endpoint = Endpoint(
            f"{scheme}://127.0.0.1:{self.port}", ca=Pem(ca) if ca else None, plain_http=True
        )
        return Access(endpoint, user or User(token="t"), origin="a test")

    def paths(self) -> list[str]:
        return [asked.path for asked in self.asked]

    async def wait_asked(self, times: int) -> None:
        """Wait until so many requests have arrived."""
        async with self._news:
            await self._news.wait_for(lambda: len(self.asked) >= times)

    async def wait_deserted(self) -> None:
        """Wait until nobody is connected any more."""
        for _ in range(MOST_TURNS):
            if self._server is None or not self._server.connections:
                return
            await asyncio.sleep(0)
        raise TimeoutError("somebody stays connected")

    async def __aenter__(self) -> Self:
        server = self._server = web.Server(self._handle)
        runner = self._runner = web.ServerRunner(server, shutdown_timeout=0.01)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=self._tls).start()
        self.port = runner.addresses[0][1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._stopping.set()
        if self._runner is not None:
            await self._runner.cleanup()

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        body = await request.read()
        asked = Asked(request.method, request.path, request.query, request.headers, body)
        self.asked.append(asked)
        if request.transport is not None:
            self.callers.add(request.transport.get_extra_info("peername"))
        async with self._news:
            self._news.notify_all()
        self._busy += 1
        self.busiest = max(self.busiest, self._busy)
        try:
            if self.gate is not None:
                await self.gate.wait()
            return await self._answer(request)
        finally:
            self._busy -= 1

    async def _answer(self, request: web.BaseRequest) -> web.StreamResponse:
        way = "watch" if request.query.get("watch") == "true" else "list"
        steps = self._scripts.get(f"{way} {request.path}") or self._scripts[request.path]
        if not steps:
            return web.json_response({"message": "no script"}, status=404)
        step = steps.popleft() if len(steps) > 1 else steps[0]
        if isinstance(step, Held):
            await step.gate.wait()
            step = step.reply
        if isinstance(step, Reply):
            return web.json_response(step.body, status=step.status, headers=dict(step.headers))
        if isinstance(step, Cut):
            _cut(request)
            return web.Response()
        response = web.StreamResponse()
        await response.prepare(request)
        for piece in step.pieces:
            await response.write(piece)
        if step.then == "hang":
            await self._stopping.wait()
        elif step.then == "cut":
            await asyncio.sleep(0.01)  # What was sent shall be read before the end is noticed.
            _cut(request)
        return response


def server_context(authority: Authority, tmp_path: Path) -> ssl.SSLContext:
    """TLS for a server on loopback, vouched for by this authority."""
    certificate, key = authority.issue_server("api", ("127.0.0.1",))
    file = tmp_path / "server.pem"
    file.write_text(certificate + key)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(file)
    return context


def _cut(request: web.BaseRequest) -> None:
    if request.transport is not None:
        request.transport.abort()


def line(kind: str, thing: Json) -> bytes:
    """One line of a watch."""
    return json.dumps({"type": kind, "object": thing}).encode() + b"\n"


def pod_json(name: str, version: int = 1, uid: str = "", **labels: str) -> Json:
    metadata = {
        "namespace": "default",
        "name": name,
        "uid": uid or f"uid-{name}",
        "resourceVersion": str(version),
        "labels": labels,
    }
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": []}}


def bookmark(version: int, ends_list: bool = False) -> bytes:
    annotations = {"k8s.io/initial-events-end": "true"} if ends_list else {}
    metadata = {"resourceVersion": str(version), "annotations": annotations}
    # A real pod bookmark has null containers.
    return line("BOOKMARK", {"metadata": metadata, "spec": {"containers": None}})


def page(pods: list[Json], version: int, more: str = "") -> Reply:
    return Reply(
        body={"metadata": {"resourceVersion": str(version), "continue": more}, "items": pods}
    )


def refusal(status: int, message: str = "no", reason: str = "", **headers: str) -> Reply:
    body = {"kind": "Status", "code": status, "message": message, "reason": reason}
    return Reply(status, body, {name.replace("_", "-"): text for name, text in headers.items()})
