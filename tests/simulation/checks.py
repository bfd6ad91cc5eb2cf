"""What must be true of a world that has been left alone until it is quiet.

Judged by what the API server has stored, never by what the operator believes. Every check answers
with words for each thing that is wrong; an empty list is a good world.
"""

from __future__ import annotations

from collections.abc import Iterator

from headroom.core.allocation import reported_use, room_to_keep
from headroom.core.claims import claim_of
from headroom.core.holds import Hold
from headroom.core.names import (
    CLAIM_GATE,
    CLAIMS_ANNOTATION,
    PARENT_ANNOTATION,
    ROLE_LABEL,
    SLOT_ANNOTATION,
    WAIT_ANNOTATION,
)
from headroom.core.objects import Condition, Node, Pod, identity
from headroom.core.owners import owner_refusal
from headroom.core.resources import EMPTY, Resources
from headroom.sim.world import SimWorld
from headroom.wire.objects.holds import hold_from
from headroom.wire.objects.nodes import node_from
from headroom.wire.objects.pods import pod_from


class Truth:
    """All that is stored, decoded once."""

    def __init__(self, world: SimWorld) -> None:
        self.pods: list[Pod] = [pod_from(item) for item in world.list("Pod")]
        self.nodes: dict[str, Node] = {
            item["metadata"]["name"]: node_from(item) for item in world.list("Node")
        }
        self.holds: list[Hold] = [hold_from(item) for item in world.list("Hold")]
        self.headrooms: set[str] = {item["metadata"]["uid"] for item in world.list("Headroom")}

    def guardians(self, hold: Hold) -> list[Pod]:
        """Pods that keep this very hold's room."""
        return [
            pod
            for pod in self.pods
            if pod.labels.get(ROLE_LABEL) == "guardian"
            and any(owner.uid == hold.parent.uid for owner in pod.owners)
        ]

    def users(self, hold: Hold) -> list[Pod]:
        """Pods that run in this hold's room."""
        claim = (str(hold.parent), hold.parent.uid)
        return [pod for pod in self.pods if claim_of(pod) == claim and pod.occupies_node]


def breaches(world: SimWorld) -> list[str]:
    """Everything that is wrong, in words."""
    truth = Truth(world)
    found = [*_leftovers(truth), *_waiting_in_vain(truth)]
    for hold in truth.holds:
        name = str(hold.parent)
        found += [f"{name} ({hold.status.phase}): {words}" for words in _hold(truth, hold)]
    return found


def _leftovers(truth: Truth) -> Iterator[str]:
    uids = {hold.parent.uid for hold in truth.holds} | truth.headrooms
    for pod in truth.pods:
        role = pod.labels.get(ROLE_LABEL)
        if role == "latch" and not (is_claim(pod) and _is_in_use(truth, pod)):
            yield f"{pod.key}: a latch is left on {pod.nominated}"
        if CLAIM_GATE in pod.gates and pod.annotations.get(WAIT_ANNOTATION) != "true":
            yield f"{pod.key}: our gate is left"
        if role == "guardian" and not any(owner.uid in uids for owner in pod.owners):
            yield f"{pod.key}: a guardian of nobody, {pod.annotations.get(PARENT_ANNOTATION)}"
        if claim_of(pod) is not None and not pod.node and not pod.finished:
            yield f"{pod.key}: claims {claim_of(pod)} and has no node"


def is_claim(pod: Pod) -> bool:
    """Whether a pod is a latch by which a slot keeps its claim on what owners use."""
    told, latch = pod.annotations, pod.labels.get(ROLE_LABEL) == "latch"
    return latch and bool(told.get(SLOT_ANNOTATION)) and CLAIMS_ANNOTATION not in told


def _is_in_use(truth: Truth, latch: Pod) -> bool:
    told = latch.annotations
    slot = identity(told[PARENT_ANNOTATION], told[SLOT_ANNOTATION])
    claims = ((pod, claim_of(pod)) for pod in truth.pods if pod.node == latch.nominated)
    return any(claim is not None and claim[0] == slot for _, claim in claims)


