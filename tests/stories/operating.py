"""An operator on a real cluster, in a thread of its own, that can be killed at any moment.

It is confined as an installed one: what it is refused by its rights or by a policy is noted.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable
from datetime import datetime
from pathlib import Path
from typing import Any

from headroom.core.actions import Action, Denied, Outcome
from headroom.core.policy import Policy
from headroom.engine.engine import Engine
from headroom.kube.cluster import connect
from headroom.ports import Cluster, Event
from headroom.runtime.clock import ServerClock
from headroom.runtime.operator import Operator
from headroom.runtime.reporter import NullReporter
from headroom.wire.kind_codecs import NATIVE, KindCodecs
from headroom.wire.kinds import SLOT_SETS
from tests.patience import LEAST_S, TookTooLong
from tests.stories.cutting import CutCluster


class _Announcing(NullReporter):
    def __init__(self, ready: threading.Event) -> None:
        self._ready = ready

    def ready(self) -> None:
        self._ready.set()


NOT_ALLOWED = ("ValidatingAdmissionPolicy", " cannot ")  # a quota's refusal is another matter


class NotingCluster:
    """Passes everything on, and notes what the operator has no right to."""

    def __init__(self, inner: Cluster, refused: dict[str, str]) -> None:
        self._inner = inner
        self._refused = refused

    def watch(self) -> AsyncGenerator[Event, None]:
        return self._inner.watch()

    async def perform(self, action: Action) -> Outcome:
        outcome = await self._inner.perform(action)
        if isinstance(outcome, Denied) and any(word in outcome.message for word in NOT_ALLOWED):
            self._refused.setdefault(type(action).__name__, f"{action}: {outcome.message}")
        return outcome


class ThreadedOperator:
    """Started when made, ready when the constructor returns."""

    def __init__(
        self,
        kubeconfig: Path,
        settings: dict[str, Any],
        codecs: KindCodecs = NATIVE,
        wall: Callable[[], datetime] | None = None,
    ) -> None:
        self._codecs = codecs
        self._wall = wall
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._cutting: CutCluster | None = None
        self._contained: list[str] = []
        self.cut = threading.Event()
        self.refused: dict[str, str] = {}
        self._main = self._loop.create_task(self._run(kubeconfig, settings))
        self._thread = threading.Thread(target=self._live, daemon=True)
        self._thread.start()
        if not self._ready.wait(LEAST_S):
            raise TookTooLong("the operator did not get ready")

    def cut_after(self, writes: int, backwards: bool) -> None:
        """Let so many more writes that matter happen, then none."""
        if self._cutting is not None:
            self._loop.call_soon_threadsafe(self._cutting.cut_after, writes, backwards)

    def delay(self, seconds: float) -> None:
        """Send every write so much later."""
        if self._cutting is not None:
            self._loop.call_soon_threadsafe(self._cutting.delay, seconds)

    def kill(self) -> None:
        """End it at once, without any farewell.

        Only its main task is cancelled, which ends the others: connections that are just being
        made are no business of ours (asyncio would lose their sockets).
        """
        self._loop.call_soon_threadsafe(self._main.cancel)
        self._thread.join(20)
        assert self._contained == [], "the operator met unexpected errors"

    def _live(self) -> None:
        try:
            self._loop.run_until_complete(self._main)
        except asyncio.CancelledError:
            pass
        finally:
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
            self._loop.close()

    async def _run(self, kubeconfig: Path, settings: dict[str, Any]) -> None:
        cluster = connect(str(kubeconfig), codecs=self._codecs.following((SLOT_SETS,)))
        self._cutting = cutting = CutCluster(NotingCluster(cluster, self.refused))
        engine = Engine(Policy(namespace="headroom-system", **{"slot_sets": True, **settings}))
        clock = ServerClock(cluster.client.server_time.now, self._wall)
        operator = Operator(cutting, clock, engine, reporter=_Announcing(self._ready))
        telling = asyncio.create_task(self._tell_cut(cutting))
        try:
            await operator.run()
        finally:
            self._contained = [*operator.contained(), *["unreadable"] * cluster.stats.unreadable]
            telling.cancel()
            await cluster.close()

    async def _tell_cut(self, cutting: CutCluster) -> None:
        await cutting.cut.wait()
        self.cut.set()
