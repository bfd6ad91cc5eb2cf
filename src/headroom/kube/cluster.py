"""A real cluster behind the port: informers merged into one stream, actions sent as writes.

The stream goes through one bounded queue of batches: a slow reader slows down the sockets instead
of filling the memory. Events of one kind keep the API server's order; there is no order between
kinds, as in the API server. `connect` creates everything from a kubeconfig.
"""

from __future__ import annotations

import asyncio
import gc
from collections import Counter
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec
import structlog

from headroom.core.actions import (
    Action,
    CreateGuardian,
    Denied,
    Gone,
    Invalid,
    Outcome,
    Tell,
)
from headroom.kube.answers import no_kubernetes
from headroom.kube.client import Client
from headroom.kube.errors import KubeError, NoSuchKind
from headroom.kube.informer_set import BatchQueue, Gathering, WatchSource
from headroom.kube.kubeconfig import find_access
from headroom.kube.outcomes import outcome_of, outcome_of_trouble, repeatable
from headroom.kube.watch_scope import Trouble, WatchHealth, WatchScope, WatchTuning
from headroom.ports import Event, Synced
from headroom.throttle import Throttle
from headroom.wire.errors import UNREADABLE_JSON
from headroom.wire.events import EventRecorder
from headroom.wire.kind_codecs import NATIVE, KindCodecs
from headroom.wire.kinds import CLAIM_INDEXES, LIMIT_RANGES, PODS, Resource
from headroom.wire.objects.limitranges import is_about_limits, with_limit_range
from headroom.wire.writes import Write

QUEUED_BATCHES = 256
UNBOUND = "spec.nodeName="  # Owners that wait are among these pods; a new list reads them first.

log = structlog.get_logger("headroom.kube")


@dataclass(slots=True)
class Stats:
    """Counters for metrics; they only grow."""

    events: Counter[str] = field(default_factory=Counter)  # by kind of event: Seen, Lost
    outcomes: Counter[tuple[str, str]] = field(default_factory=Counter)  # (action, outcome)
    troubles: Counter[str] = field(default_factory=Counter)  # by resource
    unreadable: int = 0  # objects that could not be decoded


