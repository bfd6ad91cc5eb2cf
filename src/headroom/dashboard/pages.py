"""The routes of the dashboard: files, data, stream. Read-only, except a simulation's clock.

A stream sends a snapshot, then differences, at most one a second. Changes for a slow reader are
combined into one difference. A reader that reads nothing for ten seconds is disconnected.
"""

from __future__ import annotations

import asyncio
import math
from contextlib import suppress
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Protocol

import msgspec
from aiohttp import web
from aiohttp.typedefs import Handler

from headroom.dashboard.access import Gate
from headroom.dashboard.document import Document, VisibleScope, namespaces_of
from headroom.dashboard.hub import Hub, NoSnapshot
from headroom.wire.errors import UNREADABLE_JSON

LONGEST_NAME = 1000
CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
HEADERS = {
    "Content-Security-Policy": CSP,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}
TYPES = {
    ".html": "text/html",
    ".css": "text/css",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
}
SCRIPTS = tuple(
    f"{name}.js"
    for name in (
        "format",
        "state",
        "data",
        "nodes",
        "charts",
        "schedules",
        "tables",
        "details",
        "clock",
        "app",
    )
)
CONTROL_HEADER = "X-Headroom-Control"


@dataclass(frozen=True, slots=True)
class StreamLimits:
    """Limits for pages; times are in seconds."""

    streams: int = 32
    write_seconds: float = 10.0
    ping_seconds: float = 15.0
    review_seconds: float = 60.0


class Clockwork(Protocol):
    """A simulation whose clock users control."""

    def control(self, wish: dict[str, Any]) -> dict[str, Any]:
        """Pause, continue or change the speed; raise ValueError for a wrong request."""
        ...

    def frame(self, at: float) -> Document | None:
        """The snapshot at a time, in virtual seconds since the start."""
        ...


def asset(name: str) -> bytes:
    """A file of the page."""
    return files("headroom.dashboard").joinpath("static", name).read_bytes()


