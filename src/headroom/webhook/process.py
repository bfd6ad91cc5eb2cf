"""One replica of the webhook, built from its parts and run until it is stopped.

It answers once it has a certificate and has read every claim index. From then on it maintains its
certificates and watches the indexes. `cli.webhook` has the command line.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

import structlog

from headroom.errors import HeadroomError
from headroom.kube.access import Access
from headroom.kube.client import Client
from headroom.kube.watch_scope import WatchTuning
from headroom.webhook.certificate_controller import CertificateKeeper, CertificateTimes
from headroom.webhook.indexes import TUNING, ClaimIndexes
from headroom.webhook.registered import WebhookObjects
from headroom.webhook.reviews import asks_judge, claims_judge
from headroom.webhook.server import Server, WebhookMetrics
from headroom.wire.kind_codecs import NATIVE, KindCodecs
from headroom.wire.webhook import ASKS_PATH, CLAIMS_PATH

log = structlog.get_logger("headroom.webhook")


class CannotListen(HeadroomError):
    """The port is not available."""

    exit_code = 2


@dataclass(frozen=True, slots=True)
class WebhookSettings:
    """The settings from the command line."""

    access: Access
    home: str
    host: str
    port: int
    codecs: KindCodecs = NATIVE
    metrics: bool = False
    times: CertificateTimes = field(default_factory=CertificateTimes)
    following: WatchTuning = TUNING


class Webhook:
    """One replica."""

    def __init__(self, settings: WebhookSettings, ready: Callable[[], None]) -> None:
        self._settings = settings
        self._announce = ready
        self._client = Client(settings.access)
        self._indexes = ClaimIndexes(self._client, settings.following)
        objects = WebhookObjects(self._client, settings.home)
        self._keeper = CertificateKeeper(objects, settings.home, settings.times)
        self._numbers = WebhookMetrics()
        self._numbers.certificate_ends.set_function(self._certificate_ends)
        codecs, index_of = settings.codecs, self._indexes.of
        judges = {CLAIMS_PATH: claims_judge(index_of, codecs)}
        if codecs.asks:
            judges[ASKS_PATH] = asks_judge(index_of, codecs)
        self._server = Server(judges, self._numbers, self._why_not_ready, metrics=settings.metrics)
        self._stop = asyncio.Event()

    async def run(self) -> None:
        """Serve until stopped; raise errors that the user should read."""
        following = asyncio.create_task(self._indexes.run(), name="follow claim indexes")
        serving = asyncio.create_task(self._serve(), name="serve")
        stopped = asyncio.create_task(self._stop.wait(), name="wait for the end")
        try:
            await asyncio.wait({following, serving, stopped}, return_when=asyncio.FIRST_COMPLETED)
            for task in (following, serving):
                if task.done():
                    task.result()
        finally:
            for ending in (following, serving, stopped):
                ending.cancel()
            await asyncio.gather(following, serving, stopped, return_exceptions=True)
            await self._server.stop()
            await self._client.close()

    def stop(self) -> None:
        """Ask for the end."""
        self._stop.set()

    async def _serve(self) -> None:
        """Start with a certificate and all indexes, then maintain the certificates."""
        settings = self._settings
        await self._keeper.begin()
        await self._indexes.synced.wait()
        try:
            host, port = await self._server.start(settings.host, settings.port, self._keeper.tls)
        except OSError as trouble:
            raise CannotListen(
                f"--listen: cannot listen: {trouble.strerror or trouble}",
                "choose another HOST:PORT",
            ) from trouble
        log.info("webhook_listening", host=host, port=port)
        await self._keeper.register_trust()
        self._announce()
        await self._keeper.run()

    def _why_not_ready(self) -> str:
        return "stopping" if self._stop.is_set() else ""

    def _certificate_ends(self) -> float:
        ends = self._keeper.ends
        return ends.timestamp() if ends is not None else 0.0
