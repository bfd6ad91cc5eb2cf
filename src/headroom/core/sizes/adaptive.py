"""`size.adaptive`: as many slots as a promise needs, learnt from the owners that came.

`core.promise` calculates the number, and the engine keeps what it learns from.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import ClassVar

from headroom.core.amounts import format_span
from headroom.core.headrooms.headrooms import Headroom, Workload
from headroom.core.promise.report import MEMORY, PromiseTerms
from headroom.core.promise.stock import StockBounds
from headroom.core.sizes.kind import Size


@dataclass(frozen=True, slots=True)
class Adaptive(Size):
    """As much as lets this part of the pods start within this time.

    `memory` is how long an arrival counts, `release_after` how long a size is kept that is no
    longer needed; None: one lead time. `floor` is the number of the window that is open.
    """

    learns: ClassVar[bool] = True

    start_within: timedelta
    ratio: float
    least: int = 0
    most: int | None = None
    memory: timedelta = MEMORY
    release_after: timedelta | None = None
    floor: int = 0

    @property
    def terms(self) -> PromiseTerms:
        return PromiseTerms(self.ratio, self.start_within, self.memory)

    def learnt_bounds(self, known: int) -> StockBounds:
        release = self.release_after.total_seconds() if self.release_after is not None else 0.0
        return StockBounds(self.least, self.most, known, self.floor, release)

    def in_window(self, replicas: int) -> Size:
        return replace(self, floor=replicas)

    def number(self, replicas: int) -> int:
        return self.floor

    def words(self, headroom: Headroom, workload: Workload | None) -> str:
        within = format_span(self.start_within)
        return f"as much as lets {100 * self.ratio:g} % of pods start within {within}"
