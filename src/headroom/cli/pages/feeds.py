"""Dashboard data from objects that were read once: a dump, a simulation's result, manifests."""

from __future__ import annotations

import asyncio
from typing import Any

from headroom.cli.pages.explanations import explained
from headroom.cli.source import World
from headroom.core.policy import Policy
from headroom.dashboard.document import EVERYTHING, Document, VisibleScope
from headroom.dashboard.page_state import filled
from headroom.dashboard.pod_search import Finding
from headroom.dashboard.prices import Prices
from headroom.dashboard.snapshot import FILE, Windows, picture
from headroom.dashboard.timeline import Timeline, counted, sample_of
from headroom.dashboard.view import view_of


class FileFeed:
    """Data that never changes."""

    def __init__(
        self,
        world: World,
        name: str,
        prices: Prices | None = None,
        timeline: Timeline | None = None,
        policy: Policy | None = None,
        kind: str = FILE,
    ) -> None:
        self._kind = kind
        self._world = world
        self._name = name
        self._policy = policy or Policy()
        self._view = view_of(world)
        self._book = filled(self._view, prices)
        self._timeline = timeline or Timeline()
        if self._timeline.begins is None:
            self._timeline.add(world.now, sample_of(self._view, *counted(world.pods)))
        self._picture: Document = {}

    async def sections(self) -> Document:
        return self.whole()

    def whole(self) -> Document:
        """The snapshot; always the same."""
        if not self._picture:
            source = (self._kind, self._name)
            self._picture = picture(self._view, self._book, self._timeline, Windows(), source)
        return self._picture

    async def pods_on(self, node: str) -> list[dict[str, Any]] | None:
        return self.pods_of(node)

    def pods_of(self, node: str) -> list[dict[str, Any]] | None:
        if node not in self._view.nodes:
            return None
        return self._book.pods_on(self._view, node)

    async def find_pods(self, text: str, scope: VisibleScope) -> dict[str, Any]:
        finding = Finding(text, scope)
        finding.look(self._view.pods)
        return finding.result(self._view.pods)

    async def explain(self, reference: str, scope: VisibleScope) -> dict[str, Any] | None:
        return await asyncio.to_thread(explained, self._world, reference, self._policy, scope)

    def explain_now(self, reference: str) -> dict[str, Any] | None:
        """The same without waiting, for a page that is written into a file."""
        return explained(self._world, reference, self._policy, EVERYTHING)
