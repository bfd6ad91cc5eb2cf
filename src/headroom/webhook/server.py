"""The webhook's only port: reviews, health and metrics over TLS.

API servers send reviews, kubelets check health, Prometheus scrapes metrics. Callers are not
authenticated: an answer says only whether a pod like the given one would be gated. `reviews`
decides, `certificate_controller` has the certificates, `headroom.limited_server` limits what
callers can use.
"""

from __future__ import annotations

import ssl
from collections.abc import Callable, Mapping

import structlog
from aiohttp import web
from prometheus_client import CollectorRegistry, Counter, Gauge, generate_latest

from headroom.limited_server import Bodies, LimitedServer, ServingLimits
from headroom.webhook.reviews import Judge, NoReview, ReviewVerdict

log = structlog.get_logger("headroom.webhook")

LARGEST_REVIEW = 8 * 2**20  # An API server accepts objects of up to 3 MiB.
LIMITS = ServingLimits(largest_body=LARGEST_REVIEW)
METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class WebhookMetrics:
    """The metrics of the webhook."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.reviews = Counter(
            "headroom_webhook_reviews",
            "Pods that API servers asked about, by outcome.",
            ["answer"],
            registry=self.registry,
        )
        self.certificate_ends = Gauge(
            "headroom_webhook_certificate_ends_seconds",
            "When the certificate that is served ends, in seconds since 1970.",
            registry=self.registry,
        )

    def note(self, verdict: ReviewVerdict) -> None:
        answer = "unreadable" if verdict.unreadable else "left" if verdict.why else "gated"
        self.reviews.labels(answer).inc()


class Server:
    """Answers between `start` and `stop`; `why_not_ready` says why it is not ready."""

    def __init__(
        self,
        judges: Mapping[str, Judge],
        numbers: WebhookMetrics,
        why_not_ready: Callable[[], str],
        limits: ServingLimits = LIMITS,
        *,
        metrics: bool = False,
    ) -> None:
        self._judges = judges
        self._numbers = numbers
        self._why_not_ready = why_not_ready
        self._open_metrics = metrics
        self._bodies = Bodies(limits)
        self._server = LimitedServer(self._app(), limits)

    async def start(self, host: str, port: int, tls: ssl.SSLContext) -> tuple[str, int]:
        """Listen and return the address; port 0 selects a free port."""
        return await self._server.start(host, port, tls)

    @property
    def connections(self) -> int:
        """How many connections are open."""
        return self._server.connections

    async def stop(self) -> None:
        """Close the port; it may be called twice."""
        await self._server.stop()

    def _app(self) -> web.Application:
        app = web.Application()
        for path in self._judges:
            app.router.add_post(path, self._review)
        app.router.add_get("/healthz", self._healthz)
        app.router.add_get("/readyz", self._readyz)
        if self._open_metrics:
            app.router.add_get("/metrics", self._metrics)
        return app

    async def _review(self, request: web.Request) -> web.Response:
        with self._bodies.room() as mine:
            body = await self._bodies.read(request, mine)
            try:
                verdict = self._judges[request.path].answer(body)
            except NoReview as error:
                return web.Response(status=400, text=f"{error}\n")
        self._numbers.note(verdict)
        if verdict.unreadable:
            log.warning("review_unreadable", namespace=verdict.namespace, problem=verdict.why)
        else:
            log.debug("reviewed", namespace=verdict.namespace, left_alone=verdict.why or None)
        return web.Response(body=verdict.body, content_type="application/json")

    async def _healthz(self, request: web.Request) -> web.Response:
        return web.Response(text="alive\n")

    async def _readyz(self, request: web.Request) -> web.Response:
        why_not = self._why_not_ready()
        return web.Response(text=f"{why_not or 'ready'}\n", status=503 if why_not else 200)

    async def _metrics(self, request: web.Request) -> web.Response:
        body = generate_latest(self._numbers.registry)
        return web.Response(body=body, headers={"Content-Type": METRICS_TYPE})
