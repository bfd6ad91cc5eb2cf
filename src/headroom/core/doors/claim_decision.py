"""Decide what happens to an owner that carries a claim and came through the gate.

    NOMINATED: claim written, gate still there            LET_IN: gate removed
       │                                                     │
       ├─ what it rests on is gone ──▶ claim taken back      ├─ bound ──▶ BOUND
       ├─ a write was forbidden ─────▶ undone, see below     └─ not in time ──▶ claim taken back
       ├─ needs free room as well ───▶ wait a moment; does it still fit?
       └─ guardians deleted, gates removed ──▶ LET_IN

An owner that needs only its guardian's room continues at once. An owner that also needs free room
of the node is nominated for a while first, and its guardian stays: a cycle of kube-scheduler that
began before may still give that free room to another pod. If this happens, the claim is taken
back, and the hold has lost nothing.

A handover that the API server forbids is undone in the reverse order. If the owner's guardian is
gone, it is created again on the node. The nomination is removed when no cycle of kube-scheduler is
left that began before the guardian existed, so that the room is counted all the time. The latches
of the handover are removed with it, because room that counts twice would block other owners on
that node. The owner tries again after a pause.

    nominated, guardian stands  →  disclaim, delete latches
    nominated, guardian gone    →  make guardian, bound to the node  →  a moment later as above
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from datetime import datetime
from enum import StrEnum

from headroom.core.actions import CreateGuardian, DeletePod, Disclaim
from headroom.core.allocation import kept_beside, ports_beside, room_to_keep
from headroom.core.claims import claim_of
from headroom.core.derived_names import guardian_name
from headroom.core.fast_dataclass import dataclass, replace
from headroom.core.handover import finish_gate
from headroom.core.holds import Hold
from headroom.core.names import CLAIM_GATE
from headroom.core.node.kept_room import returned_on
from headroom.core.node.view import NOTHING, HoldRoom, NodeView
from headroom.core.objects import Key, Pod
from headroom.core.plan import Sequence, Work, event_sequence
from headroom.core.pod_memory import PodMemory, Refusal
from headroom.core.policy import Policy
from headroom.core.statuses import tell_pod
from headroom.core.subjects import Awaited, hold_subject, node_changed, node_subject, pod_subject


class OwnerStage(StrEnum):
    """How far an owner is on its way through a door: it follows from the pod and its latches."""

    ELSEWHERE = "elsewhere"  # it waits for nothing of ours
    AT_DOOR = "at the door"  # it has no claim yet: see `owner_decision`
    PARKED = "parked"  # it has an offer, and waits for the next handover of the node
    LATCHED = "latched"  # door 2: a latch names it, and the latch is decided
    NOMINATED = "nominated"  # door 1: its claim is written, and the gate is there
    LET_IN = "let in"  # door 1: the gate is removed, and kube-scheduler is to bind it
    BOUND = "bound"  # it has a node, and a claim
    STRAY = "stray"  # it carries a claim that does not stand
    GROWING = "growing"  # it runs, and claims room to grow in place


def stage_of(
    pod: Pod, door: int, claim_stands: bool | None, parked: bool, latched: bool
) -> OwnerStage:
    """The stage of a pod at one of our doors, or with a claim.

    `claim_stands` is None if it carries no claim.
    """
    if claim_stands is not None and (door != 2 or pod.node):
        if not claim_stands:
            return OwnerStage.STRAY
        if pod.node:
            return OwnerStage.BOUND
        return OwnerStage.NOMINATED if CLAIM_GATE in pod.gates else OwnerStage.LET_IN
    if pod.growth:
        return OwnerStage.GROWING
    if not door:
        return OwnerStage.ELSEWHERE
    if parked:
        return OwnerStage.PARKED
    return OwnerStage.LATCHED if latched else OwnerStage.AT_DOOR


@dataclass(frozen=True, slots=True)
class NominatedOwner:
    """An owner that is nominated and still gated, and the hold that it claims.

    `moving`: claimants of the hold about which something is being written.
    """

    pod: Pod
    room: HoldRoom
    memory: PodMemory
    moving: frozenset[Key] = frozenset()

    @property
    def hold(self) -> Hold:
        return self.room.hold

    @property
    def in_the_way(self) -> Pod | None:
        """The guardian that still keeps the owner's room, not one that keeps only the rest."""
        guardian = self.room.guardian
        left = room_to_keep(self.hold, self.room.owners)
        keeps = guardian is not None and guardian.requests.fits_in(left)
        return None if keeps and not self.hold.allocate_once else guardian

    @property
    def needs_free_room(self) -> bool:
        """Whether an owner needs more than its guardian has; not once that one is gone."""
        guardian = self.in_the_way
        if guardian is None:
            return False
        kept = kept_beside(self.hold, guardian.requests, self.pod.requests)
        return not (self.pod.requests + kept).fits_in(guardian.requests)

    @property
    def cannot_finish(self) -> bool:
        """Whether the handover must begin again: something that it depends on does not exist."""
        if self.hold.allocate_once and self._is_given_to_another:
            return True
        guardian, node = self.room.guardian, self.pod.nominated
        if guardian is None:
            return not node
        if guardian.node != node:
            return True
        kept = kept_beside(self.hold, guardian.requests, self.pod.requests)
        if not kept or self.in_the_way is None:
            return False
        here = (latch for latch in self.room.latches if latch.nominated == node)
        # What stays held must be kept before the guardian goes.
        return not any(kept.fits_in(latch.requests) for latch in here)

    @property
    def _is_given_to_another(self) -> bool:
        """Whether another owner comes first into a hold for one owner.

        A claim whose write had no answer may become visible after the hold was offered again. An
        owner that passed the gate or is being written comes first, then the first by name.
        """
        return self.hold.status.phase == "Succeeded" or any(
            CLAIM_GATE not in other.gates or other.key in self.moving or other.key < self.pod.key
            for other in self.room.owners
            if other.key != self.pod.key
        )


