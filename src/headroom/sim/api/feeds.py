"""Watch streams: changes in order, with a small delay.

Every actor receives changes through its own feed, as over a network: each feed has its own small,
seeded delay, and the order within a feed is kept. A feed can be held back to simulate a slow or
broken connection. What was held back arrives in order when the feed is released.
"""

from __future__ import annotations

from asyncio import TimerHandle
from collections import deque
from collections.abc import Callable, Sequence
from random import Random

from headroom.sim.api.store import ObjectChange, Store
from headroom.sim.loop import VirtualLoop, to_micros


class Jitter:
    """Seeded delays, evenly distributed between two limits."""

    def __init__(self, name: str, seed: int, bounds: tuple[float, float]) -> None:
        self.draw = Random(f"{seed}/{name}").random
        self.low = bounds[0]
        self.width = bounds[1] - bounds[0]

    def __call__(self) -> float:
        return self.low + self.width * self.draw()  # As `Random.uniform`, without its call.


class Feed:
    """One ordered stream of the changes of some kinds.

    A change is not delivered if `concerns` says that it does not matter to the listener.
    """

    def __init__(
        self,
        loop: VirtualLoop,
        store: Store,
        kinds: Sequence[str],
        delay: Jitter,
        deliver: Callable[[ObjectChange], None],
        concerns: Callable[[ObjectChange], bool] | None = None,
    ) -> None:
        self._concerns = concerns
        self._loop = loop
        self._store = store
        self._kinds = tuple(kinds)
        self._delay = delay
        self._deliver = deliver
        self._waiting: deque[tuple[float, ObjectChange]] = deque()
        self._timer: TimerHandle | None = None
        self._last = 0.0
        self._held = False
        for kind in self._kinds:
            store.listen(kind, self._push)

    def replay(self) -> None:
        """Send what exists now, as the list before a watch does."""
        for kind in self._kinds:
            for obj in self._store.list(kind):
                self._push(self._store.as_added(obj))

    def hold(self) -> None:
        """Deliver nothing until `release`."""
        self._held = True

    def release(self) -> None:
        self._held = False
        self._arm()

    def close(self) -> None:
        for kind in self._kinds:
            self._store.remove_listener(kind, self._push)
        self._waiting.clear()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _push(self, change: ObjectChange) -> None:
        delay = self._delay  # As if called: fifteen times a pod.
        due = self._loop.now + (delay.low + delay.width * delay.draw())
        if due > self._last:
            self._last = due
        if self._concerns is not None and not self._concerns(change):
            return  # It takes its time on the wire all the same: the others keep theirs.
        self._waiting.append((to_micros(self._last), change))
        if self._timer is None and not self._held:
            self._timer = self._loop.set_timer(self._waiting[0][0], self._flush)

    def _arm(self) -> None:
        if self._timer is None and self._waiting and not self._held:
            self._timer = self._loop.set_timer(self._waiting[0][0], self._flush)

    def _flush(self) -> None:
        self._timer = None
        waiting, now = self._waiting, self._loop.now
        while waiting and not self._held and waiting[0][0] <= now:
            self._deliver(waiting.popleft()[1])
        if waiting:
            self._arm()
