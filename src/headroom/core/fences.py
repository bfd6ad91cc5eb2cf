"""Decide when pods without a claim are kept off a node, so that a hold gets returned room back.

A pod that finishes gives no warning, and kube-scheduler frees its room at the same moment. An
earlier latch would be counted against the next owner too. A fence is not: it is a pod on the node
that requests nothing and whose anti-affinity excludes every pod without our label; owners at the
gate get that label with their claim. It exists only while a pod waits for that room.

    refused pod that fits once owners have ended ──▶ fence ──(nobody waits any more)──▶ no fence
                                                       └──(a waiting pod fits beside them)──▶

A fence keeps all pods without a claim off its node, also from free room. So it exists only against
pods that would really take the room that a hold gets back, for at most an hour each, and it opens
for every pod that could run there beside the holds, whichever other pods wait.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from headroom.core.actions import (
    CreateFence,
    CreateGuardian,
    CreateLatch,
    DeletePod,
    Nominate,
)
from headroom.core.allocation import used_up
from headroom.core.derived_names import dns_label
from headroom.core.fast_dataclass import replace
from headroom.core.holds import PREEMPTIBLE, Hold
from headroom.core.names import (
    LOCKED_PRIORITY,
    PASS_LABEL,
    ROLE_FENCE,
    ROLE_LABEL,
    ROLE_LATCH,
    SLOT_ANNOTATION,
)
from headroom.core.objects import (
    Key,
    LabelSelector,
    Placement,
    Pod,
    PodAffinity,
    PodTerm,
    Requirement,
)
from headroom.core.plan import Sequence, Work
from headroom.core.resources import EMPTY, Resources
from headroom.core.subjects import fence_subject, pod_subject

HOSTNAME = "kubernetes.io/hostname"
FENCING = Placement(
    pod_anti_affinity=PodAffinity(
        required=(
            PodTerm(
                LabelSelector((Requirement(PASS_LABEL, "DoesNotExist"),)),
                HOSTNAME,
                namespace_selector=LabelSelector(),
            ),
        )
    )
)
"""What makes a fence of a pod: no pod without our label may join it on its node."""

LONGEST_CAUSE = timedelta(hours=1)
"""How long one pod that waits may be the reason for fences."""

PATIENCE = timedelta(seconds=10)
"""How long a node stays open for a stranger who fits beside its holds; kube-scheduler's longest
backoff. Whoever has not come by then may see something that we do not."""

NEVER = datetime.min.replace(tzinfo=UTC)
FIRST_PAUSE = timedelta(seconds=30)
LONGEST_PAUSE = timedelta(minutes=10)
"""Such a stranger is given another chance after a pause, which doubles each time."""


@dataclass(frozen=True, slots=True)
class FenceFacts:
    """One node with owners of reusable holds, at a moment.

    `contested`: somebody waits who would fit there if those owners had ended, and does not now.
    `usable`: somebody waits who fits there now, beside them. `settled`: all that was returned is
    held again and nothing is under way. `quiet_since`: when it was last seen contested, if not now.
    """

    contested: bool
    usable: bool = False
    settled: bool = True
    quiet_since: datetime | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a fence is to stand there, and when to look again if nothing else happens."""

    stands: bool
    wake_at: datetime | None = None


def fence_verdict(facts: FenceFacts, fenced: bool, now: datetime, kept_for: timedelta) -> Verdict:
    """Decide whether a node has a fence.

    A fence is never removed while free room belongs to a hold. It is removed at once if a waiting
    pod can use room that belongs to no hold, and otherwise after a while, so that it does not flap.
    """
    if not fenced:
        return Verdict(facts.contested and not facts.usable)
    if not facts.settled:
        return Verdict(True)
    if facts.usable:
        return Verdict(False)
    if facts.contested:
        return Verdict(True)
    gone_at = (facts.quiet_since or now) + kept_for
    return Verdict(True, gone_at) if now < gone_at else Verdict(False)


def returns(hold: Hold) -> bool:
    """Whether room that owners of a hold return is held again."""
    return not (
        hold.allocate_once
        or hold.terminal
        or hold.paused
        or hold.problems
        or hold.deleted is not None
        or hold.mode == PREEMPTIBLE
    )


def is_rival(pod: Pod) -> bool:
    """Whether a pod was refused and still waits: it takes any room that becomes free.

    Pods more important than we are may have it; they preempt a fence as they would a guardian.
    """
    role = pod.labels.get(ROLE_LABEL)
    return (
        pod.unschedulable_since is not None
        and not pod.node
        and not pod.finished
        and pod.deleted is None
        and not pod.gates
        and PASS_LABEL not in pod.labels
        and role not in (ROLE_LATCH, ROLE_FENCE)
        and pod.priority <= LOCKED_PRIORITY
    )


