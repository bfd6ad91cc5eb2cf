"""Small demands for tests, and a base stock that serves them; no chance anywhere."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from headroom.core.promise.stock import NO_BOUNDS, Stock, StockBounds

MINUTE, HOUR, DAY = 60.0, 3600.0, 86400.0
STEP = 10.0


@dataclass
class Served:
    """What came of serving a demand: pods, misses, and the sizes by time."""

    pods: int = 0
    misses: int = 0
    idle: float = 0.0
    sizes: list[int] = field(default_factory=list)

    @property
    def ratio(self) -> float:
        return 1 - self.misses / self.pods


def serve(
    stock: Stock,
    demand: Callable[[float], int],
    until: float,
    lead: float = 90.0,
    bounds: StockBounds = NO_BOUNDS,
    start: float = 0.0,
) -> Served:
    """Serve what comes in each step of ten seconds; slots come one lead time after they are asked.

    A pod that finds no slot goes elsewhere and takes none.
    """
    served = Served()
    held, coming, on_the_way = 0, deque[tuple[float, int]](), 0
    steps = int((until - start) / STEP)
    for number in range(1, steps + 1):
        now = start + number * STEP
        while coming and coming[0][0] <= now:
            _, count = coming.popleft()
            held, on_the_way = held + count, on_the_way - count
        came = demand(now)
        hits = min(held, came)
        held -= hits
        served.pods += came
        served.misses += came - hits
        served.idle += held / steps
        stock.observe(now, came, came - hits, lead)
        size = stock.size(now, lead, bounds).slots
        served.sizes.append(size)
        if size > held + on_the_way:
            count = size - held - on_the_way
            coming.append((now + lead, count))
            on_the_way += count
        else:
            held = max(0, min(held, size - on_the_way))
    return served


def steady(every: float) -> Callable[[float], int]:
    """One pod at each of these distances in time."""
    return lambda now: int(now // every) - int((now - STEP) // every)


def scattered(rate: Callable[[float], float]) -> Callable[[float], int]:
    """Pods at a rate of so many a second, scattered in a way that is the same each time."""
    state = 12345

    def came(now: float) -> int:
        nonlocal state
        state = (1103515245 * state + 12345) % 2**31
        return int(rate(now) * STEP + state / 2**31)

    return came
