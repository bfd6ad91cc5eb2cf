"""All informers of one stream: those of the scopes asked for, and of kinds as they are named.

A Headroom may copy the pods of a Deployment or go by volumes, and few do; so such a kind is
followed from the moment a Headroom needs it (`wire.objects.needed`), and the Headroom is told of
when that kind has been listed: nobody is to decide by what is not known yet. Where the right to
such a kind is missing, the Headrooms that need it are told, and the others go on. `watch` has the
informer, `cluster` the queue behind `put`.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from functools import partial

from headroom.core.objects import Key, Pod
from headroom.core.standing.headrooms import Headroom, Workload
from headroom.kube.client import Client
from headroom.kube.pulse import Pulse
from headroom.kube.rivals import has_karpenter
from headroom.kube.scales import ScaledKind
from headroom.kube.watch import Informer, Listener, Scope, Trouble, WatchTuning
from headroom.ports import AutoscalerSeen, Event, KindHidden, Seen, Synced, Thing, WorkloadGone
from headroom.wire.kinds import DAEMON_SETS, Resource
from headroom.wire.objects.needed import ANNOUNCING, looks_ahead, needed_kinds
from headroom.wire.objects.scales import ForeignKind, foreign_kind
from headroom.wire.objects.workloads import copied_kind, unseen_workload
from headroom.wire.speech import Speech

PODS_WAIT_S = 5.0
"""How long the stream of pods waits for the first list of volumes, which one of them mounts."""


AUTOSCALER_LOOK_S = 30.0
"""How long until it is looked again whether Karpenter has come."""


@dataclass(frozen=True, slots=True)
class Source:
    """Whom to ask, how to read the answers, and how patiently."""

    client: Client
    speech: Speech
    tuning: WatchTuning | None = None
    pulses: dict[Resource, Pulse] = field(default_factory=dict)  # of the informers that run
    awaits_autoscaler: bool = False  # True: tell when Karpenter comes


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
        self._informers: dict[Resource, Informer] = {}
        self._unseen: dict[Resource, dict[Key, Workload]] = {}  # told of, though we may not see it
        self._missed: dict[Resource, None] = {}  # told of as hidden to who looks ahead
        self._scaled: dict[ForeignKind, ScaledKind] = {}
        self._listing = 0
        self._synced = False

    async def run(self, scopes: Iterable[Scope]) -> None:
        """Follow all of these; the first informer that gives up ends the others."""
        async with self._group:
            for scope in scopes:
                self._follow(scope)
            if self._source.awaits_autoscaler:
                self._group.create_task(self._await_autoscaler(), name="wait for Karpenter")

    async def _await_autoscaler(self) -> None:
        """Tell when Karpenter comes, once the DaemonSets by which it counts slots can be seen."""
        # An API group that is installed tells nobody; so it is asked for now and then.
        while not await has_karpenter(self._source.client):  # noqa: ASYNC110
            await asyncio.sleep(AUTOSCALER_LOOK_S)
        if DAEMON_SETS not in self._followed:
            self._follow(Scope(DAEMON_SETS, may_be_hidden=True))
        await self._followed[DAEMON_SETS].wait()
        await self._put([AutoscalerSeen()])

    def _follow(self, scope: Scope) -> None:
        self._listing += 1
        source, listed = self._source, asyncio.Event()
        self._followed[scope.resource] = listed
        shown = partial(self._shown, scope.resource)
        listener = Listener(self._tell, partial(self._list_told, listed), self._trouble, shown)
        informer = Informer(source.client, scope, listener, source.tuning, source.speech.decode)
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
        """Follow the kinds that things need; pods are never kept waiting for long, and once."""
        wanted: dict[Resource, bool] = {}  # whether nobody is to decide before it was listed
        for thing in things:
            for needed in needed_kinds(thing, self._source.speech.schedulers):
                wanted[needed] = wanted.get(needed, False) or not isinstance(thing, Pod)
        new = [needed for needed in wanted if needed not in self._followed]
        for needed in new:
            self._follow(Scope(needed, may_be_hidden=True))
        for needed, must in wanted.items():
            if must:
                await self._followed[needed].wait()
            elif needed in new:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._followed[needed].wait(), PODS_WAIT_S)

    async def _tell_hidden(self, headroom: Headroom) -> None:
        """Say of a workload that a headroom copies that we may not see it, where that is so."""
        kind, source = copied_kind(headroom), headroom.slot.source
        if kind is None or source is None or not (why := self._informers[kind].hidden):
            return
        unseen = unseen_workload(source, headroom.parent.namespace, why)
        self._unseen.setdefault(kind, {})[unseen.key] = unseen
        await self._put([Seen(unseen)])

    async def _tell_unannounced(self, headroom: Headroom) -> None:
        """Say which kinds a headroom needs and we may not see: what they announce is not known."""
        for kind in ANNOUNCING if looks_ahead(headroom) else ():
            if why := self._informers[kind].hidden:
                self._missed[kind] = None
                await self._put([KindHidden(kind.kind, why)])

    async def _shown(self, kind: Resource) -> None:
        """The right has come: what was said of workloads that are not there is true no more."""
        if kind in self._missed:
            del self._missed[kind]
            await self._put([KindHidden(kind.kind)])
        there = self._informers[kind].keys()
        gone = [each for key, each in self._unseen.pop(kind, {}).items() if key not in there]
        if gone:
            await self._put([WorkloadGone(each) for each in gone])

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