@dataclass(frozen=True, slots=True)
class GateView:
    """An owner that is nominated and gated, and the node that it is nominated to.

    `others` are owners in the same stage that nothing is being written about, this one among them.
    `latches` name the owner. `undone`: the claim of an owner there is being taken back, or about to
    be. `rivals` says which guardians wait and could take what others leave: more important than a
    priority, once some guardians are gone.
    """

    owner: NominatedOwner
    node: NodeView
    others: tuple[NominatedOwner, ...]
    latches: tuple[Pod, ...]
    undone: bool
    rivals: Callable[[int, frozenset[Key]], list[Pod]]


@dataclass(frozen=True, slots=True)
class GateDecision:
    """What to do, when to look again and after what change, and what to remember, by uid.

    `failed`: leave the owner alone for a while, longer each time.
    """

    sequences: tuple[Sequence, ...] = ()
    wake_at: datetime | None = None
    waits: tuple[Awaited, ...] = ()
    memories: Mapping[str, PodMemory] = field(default_factory=lambda: NOTHING)
    failed: bool = False


def decide(view: GateView, policy: Policy, now: datetime) -> GateDecision:
    """Continue with a nominated owner that is still gated, and with all others on its node.

    While a guardian exists beside a nominated owner, its room counts twice. If a gate were removed
    too early, kube-scheduler would find the node too full.
    """
    owner = view.owner
    if owner.cannot_finish:
        return _begun_anew([owner])
    if owner.memory.refusal is not None:
        return _undo(view, owner.memory.refusal, policy, now)
    if view.undone:
        return GateDecision(waits=(node_changed(owner.pod.nominated),))
    lost = [each for each in view.others if each.cannot_finish]
    together = [each for each in view.others if not each.cannot_finish]
    slow = [each for each in together if each.needs_free_room]
    memories = {each.pod.uid: _nominated(each.memory, now) for each in slow}
    since = (memory.nominated_since or now for memory in memories.values())
    until = max(since, default=now) + policy.free_room_wait
    begun = _begun_anew(lost)
    if slow and now < until:
        return replace(begun, wake_at=until, memories={**memories, **begun.memories})
    late = [each for each in slow if not _fits_still(each, view.node, now)]
    if late:  # The others go on when kube-scheduler does not count these any more.
        begun = _begun_anew([*lost, *late])
        again = now + policy.first_look
        return replace(begun, wake_at=again, memories={**memories, **begun.memories})
    owners = [(each.pod, each.in_the_way) for each in together]
    leaving = frozenset(guardian.key for _, guardian in owners if guardian is not None)
    rivals = view.rivals(min((pod.priority for pod, _ in owners), default=0), leaving)
    sequences = (*begun.sequences, finish_gate(owners, rivals))
    return GateDecision(sequences, memories={**memories, **begun.memories})


