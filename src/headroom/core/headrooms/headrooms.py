"""A Headroom: how many slots of one shape are wanted, where, when and for whom.

`wire` decodes the native kind into this value, and a dialect may create the same from its own
objects. `windows` says whether it is on, `eligibility` which nodes count, and `wanted_slots` turns
it into the wanted slots, each an ordinary Hold. `problems` lists errors in the object as written:
such a headroom promises nothing and says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from headroom.core.headrooms.slot_values import SlotObjects
from headroom.core.holds import LOCKED, OwnerRule, PodTemplate, Problem
from headroom.core.objects import Condition, Key, LabelSelector, Parent, no_labels
from headroom.core.promise.report import PromiseStatus
from headroom.core.sizes.kind import Size

ON_CLAIM = "OnClaim"
WHEN_FREE, PREEMPT = "WhenFree", "Preempt"  # how a slot that was lost comes back
ALWAYS = "Always"
NEVER = "Never"

ON_PRIORITY = "priority"  # the path of a remark on the priority of its guardians

POD_CHUNK = "Pod"
NODE_CHUNK = "Node"
POD_TEMPLATE = "PodTemplate"


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
    """What is known of such a workload: how many pods it wants, and of what shape.

    `missing` are those of them that it has not made yet and is about to, the next one only where
    it makes them `in_order`; `suspended` are those that a suspended Job will make. `controller` is
    the uid of the object that it belongs to, `made_as` what we wrote on one that we made.
    `pod_labels` are those of its pods, `selector` those by which it finds them.
    """

    ref: WorkloadRef
    namespace: str
    replicas: int
    template: PodTemplate
    problems: tuple[Problem, ...] = ()
    uid: str = ""
    version: str = ""
    generation: int = 1
    missing: int = 0
    controller: str = ""
    made_as: str = ""
    in_order: bool = False
    suspended: int = 0
    pod_labels: Mapping[str, str] = field(default_factory=no_labels)
    labels: Mapping[str, str] = field(default_factory=no_labels)
    selector: Mapping[str, str] = field(default_factory=no_labels)
    created: datetime | None = None

    @property
    def key(self) -> Key:
        return Key(self.namespace, self.ref.name)


def replicas_of(workload: Workload | None) -> int | None:
    """How many pods a workload wants; a PodTemplate is a shape, and wants none."""
    if workload is None or workload.ref.kind == POD_TEMPLATE:
        return None
    return workload.replicas


AUTO_KINDS = ("Deployment", "StatefulSet", "ReplicaSet", "Job")
USUAL_KINDS, USUAL_TOP, MOST_SHAPES = AUTO_KINDS[:3], 5, 20


@dataclass(frozen=True, slots=True)
class Auto:
    """Automatic shapes: of the workloads in scope, the `top` ones that are most likely to grow.

    `namespaces` of None is the headroom's own namespace; `selector` is about the labels of the
    workloads themselves.
    """

    top: int = USUAL_TOP
    kinds: tuple[str, ...] = USUAL_KINDS
    namespaces: LabelSelector | None = None
    selector: LabelSelector | None = None


@dataclass(frozen=True, slots=True)
class Shape:
    """A workload whose shape was chosen, as the status tells it; `growth` is in milli-pods."""

    kind: str
    namespace: str
    name: str
    slots: int = 0
    growth: int = 0
    why: str = ""


@dataclass(frozen=True, slots=True)
class AutoStatus:
    """`candidates` is how many workloads were in scope."""

    candidates: int = 0
    chosen: tuple[Shape, ...] = ()


@dataclass(frozen=True, slots=True)
class Slot:
    """The shape of one slot: a template, a source, or shapes to be chosen.

    None of them where the object has a problem. `chunk` says in what pieces the room is held: one a
    pod, or as few as whole nodes hold.
    """

    template: PodTemplate | None = None
    source: WorkloadRef | None = None
    auto: Auto | None = None
    chunk: str = POD_CHUNK


@dataclass(frozen=True, slots=True)
class Limits:
    """The maximum for all slots of one headroom together; None is no limit.

    `nodes` bounds the nodes of a size per node. Where the size follows the load, `pods` bounds real
    pods and slots together, and `nodes` the nodes of the cluster. `resources` keeps a limit of
    zero, which a Resources would lose.
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
    the clocks are set in between. `replicas` replaces the headroom's own size. `source` is the
    field that `start` was read from, where a dialect has another one.
    """

    start: str
    duration: timedelta
    time_zone: str = "UTC"
    lead_time: timedelta = timedelta()
    replicas: int | None = None
    source: str = ""


@dataclass(frozen=True, slots=True)
class HeadroomStatus:
    """`claimed` are slots given away since the object exists, `selector` finds its guardians.

    `spent` are the slots that are used up and not held again (refill Never). Where slots are
    objects of their own, `objects` counts them all, `ended` those whose time is over and `updated`
    those of the present template. `last_start` is the last start of its schedule.
    """

    desired: int = 0
    held: int = 0
    pending: int = 0
    claimed: int = 0
    hits: int = 0
    misses: int = 0
    next_start: datetime | None = None
    last_start: datetime | None = None
    objects: int = 0
    ended: int = 0
    updated: int = 0
    selector: str = ""
    spent: tuple[str, ...] = ()
    promise: PromiseStatus | None = None
    auto: AutoStatus | None = None
    conditions: tuple[Condition, ...] = ()
    observed_generation: int = 0
    template: str = ""  # the PodTemplate that a buffer's chunks are like, and its generation
    template_generation: int = 0


NO_STATUS = HeadroomStatus()


@dataclass(frozen=True, slots=True)
class Headroom:
    parent: Parent
    slot: Slot
    size: Size
    limits: Limits = NO_LIMITS
    mode: str = LOCKED
    owners: tuple[OwnerRule, ...] = ()
    owners_given: bool = True  # False: nothing was said of them
    refill: str = ON_CLAIM
    reclaim: str = WHEN_FREE
    slot_lifetime: timedelta | None = None  # None or zero: never renewed
    schedule: tuple[Window, ...] = ()
    paused: bool = False
    served: bool = True  # False: it is somebody else's, and not even answered
    closes: datetime | None = None  # no slot is made from then on; None: never
    slot_objects: SlotObjects | None = None  # where each slot is an object of a dialect's
    finalizer: str = ""  # the one that a dialect puts on such objects
    finalizers: tuple[str, ...] = ()  # those that the object has
    created: datetime | None = None
    deleted: datetime | None = None
    generation: int = 1
    version: str = ""
    problems: tuple[Problem, ...] = ()
    remarks: tuple[Problem, ...] = ()  # what its author should know, though it is held
    labels: Mapping[str, str] = field(default_factory=no_labels)
    status: HeadroomStatus = NO_STATUS

    @property
    def key(self) -> Key:
        return Key(self.parent.namespace, self.parent.name)

    @property
    def finds_owners(self) -> bool:
        """Whether its owners are the pods of the chosen workloads."""
        return self.slot.auto is not None and self.mode == LOCKED and not self.owners_given
