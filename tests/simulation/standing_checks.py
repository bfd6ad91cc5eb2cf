"""What must be true of standing headrooms in a world that has been left alone until it is quiet.

As in `checks`, judged by what is stored. Which slots there should be is worked out by the same
arithmetic that the operator uses (`core.headrooms`, tested by itself) from the nodes there are.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from headroom.core.derived_names import shape_of
from headroom.core.headrooms.headrooms import NODE_CHUNK, Headroom
from headroom.core.headrooms.wanted_slots import SizeView, wish
from headroom.core.headrooms.windows import ActiveWindow
from headroom.core.holds import LOCKED, Hold
from headroom.core.names import (
    CLAIMED_ANNOTATION,
    CLAIMED_SLOT_ANNOTATION,
    PARENT_ANNOTATION,
    ROLE_GUARDIAN,
    ROLE_LABEL,
    SHAPE_ANNOTATION,
    SLOT_ANNOTATION,
)
from headroom.core.objects import Pod
from headroom.core.owners import owner_refusal
from headroom.core.sizes.per_node import PerNode
from headroom.sim.world import SimWorld
from headroom.wire.objects.headrooms import headroom_from
from tests.simulation.checks import Truth, is_claim


def standing_breaches(world: SimWorld) -> list[str]:
    """Everything that is wrong with headrooms, in words."""
    truth = Truth(world)
    found: list[str] = []
    for item in world.list("Headroom"):
        headroom = headroom_from(item)
        name = str(headroom.parent)
        found += [f"{name}: {words}" for words in _headroom(world, truth, headroom)]
    return found


def _headroom(world: SimWorld, truth: Truth, headroom: Headroom) -> Iterator[str]:
    guardians = _guardians(truth, headroom)
    status = headroom.status
    sight = SizeView(
        ActiveWindow(headroom.size),
        truth.nodes.values(),
        standing=frozenset(guardians),
        spent=frozenset(status.spent),
        grace=timedelta(),
    )
    wished = wish(headroom, sight, world.clock.now())
    wanted = {hold.slot: hold for hold in wished.slots}
    chunked = headroom.slot.chunk == NODE_CHUNK
    in_use = _in_use(truth, headroom) - set(guardians)
    if not chunked and sorted(wanted) != sorted({*guardians, *in_use}):
        yield f"has slots {sorted(guardians)}, in use {sorted(in_use)}, not {sorted(wanted)}"
    rolling = any(_waiting_successor(pods) for pods in guardians.values())
    for slot, pods in sorted(guardians.items()):
        if len(pods) > 1 and not _waiting_successor(pods):
            yield f"slot {slot} has {len(pods)} guardians"
        hold = wanted.get(slot)
        if hold is not None and not chunked:
            yield from _slot(hold, pods[0], isinstance(headroom.size, PerNode), rolling)
    placed = sum(any(pod.node for pod in pods) for pods in guardians.values())
    if not chunked and (status.desired, status.held) != (len(wanted), placed):
        yield f"says {status.held} of {status.desired}, has {placed} of {len(wanted)}"
    if placed < len(guardians) and not _degraded(headroom):
        yield "does not say why some slots are not held"
    if headroom.mode == LOCKED and not chunked:
        yield from _waiting_in_vain(truth, wanted, guardians)


def _guardians(truth: Truth, headroom: Headroom) -> dict[str, list[Pod]]:
    found: dict[str, list[Pod]] = {}
    for pod in truth.pods:
        ours = pod.labels.get(ROLE_LABEL) == ROLE_GUARDIAN
        if ours and pod.annotations.get(PARENT_ANNOTATION) == str(headroom.parent):
            slot = pod.annotations.get(SLOT_ANNOTATION)
            if slot is not None and any(each.uid == headroom.parent.uid for each in pod.owners):
                found.setdefault(slot, []).append(pod)
    return found


def _in_use(truth: Truth, headroom: Headroom) -> set[str]:
    """Slots for which a latch keeps what an owner uses on their node, and whose owner is there."""
    found = set()
    for pod in truth.pods:
        told = pod.annotations
        claimed = told.get(CLAIMED_ANNOTATION) == str(headroom.parent)
        if claimed and pod.occupies_node:
            found.add(told.get(CLAIMED_SLOT_ANNOTATION, ""))
    ours = (pod.annotations for pod in truth.pods if is_claim(pod))
    kept = {
        told[SLOT_ANNOTATION]
        for told in ours
        if told.get(PARENT_ANNOTATION) == str(headroom.parent)
    }
    return {slot for slot in found if slot in kept}


def _waiting_successor(pods: list[Pod]) -> bool:
    """Whether one keeps the room while one of a new shape finds none: both are to be there."""
    placed = [pod for pod in pods if pod.node]
    waiting = [pod for pod in pods if not pod.node and pod.unschedulable_since is not None]
    return len(placed) == len(waiting) == 1


def _slot(hold: Hold, guardian: Pod, per_node: bool, rolling: bool) -> Iterator[str]:
    if not rolling and guardian.annotations.get(SHAPE_ANNOTATION) != shape_of(hold):
        yield f"slot {hold.slot} has an old shape"
    if guardian.finished or guardian.deleted is not None:
        yield f"slot {hold.slot}: its guardian has ended"
    if per_node and guardian.node not in ("", hold.slot.partition("/")[0]):
        yield f"slot {hold.slot} is held on {guardian.node}"


def _waiting_in_vain(
    truth: Truth, wanted: dict[str, Hold], guardians: dict[str, list[Pod]]
) -> Iterator[str]:
    """Owners of our scheduler who wait although a slot for them is held."""
    for pod in truth.pods:
        if pod.node or pod.finished or pod.deleted is not None or pod.gates:
            continue
        if pod.scheduler == "default-scheduler":
            continue
        for slot, hold in wanted.items():
            for guardian in guardians.get(slot, ()):
                node = truth.nodes.get(guardian.node)
                if node is None or node.unschedulable or node.taints:
                    continue
                fits = pod.requests.fits_in(guardian.requests)
                if fits and owner_refusal(hold, pod) is None:
                    yield f"{pod.key} waits although slot {slot} is free on {guardian.node}"


def _degraded(headroom: Headroom) -> bool:
    found = (each.status for each in headroom.status.conditions if each.type == "Degraded")
    return next(found, "False") == "True"