def _hold(truth: Truth, hold: Hold) -> Iterator[str]:
    guardians, users = truth.guardians(hold), truth.users(hold)
    if len(guardians) > 1:
        yield f"{len(guardians)} guardians"
    if hold.allocate_once and len(users) > 1:
        yield f"given to {[str(pod.key) for pod in users]}"
    match hold.status.phase:
        case "Succeeded" | "Failed":
            if guardians:
                yield f"still guarded by {guardians[0].key}"
            if hold.status.phase == "Succeeded" and not hold.status.owners:
                yield "names no owner"
        case "Available":
            yield from _available(hold, guardians, users)
        case "Pending":
            yield from _pending(hold, guardians, users)
        case phase:
            yield f"strange phase {phase!r}"
    if hold.status.phase in ("Available", "Pending"):
        told = sorted(use.uid for use in hold.status.owners)
        if told != sorted(pod.uid for pod in users):
            yield f"says owners {told}, has {sorted(str(pod.key) for pod in users)}"


def _available(hold: Hold, guardians: list[Pod], users: list[Pod]) -> Iterator[str]:
    room = hold.template.pod.requests
    wanted = room_to_keep(hold, users)
    held = _total(guardians)
    if hold.allocate_once and users:
        yield f"in use by {users[0].key}"
    if held.only(room) != wanted and not _says(hold, "PartiallyHeld"):
        yield f"holds {held} instead of {wanted}"
    for pod in guardians:
        if pod.node != hold.status.node:
            yield f"says {hold.status.node}, guardian is on {pod.node!r}"
        if pod.finished or pod.deleted is not None:
            yield "its guardian has ended"
    for pod in users:
        if pod.node != hold.status.node:
            yield f"says {hold.status.node}, {pod.key} is on {pod.node}"
    used = reported_use(hold, users)
    if hold.status.allocated != used:
        yield f"says {hold.status.allocated} are used, not {used}"


def _pending(hold: Hold, guardians: list[Pod], users: list[Pod]) -> Iterator[str]:
    if any(pod.node for pod in guardians):
        yield f"but its guardian is on {guardians[0].node}"
    if not guardians and not _says(hold, "GuardianRefused"):
        yield f"has no guardian and says {_ready(hold)}"
    if guardians and not guardians[0].node and not _says(hold, "Unschedulable"):
        yield f"does not say why: {_ready(hold)}"


def _waiting_in_vain(truth: Truth) -> Iterator[str]:
    """Owners of our scheduler for whom a hold stands open, and who wait all the same."""
    free = [
        (hold, guardian)
        for hold in truth.holds
        if hold.status.phase == "Available"
        for guardian in truth.guardians(hold)
        if _takes_pods(truth.nodes.get(guardian.node))
    ]
    for pod in truth.pods:
        if pod.node or pod.finished or ROLE_LABEL in pod.labels or pod.deleted is not None:
            continue
        if pod.scheduler == "default-scheduler" and CLAIM_GATE not in pod.gates:
            continue
        for hold, guardian in free:
            if pod.gates and _outranked(truth, pod, guardian.node):
                continue  # kube-scheduler would not let it in.
            if owner_refusal(hold, pod) is None and pod.requests.fits_in(guardian.requests):
                yield f"{pod.key} waits although {hold.parent} is free on {guardian.node}"
        if pod.unschedulable_since is None and pod.annotations.get(WAIT_ANNOTATION) != "true":
            yield f"{pod.key} waits and is not told why"


def _outranked(truth: Truth, pod: Pod, node: str) -> bool:
    return any(
        other.nominated == node and not other.node and other.priority >= pod.priority
        for other in truth.pods
    )


def _takes_pods(node: Node | None) -> bool:
    return node is not None and not node.unschedulable and not node.taints


def _total(pods: list[Pod]) -> Resources:
    return sum((pod.requests for pod in pods), EMPTY)


def _says(hold: Hold, reason: str) -> bool:
    ready = _ready(hold)
    return ready is not None and ready.reason == reason


def _ready(hold: Hold) -> Condition | None:
    return next((item for item in hold.status.conditions if item.type == "Ready"), None)
