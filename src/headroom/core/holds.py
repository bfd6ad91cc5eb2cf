"""A hold: one slot, its owners and its end, and the status of its object.

`wire` decodes the native kind into this value. A dialect or a Headroom creates the same value from
its own objects, so all other code knows one type only. `problems` lists errors in the object as
written: such a hold promises nothing and says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime, timedelta
from typing import Protocol

from headroom.core.fast_dataclass import dataclass
from headroom.core.headrooms.slot_values import Chronicle, Membership, Tenure
from headroom.core.objects import (
    Condition,
    Key,
    LabelSelector,
    OwnerReference,
    Parent,
    Pod,
    PodTerm,
    Taint,
    no_labels,
)
from headroom.core.resources import EMPTY, Resources

LOCKED = "Locked"
PREEMPTIBLE = "Preemptible"


@dataclass(frozen=True, slots=True)
class Problem:
    """An error in an object: `path` is where (`spec.ttl`), `message` the error and the remedy."""

    path: str
    message: str

    def __str__(self) -> str:
        return f"{self.path}: {self.message}"


@dataclass(frozen=True, slots=True)
class ObjectMatch:
    """Empty parts match everything."""

    name: str = ""
    namespace: str = ""
    uid: str = ""


@dataclass(frozen=True, slots=True)
class ControllerMatch:
    """Any one ownerReference must match all parts that are set."""

    api_version: str = ""
    kind: str = ""
    name: str = ""
    uid: str = ""
    namespace: str = ""
    controller: bool | None = None


class RequestRule(Protocol):
    """A dialect's rule for pods that ask for a hold by annotation, in any namespace."""

    @property
    def annotations(self) -> tuple[str, ...]:
        """The annotations by which pods ask; a pod that asks has one of them."""

    def refusal(self, annotations: Mapping[str, str]) -> str | None:
        """Say why a pod with these annotations does not ask for the hold, or None."""

    def keys(self) -> tuple[str, ...]:
        """Keys of which every pod that asks for the hold has one in `Pod.requested`."""


@dataclass(frozen=True, slots=True)
class OwnerRule:
    """Who may claim; the parts that are set are ANDed. `index` is its place in `spec.owners`."""

    object: ObjectMatch | None = None
    controller: ControllerMatch | None = None
    selector: LabelSelector | None = None
    priority_at_least: int | None = None
    asks: RequestRule | None = None
    index: int = field(default=-1, compare=False)


@dataclass(frozen=True, slots=True)
class PodTemplate:
    """The shape of a slot: `pod` is what core reads, `raw` the JSON that guardians are made from.

    `pod.key.name` is empty; `pod.requests` are what the slot keeps. `node` is the template's own
    `spec.nodeName`: a wish, obeyed by affinity, never by binding. Templates of the same `shape`
    make the same guardian. `beside` puts it next to a pod, `apart` keeps it away from some;
    `labels` and `priority_class` are those that a dialect gives its guardians beyond or instead of
    ours. `owner` is one that a guardian has beside the object that asked for it, `controller`
    its controller where that is not this object.
    """

    pod: Pod
    raw: str = "{}"
    node: str = ""
    shape: str = ""
    beside: PodTerm | None = None
    apart: PodTerm | None = None
    labels: tuple[tuple[str, str], ...] = ()
    priority_class: str = ""
    owner: OwnerReference | None = None
    controller: OwnerReference | None = None


@dataclass(frozen=True, slots=True)
class OwnerUse:
    """A pod that has got (part of) a hold."""

    namespace: str
    name: str
    uid: str


@dataclass(frozen=True, slots=True)
class HoldStatus:
    phase: str = ""
    node: str = ""
    allocatable: Resources = EMPTY
    allocated: Resources = EMPTY
    owners: tuple[OwnerUse, ...] = ()
    conditions: tuple[Condition, ...] = ()
    observed_generation: int = 0
    chronicle: Chronicle | None = None  # where the hold has a tenure


