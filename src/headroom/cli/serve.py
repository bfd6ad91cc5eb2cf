"""Build one live replica of the operator from its parts, and run it until it ends.

This module connects the pure engine with a real cluster, a Lease, logs, metrics and signals. `run`
parses the command line and calls `serve`; tests do the same with their own `Access`.
"""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from typing import Any

from headroom import __version__
from headroom.cli.errors import Misuse
from headroom.cli.formats.progress import waiting
from headroom.cli.live.signals import stopping_on_signals
from headroom.cli.output import put
from headroom.cli.pages.live import LiveFeed
from headroom.cli.pages.operator import Surroundings, operator_page, tell_cost
from headroom.cli.placeholders import settle
from headroom.core.names import LEASE_NAME
from headroom.core.policy import Policy
from headroom.dashboard.prices import Prices
from headroom.dialects.proactive.objects import headroom_object
from headroom.dialects.proactive.options import Options
from headroom.engine.engine import Engine
from headroom.errors import HeadroomError
from headroom.kube.access import Access
from headroom.kube.client import Client
from headroom.kube.cluster import KubeCluster
from headroom.kube.errors import RequestForbidden
from headroom.kube.features import abilities, serves
from headroom.kube.lease import KubeLease
from headroom.kube.other_controllers import check_rivals, has_karpenter
from headroom.kube.permissions import all_missing
from headroom.kube.prerequisites import keep_prepared, prepare
from headroom.kube.versions import SUPPORTED_RANGE
from headroom.runtime.clock import ServerClock
from headroom.runtime.gauges import CountingChronicle, Gauges
from headroom.runtime.http import Address, Health, HttpServer
from headroom.runtime.lag import measure_lag
from headroom.runtime.loglimits import LogLimits
from headroom.runtime.logs import LogEvent, get_logger, tell_suppressed
from headroom.runtime.metrics import Metrics
from headroom.runtime.operator import Operator
from headroom.wire.install.rights import rights, served_namespaces
from headroom.wire.kind_codecs import NATIVE, KindCodecs
from headroom.wire.kinds import DAEMON_SETS, NAMESPACES, SLOT_SETS

NOTHING_AHEAD = Options()
NO_PRICES = Prices()
USUAL_POLICY = Policy()
DEFAULT_NAMESPACE = "headroom-system"
SUPPRESSED_TOLD_S = 30.0


class LostTheLead(HeadroomError):
    """Another replica may lead now; two replicas must never act at once."""

    exit_code = 3


class StoppedByBug(HeadroomError):
    """The driver detected a bug; it stopped acting and the process ends."""

    exit_code = 4


@dataclass(frozen=True, slots=True)
class ServeSettings:
    """The settings from the command line."""

    access: Access
    namespace: str = ""
    http: Address | None = None
    probes: Address | None = None
    policy: Policy = USUAL_POLICY  # the part of it that the command line decides
    namespaces: tuple[str, ...] = ()
    node_overhead: bool | None = None  # None: if Karpenter is installed, or as soon as it is
    codecs: KindCodecs = NATIVE
    ahead: Options = NOTHING_AHEAD
    log_limits: LogLimits | None = None
    prices: Prices = NO_PRICES

    @property
    def home(self) -> str:
        """The operator's own namespace."""
        return home_of(self.access, self.namespace)

    def placeholders(self) -> tuple[dict[str, Any], ...]:
        """The Headroom for the flags of proactive scale-up, if they are set."""
        return (headroom_object(self.ahead, self.home),) if self.ahead.enabled else ()


def home_of(access: Access, named: str) -> str:
    """The namespace of our program: given, or the pod's own, or the default."""
    in_pod = access.user.token_file and os.environ.get("KUBERNETES_SERVICE_HOST")
    return named or (access.namespace if in_pod else DEFAULT_NAMESPACE)


