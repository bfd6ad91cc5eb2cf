"""A Headroom: how many slots of one shape are to stand ready, where, when and for whom.

`wire` decodes the native kind into this value and a dialect may make the same from its own objects.
`windows` says whether it is on, `eligibility` which nodes count, and `sizing` turns it into the
slots it wishes for, each an ordinary Hold. `problems` are what was wrong with the object as
written: such a headroom promises nothing and says so.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from headroom.core.holds import OwnerRule, PodTemplate, Problem
from headroom.core.objects import Condition, Key, Parent

LOCKED = "Locked"
PREEMPTIBLE = "Preemptible"
ON_CLAIM = "OnClaim"
ALWAYS = "Always"
NEVER = "Never"


@dataclass(frozen=True, slots=True)
class Replicas:
    """A fixed number of slots."""

    count: int


@dataclass(frozen=True, slots=True)
class Percent:
    """So many hundredths of the workload's replicas, rounded up."""

    percent: int


@dataclass(frozen=True, slots=True)
class PerNode:
    """So many slots on every eligible node; with `percent`, one of that part of its allocatable."""

    slots: int = 1
    percent: int | None = None


@dataclass(frozen=True, slots=True)
class Utilization:
    """Enough to bring requested over allocatable back under a threshold."""

    permille: int


@dataclass(frozen=True, slots=True)
class Follow:
    """A slot next to each pod that carries a scheduling gate."""

    gate: str


@dataclass(frozen=True, slots=True)
class Adaptive:
    """As much as lets this part of the pods start within this time."""

    start_within: timedelta
    permille: int


Size = Replicas | Percent | PerNode | Utilization | Follow | Adaptive
NOTHING = Replicas(0)


@dataclass(frozen=True, slots=True)
class WorkloadRef:
    """The workload whose pods give a slot its shape; it lives in the headroom's namespace."""

    api_version: str
    kind: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind}/{self.name}"


@dataclass(frozen=True, slots=True)
class Workload:
    """What is known of such a workload: how many pods it wants, and of what shape."""

    ref: WorkloadRef
    namespace: str
    replicas: int
    template: PodTemplate
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class Slot:
    """The shape of one slot: exactly one of the two, unless the object has a problem."""

    template: PodTemplate | None = None
    source: WorkloadRef | None = None


@dataclass(frozen=True, slots=True)
class Limits:
    """What the slots of one headroom may come to at most; None is no limit.

    `nodes` bounds the nodes of a size per node. `resources` keeps a limit of zero, which a
    Resources would lose.
    """

    slots: int | None = None
    nodes: int | None = None
    pods: int | None = None
    resources: tuple[tuple[str, int], ...] = ()


NO_LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class Window:
    """When the headroom is on: from each start (less the lead time) for the duration.

    `start` is a cron expression in the time zone; the duration is time that passes, also where
    the clocks are set in between. `replicas` replaces the headroom's own size.
    """

    start: str
    duration: timedelta
    time_zone: str = "UTC"
    lead_time: timedelta = timedelta()
    replicas: int | None = None


@dataclass(frozen=True, slots=True)
class HeadroomStatus:
    """`claimed` are slots given away since the object exists, `selector` finds its guardians."""

    desired: int = 0
    held: int = 0
    pending: int = 0
    claimed: int = 0
    hits: int = 0
    misses: int = 0
    next_start: datetime | None = None
    selector: str = ""
    conditions: tuple[Condition, ...] = ()
    observed_generation: int = 0


@dataclass(frozen=True, slots=True)
class Headroom:
    parent: Parent
    slot: Slot
    size: Size = NOTHING
    limits: Limits = NO_LIMITS
    mode: str = LOCKED
    owners: tuple[OwnerRule, ...] = ()
    refill: str = ON_CLAIM
    slot_lifetime: timedelta | None = None  # None or zero: never renewed
    schedule: tuple[Window, ...] = ()
    paused: bool = False
    created: datetime | None = None
    deleted: datetime | None = None
    generation: int = 1
    version: str = ""
    problems: tuple[Problem, ...] = ()
    status: HeadroomStatus = field(default_factory=HeadroomStatus)

    @property
    def key(self) -> Key:
        return Key(self.parent.namespace, self.parent.name)