def rival_kind(pod: Pod) -> tuple[object, ...]:
    """The namespace of a refused pod, and all that says where it may go."""
    labels = tuple(sorted(pod.labels.items()))
    spec = (pod.requests, pod.placement, pod.priority, pod.scheduler, pod.claims, pod.reach)
    return (pod.key.namespace, labels, *spec)


def may_cause(rival: Pod, now: datetime) -> bool:
    """Whether a waiting pod can be the reason for a fence, which is limited in time."""
    return now < causes_until(rival)


def causes_until(rival: Pod) -> datetime:
    """When a pod that waits stops to be a reason for fences."""
    since = rival.unschedulable_since
    return since + LONGEST_CAUSE if since is not None else NEVER


def open_to_stranger(since: datetime, now: datetime) -> tuple[bool, datetime]:
    """Whether a node is open now for a stranger that fits since then, and when that changes."""
    start, pause = since, FIRST_PAUSE
    while now >= start + PATIENCE:
        start += PATIENCE + pause
        pause = min(2 * pause, LONGEST_PAUSE)
    return (True, start + PATIENCE) if now >= start else (False, start)


def returned_by(uses: Iterable[tuple[Hold, Iterable[Pod]]]) -> Resources:
    """What holds get back, and keep, when these owners of theirs have ended."""
    total = EMPTY
    for hold, users in uses:
        total = total + used_up(hold, users)
    return total


def wants_ports_of(rival: Pod, holds: Iterable[Hold]) -> bool:
    """Whether a pod would take a host port that a hold keeps."""
    asked = {(port.port, port.protocol) for port in rival.placement.ports}
    kept = (port for hold in holds for port in hold.template.pod.placement.ports)
    return any((port.port, port.protocol) in asked for port in kept)


def may_pass_fence(guardian: CreateGuardian) -> bool:
    """Whether a guardian that kube-scheduler places goes to where its hold's owners are."""
    return bool(guardian.node) and not guardian.bound and not guardian.hold.allocate_once


def fencing(hold: Hold) -> Placement:
    """How the fence of a hold stands on its node: what the hold tolerates there, it does too."""
    return replace(FENCING, tolerations=hold.template.pod.placement.tolerations)


def _slot_of(node: str) -> str:
    """What stands on a latch, as its slot, that keeps the place of a fence."""
    return f"fence {node}"


def put_up(hold: Hold, node: str, latch: Key | None = None) -> Sequence:
    """Create the fence of a node for a hold that has owners there; it is deleted with the hold.

    The latch that keeps its place, if there is one, stays until the fence stands.
    """
    key = Key(hold.guardian_namespace, dns_label("fence", node, hold.parent.uid, hold.slot))
    under = (pod_subject(latch),) if latch is not None else ()
    return Sequence(Work.FENCE, (fence_subject(node), *under), ((CreateFence(key, hold, node),),))


def place_latch(node: str, namespace: str) -> Key:
    """The latch that keeps the place for a pod which the fence of a node is about to take."""
    return Key(namespace, dns_label("latch", _slot_of(node)))


def keep_place(hold: Hold, node: str, namespace: str) -> Sequence:
    """Make kube-scheduler count one more pod on a node, before a fence takes that place.

    The latch stands for no hold: it asks for nothing, and says so by a slot that none can have.
    """
    latch = place_latch(node, namespace)
    parent = replace(hold.parent, slot=_slot_of(node))
    steps = ((CreateLatch(latch, parent, EMPTY, node),), (Nominate(latch, "", node),))
    return Sequence(Work.FENCE, (pod_subject(latch),), steps)


def stands_for_fence(latch: Pod) -> bool:
    """Whether a latch keeps the place of a fence, and no room."""
    return latch.annotations.get(SLOT_ANNOTATION) == _slot_of(latch.nominated)


def take_down(fence: Pod) -> Sequence:
    delete = DeletePod(fence.key, fence.uid)
    return Sequence(Work.UNFENCE, (fence_subject(fence.node),), ((delete,),))


def is_fence(pod: Pod) -> bool:
    """Whether a pod is a fence: it must have the anti-affinity, not only the label."""
    named = bool(pod.node) and pod.labels.get(ROLE_LABEL) == ROLE_FENCE
    return named and pod.placement.pod_anti_affinity == FENCING.pod_anti_affinity
