"""`size.utilization`: enough to keep requested over allocatable under a threshold.

`core.demand.foresight` calculates the slots from the load of the cluster and from what was decided
before; the engine collects the load.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import ClassVar

from headroom.core.demand.foresight import foreseen
from headroom.core.headrooms.headrooms import ON_PRIORITY, Headroom, Workload
from headroom.core.headrooms.size_limits import Note
from headroom.core.headrooms.wanted_slots import SizeView, WantedSlots, within_reach
from headroom.core.holds import PodTemplate
from headroom.core.sizes.kind import Size


@dataclass(frozen=True, slots=True)
class Utilization(Size):
    """With `ahead`, the missing pods of all workloads count too."""

    by_load: ClassVar[bool] = True

    permille: int
    ahead: bool = False

    @property
    def looks_ahead(self) -> bool:
        return self.ahead

    def looking_ahead(self) -> Size:
        return replace(self, ahead=True)

    def wish(
        self, headroom: Headroom, template: PodTemplate, view: SizeView, now: datetime
    ) -> WantedSlots | None:
        if view.load is None:
            return None
        one = template.pod.requests
        sized = foreseen(self.permille, one, headroom.limits, view.load, now)
        shaped = [(template, name) for name in sized.names]
        slots, notes, later = within_reach(headroom, shaped, view)
        remarks = (each for each in headroom.remarks if each.path == ON_PRIORITY)
        ignored = (Note("PriorityIgnored", each.message) for each in remarks)
        return WantedSlots(
            slots,
            max(sized.asked, len(shaped)),
            (*sized.notes, *ignored, *notes),
            look_again=sized.look_again,
            later=later,
            foresight=sized.memory,
        )

    def words(self, headroom: Headroom, workload: Workload | None) -> str:
        return f"enough to keep requests under {self.permille / 10:g} % of what nodes have"
