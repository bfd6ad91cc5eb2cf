"""`size.replicas`: a fixed number of slots."""

from __future__ import annotations

from dataclasses import dataclass

from headroom.core.headrooms.headrooms import Headroom, Workload
from headroom.core.sizes.kind import Size, slots_told


@dataclass(frozen=True, slots=True)
class Replicas(Size):
    count: int

    def in_window(self, replicas: int) -> Size:
        return Replicas(replicas)

    def number(self, replicas: int) -> int:
        return self.count

    def words(self, headroom: Headroom, workload: Workload | None) -> str:
        return slots_told(self.count)


NOTHING = Replicas(0)
