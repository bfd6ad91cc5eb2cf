"""Dashboard data of a live operator, built from its ledger without slowing it down.

While no page is open, an event costs a few set operations. While a page is open, changes are
processed once a second, in small portions, so that a handover never waits for more than one
portion. Explanations run in a thread over immutable objects, one at a time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from itertools import islice
from typing import Any, TypeVar

from headroom.cli.pages.explanations import explained, explained_by_words
from headroom.cli.source import World
from headroom.core.claims import claim_of
from headroom.core.headrooms.headrooms import Headroom
from headroom.core.holds import Hold
from headroom.core.names import ROLE_LABEL
from headroom.core.objects import Key, Node, Pod
from headroom.core.quotas.quota import Quota
from headroom.dashboard.document import Document, VisibleScope
from headroom.dashboard.hub import contained
from headroom.dashboard.page_state import Book
from headroom.dashboard.pod_search import Finding
from headroom.dashboard.prices import Prices
from headroom.dashboard.snapshot import LIVE, Windows, picture
from headroom.dashboard.timeline import Timeline, sample_of
from headroom.dashboard.view import ClusterView
from headroom.engine.ledger import Ledger
from headroom.ports import Event, Lost, Seen
from headroom.wire.kind_codecs import KindCodecs

PORTION = 200
SEARCHED = 500  # names that are compared in one portion: about half a millisecond
SAMPLE_S = 15.0
FORGET_S = 300.0
LONGEST_REST_S = 5.0
MOST_ASKED = 2000  # pods; above this, checking every node would take seconds of the operator's CPU
T = TypeVar("T")


class LiveFeed:
    """The operator's state, as a data source for pages."""

    def __init__(
        self,
        ledger: Ledger,
        now: Callable[[], datetime],
        codecs: KindCodecs,
        trouble: Callable[[Exception], None],
        prices: Prices | None = None,
        name: str = "",
    ) -> None:
        self._ledger = ledger
        self._now = now
        self._codecs = codecs
        self._trouble = trouble
        self._prices = prices
        self._name = name
        self._timeline = Timeline()
        self._windows = Windows()
        self._claimed: set[Key] = set()
        self._waiting: set[Key] = set()
        self._quotas: dict[str, Quota] = {}
        self._book: Book | None = None
        self._building = False
        self._asked_at = 0.0
        self._pods: dict[Key, None] = {}
        self._nodes: dict[str, None] = {}
        self._objects: dict[str, None] = {}

    def see(self, event: Event) -> None:
        """Record an event; an error here never reaches the operator."""
        contained(lambda: self._see(event), self._trouble)

    def _see(self, event: Event) -> None:
        match event:
            case Seen(Pod() as pod):
                self._see_pod(pod)
            case Lost(Pod(key=key)):
                self._claimed.discard(key)
                self._waiting.discard(key)
                self._touch(self._pods, key)
            case Seen(Node(name=name)) | Lost(Node(name=name)):
                self._touch(self._nodes, name)
            case Seen(Hold(parent=parent)) | Lost(Hold(parent=parent)):
                self._touch(self._objects, str(parent))
            case Seen(Headroom(parent=parent)) | Lost(Headroom(parent=parent)):
                self._touch(self._objects, parent.whole)
            case Seen(Quota() as quota):
                self._quotas[str(quota.parent)] = quota
            case Lost(Quota(parent=parent)):
                self._quotas.pop(str(parent), None)

    def _see_pod(self, pod: Pod) -> None:
        ordinary = ROLE_LABEL not in pod.labels and not pod.finished
        seated = ordinary and bool(pod.node) and claim_of(pod) is not None
        (self._claimed.add if seated else self._claimed.discard)(pod.key)
        waits = ordinary and not pod.node and pod.deleted is None
        (self._waiting.add if waits else self._waiting.discard)(pod.key)
        self._touch(self._pods, pod.key)

    def _touch(self, dirty: dict[T, None], name: T) -> None:
        if self._book is not None or self._building:
            dirty[name] = None

    async def keep_time(self) -> None:
        """Take samples for the timeline, and drop the rows if no page was open for a long time."""
        while True:
            await asyncio.sleep(SAMPLE_S)
            contained(self.sample, self._trouble)
            if asyncio.get_running_loop().time() - self._asked_at > FORGET_S:
                self._book = None
                for dirty in (self._pods, self._nodes, self._objects):
                    dirty.clear()

    def sample(self) -> None:
        """Record a sample of the current numbers."""
        view = self._view()
        self._timeline.add(view.now, sample_of(view, len(self._claimed), len(self._waiting)))

    def _view(self) -> ClusterView:
        ledger = self._ledger
        return ClusterView(
            self._now(), ledger.nodes, ledger.pods, ledger.holds, ledger.slots.headrooms
        )

    async def sections(self) -> Document:
        self._asked_at = asyncio.get_running_loop().time()
        view = self._view()
        if self._book is None:
            self._book = Book(self._prices)
            self._pods = dict.fromkeys(view.pods)
            self._nodes = dict.fromkeys(view.nodes)
            self._objects = dict.fromkeys((*view.headrooms, *view.holds))
        book = self._book
        self._book = None  # If this fails half way, the next call starts again.
        self._building = True
        try:
            await self._bring_up_to_date(book, view)
            self._book = book
        finally:
            self._building = False
        if self._timeline.begins is None:
            self.sample()
        return picture(view, book, self._timeline, self._windows, (LIVE, self._name))

    async def _bring_up_to_date(self, book: Book, view: ClusterView) -> None:
        for keys in _portions(_taken(self._pods)):
            book.take_pods(view, keys)
            await asyncio.sleep(0)
        for names in _portions(_taken(self._objects)):
            book.take_objects(view, names)
            await asyncio.sleep(0)
        book.take_nodes(_taken(self._nodes))
        more = True
        while more:
            more = book.settle(view, PORTION)
            await asyncio.sleep(0)

    async def pods_on(self, node: str) -> list[dict[str, Any]] | None:
        if self._book is None or node not in self._ledger.nodes:
            return None
        return self._book.pods_on(self._view(), node)

    async def find_pods(self, text: str, scope: VisibleScope) -> dict[str, Any]:
        pods, finding = self._ledger.pods, Finding(text, scope)
        for keys in _portions(list(pods), SEARCHED):
            finding.look(keys)
            await asyncio.sleep(0)
        return finding.result(pods)

    async def explain(self, reference: str, scope: VisibleScope) -> dict[str, Any] | None:
        """Explain in a thread, then pause for the same time, so that the operator has priority."""
        loop = asyncio.get_running_loop()
        world, policy, began = self._world(), self._ledger.policy, loop.time()
        ask = explained if len(world.pods) <= MOST_ASKED else explained_by_words
        found = await asyncio.to_thread(ask, world, reference, policy, scope)
        await asyncio.sleep(min(LONGEST_REST_S, loop.time() - began))
        return found

    def _world(self) -> World:
        """All current objects, in tuples of immutable values."""
        ledger = self._ledger
        return World(
            raw=(),
            nodes=tuple(ledger.nodes.values()),
            pods=tuple(ledger.pods.values()),
            holds=tuple(hold for hold in ledger.holds.values() if not hold.slot),
            namespaces=tuple(ledger.namespaces.values()),
            now=self._now(),
            headrooms=tuple(ledger.slots.headrooms.values()),
            workloads=tuple(ledger.slots.workloads.values()),
            quotas=tuple(self._quotas.values()),
            codecs=self._codecs,
        )


def _taken(dirty: dict[T, None]) -> list[T]:
    """Return what has to be processed, and clear it."""
    found = list(dirty)
    dirty.clear()
    return found


def _portions(things: Iterable[T], size: int = PORTION) -> Iterator[list[T]]:
    left = iter(things)
    while portion := list(islice(left, size)):
        yield portion
