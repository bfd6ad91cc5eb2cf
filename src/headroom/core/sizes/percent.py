"""`size.percent`: so many hundredths of a workload's replicas, rounded up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from headroom.core.headrooms.headrooms import Headroom, Workload
from headroom.core.sizes.kind import Size


@dataclass(frozen=True, slots=True)
class Percent(Size):
    of_workload: ClassVar[bool] = True

    percent: int

    def number(self, replicas: int) -> int:
        return -(-replicas * self.percent // 100)

    def words(self, headroom: Headroom, workload: Workload | None) -> str:
        if headroom.slot.auto is not None:
            return f"{self.percent} % of the replicas of each chosen workload, rounded up"
        there = f"the {workload.replicas} replicas" if workload is not None else "the replicas"
        return f"{self.percent} % of {there} of {headroom.slot.source}, rounded up"
