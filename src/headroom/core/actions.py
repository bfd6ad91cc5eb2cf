"""All writes of the operator to a cluster, as data, and their possible outcomes.

A decision is a value: `decide` functions return actions, and a Cluster performs them. `wire.render`
turns each action into one API request, so only one place per action knows its JSON.
An action is one write. A `Sequence` is a list of writes that must happen in this order. After every
prefix of it, a restarted operator can continue.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from headroom.core.fast_dataclass import dataclass
from headroom.core.headrooms.headrooms import HeadroomStatus
from headroom.core.headrooms.node_overhead import Overhead
from headroom.core.headrooms.slot_values import SlotObjects
from headroom.core.holds import Hold, HoldStatus
from headroom.core.objects import HostPort, Key, Parent
from headroom.core.resources import Resources


@dataclass(frozen=True, slots=True)
class OnPod:
    """A write to one pod, which is done only if it is still the one we mean."""

    key: Key
    uid: str


@dataclass(frozen=True, slots=True)
class CreateGuardian:
    """Make the pod that keeps a hold's room.

    `requests` replaces the template's requests when it differs (a partly used hold), `ports` its
    host ports; `node` pins by affinity, or, with `bound`, puts the pod on the node at once (only
    under a latch). One that is `gated` is never placed: it is there to be charged to its namespace.
    """

    name: str
    hold: Hold
    requests: Resources
    node: str = ""
    bound: bool = False
    ports: tuple[HostPort, ...] | None = None  # None: those of the template
    gated: bool = False


@dataclass(frozen=True, slots=True)
class CreateLatch:
    """Make the gated pod because of which kube-scheduler counts room as used during a handover.

    `claims` says which owner was to get which hold (`namespace/name/uid` → parent), so that
    a restarted operator can finish; `users` are the uids of owners that have the room of a slot
    for which the latch stands.
    """

    key: Key
    parent: Parent
    requests: Resources
    node: str
    claims: tuple[tuple[str, str], ...] = ()
    users: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CreateFence:
    """Make the pod that keeps strangers off a node, whatever room is free there: see `fences`."""

    key: Key
    hold: Hold
    node: str


@dataclass(frozen=True, slots=True)
class MoveLatch(OnPod):
    """Move a spare latch to another handover: another node, other claims, in one write."""

    parent: Parent
    node: str
    claims: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Nominate(OnPod):
    """Set a pod's nominated node and, with `claimed`, write the claim in the same request.

    The claim is two annotations, the parent's name (`CLAIMED_ANNOTATION`) and its uid, and the
    label by which fences know an owner.

    An empty `uid` (a latch just created) is not checked.
    """

    node: str
    claimed: Parent | None = None


@dataclass(frozen=True, slots=True)
class DeletePod(OnPod):
    """Delete at once (grace 0).

    With `version`, only if nothing of it has changed: a guardian that waits may have got a node at
    this moment, and then it stays.
    """

    version: str = ""


@dataclass(frozen=True, slots=True)
class MarkPreempted(OnPod):
    """Set the condition DisruptionTarget on a pod that is preempted, as kube-scheduler does."""

    message: str
    at: datetime


@dataclass(frozen=True, slots=True)
class EndPod(OnPod):
    """Delete a pod that is not ours with the grace that it has."""

    at: datetime


@dataclass(frozen=True, slots=True)
class Ungate(OnPod):
    """Remove one scheduling gate by its place, tested by name; other gates are not ours."""

    gate: str
    index: int


@dataclass(frozen=True, slots=True)
class LabelPod(OnPod):
    """Give a pod one label, or take it away (None); the others are left alone."""

    label: str
    value: str | None


@dataclass(frozen=True, slots=True)
class Bind(OnPod):
    """Bind a pod to a node; the claim, if any, is written in the same request."""

    node: str
    claimed: Parent | None = None


@dataclass(frozen=True, slots=True)
class ClaimInPlace(OnPod):
    """Write a claim on a pod that runs already and grows into a hold on its node.

    `beside` is what the pod has without the hold.
    """

    claimed: Parent
    beside: Resources


@dataclass(frozen=True, slots=True)
class Disclaim(OnPod):
    """Remove the claim (and the nomination, if `nominated`) of a pod that did not get the room."""

    nominated: bool = False


@dataclass(frozen=True, slots=True)
class MarkUnschedulable(OnPod):
    """Set the condition PodScheduled=False on a pod, with the reason why we cannot place it.

    Autoscalers act on the reason Unschedulable; SchedulerError is for what no node could mend.
    """

    message: str
    at: datetime
    reason: str = "Unschedulable"


@dataclass(frozen=True, slots=True)
class SelectNode:
    """Write the selected node on a volume claim, so that its volume is created there."""

    key: Key
    uid: str
    node: str


@dataclass(frozen=True, slots=True)
class PromiseVolume:
    """Write the claim on a free volume that it will get; the volume controller binds the two.

    Only if the volume is still as it was seen (`version`).
    """

    volume: str
    version: str
    claim: Key
    claim_uid: str


@dataclass(frozen=True, slots=True)
class WriteHoldStatus:
    parent: Parent
    status: HoldStatus


@dataclass(frozen=True, slots=True)
class WriteHeadroomStatus:
    """Put the status of a Headroom, or of a dialect's object that stands for one, in place."""

    parent: Parent
    status: HeadroomStatus


