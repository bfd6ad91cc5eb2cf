"""The protocol of a size: what it depends on, which slots it wants, and what it says.

Every size of a Headroom is one file of this package: a frozen dataclass that inherits from `Size`
and overrides what differs. Nobody else asks which size it is. `headrooms.wanted_slots` asks for the
slots, the engine for what they depend on, `explain` for words. A new size needs its file, its
decoder and schema in `wire`, and its docs.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, ClassVar

from headroom.core.promise.report import USUAL_TERMS, PromiseTerms
from headroom.core.promise.stock import StockBounds
from headroom.core.resources import EMPTY, Resources

if TYPE_CHECKING:
    from headroom.core.findings.unserved import Unserved
    from headroom.core.headrooms.headrooms import Headroom, HeadroomStatus, Workload
    from headroom.core.headrooms.readiness import SlotTally
    from headroom.core.headrooms.wanted_slots import SizeView, WantedSlots
    from headroom.core.holds import Hold, PodTemplate
    from headroom.core.objects import Condition
    from headroom.core.sizes.follow import Follow

WHOLE = 1000


class Size(ABC):
    """How many slots a headroom has. The defaults are those of a number that the spec gives."""

    __slots__ = ()

    # What it depends on.
    by_node: ClassVar[bool] = False  # Each eligible node has its slots, which are named after it.
    by_load: ClassVar[bool] = False  # What the pods of the cluster ask for decides, within quotas.
    learns: ClassVar[bool] = False  # Owners that came decide, and pods that are announced.
    of_workload: ClassVar[bool] = False  # It is a part of a workload's replicas.
    shares_quotas: ClassVar[bool] = False  # All such sizes of a namespace share what quotas leave.
    held_once: ClassVar[bool] = False  # What was claimed is not held again, whatever refill says.
    whole: ClassVar[str] = "Ready"  # The condition that is True while all slots stand.

    @property
    def in_parts(self) -> bool:
        """Whether the size itself says how much a slot keeps."""
        return False

    @property
    def reads_volumes(self) -> bool:
        """Whether the volumes of pods decide."""
        return False

    @property
    def looks_ahead(self) -> bool:
        """Whether the missing pods of all workloads count as load."""
        return False

    @property
    def follows(self) -> Follow | None:
        """The gated pods that the slots stand next to, if it is such a size."""
        return None

    @property
    def terms(self) -> PromiseTerms:
        """Which part of the owners should start how fast, and how long an arrival counts."""
        return USUAL_TERMS

    def learnt_bounds(self, known: int) -> StockBounds:
        """The bounds of a learnt number of slots; `known` are pods that are certain to come."""
        return StockBounds(known=known)

    def in_window(self, replicas: int) -> Size:
        """The size while a window is open whose `replicas` are so many."""
        return self

    def looking_ahead(self) -> Size:
        """The size with `looks_ahead`, if it depends on the load at all."""
        return self

    # Which slots it wants.
    def number(self, replicas: int) -> int:
        """How many equal slots, for a workload with so many replicas; 0 where others decide."""
        return 0

    def wish(
        self, headroom: Headroom, template: PodTemplate, view: SizeView, now: datetime
    ) -> WantedSlots | None:
        """The slots that should exist while a window is open; None: `number` equal ones."""
        return None

    def kept(
        self, headroom: Headroom, template: PodTemplate, view: SizeView, now: datetime
    ) -> tuple[Hold, ...] | None:
        """The existing slots while the headroom is paused; None: each has the template."""
        return None

    def quota_share(self, one: Resources, replicas: int | None) -> int | None:
        """How many slots to count against the shared quotas; None: nothing can be said."""
        return None

    def on_new_node(self, template: PodTemplate, wished: WantedSlots | None) -> Resources:
        """What the slots of a node request that does not exist yet."""
        return EMPTY

    # What it says.
    @abstractmethod
    def words(self, headroom: Headroom, workload: Workload | None) -> str:
        """The size in words, for `explain`."""

    def status(
        self, headroom: Headroom, wished: WantedSlots, tally: SlotTally, now: datetime
    ) -> HeadroomStatus | None:
        """A status with fields and conditions of its own; None: the usual one."""
        return None

    def unserved(self, told: Mapping[str, Condition]) -> Unserved | None:
        """Why it is not served, from its own conditions; None: the condition Ready says it."""
        return None


def slots_told(count: int) -> str:
    """A number of slots in words."""
    return "1 slot" if count == 1 else f"{count} slots"
