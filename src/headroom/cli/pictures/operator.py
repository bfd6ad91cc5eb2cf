"""The page beside a live operator: who may see it depends on where it listens.

Whatever goes wrong with a page is counted and logged, and stays with the page.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from headroom.cli.pictures.live import LiveFeed
from headroom.dashboard.access import Gate, Local, Reviewed, is_loopback
from headroom.dashboard.hub import Hub
from headroom.dashboard.pages import Pages
from headroom.dashboard.prices import Prices
from headroom.engine.containment.quarantine import described, place_of
from headroom.engine.ledger import Ledger
from headroom.kube.client import Client
from headroom.runtime.http import Address
from headroom.runtime.logs import LogEvent, get_logger
from headroom.runtime.metrics import Metrics
from headroom.throttle import Throttle
from headroom.wire.speech import Speech


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the page is made from."""

    ledger: Ledger
    now: Callable[[], datetime]
    speech: Speech
    prices: Prices


def operator_page(
    address: Address, client: Client, metrics: Metrics, around: Surroundings
) -> tuple[LiveFeed, Pages]:
    """The feed that hears of events, and the routes that show it."""
    throttle = Throttle()

    def trouble(error: Exception) -> None:
        metrics.contained.labels("page").inc()
        if throttle.allows(place_of(error), time.monotonic()):
            log = get_logger()
            log.error(LogEvent.PAGE_FAILED, why=described(error), at=place_of(error))

    server = client.access.endpoint.server
    feed = LiveFeed(around.ledger, around.now, around.speech, trouble, around.prices, server)
    gate: Gate = Local() if is_loopback(address.host) else Reviewed(client)
    return feed, Pages(Hub(feed, trouble), gate)
