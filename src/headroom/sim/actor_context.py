"""What every actor of the embedded cluster gets: the loop, the clock and the API server.

An actor creates from its `ActorContext` what it needs: a watch feed, a seeded delay, an event
recorder, a rate limit for its requests. Actors share nothing else, as in a real cluster.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from headroom.sim.api.events import Recorder
from headroom.sim.api.feeds import Feed, Jitter
from headroom.sim.api.indexes import PodIndex
from headroom.sim.api.server import ApiServer
from headroom.sim.api.store import ObjectChange, Store
from headroom.sim.loop import SimClock, VirtualLoop
from headroom.sim.settings import Bounds, Settings


@dataclass(frozen=True, slots=True)
class ActorContext:
    loop: VirtualLoop
    clock: SimClock
    server: ApiServer
    pods: PodIndex
    settings: Settings
    seed: int

    @property
    def store(self) -> Store:
        return self.server.store

    def jitter(self, name: str, bounds: Bounds) -> Jitter:
        """A seeded delay with its own random generator, which no other actor uses."""
        return Jitter(name, self.seed, bounds)

    def feed(
        self,
        name: str,
        kind: str,
        deliver: Callable[[ObjectChange], None],
        concerns: Callable[[ObjectChange], bool] | None = None,
    ) -> Feed:
        """Watch a kind under the name of an actor: first existing objects, then changes."""
        delay = self.jitter(f"{name}/watch/{kind}", self.settings.watch_delay)
        feed = Feed(self.loop, self.store, (kind,), delay, deliver, concerns)
        feed.replay()
        return feed

    def recorder(self, component: str) -> Recorder:
        return Recorder(self.store, component)


class TokenBucket:
    """The rate limit of a client: first come, first served, in virtual time."""

    def __init__(self, loop: VirtualLoop, rate: float, burst: int) -> None:
        self._loop = loop
        self._rate = rate
        self._burst = burst
        self._tokens = float(burst)
        self._at = 0.0

    def wait(self) -> float:
        """Take a token and return how long to wait for it."""
        if self._rate <= 0:
            return 0.0
        now = self._loop.now
        self._tokens = min(self._burst, self._tokens + (now - self._at) * self._rate)
        self._at = now
        self._tokens -= 1
        return max(0.0, -self._tokens / self._rate)
