"""All informers of one stream: those of the scopes asked for, and of kinds as they are named.

A Headroom may copy the pods of a Deployment or go by volumes, and few do; so such a kind is
followed from the moment a Headroom needs it (`wire.objects.needed`), and the Headroom is told of
when that kind has been listed: nobody is to decide by what is not known yet. `watch` has the
informer, `cluster` the queue behind `put`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from functools import partial

from headroom.core.objects import Key
from headroom.core.standing.headrooms import Headroom
from headroom.kube.client import Client
from headroom.kube.pulse import Pulse
from headroom.kube.scales import ScaledKind
from headroom.kube.watch import Informer, Listener, Scope, Trouble, WatchTuning
from headroom.ports import Event, Seen, Synced
from headroom.wire.kinds import Resource
from headroom.wire.objects.needed import HINTS, needed_kinds
from headroom.wire.objects.scales import ForeignKind, foreign_kind
from headroom.wire.speech import Speech


@dataclass(frozen=True, slots=True)
class Source:
    """Whom to ask, how to read the answers, and how patiently."""

    client: Client
    speech: Speech
    tuning: WatchTuning | None = None
    pulses: dict[Resource, Pulse] = field(default_factory=dict)  # of the informers that run


class Gathering:
    """Runs informers until one of them gives up, and merges what they tell."""

    def __init__(
        self,
        source: Source,
        put: Callable[[list[Event]], Awaitable[None]],
        trouble: Callable[[Trouble], None],
    ) -> None:
        self._source = source
        self._put = put
        self._trouble = trouble
        self._group = asyncio.TaskGroup()
        self._followed: dict[Resource, asyncio.Event] = {}  # set once it has been listed
        self._scaled: dict[ForeignKind, ScaledKind] = {}
        self._listing = 0
        self._synced = False

    async def run(self, scopes: Iterable[Scope]) -> None:
        """Follow all of these; the first informer that gives up ends the others."""
        async with self._group:
            for scope in scopes:
                self._follow(scope)

    def _follow(self, scope: Scope) -> None:
        self._listing += 1
        source, listed = self._source, asyncio.Event()
        self._followed[scope.resource] = listed
        listener = Listener(self._tell, partial(self._list_told, listed), self._trouble)
        informer = Informer(source.client, scope, listener, source.tuning, source.speech.decode)
        source.pulses[scope.resource] = informer.pulse
        self._group.create_task(informer.run(), name=f"watch {scope.resource}")

    async def _tell(self, batch: list[Event]) -> None:
        things = (event.thing for event in batch if isinstance(event, Seen))
        wanted = dict.fromkeys(needed for thing in things for needed in needed_kinds(thing))
        for needed in wanted:
            if needed not in self._followed:
                self._follow(Scope(needed, may_be_hidden=needed in HINTS))
        for needed in wanted:
            await self._followed[needed].wait()
        await self._put(batch)
        for event in batch:
            if isinstance(event, Seen) and isinstance(event.thing, Headroom):
                await self._copy_foreign(event.thing)

    async def _copy_foreign(self, headroom: Headroom) -> None:
        """Follow the kind whose pods a headroom copies, where it is one that we have to look up."""
        kind, copied = foreign_kind(headroom), headroom.slot.source
        if kind is None or copied is None:
            return
        if kind not in self._scaled:
            self._listing += 1
            source = self._source
            listed = partial(self._list_told, asyncio.Event())
            listener = Listener(self._put, listed, self._trouble)
            self._scaled[kind] = ScaledKind(source.client, kind, listener, source.tuning)
            self._group.create_task(self._scaled[kind].run(), name=f"follow {kind}")
        await self._scaled[kind].want(Key(headroom.parent.namespace, copied.name))

    async def _list_told(self, listed: asyncio.Event) -> None:
        listed.set()
        self._listing -= 1
        if not self._listing and not self._synced:
            self._synced = True
            await self._put([Synced()])