def disclaim(pod: Pod, hold: Hold, nominated: bool) -> Sequence:
    """Take a claim back, with the nomination if there is one."""
    take_back = Disclaim(pod.key, pod.uid, nominated and bool(pod.nominated))
    subjects = (pod_subject(pod.key), hold_subject(hold.parent))
    return Sequence(Work.DISCLAIM, subjects, ((take_back,),))


def _nominated(memory: PodMemory, now: datetime) -> PodMemory:
    return replace(memory, nominated_since=memory.nominated_since or now)


def _begun_anew(owners: list[NominatedOwner]) -> GateDecision:
    """Start these owners again from the search; their waiting time starts again, too."""
    return GateDecision(
        tuple(disclaim(each.pod, each.hold, nominated=True) for each in owners),
        memories={each.pod.uid: replace(each.memory, nominated_since=None) for each in owners},
    )


def _fits_still(owner: NominatedOwner, node: NodeView, now: datetime) -> bool:
    """Whether an owner has room on its node once its guardian is gone."""
    gone = (owner.pod, owner.in_the_way)
    others = returned_on(node, now, owner.room.name)
    asking = replace(owner.pod, requests=owner.pod.requests + others)
    return node.unfit(asking, frozenset(each.key for each in gone if each is not None)) is None


def _undo(view: GateView, refusal: Refusal, policy: Policy, now: datetime) -> GateDecision:
    """Undo a handover that was forbidden.

    Where that cannot be done without a gap it stays as it is, and is tried again after a pause.
    """
    owner, pod = view.owner, view.owner.pod
    if owner.in_the_way is None:
        if _others_arrive(view):  # A guardian beside our nomination would be in their way.
            return GateDecision((), now + policy.first_look, (node_changed(pod.nominated),))
        again = _guardian_again(view) if refusal.kept_from is None else None
        if again is None:
            memory = replace(owner.memory, refusal=None)
            return GateDecision(memories={pod.uid: memory}, failed=True)
        kept = replace(refusal, kept_from=now + policy.latch_linger)
        memory = replace(owner.memory, refusal=kept)
        return GateDecision((_back(owner, again),), memories={pod.uid: memory})
    if refusal.kept_from is not None and now < refusal.kept_from:
        return GateDecision(wake_at=refusal.kept_from)
    gone = tuple(DeletePod(latch.key, latch.uid) for latch in view.latches)
    taken = _back(owner, Disclaim(pod.key, pod.uid, nominated=True), *gone)
    message = f"the room of {owner.hold.parent.title} cannot be handed over, and stays held"
    told = tell_pod(pod, "HandoverForbidden", f"{message}: {refusal.why}", now, warn=True)
    # The next try stands nominated for as long as this one did.
    memory = replace(owner.memory, refusal=None, nominated_since=None)
    return GateDecision((taken, event_sequence(told)), memories={pod.uid: memory})


def _back(owner: NominatedOwner, *writes: CreateGuardian | Disclaim | DeletePod) -> Sequence:
    pod, parent = owner.pod, owner.hold.parent
    subjects = (node_subject(pod.nominated), pod_subject(pod.key), hold_subject(parent))
    return Sequence(Work.TAKE_BACK, subjects, (writes,))


def _others_arrive(view: GateView) -> bool:
    """Whether owners that were let through the gate are on their way to the same node."""
    others = (other for other in view.node.nominated if other.key != view.owner.pod.key)
    return any(CLAIM_GATE not in other.gates and claim_of(other) is not None for other in others)


def _guardian_again(view: GateView) -> CreateGuardian | None:
    """The write that creates the guardian of a hold again on the node; None without room.

    It is as large as the guardian that this handover deleted: what earlier owners leave of a
    reusable hold. The nomination keeps the owner's room, a latch keeps the rest of a reusable hold.
    What a hold for one owner has beyond its owner may be gone.
    """
    owner, pod, hold = view.owner, view.owner.pod, view.owner.hold
    if not pod.nominated or owner.room.guardian is not None:
        return None
    template = hold.template.pod
    before_it = () if hold.allocate_once else owner.room.owners
    others = tuple(each for each in before_it if each.key != pod.key)
    size, ports = room_to_keep(hold, others), ports_beside(template.placement.ports, others)
    before = replace(
        template,
        key=Key(hold.guardian_namespace, guardian_name(hold)),
        requests=size,
        placement=replace(template.placement, ports=ports),
    )
    if view.node.unfit(before, owner.room.latch_keys | {pod.key}) is not None:
        return None
    return CreateGuardian(
        before.key.name, hold, size, node=pod.nominated, bound=True, ports=ports or None
    )
