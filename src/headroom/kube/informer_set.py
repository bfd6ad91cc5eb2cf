"""All informers of one stream: for the requested scopes, and for kinds that are needed later.

A Headroom may copy the pods of a Deployment or use volumes, and few do. Such a kind is watched only
after a Headroom needs it (`wire.objects.needed`). The Headroom itself is passed on only after that
kind was listed, so that no decision uses incomplete data. If the permission for such a kind is
missing, the Headrooms that need it are informed, and the others continue. `watch` has the informer,
`cluster` the queue behind `put`.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from functools import partial

from headroom.core.headrooms.headrooms import Headroom, Workload
from headroom.core.objects import Key, Pod
from headroom.kube.client import Client
from headroom.kube.other_controllers import has_karpenter
from headroom.kube.scales import ScaledKind
from headroom.kube.watch import Informer
from headroom.kube.watch_scope import Listener, Trouble, WatchHealth, WatchScope, WatchTuning
from headroom.ports import AutoscalerSeen, Event, KindHidden, Lost, Seen, Synced, Thing
from headroom.wire.kind_codecs import KindCodecs
from headroom.wire.kinds import DAEMON_SETS, Resource
from headroom.wire.objects.needed import ANNOUNCING, looks_ahead, needed_kinds
from headroom.wire.objects.scales import ForeignKind, foreign_kind
from headroom.wire.objects.workloads import copied_kind, unseen_workload

PODS_WAIT_S = 5.0
"""How long the stream of pods waits for the first list of volumes that a pod mounts."""


AUTOSCALER_LOOK_S = 30.0
"""How often to check whether Karpenter was installed."""


Batch = list[Event] | Exception  # An exception ends the stream.


class BatchQueue:
    """The queue of merged events with its one reader; who puts more than `most` waits for it.

    `asyncio.Queue` does the same with three times as many calls, for each line of a watch.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._batches: deque[Batch] = deque()
        self._reader: asyncio.Future[None] | None = None  # while it waits
        self._room: asyncio.Event | None = None  # while somebody waits for it

    async def put(self, batch: Batch) -> None:
        """Add a batch; those of one informer keep their order."""
        while len(self._batches) >= self._most:
            self._room = self._room or asyncio.Event()
            await self._room.wait()
        self._batches.append(batch)
        if self._reader is not None and not self._reader.done():  # It may be cancelled.
            self._reader.set_result(None)

    async def get(self) -> Batch:
        """The next batch; there is one reader."""
        while not self._batches:
            self._reader = asyncio.get_running_loop().create_future()
            try:
                await self._reader
            finally:
                self._reader = None
        if self._room is not None:
            self._room.set()
            self._room = None
        return self._batches.popleft()


@dataclass(frozen=True, slots=True)
class WatchSource:
    """The client, the decoders and the timing of the informers."""

    client: Client
    codecs: KindCodecs
    tuning: WatchTuning | None = None
    pulses: dict[Resource, WatchHealth] = field(default_factory=dict)  # of the running informers
    awaits_autoscaler: bool = False  # True: report when Karpenter is installed


