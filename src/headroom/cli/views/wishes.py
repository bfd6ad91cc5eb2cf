"""What a headroom wishes for, worked out from objects that were read once.

Guardians and the objects of slots say what stands, pods what is claimed. What only the operator can
know (a size that it learnt, the load as it judges it) is what it wrote into the status. The wish
itself is the operator's own function (`core.headrooms.wanted_slots`). `slots` says how each slot
stands, `plan_result` where new ones would.
"""

from __future__ import annotations

from collections.abc import Iterator

from headroom.cli.source import World
from headroom.cli.views.promises import learnt_size
from headroom.cli.views.shapes import shapes_of
from headroom.core import names
from headroom.core.authenticity import has_got
from headroom.core.claims import claim_of
from headroom.core.demand import followers
from headroom.core.headrooms.chunks import DAEMON_SET, daemon_set_of, overhead_of
from headroom.core.headrooms.headrooms import NEVER, NODE_CHUNK, Headroom, Workload
from headroom.core.headrooms.shapes import with_found_owners
from headroom.core.headrooms.slot_objects import stands
from headroom.core.headrooms.wanted_slots import SizeView, WantedSlots, wish
from headroom.core.headrooms.windows import active, judged
from headroom.core.holds import Hold
from headroom.core.objects import Key, Pod
from headroom.core.promise.announced import Learnt
from headroom.core.resources import EMPTY, Resources
from headroom.core.sizes.follow import is_owner
from headroom.engine.cron import calendar


def guardians_of(world: World, headroom: Headroom) -> dict[str, Pod]:
    """The guardians that stand for a headroom, by slot; of two for one slot, one with a node."""
    whole, uid = headroom.parent.whole, headroom.parent.uid
    standing = [  # Chosen before they are sorted: a cluster may have 50,000 pods.
        pod
        for pod in world.pods
        if pod.labels.get(names.ROLE_LABEL) == names.ROLE_GUARDIAN
        and pod.annotations.get(names.PARENT_ANNOTATION) == whole
        and pod.deleted is None
        and not pod.finished
        and (not uid or any(owner.uid == uid for owner in pod.owners))
    ]
    standing.sort(key=lambda pod: (bool(pod.node), pod.key))
    return {pod.annotations.get(names.SLOT_ANNOTATION, ""): pod for pod in standing}


def claimants_of(world: World, headroom: Headroom) -> dict[str, Pod]:
    """Pods with a claim on a slot that have no node yet, by slot."""
    coming = [
        pod
        for pod in world.pods
        if pod.annotations.get(names.CLAIMED_ANNOTATION) == headroom.parent.whole
        and not pod.node
        and not pod.finished
    ]
    coming.sort(key=lambda pod: pod.key)
    return {pod.annotations.get(names.CLAIMED_SLOT_ANNOTATION, ""): pod for pod in coming}


def workload_of(world: World, headroom: Headroom) -> Workload | None:
    """The workload whose pods the slots are like, if it was read."""
    source, namespace = headroom.slot.source, headroom.parent.namespace
    matching = (each for each in world.workloads if each.ref == source)
    return next((each for each in matching if each.namespace == namespace), None)


def members_of(world: World, headroom: Headroom) -> dict[str, Hold]:
    """The objects that stand for a headroom's slots, by slot."""
    whole, uid = headroom.parent.whole, headroom.parent.uid
    return {
        hold.member.slot: hold
        for hold in sorted(world.holds, key=lambda hold: hold.key)
        if hold.member is not None
        and hold.member.of.whole == whole
        and uid in ("", hold.member.of.uid)
    }


def sight_of(world: World, headroom: Headroom) -> SizeView:
    """What the headroom's wish depends on, as far as objects tell."""
    members = members_of(world, headroom)
    there = [slot for slot, hold in members.items() if stands(hold)]
    return SizeView(
        window=active(headroom, world.now, calendar),
        nodes=world.nodes,
        workload=workload_of(world, headroom),
        standing=frozenset(there if headroom.slot_objects else guardians_of(world, headroom)),
        spent=_spent(world, headroom),
        overhead=_overhead(world) if headroom.slot.chunk == NODE_CHUNK else EMPTY,
        learnt=_by_load(world, headroom) or learnt_size(headroom),
        followed=tuple(_followed(world, headroom)),
        shapes=shapes_of(world, headroom),
    )


def _spent(world: World, headroom: Headroom) -> frozenset[str]:
    """Slots that are not held again: by the status, and those that pods which are there have."""
    told = frozenset(headroom.status.spent)
    if headroom.refill != NEVER and not headroom.size.held_once:
        return told
    there = (slot for slot, pod in _claims(world, headroom) if has_got(headroom, pod, True))
    return told.union(there)


def _claims(world: World, headroom: Headroom) -> Iterator[tuple[str, Pod]]:
    """Pods that say that they have a slot of a headroom, each with the slot."""
    for pod in world.pods:
        whole, _, slot = (claim_of(pod) or ("", ""))[0].partition("#")
        if whole == headroom.parent.whole:
            yield slot, pod


def _overhead(world: World) -> Resources:
    """What DaemonSets ask for on each node; where none was read, pods are believed."""
    there = {each.key: each.uid for each in world.workloads if each.ref.kind == DAEMON_SET}
    if not there:
        for pod in world.pods:
            controller = daemon_set_of(pod)
            if controller is not None:
                there[Key(pod.key.namespace, controller.name)] = controller.uid
    return overhead_of(world.pods, there)


def _by_load(world: World, headroom: Headroom) -> Learnt | None:
    """Where the size follows the load, as many slots as the operator last found right."""
    if not headroom.size.by_load:
        return None
    wanted = max(headroom.status.desired, len(guardians_of(world, headroom)))
    return Learnt(wanted)


def _followed(world: World, headroom: Headroom) -> Iterator[followers.Followed]:
    """Owners that slots follow; volumes are not read here, so those that stand count for them."""
    rule = headroom.size.follows
    if rule is None:
        return
    guardians = guardians_of(world, headroom)
    for pod in sorted(world.pods, key=lambda pod: pod.key):
        if not is_owner(headroom.parent, rule, pod) or followers.is_over(pod):
            continue
        standing = tuple(
            followers.FollowerSlot(slot.partition("/")[2], guardian.requests)
            for slot, guardian in sorted(guardians.items())
            if followers.owner_uid(slot) == pod.uid
        )
        if rule.reads_volumes:
            yield followers.Followed(pod, followers.Following(standing))
        else:
            made = frozenset(slot.part for slot in standing)
            yield followers.Followed(pod, followers.followed(pod, rule, (), made, world.now))


def wish_of(world: World, headroom: Headroom) -> WantedSlots:
    """Which slots the headroom wishes for now, and why not more."""
    sight = sight_of(world, headroom)
    return wish(
        judged(with_found_owners(headroom, sight.shapes.chosen), calendar), sight, world.now
    )


def claimed_slots(world: World, headroom: Headroom) -> int:
    """How many pods with a node sit in slots of this headroom now."""
    if headroom.slot_objects is not None:
        taken = members_of(world, headroom).values()
        return sum(1 for hold in taken if hold.status.phase == "Succeeded")
    return sum(pod.occupies_node for _, pod in _claims(world, headroom))