class Replica:
    """One replica of the operator with all its parts."""

    def __init__(self, settings: ServeSettings) -> None:
        self._home = settings.home
        self._client = Client(settings.access)
        self._codecs = settings.codecs
        self._served = served_namespaces(settings.namespaces, settings.home, settings.codecs)
        self._ahead = settings.ahead
        self._log_limits = settings.log_limits
        self._cluster = KubeCluster(self._client, codecs=self._codecs)
        self._cluster.awaits_autoscaler = settings.node_overhead is None
        self._health = Health(
            silent_for=self._cluster.silent_for, stuck_for=self._cluster.stuck_for
        )
        self._metrics = metrics = Metrics(__version__)
        self._clock = clock = ServerClock(self._client.server_time.now, skewed=_tell_skew)
        census = Gauges(metrics, clock)
        engine = Engine(
            replace(
                settings.policy,
                namespace=settings.home,
                namespaces=frozenset(self._served),
                scheduler_names=self._codecs.schedulers,
                own_objects=self._codecs.own_objects(settings.placeholders()),
                node_overhead=bool(settings.node_overhead),
                slot_sets=SLOT_SETS in self._codecs.resources,
            )
        )
        self._operator = Operator(
            cluster=self._cluster,
            clock=clock,
            engine=engine,
            lease=KubeLease(self._client.lane(), LEASE_NAME, settings.home, identity()),
            reporter=CountingChronicle(metrics, self._health, announce, census),
            silence=self._cluster.silent_for,
        )
        self._cluster.on_unreadable = metrics.contained.labels("decode").inc
        self._servers: list[tuple[str, HttpServer]] = []
        self._feed: LiveFeed | None = None
        if settings.probes is not None:
            self._servers.append(("--probes", HttpServer(settings.probes, self._health)))
        if settings.http is not None:
            around = Surroundings(engine.ledger, clock.now, self._codecs, settings.prices)
            self._feed, pages = operator_page(settings.http, self._client, metrics, around)
            census.listeners.append(self._feed.see)
            served = HttpServer(
                settings.http,
                self._health,
                metrics,
                partial(_refresh, census, metrics, around),
                mount=pages.mount,
            )
            self._servers.append(("--http", served))

    async def run(self) -> None:
        """Run until stopped; raise errors that the user should read."""
        log = get_logger()
        try:
            with waiting(f"asking {self._client.access.endpoint.server}"):
                kubernetes = await self._cluster.probe()
            log.info(LogEvent.STARTING, version=__version__, kubernetes=kubernetes)
            await self._tell_features(kubernetes)
            for flag, server in self._servers:
                log.info(LogEvent.HTTP_LISTENING, address=await self._listen(flag, server))
            with stopping_on_signals(self._stop):
                await self._get_ready()
                await self._operate()
        except RequestForbidden as refused:
            roles = rights(self._home, self._codecs, served=self._served)
            raise await all_missing(self._client, refused, roles) from refused
        finally:
            for _, server in self._servers:
                await server.stop()
            await self._client.close()
        self._judge_the_end()
        log.info(LogEvent.STOPPED)

    async def _get_ready(self) -> None:
        """Prepare the cluster before anything is watched; on a terminal, show the progress."""
        with waiting("checking whether another controller serves the dialects"):
            await check_rivals(self._client, self._codecs, self._clock.now())
        with waiting("creating PriorityClasses and admission policies"):
            await prepare(self._client, self._home, self._codecs)
        with waiting(f"checking the namespace {self._home}"):
            await self._check_home()
        with waiting("settling the placeholders"):
            await settle(self._client, self._home, self._ahead, self._clock.now())

    async def _tell_features(self, kubernetes: str) -> None:
        found = await abilities(self._client, kubernetes)
        get_logger().info(LogEvent.FEATURES, has=found.named(True), lacks=found.named(False))
        if found.trouble:
            hint = f"use Kubernetes {SUPPORTED_RANGE}; this version is not tested"
            get_logger().warning(LogEvent.UNSUPPORTED, why=found.trouble, hint=hint)

    async def _operate(self) -> None:
        telling = asyncio.create_task(self._tell_suppressed())
        drawing = asyncio.create_task(self._feed.keep_time()) if self._feed else telling
        measuring = asyncio.create_task(measure_lag(self._note_lag))
        keeping = asyncio.create_task(keep_prepared(self._client, self._home, self._codecs))
        try:
            await self._operator.run()
        finally:
            telling.cancel()
            drawing.cancel()
            measuring.cancel()
            keeping.cancel()
            if self._log_limits is not None:
                tell_suppressed(self._log_limits)

    def _note_lag(self, seconds: float) -> None:
        self._health.lag = seconds
        self._metrics.loop_lag.set(seconds)

    async def _tell_suppressed(self) -> None:
        while self._log_limits is not None:
            await asyncio.sleep(SUPPRESSED_TOLD_S)
            tell_suppressed(self._log_limits)

    async def _check_home(self) -> None:
        """Check the operator's namespace: without it there is no Lease, and no leader."""
        answer = await self._client.send("GET", NAMESPACES.path(name=self._home), repeatable=True)
        if answer.status == 404:
            raise Misuse(
                f"namespace {self._home} of the Lease is missing and cannot be created",
                f"kubectl create namespace {self._home}, or choose another with --namespace",
            )

    async def _listen(self, flag: str, server: HttpServer) -> Address:
        try:
            return await server.start()
        except OSError as trouble:
            raise Misuse(
                f"{flag}: cannot listen: {trouble.strerror or trouble}", "choose another HOST:PORT"
            ) from trouble

    def _stop(self) -> None:
        get_logger().info(LogEvent.STOPPING)
        self._health.stopping = True
        self._operator.stop()

    def _judge_the_end(self) -> None:
        """Distinguish a requested end from an unexpected one."""
        if self._health.failed:
            raise StoppedByBug(f"stopped acting because of a bug: {self._health.failed}")
        if not self._health.stopping:
            raise LostTheLead(
                "lost the lead, so this replica stops: two replicas must never act at once",
                "a Deployment starts it again; see docs/operating/troubleshooting.md",
            )


def start(settings: ServeSettings) -> None:
    """Run a replica until it ends."""
    asyncio.run(serve(settings))


async def serve(settings: ServeSettings) -> None:
    """Create a replica inside the running loop, and run it."""
    await Replica(await _as_found(settings)).run()


async def _as_found(settings: ServeSettings) -> ServeSettings:
    """The settings for the kinds that the cluster serves: Karpenter's kinds, and SlotSets.

    An operator that is newer than the installed CRDs works without SlotSets.
    """
    counted = settings.node_overhead
    async with Client(settings.access) as client:
        counted = (await has_karpenter(client) or None) if counted is None else counted
        controlled = await serves(client, SLOT_SETS)
    also = (*((DAEMON_SETS,) if counted else ()), *((SLOT_SETS,) if controlled else ()))
    codecs = settings.codecs.following(also)
    return replace(settings, node_overhead=counted, codecs=codecs)


def _refresh(census: Gauges, metrics: Metrics, around: Surroundings) -> None:
    """Set the gauges to their current values."""
    census.refresh(around.ledger.pods)
    tell_cost(metrics, around.ledger, around.prices)


def _tell_skew(by: timedelta) -> None:
    get_logger().warning(LogEvent.CLOCK_SKEW, set_by_seconds=round(by.total_seconds()))


def identity() -> str:
    """The name of this replica in the Lease."""
    return f"{socket.gethostname()}-{os.getpid()}"


def announce() -> None:
    """Print that the operator is ready; users and scripts wait for this line."""
    put("ready")
    sys.stdout.flush()