@dataclass(frozen=True, slots=True)
class WriteQuotaStatus:
    parent: Parent
    status: Any  # in the words of its dialect


@dataclass(frozen=True, slots=True)
class CreateSlotObject:
    """Make the object that stands for one slot, where a dialect has such a kind (a Ticket).

    `hold.parent` is that object, `of` what wants it and owns it. Without a uid it is made; one that
    has a uid is there already, and gets what is written in `objects` anew.
    """

    hold: Hold
    of: Parent
    slot: str
    objects: SlotObjects


@dataclass(frozen=True, slots=True)
class DeleteObject:
    """Delete an object of a dialect that we created, if its uid is still the same."""

    parent: Parent


@dataclass(frozen=True, slots=True)
class WriteOverhead:
    """Make the DaemonSet by which autoscalers count slots per node, or give it another template.

    Without a `uid` it is made.
    """

    overhead: Overhead
    uid: str = ""


@dataclass(frozen=True, slots=True)
class CreateSlotSet:
    """Make the object that controls the guardians of a headroom (`core.headrooms.companions`)."""

    parent: Parent


@dataclass(frozen=True, slots=True)
class RestoreObject:
    """Make an object of our own again that somebody has deleted."""

    parent: Parent
    raw: str


@dataclass(frozen=True, slots=True)
class SetFinalizers:
    """Put this whole list of finalizers on an object of a dialect's."""

    parent: Parent
    version: str
    finalizers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Tell:
    """Record a core/v1 Event about an object. Same (about, reason, message): counted up."""

    api_version: str
    kind: str
    about: Key
    uid: str
    type: str  # Normal | Warning
    reason: str
    message: str
    at: datetime


@dataclass(frozen=True, slots=True)
class WriteIndex:
    """Keep a namespace's claim index: which pods the admission policy should gate, and how long.

    Pods of at least this `priority` are gated whatever else they carry; None: no priority is.
    """

    namespace: str
    keys: tuple[str, ...]
    fresh_until: datetime
    priority: int | None = None


Action = (
    CreateGuardian
    | CreateLatch
    | CreateFence
    | MoveLatch
    | Nominate
    | DeletePod
    | MarkPreempted
    | EndPod
    | Ungate
    | LabelPod
    | Bind
    | ClaimInPlace
    | Disclaim
    | MarkUnschedulable
    | SelectNode
    | PromiseVolume
    | WriteHoldStatus
    | WriteHeadroomStatus
    | WriteQuotaStatus
    | CreateSlotObject
    | RestoreObject
    | WriteOverhead
    | CreateSlotSet
    | DeleteObject
    | SetFinalizers
    | Tell
    | WriteIndex
)


@dataclass(frozen=True, slots=True)
class Done:
    """It happened; `uid` is that of a created object."""

    uid: str = ""


@dataclass(frozen=True, slots=True)
class Stale:
    """The object has changed (409, failed test); the watch will show its current state."""

    message: str = ""


@dataclass(frozen=True, slots=True)
class Gone:
    """There is no such object (404)."""

    message: str = ""


@dataclass(frozen=True, slots=True)
class Taken:
    """The name to be created exists already."""

    message: str = ""


@dataclass(frozen=True, slots=True)
class Denied:
    """Forbidden: rights, quota or admission (403). A person must act."""

    message: str


@dataclass(frozen=True, slots=True)
class Invalid:
    """The API server refused the object itself (400, 422)."""

    message: str


@dataclass(frozen=True, slots=True)
class Unavailable:
    """No answer, or 429/5xx after retries: nobody knows whether it happened."""

    message: str
    retry_after: float = 1.0


Outcome = Done | Stale | Gone | Taken | Denied | Invalid | Unavailable
