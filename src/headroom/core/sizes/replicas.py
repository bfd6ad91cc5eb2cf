"""`size.replicas`: a fixed number of slots."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from headroom.core.holds import PodTemplate
from headroom.core.sizes.kind import Size, slots_told
from headroom.core.standing.headrooms import Headroom, Workload
from headroom.core.standing.sized import Learnt
from headroom.core.standing.sizing import Sight, Wish, counted


@dataclass(frozen=True, slots=True)
class Replicas(Size):
    with_auto: ClassVar[bool] = True
    with_node_chunks: ClassVar[bool] = True
    with_window_replicas: ClassVar[bool] = True

    count: int

    def in_window(self, replicas: int) -> Size:
        return Replicas(replicas)

    def wish(self, headroom: Headroom, template: PodTemplate, sight: Sight, now: datetime) -> Wish:
        return counted(headroom, template, Learnt(self.count), sight)

    def number(self, replicas: int) -> int:
        return self.count

    def words(self, headroom: Headroom, workload: Workload | None) -> str:
        return slots_told(self.count)


NOTHING = Replicas(0)
