"""A hold: one slot kept, for whom, until when; and what its object says of itself.

`wire` decodes the native kind into this value; a dialect or a Headroom makes the same value from
its own objects, so everything downstream knows one noun. `problems` are what was wrong with the
object as written: such a hold promises nothing and says so.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from headroom.core.objects import Condition, Key, LabelSelector, Parent, Pod, Taint
from headroom.core.resources import EMPTY, Resources


@dataclass(frozen=True, slots=True)
class Problem:
    """Something wrong in an object: `path` is where (`spec.ttl`), `message` what and what to do."""

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


@dataclass(frozen=True, slots=True)
class OwnerRule:
    """Who may claim; the parts that are set are ANDed."""

    object: ObjectMatch | None = None
    controller: ControllerMatch | None = None
    selector: LabelSelector | None = None
    priority_at_least: int | None = None


@dataclass(frozen=True, slots=True)
class PodTemplate:
    """The shape of a slot: `pod` is what core reads, `raw` the JSON that guardians are made from.

    `pod.key.name` is empty; `pod.requests` are what the slot keeps. `node` is the template's own
    `spec.nodeName`: a wish, obeyed by affinity, never by binding.
    """

    pod: Pod
    raw: str = "{}"
    node: str = ""


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


@dataclass(frozen=True, slots=True)
class Hold:
    parent: Parent
    template: PodTemplate
    owners: tuple[OwnerRule, ...] = ()
    slot: str = ""
    created: datetime | None = None
    ttl: timedelta | None = timedelta(hours=24)  # None or zero: never
    expires: datetime | None = None
    allocate_once: bool = True
    allocate_policy: str = ""
    pre_allocation: bool = False
    unschedulable: bool = False
    taints: tuple[Taint, ...] = ()
    deleted: datetime | None = None
    generation: int = 1
    version: str = ""
    problems: tuple[Problem, ...] = ()
    status: HoldStatus = field(default_factory=HoldStatus)

    @property
    def key(self) -> Key:
        return Key(self.parent.namespace, self.parent.name)

    @property
    def terminal(self) -> bool:
        return self.status.phase in ("Succeeded", "Failed")