@dataclass(frozen=True, slots=True)
class Terms:
    """Further options of a hold, which Koordinator has in labels and annotations.

    `order`: the lowest that is not zero is chosen first. `counted`: the only resources that a
    Restricted hold limits; none named means all of them. `withheld` stays held whoever comes.
    `takes_several` and `needs_candidate` are about preAllocation: more running pods than one, and
    none at all is no reason to take free room, and `takes_marked` means pods that are marked for it
    instead of those of the owners. `binds_all` says whether taints also keep out
    owners that say nothing of holds; `tells_all` whether the status counts what owners took
    beyond what the hold has; `ends_with_node` whether it ends, instead of being held elsewhere,
    when its node is deleted.
    """

    order: int = 0
    counted: tuple[str, ...] = ()
    withheld: Resources = EMPTY
    most_owners: int | None = None
    takes_several: bool = False
    needs_candidate: bool = False
    takes_marked: bool = False
    binds_all: bool = True
    tells_all: bool = False
    ends_with_node: bool = False


PLAIN_TERMS = Terms()


@dataclass(frozen=True, slots=True)
class Hold:
    parent: Parent
    template: PodTemplate
    owners: tuple[OwnerRule, ...] = ()
    mode: str = LOCKED
    created: datetime | None = None
    ttl: timedelta | None = timedelta(hours=24)  # None or zero: never
    expires: datetime | None = None
    allocate_once: bool = True
    allocate_policy: str = ""
    pre_allocation: bool = False
    reclaims: bool = False  # a slot of a node: others may have to give way so that it comes back
    unschedulable: bool = False
    paused: bool = False  # what stands is kept, nothing is made
    taints: tuple[Taint, ...] = ()
    starts: datetime | None = None  # not held before; None: at once
    fresh_since: datetime | None = None  # a guardian older than this is to be renewed
    lifetime: timedelta | None = None  # and one that stands for longer than this; None: never
    guardian: str = ""  # the guardian's name where a dialect prescribes it
    lodging: str = ""  # the namespace of its guardian, where that is not its home
    awaits: str = ""  # the pod that it is to stand next to, while that one has no node
    next_to: str = ""  # the node of that pod, once it has one
    tenure: Tenure | None = None  # how long it lasts once it stands; None: see ttl and expires
    member: Membership | None = None  # the headroom that it is a slot of, as an object of its own
    finalizer: str = ""  # the one that a dialect puts on such objects
    finalizers: tuple[str, ...] = ()  # those that the object has
    deleted: datetime | None = None
    generation: int = 1
    version: str = ""
    problems: tuple[Problem, ...] = ()
    remarks: tuple[Problem, ...] = ()  # what its author should know, though it is held
    labels: Mapping[str, str] = field(default_factory=no_labels)
    terms: Terms = PLAIN_TERMS
    status: HoldStatus = field(default_factory=HoldStatus)

    @property
    def key(self) -> Key:
        return Key(self.parent.namespace, self.parent.name)

    @property
    def home(self) -> str:
        """The namespace that it is for: the template's own, where the object itself has none."""
        return self.parent.namespace or self.template.pod.key.namespace

    @property
    def guardian_namespace(self) -> str:
        """Where its guardian lives, and so whose ResourceQuota counts it."""
        return self.lodging or self.home

    @property
    def group(self) -> str:
        """The headroom that it is a slot of, as a text; empty for one that stands alone."""
        if self.member is not None:
            return self.member.of.whole
        return self.parent.whole if self.parent.slot else ""

    @property
    def slot(self) -> str:
        return self.parent.slot

    @property
    def terminal(self) -> bool:
        return self.status.phase in ("Succeeded", "Failed")

    @property
    def is_over(self) -> bool:
        """Whether it has ended for good: neither its owners nor its node can change it."""
        return self.terminal and self.tenure is None and not self.finalizer