class Pages:
    """Adds the dashboard's routes to a web application."""

    def __init__(
        self,
        hub: Hub,
        gate: Gate,
        clockwork: Clockwork | None = None,
        limits: StreamLimits | None = None,
    ) -> None:
        self._limits = limits or StreamLimits()
        self._hub = hub
        self._gate = gate
        self._clockwork = clockwork
        self._assets: dict[str, bytes] = {}
        self._explaining = asyncio.Semaphore(1)
        self._finding = asyncio.Semaphore(1)
        self.streams = self.peak = 0
        self.sent = 0

    def mount(self, app: web.Application) -> None:
        """Add the routes; other routes are not changed."""
        routes: dict[str, Handler] = {
            "/": self._index,
            "/static/{name}": self._static,
            "/api/v1/snapshot": self._snapshot,
            "/api/v1/stream": self._stream,
            "/api/v1/node": self._node,
            "/api/v1/pods": self._pods,
            "/api/v1/explain": self._explain,
        }
        for path, handler in routes.items():
            app.router.add_get(path, _strict(handler))
        if self._clockwork is not None:
            app.router.add_get("/api/v1/frame", _strict(self._frame))
            app.router.add_post("/api/v1/control", _strict(self._control))

    async def _index(self, request: web.Request) -> web.Response:
        return self._file("index.html")

    async def _static(self, request: web.Request) -> web.Response:
        name = request.match_info["name"]
        if name not in (*SCRIPTS, "style.css", "icon.svg"):
            raise web.HTTPNotFound(text="there is no such file\n")
        return self._file(name)

    def _file(self, name: str) -> web.Response:
        if name not in self._assets:
            self._assets[name] = asset(name)
        kind = TYPES[name[name.rindex(".") :]]
        return web.Response(
            body=self._assets[name], content_type=kind, charset="utf-8", headers=HEADERS
        )

    async def _seen(self, request: web.Request, asked: str = "") -> tuple[Document, VisibleScope]:
        """The newest snapshot, and what the user may see of it and of one namespace."""
        # Check access first: a snapshot costs more than a refusal.
        try:
            scope = await self._gate.scope(request, ())
        except web.HTTPForbidden:
            scope = None
        try:
            document = await self._hub.current()
        except NoSnapshot as trouble:
            text = "the snapshot of the cluster could not be built; the log says why\n"
            raise web.HTTPServiceUnavailable(text=text) from trouble
        if scope is None or not scope.everything:
            namespaces = namespaces_of(document) | {asked}
            scope = await self._gate.scope(request, namespaces)
        return document, scope

    async def _snapshot(self, request: web.Request) -> web.Response:
        document, scope = await self._seen(request)
        return _json(self._hub.snapshot(document, scope))

    async def _node(self, request: web.Request) -> web.Response:
        _, scope = await self._seen(request)
        name = request.query.get("name", "")
        if not scope.nodes:
            raise web.HTTPForbidden(text="you may not list nodes\n")
        found = await self._hub.feed.pods_on(name) if len(name) <= LONGEST_NAME else None
        if found is None:
            raise web.HTTPNotFound(text="there is no such node\n")
        shown = [row for row in found if scope.sees_pods(row["namespace"])]
        return _json(
            msgspec.json.encode({"node": name, "pods": shown, "hidden": len(found) - len(shown)})
        )

    async def _pods(self, request: web.Request) -> web.Response:
        text = request.query.get("name", "")
        namespace, slash, _ = text.partition("/")
        _, scope = await self._seen(request, namespace if slash else "")
        if not text or len(text) > LONGEST_NAME:
            raise web.HTTPBadRequest(text="name=PART of a pod's name is needed\n")
        async with self._finding:
            return _json(msgspec.json.encode(await self._hub.feed.find_pods(text, scope)))

    async def _explain(self, request: web.Request) -> web.Response:
        reference = request.query.get("object", "")
        kind, _, place = reference.partition("/")
        namespace, slash, name = place.partition("/")
        _, scope = await self._seen(request, namespace)
        if not slash or not name or len(reference) > LONGEST_NAME:
            raise web.HTTPBadRequest(text="object=Kind/namespace/name is needed\n")
        allowed = scope.sees_pods if kind == "Pod" else scope.sees_objects
        if not allowed(namespace):
            raise web.HTTPForbidden(text="you may not list these there\n")
        async with self._explaining:
            found = await self._hub.feed.explain(reference, scope)
        if found is None:
            raise web.HTTPNotFound(text="there is no such object\n")
        return _json(msgspec.json.encode(found))

    async def _stream(self, request: web.Request) -> web.StreamResponse:
        if self.streams >= self._limits.streams:
            text = f"{self._limits.streams} pages are open already; close one\n"
            raise web.HTTPServiceUnavailable(text=text, headers={"Retry-After": "10"})
        self.streams += 1
        self.peak = max(self.peak, self.streams)
        response = web.StreamResponse(
            headers={**HEADERS, "Content-Type": "text/event-stream", "X-Accel-Buffering": "no"}
        )
        try:
            document, scope = await self._seen(request)
            await response.prepare(request)
            # A stream that has begun cannot become a refusal. It ends; the page reconnects and gets
            # the refusal then.
            with suppress(web.HTTPException, NoSnapshot):
                await self._follow(request, response, document, scope)
        except (ConnectionError, TimeoutError):
            if request.transport is not None:  # Do not wait for a page that reads nothing.
                request.transport.abort()
        finally:
            self.streams -= 1
        return response

    async def _follow(
        self,
        request: web.Request,
        response: web.StreamResponse,
        document: Document,
        scope: VisibleScope,
    ) -> None:
        hub, loop = self._hub, asyncio.get_running_loop()
        known = hub.past(request.headers.get("Last-Event-ID", ""))
        if known is None or not scope.everything:
            await self._write(
                response, "snapshot", hub.id_of(document), hub.snapshot(document, scope)
            )
        elif known is not document and (change := hub.change(known, document, scope)):
            await self._write(response, "difference", hub.id_of(document), change)
        spoken = reviewed = loop.time()
        while True:
            await asyncio.sleep(hub.pace)
            newest = await hub.current()
            if loop.time() - reviewed >= self._limits.review_seconds:
                reviewed = loop.time()
                if await self._gate.scope(request, namespaces_of(newest)) != scope:
                    return  # Permissions have changed: the page reconnects and starts again.
            change = b""
            if newest["revision"] != document["revision"]:
                change = hub.change(document, newest, scope)
            if change:
                # If the user sees no difference, the next one starts from the same snapshot.
                document = newest
                await self._write(response, "difference", hub.id_of(newest), change)
                spoken = loop.time()
            elif loop.time() - spoken >= self._limits.ping_seconds:
                await self._send(response, b": still here\n\n")
                spoken = loop.time()

    async def _write(
        self, response: web.StreamResponse, event: str, event_id: str, data: bytes
    ) -> None:
        """Write one message; JSON has no line breaks."""
        head = f"id: {event_id}\nevent: {event}\ndata: ".encode()
        await self._send(response, head + data + b"\n\n")
        self.sent += 1

    async def _send(self, response: web.StreamResponse, data: bytes) -> None:
        async with asyncio.timeout(self._limits.write_seconds):
            await response.write(data)

    async def _frame(self, request: web.Request) -> web.Response:
        await self._gate.scope(request, ())
        try:
            at = float(request.query.get("at", ""))
        except ValueError:
            at = math.nan
        if not math.isfinite(at):
            raise web.HTTPBadRequest(text="at=SECONDS is needed\n")
        found = self._clockwork.frame(at) if self._clockwork is not None else None
        if found is None:
            raise web.HTTPNotFound(text="nothing was seen at that time\n")
        return _json(msgspec.json.encode(found))

    async def _control(self, request: web.Request) -> web.Response:
        await self._gate.scope(request, ())
        if request.headers.get(CONTROL_HEADER) != "1" or self._clockwork is None:
            raise web.HTTPForbidden(text=f"the header {CONTROL_HEADER}: 1 is needed\n")
        try:
            wish = msgspec.json.decode(await request.content.read(1000), type=dict[str, Any])
            return _json(msgspec.json.encode(self._clockwork.control(wish)))
        except (ValueError, *UNREADABLE_JSON) as trouble:
            raise web.HTTPBadRequest(text=f"{trouble}\n") from None


def _strict(handler: Handler) -> Handler:
    """A handler whose refusals have the same headers as its answers."""

    async def answered(request: web.Request) -> web.StreamResponse:
        try:
            return await handler(request)
        except web.HTTPException as refusal:
            refusal.headers.update(HEADERS)
            raise

    return answered


def _json(body: bytes) -> web.Response:
    return web.Response(body=body, content_type="application/json", headers=HEADERS)