class Gathering:
    """Runs informers until one of them gives up, and merges their events."""

    def __init__(
        self,
        source: WatchSource,
        put: Callable[[list[Event]], Awaitable[None]],
        trouble: Callable[[Trouble], None],
    ) -> None:
        self._source = source
        self._put = put
        self._trouble = trouble
        self._group = asyncio.TaskGroup()
        self._followed: dict[Resource, asyncio.Event] = {}  # set once it has been listed
        self._informers: dict[Resource, Informer] = {}
        self._unseen: dict[Resource, dict[Key, Workload]] = {}  # reported, although hidden
        self._missed: dict[Resource, None] = {}  # reported as hidden to headrooms that look ahead
        self._scaled: dict[ForeignKind, ScaledKind] = {}
        self._listing = 0
        self._synced = False

    async def run(self, scopes: Iterable[WatchScope]) -> None:
        """Run all of these informers; the first one that gives up ends the others."""
        async with self._group:
            for scope in scopes:
                self._follow(scope)
            if self._source.awaits_autoscaler:
                self._group.create_task(self._await_autoscaler(), name="wait for Karpenter")

    async def _await_autoscaler(self) -> None:
        """Report when Karpenter is installed, once its DaemonSets for slots can be watched."""
        # A new API group causes no event, so it is polled.
        while not await has_karpenter(self._source.client):  # noqa: ASYNC110
            await asyncio.sleep(AUTOSCALER_LOOK_S)
        if DAEMON_SETS not in self._followed:
            self._follow(WatchScope(DAEMON_SETS, may_be_hidden=True))
        await self._followed[DAEMON_SETS].wait()
        await self._put([AutoscalerSeen()])

    def _follow(self, scope: WatchScope) -> None:
        self._listing += 1
        source, listed = self._source, asyncio.Event()
        self._followed[scope.resource] = listed
        shown = partial(self._shown, scope.resource)
        listener = Listener(self._tell, partial(self._list_told, listed), self._trouble, shown)
        informer = Informer(source.client, scope, listener, source.tuning, source.codecs.read)
        self._informers[scope.resource] = informer
        source.pulses[scope.resource] = informer.pulse
        self._group.create_task(informer.run(), name=f"watch {scope.resource}")

    async def _tell(self, batch: list[Event]) -> None:
        await self._gather_needed([event.thing for event in batch if isinstance(event, Seen)])
        await self._put(batch)
        for event in batch:
            if isinstance(event, Seen) and isinstance(event.thing, Headroom):
                await self._tell_unannounced(event.thing)
                await self._tell_hidden(event.thing)
                await self._copy_foreign(event.thing)

    async def _gather_needed(self, things: list[Thing]) -> None:
        """Watch the kinds that things need; pods wait only for a limited time, and only once."""
        wanted: dict[Resource, bool] = {}  # whether decisions must wait for its list
        for thing in things:
            for needed in needed_kinds(thing, self._source.codecs.schedulers):
                wanted[needed] = wanted.get(needed, False) or not isinstance(thing, Pod)
        new = [needed for needed in wanted if needed not in self._followed]
        for needed in new:
            self._follow(WatchScope(needed, may_be_hidden=True))
        for needed, must in wanted.items():
            if must:
                await self._followed[needed].wait()
            elif needed in new:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._followed[needed].wait(), PODS_WAIT_S)

    async def _tell_hidden(self, headroom: Headroom) -> None:
        """Report that we may not list a workload that a headroom copies, if so."""
        kind, source = copied_kind(headroom), headroom.slot.source
        if kind is None or source is None or not (why := self._informers[kind].hidden):
            return
        unseen = unseen_workload(source, headroom.parent.namespace, why)
        self._unseen.setdefault(kind, {})[unseen.key] = unseen
        await self._put([Seen(unseen)])

    async def _tell_unannounced(self, headroom: Headroom) -> None:
        """Report which kinds a headroom needs and we may not list: their demand is unknown."""
        for kind in ANNOUNCING if looks_ahead(headroom) else ():
            if why := self._informers[kind].hidden:
                self._missed[kind] = None
                await self._put([KindHidden(kind.kind, why)])

    async def _shown(self, kind: Resource) -> None:
        """The permission was granted: reports about missing workloads are no longer true."""
        if kind in self._missed:
            del self._missed[kind]
            await self._put([KindHidden(kind.kind)])
        there = self._informers[kind].keys()
        gone = [each for key, each in self._unseen.pop(kind, {}).items() if key not in there]
        if gone:
            await self._put([Lost(each) for each in gone])

    async def _copy_foreign(self, headroom: Headroom) -> None:
        """Watch the kind whose pods a headroom copies, if it has to be discovered."""
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
