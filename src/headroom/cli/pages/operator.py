"""The dashboard of a live operator; access depends on the address where it listens.

Errors of a page are counted and logged, and do not affect the operator.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from headroom.cli.pages.live import LiveFeed
from headroom.core.resources import EMPTY, Resources
from headroom.dashboard.access import Gate, Local, Reviewed, is_loopback
from headroom.dashboard.hub import Hub
from headroom.dashboard.pages import Pages
from headroom.dashboard.prices import Prices, held_cost
from headroom.dashboard.rows import HELD, use_of
from headroom.engine.ledger import Ledger
from headroom.errors import described, place_of
from headroom.kube.client import Client
from headroom.runtime.http import Address
from headroom.runtime.logs import LogEvent, get_logger
from headroom.runtime.metrics import Metrics
from headroom.throttle import Throttle
from headroom.wire.kind_codecs import KindCodecs


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the dashboard needs to run."""

    ledger: Ledger
    now: Callable[[], datetime]
    codecs: KindCodecs
    prices: Prices


def held_cost_of(ledger: Ledger, prices: Prices) -> tuple[str, float]:
    """The cost of guardians on nodes per hour, and its unit."""
    held: dict[str, Resources] = {}
    for pod in ledger.pods.values():
        if pod.occupies_node and use_of(pod) == HELD:
            held[pod.node] = held.get(pod.node, EMPTY) + pod.requests
    nodes = [ledger.nodes[name] for name in sorted(held) if name in ledger.nodes]
    priced = [node for node in nodes if prices.of(node) is not None]
    unit = "price" if priced else "cpu_hours"
    costs = (
        held_cost(prices.of(node), held[node.name], node.allocatable) for node in priced or nodes
    )
    return unit, round(sum(costs), 6)


def tell_cost(metrics: Metrics, ledger: Ledger, prices: Prices) -> None:
    """Set the gauge with the cost of held room."""
    unit, amount = held_cost_of(ledger, prices)
    metrics.held_cost.clear()
    metrics.held_cost.labels(unit).set(amount)


def operator_page(
    address: Address, client: Client, metrics: Metrics, around: Surroundings
) -> tuple[LiveFeed, Pages]:
    """The feed that receives events, and the routes that serve it."""
    throttle = Throttle()

    def trouble(error: Exception) -> None:
        metrics.contained.labels("page").inc()
        if throttle.allows(place_of(error), time.monotonic()):
            log = get_logger()
            log.error(LogEvent.PAGE_FAILED, why=described(error), at=place_of(error))

    server = client.access.endpoint.server
    feed = LiveFeed(around.ledger, around.now, around.codecs, trouble, around.prices, server)
    gate: Gate = Local() if is_loopback(address.host) else Reviewed(client)
    return feed, Pages(Hub(feed, trouble), gate)