class KubeCluster:
    """One API server as a Cluster."""

    def __init__(
        self,
        client: Client,
        scopes: tuple[WatchScope, ...] | None = None,
        tuning: WatchTuning | None = None,
        on_trouble: Callable[[Trouble], None] | None = None,
        codecs: KindCodecs = NATIVE,
    ) -> None:
        self.client = client
        self.stats = Stats()
        self._scopes = scopes_of(codecs) if scopes is None else scopes
        self._codecs = codecs
        self._tuning = tuning
        self._on_trouble = on_trouble or _log_trouble
        self._recorder = EventRecorder()
        self._last_trouble: dict[str, str] = {}
        self._throttle = Throttle()
        self._pulses: dict[Resource, WatchHealth] = {}
        self.on_unreadable: Callable[[], object] = lambda: None  # counted by a metric
        self.awaits_autoscaler = False  # True: the stream reports when Karpenter is installed
        self._encoder = msgspec.json.Encoder()
        # While claim indexes are fresh, pods are gated; a burst must not make them stale.
        self._index_lane = client.lane()

    async def probe(self) -> str:
        """Request the server's version once, without retries; raise an error for the user."""
        try:
            body = await self.client.get("/version", "read the server's version")
            return msgspec.json.decode(body, type=_ServerVersion).git_version
        except (NoSuchKind, *UNREADABLE_JSON) as error:
            raise no_kubernetes(self.client.access.endpoint.server) from error

    async def watch(self) -> AsyncGenerator[Event, None]:
        """Yield everything that exists, then `Synced`, then every change."""
        queue = BatchQueue(QUEUED_BATCHES)
        informers = asyncio.ensure_future(self._run_informers(queue))
        try:
            while True:
                batch = await queue.get()
                if isinstance(batch, Exception):
                    raise batch
                for event in batch:
                    self.stats.events[type(event).__name__] += 1
                    yield event
                    if isinstance(event, Synced):
                        # These objects stay: Python's garbage collector need not check them again.
                        gc.collect()
                        gc.freeze()
        finally:
            informers.cancel()
            await asyncio.gather(informers, return_exceptions=True)

    async def perform(self, action: Action) -> Outcome:
        """Perform one write; errors become an Outcome."""
        if isinstance(action, Tell):
            outcome = await self._tell(action)
        else:
            outcome = await self._send(self._codecs.render(action))
        if isinstance(action, CreateGuardian) and isinstance(outcome, Denied | Invalid):
            message = await self._with_limit_range(outcome.message, action.hold.guardian_namespace)
            outcome = replace(outcome, message=message)
        self.stats.outcomes[type(action).__name__, type(outcome).__name__] += 1
        return outcome

    def silent_for(self) -> float:
        """Seconds since the watch of pods last received something."""
        pulse = self._pulses.get(PODS)
        return pulse.silent_for if pulse is not None else 0.0

    def stuck_for(self) -> float:
        """The longest time in seconds since any watch last did something."""
        return max((pulse.stuck_for for pulse in self._pulses.values()), default=0.0)

    async def close(self) -> None:
        """Close the connections; the reader of a running watch cancels it."""
        await self.client.close()

    async def _tell(self, tell: Tell) -> Outcome:
        outcome = await self._send(self._recorder.write(tell))
        if isinstance(outcome, Gone):  # Events live for an hour; the next one starts a new count.
            self._recorder.forget(tell)
            outcome = await self._send(self._recorder.write(tell))
        return outcome

    async def _with_limit_range(self, message: str, namespace: str) -> str:
        """A refusal with the name of its LimitRange, if we may list them.

        Refusals are rare: each pauses its parent, longer each time.
        """
        if not is_about_limits(message):
            return message
        try:
            body = await self.client.get(LIMIT_RANGES.path(namespace), "list the LimitRanges")
            ranges = msgspec.json.decode(body, type=_Items).items
        except (KubeError, *UNREADABLE_JSON):
            return message
        return with_limit_range(message, namespace, ranges)

    async def _send(self, write: Write) -> Outcome:
        path = write.path
        if write.query:
            path += "?" + "&".join(f"{name}={value}" for name, value in write.query)
        client = self._index_lane if write.resource == CLAIM_INDEXES else self.client
        try:
            answer = await client.send(
                write.method,
                path,
                self._encoder.encode(write.body),
                write.content_type,
                repeatable(write),
            )
        except KubeError as error:
            return outcome_of_trouble(error)
        return outcome_of(write, answer)

    async def _run_informers(self, queue: BatchQueue) -> None:
        """Run all informers; the first one that ends, for whatever reason, ends the stream.

        A dead watch must never look like a cluster without changes.
        """
        source = WatchSource(
            self.client, self._codecs, self._tuning, self._pulses, self.awaits_autoscaler
        )
        try:
            await Gathering(source, queue.put, self._note_trouble).run(self._scopes)
        except* Exception as failed:
            await queue.put(_first(failed))

    def _note_trouble(self, trouble: Trouble) -> None:
        """Count every error; report an error only if it differs from the last one.

        Unreadable objects are reported separately, each at a limited rate.
        """
        name = str(trouble.resource)
        self.stats.troubles[name] += 1
        if trouble.bug:
            self.stats.unreadable += 1
            self.on_unreadable()
        if trouble.about:
            if self._throttle.allows(trouble.about, asyncio.get_running_loop().time()):
                self._on_trouble(trouble)
        elif self._last_trouble.get(name) != trouble.message:
            self._last_trouble[name] = trouble.message
            self._on_trouble(trouble)


def scopes_of(codecs: KindCodecs) -> tuple[WatchScope, ...]:
    """Everything of every kind that is watched from the start."""
    return tuple(
        WatchScope(resource, first_fields=UNBOUND if resource == PODS else "")
        for resource in codecs.resources
    )


class _Items(msgspec.Struct):
    items: list[dict[str, Any]]


class _ServerVersion(msgspec.Struct, rename="camel"):
    git_version: str


def _first(group: BaseExceptionGroup[Exception]) -> Exception:
    error = group.exceptions[0]
    return _first(error) if isinstance(error, BaseExceptionGroup) else error


def _log_trouble(trouble: Trouble) -> None:
    log.warning(
        "watch_trouble",
        resource=str(trouble.resource),
        problem=trouble.message,
        retry_in=trouble.retry_in,
    )


def connect(
    kubeconfig: str = "",
    context: str = "",
    in_cluster: bool = False,
    scopes: tuple[WatchScope, ...] | None = None,
    codecs: KindCodecs = NATIVE,
) -> KubeCluster:
    """The selected cluster (see `find_access`); nothing is sent before the first request."""
    client = Client(find_access(kubeconfig, context, in_cluster))
    return KubeCluster(client, scopes, codecs=codecs)
