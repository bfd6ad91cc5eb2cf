"""The operator's web server: liveness, readiness and (if enabled) metrics.

It knows nothing of the engine: it reads a `Health` that the operator updates, and calls `refresh`
to set gauges before a scrape. Metrics are rendered in a thread, because a large registry takes
longer than a watch event may wait.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from aiohttp import web

from headroom.limited_server import LimitedServer, ServingLimits
from headroom.runtime.metrics import Metrics

LONGEST_SILENCE_S = 90.0  # A bookmark arrives once a minute.
LONGEST_STUCK_S = 300.0  # A silent watch is reopened after 70 s, a refused one within seconds.
LONGEST_LAG_S = 10.0
METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"


@dataclass(slots=True)
class Health:
    """The health of the operator; the driver writes it, probes read it.

    A synced standby is ready: it can take over, so a rolling update can continue. `failed` is a
    permanent error: the operator is then not alive and needs a restart. The same is true if a watch
    has done nothing for minutes, not even a retry. While the watch of pods is silent, or the loop
    is late, the operator is alive but not ready.
    """

    synced: bool = False
    leading: bool = False
    stopping: bool = False
    failed: str = ""
    lag: float = 0.0  # the delay of the loop at the last check
    silent_for: Callable[[], float] = lambda: 0.0
    stuck_for: Callable[[], float] = lambda: 0.0

    @property
    def alive(self) -> bool:
        return not self.failed and self.stuck_for() <= LONGEST_STUCK_S

    @property
    def ready(self) -> bool:
        sees = self.silent_for() <= LONGEST_SILENCE_S and self.lag <= LONGEST_LAG_S
        return self.synced and not self.stopping and self.alive and sees

    def describe(self) -> str:
        """Describe the health in one line."""
        if self.failed:
            return f"failed: {self.failed}"
        if not self.alive:
            return f"a watch has done nothing for {self.stuck_for():.0f} s"
        if self.stopping:
            return "stopping"
        if not self.synced:
            return "waiting for the caches to sync"
        if self.silent_for() > LONGEST_SILENCE_S:
            return f"the watch of pods has been silent for {self.silent_for():.0f} s"
        if self.lag > LONGEST_LAG_S:
            return f"the loop is {self.lag:.0f} s late"
        return "leading" if self.leading else "standby"


@dataclass(frozen=True, slots=True)
class Address:
    host: str
    port: int

    @classmethod
    def parse(cls, text: str) -> Address:
        """Parse `HOST:PORT`, `:PORT` (every interface) or `[::1]:PORT`; else raise ValueError."""
        host, colon, port = text.rpartition(":")
        if not colon or not port.isdecimal() or int(port) > 65535:
            raise ValueError(f"{text!r} is not HOST:PORT, as in 127.0.0.1:8080")
        return cls(host.removeprefix("[").removesuffix("]") or "0.0.0.0", int(port))

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"


class HttpServer:
    """Serves /healthz and /readyz between `start` and `stop`; /metrics and more if given."""

    def __init__(
        self,
        address: Address,
        health: Health,
        metrics: Metrics | None = None,
        refresh: Callable[[], None] | None = None,
        limits: ServingLimits | None = None,
        mount: Callable[[web.Application], None] | None = None,
    ) -> None:
        self._address = address
        self._health = health
        self._metrics = metrics
        self._refresh = refresh
        self._mount = mount  # adds further routes, such as the dashboard
        self._server = LimitedServer(self._app(), limits)

    async def start(self) -> Address:
        """Listen and return the address; port 0 selects a free port."""
        return Address(*await self._server.start(self._address.host, self._address.port))

    async def stop(self) -> None:
        """Close the port; it may be called twice."""
        await self._server.stop()

    def _app(self) -> web.Application:
        app = web.Application()
        app.router.add_get("/healthz", self._healthz)
        app.router.add_get("/readyz", self._readyz)
        if self._metrics is not None:
            app.router.add_get("/metrics", self._scrape)
        if self._mount is not None:
            self._mount(app)
        return app

    async def _healthz(self, request: web.Request) -> web.Response:
        status = 200 if self._health.alive else 500
        return web.Response(text=f"{self._health.describe()}\n", status=status)

    async def _readyz(self, request: web.Request) -> web.Response:
        status = 200 if self._health.ready else 503
        return web.Response(text=f"{self._health.describe()}\n", status=status)

    async def _scrape(self, request: web.Request) -> web.Response:
        if self._metrics is None:
            raise web.HTTPNotFound
        if self._refresh is not None:  # In the loop, because it reads the engine's state.
            self._refresh()
        body = await asyncio.to_thread(self._metrics.render)
        return web.Response(body=body, headers={"Content-Type": METRICS_TYPE})
