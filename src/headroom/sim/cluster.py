"""The embedded cluster behind the port that the operator uses.

One `SimCluster` is the connection of one operator. It can be cut; then this operator receives and
does nothing any more, as after a crash between two writes. Each request takes some time before and
after it takes effect, so that other actors can act in between.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Callable
from dataclasses import replace

from headroom.core.actions import (
    Action,
    CreateGuardian,
    Denied,
    Gone,
    Invalid,
    Outcome,
    Stale,
    Tell,
    Unavailable,
)
from headroom.core.headrooms.headrooms import Headroom
from headroom.core.objects import Key, Pod
from headroom.ports import Event, Lost, Seen, Synced
from headroom.sim.actor_context import ActorContext
from headroom.sim.api.feeds import Feed
from headroom.sim.api.store import ObjectChange, Verb
from headroom.sim.api.values import Ref, dig, ref_of
from headroom.sim.faults import Fault, Faults
from headroom.sim.requests import carry_out
from headroom.wire.events import EventRecorder
from headroom.wire.kind_codecs import KindCodecs
from headroom.wire.objects.limitranges import with_limit_range
from headroom.wire.objects.needed import needed_kinds
from headroom.wire.objects.scales import foreign_kind, unusable
from headroom.wire.writes import Write

OnWrite = Callable[[Write, Outcome], None]


class SimCluster:
    """One connection to the embedded cluster."""

    def __init__(self, stage: ActorContext, faults: Faults, on_write: OnWrite, name: str) -> None:
        self._stage = stage
        self._faults = faults
        self._on_write = on_write
        self._name = name
        self._delay = stage.jitter(f"{name}/write", stage.settings.write_delay)
        self._recorder = EventRecorder()
        self._feeds: list[Feed] = []
        self._cut = False
        self._stream: _Stream | None = None

    def cut(self) -> None:
        """Block everything in both directions."""
        self._cut = True
        for feed in self._feeds:
            feed.close()
        self._feeds.clear()

    def hold_watches(self) -> None:
        """Stop all watches until `release_watches`."""
        for feed in self._feeds:
            feed.hold()

    def release_watches(self) -> None:
        for feed in self._feeds:
            feed.release()

    async def watch(self) -> AsyncGenerator[Event, None]:
        """Yield everything that exists, then `Synced`, then every change."""
        await self._wire()
        self._stream = stream = _Stream(self._stage, self._name, self._feeds)
        codecs = self._stage.store.registry.codecs
        codecs.avoid(self._preempting(codecs))
        for resource in codecs.resources:
            stream.follow(resource.kind)
        stream.waiting.append(Synced())
        waiting, loop = stream.waiting, self._stage.loop
        while True:
            while waiting:
                yield waiting.popleft()
            stream.arrival = loop.create_future()  # One reader waits: no more is needed.
            await stream.arrival

    def _preempting(self, codecs: KindCodecs) -> list[str]:
        """The PriorityClasses of dialects that preempt; `kube.prerequisites` checks the same."""
        wanted = (dig(each, "metadata", "name") for each in codecs.classes())
        found = (self._stage.store.get(Ref("PriorityClass", "", str(name))) for name in wanted)
        return [
            ref_of(each).name for each in found if each and each.get("preemptionPolicy") != "Never"
        ]

    async def perform(self, action: Action) -> Outcome:
        """Perform one write. An error is an Outcome, never an exception."""
        if not isinstance(action, Tell):
            outcome = await self._request(self._stage.store.registry.codecs.render(action))
            return self._named(action, outcome) if isinstance(action, CreateGuardian) else outcome
        outcome = await self._request(self._recorder.write(action))
        if isinstance(outcome, Gone):
            self._recorder.forget(action)
            outcome = await self._request(self._recorder.write(action))
        return outcome

    def _named(self, action: CreateGuardian, outcome: Outcome) -> Outcome:
        """A refusal with the name of its LimitRange, as on a real cluster."""
        if not isinstance(outcome, Denied | Invalid):
            return outcome
        namespace = action.hold.guardian_namespace
        ranges = self._stage.store.list("LimitRange", namespace)
        return replace(outcome, message=with_limit_range(outcome.message, namespace, ranges))

    async def _request(self, write: Write) -> Outcome:
        knows = self._stream.shown if self._stream is not None else 0
        await self._wire()
        self._stage.server.knows = knows
        outcome = self._answer(write)
        self._on_write(write, outcome)
        await self._wire()
        return outcome

    async def _wire(self) -> None:
        """Wait for half a round trip; a connection that was cut meanwhile receives nothing."""
        if not self._cut:
            await asyncio.sleep(self._delay() / 2)
        if self._cut:
            raise asyncio.CancelledError

    def _answer(self, write: Write) -> Outcome:
        match self._faults.draw(write):
            case None:
                return self._carry_out(write)
            case Fault.CONFLICT:
                return Stale("conflict, to order")
            case Fault.BUSY:
                return Unavailable("too many requests, to order", retry_after=1.0)
            case Fault.BROKEN:
                return Unavailable("internal error, to order")
            case Fault.LOST:
                return Unavailable("timed out, to order")
            case Fault.UNANSWERED:
                self._carry_out(write)
                return Unavailable("timed out, to order")

    def _carry_out(self, write: Write) -> Outcome:
        """Perform a write as the operator: listeners of the store can tell its writes apart."""
        self._stage.server.acting = self._name
        try:
            return carry_out(self._stage.server, write)
        finally:
            self._stage.server.acting = ""


class _Stream:
    """The pending events of one watch.

    A rare kind is watched only from the moment when a Headroom needs it, as in a real cluster.
    """

    def __init__(self, stage: ActorContext, name: str, feeds: list[Feed]) -> None:
        self.waiting: deque[Event] = deque()
        self.arrival: asyncio.Future[None] | None = None  # done once an event is pending
        self._stage = stage
        self._name = name
        self._feeds = feeds
        self._schedulers = stage.store.registry.codecs.schedulers
        self._followed: set[str] = set()
        self.shown = stage.store.version  # the last version of a pod that was delivered

    def follow(self, kind: str) -> None:
        """Send the existing objects of a kind, and from now on its changes."""
        if kind in self._followed:
            return
        self._followed.add(kind)
        stage = self._stage
        delay = stage.jitter(f"{self._name}/watch/{kind}", stage.settings.watch_delay)
        self._feeds.append(Feed(stage.loop, stage.store, (kind,), delay, self._deliver))
        for obj in stage.store.list(kind):
            self._tell(stage.store.as_added(obj))

    def _deliver(self, change: ObjectChange) -> None:
        if change.ref.kind == "Pod":
            self.shown = int(change.obj["metadata"]["resourceVersion"])
        self._tell(change)
        if self.arrival is not None and not self.arrival.done():
            self.arrival.set_result(None)

    def _tell(self, change: ObjectChange) -> None:
        thing = change.thing
        if change.verb is Verb.DELETED:
            self.waiting.append(Lost(thing))
            return
        self.waiting.append(Seen(thing))
        if type(thing) is Pod and not thing.claims:
            return  # Nothing has to be watched because of it.
        for needed in needed_kinds(thing, self._schedulers):
            self.follow(needed.kind)
        if isinstance(thing, Headroom):
            self._tell_foreign(thing)

    def _tell_foreign(self, headroom: Headroom) -> None:
        """Say that a kind that a Headroom copies by its scale is not modelled."""
        kind, source = foreign_kind(headroom), headroom.slot.source
        if kind is not None:
            key = Key(headroom.parent.namespace, source.name if source else "")
            self.waiting.append(Seen(unusable(kind, key, "is not modelled in the simulator")))
