"""The two doors: the exact order of writes that gives a guardian's room to its owner alone.

Why this order holds is measured and explained in docs/concepts/handover.md. In short:
kube-scheduler sees pods in one ordered stream and counts a nominated pod on its node, so whatever
stands nominated before the guardian is deleted keeps the room from everyone else.

    door 1   nominate owner → delete guardian → remove gate            (kube-scheduler binds)
    door 2   make latch → nominate latch → delete guardians → bind     (we bind; latch goes later)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from collections.abc import Sequence as Seq

from headroom.core.actions import (
    Action,
    Bind,
    CreateGuardian,
    CreateLatch,
    DeletePod,
    MoveLatch,
    Nominate,
    Ungate,
)
from headroom.core.allocation import kept_beside, ports_beside
from headroom.core.claims import Offer
from headroom.core.derived_names import dns_label, guardian_name
from headroom.core.fast_dataclass import replace
from headroom.core.holds import Hold
from headroom.core.latches import PREEMPTS
from headroom.core.names import CLAIM_GATE
from headroom.core.objects import Key, Parent, Pod
from headroom.core.plan import Sequence, Work
from headroom.core.resources import EMPTY, Resources
from headroom.core.subjects import Subject, hold_subject, node_subject, pod_subject

Claim = tuple[Pod, Offer]
Lot = tuple[tuple[Pod, ...], Offer]
"""The owners of one hold, and the offer to the last of them."""
Spares = Callable[[Resources], Iterator[Pod]]
"""Latches of a size that have done their work, and may be moved to another handover."""


def is_quick(claim: Claim, scarce: bool = False) -> bool:
    """Whether an owner, and the rest that stays held, need only the room of the guardian.

    Where places for pods are `scarce`, the owner takes the place of the guardian, and who keeps the
    rest of the hold needs another one.
    """
    pod, offer = claim
    within = (pod.requests + offer.kept).fits_in(offer.guardian.requests)
    return within and not (scarce and offer.kept)


def ungate(pod: Pod) -> Ungate:
    """Remove our gate and no other."""
    return Ungate(pod.key, pod.uid, CLAIM_GATE, pod.gates.index(CLAIM_GATE))


def delete_unless_placed(pod: Pod) -> DeletePod:
    """Delete a pod of ours that waits, unless it got a node at this moment."""
    return DeletePod(pod.key, pod.uid, "" if pod.node or pod.gates else pod.version)


def through_gate(claims: Seq[Claim], latches: str, rivals: Seq[Pod] = ()) -> Sequence:
    """Door 1, for owners that go to one node together; `rivals` of ours go before room is free.

    All are nominated before any guardian goes, and all guardians are gone before any gate opens:
    each owner then sees the node exactly full, and itself in it. What stays held of a reusable hold
    is kept by a latch; its smaller guardian follows when the owner is bound.
    """
    node = claims[0][1].node
    latched = [
        _latch_of([(pod, offer)], offer.kept, latches) for pod, offer in claims if offer.kept
    ]
    nominations: list[Action] = [Nominate(latch.key, "", node) for latch in latched]
    nominations += [Nominate(pod.key, pod.uid, node, offer.hold.parent) for pod, offer in claims]
    nominations += [delete_unless_placed(rival) for rival in rivals]
    steps: list[tuple[Action, ...]] = [tuple(latched)] if latched else []
    steps.append(tuple(nominations))
    steps.append(tuple(DeletePod(offer.guardian.key, offer.guardian.uid) for _, offer in claims))
    steps.append(tuple(ungate(pod) for pod, _ in claims))
    return Sequence(Work.DOOR1, _subjects(claims, [latch.key for latch in latched]), tuple(steps))


def nominate_only(claims: Seq[Claim], latches: str) -> Sequence:
    """The first half of door 1, for an owner that also needs free room of the node.

    Its guardian goes when it has stood nominated for a while and is seen to fit still.
    """
    whole = through_gate(claims, latches)
    return replace(whole, work=Work.DOOR1_SLOW, steps=whole.steps[:-2])


def finish_gate(owners: Seq[tuple[Pod, Pod | None]], rivals: Seq[Pod] = ()) -> Sequence:
    """The second half of door 1: delete the remaining guardians, then remove the gates."""
    guardians = tuple(DeletePod(each.key, each.uid) for _, each in owners if each is not None)
    others = tuple(map(delete_unless_placed, rivals))
    first = tuple(step for step in (others, guardians) if step)
    subjects = tuple(pod_subject(pod.key) for pod, _ in owners)
    return Sequence(Work.DOOR1_FINISH, subjects, (*first, tuple(ungate(pod) for pod, _ in owners)))


def through_latch(
    claims: Seq[Claim], latches: str, scarce: bool = False, spares: Spares = lambda _: iter(())
) -> Sequence:
    """Door 2, for owners that go to one node together, under latches made for them.

    The guardian of a reusable hold is replaced once for all of its owners. A spare latch that takes
    the place of one of the right size saves a write before the owners are bound, and two after.

    An owner that also needs free room of the node goes alone, and this is then the first half:
    cycles of kube-scheduler that began before may still take that room. The rest happens when the
    latches have stood for a while and the owner is seen to fit still.
    """
    claims, lots = _in_turn(claims)
    node = claims[0][1].node
    quick = is_quick(claims[0], scarce)
    made: list[CreateLatch] = []
    moved: dict[Key, MoveLatch] = {}
    for latch in _latches_for(claims, lots, latches, one_each=scarce):
        found = spares(latch.requests) if quick else ()
        spare = next((each for each in found if each.key not in moved), None)
        if spare is None:
            made.append(latch)
        else:
            move = MoveLatch(spare.key, spare.uid, latch.parent, node, latch.claims)
            moved[spare.key] = move
    subjects = _subjects(claims, [*(latch.key for latch in made), *moved])
    stand = _stand(made, tuple(moved.values()))
    if not quick:
        return Sequence(Work.DOOR2_SLOW, subjects, stand)
    deletes = tuple(DeletePod(offer.guardian.key, offer.guardian.uid) for _, offer in lots)
    binds = tuple(
        Bind(pod.key, pod.uid, node, offer.hold.parent if offer.claims else None)
        for pod, offer in claims
    )
    keeps = tuple(_smaller_guardian(pods, offer) for pods, offer in lots if offer.kept)
    return Sequence(Work.DOOR2, subjects, (*stand, deletes, (*binds, *keeps)))


def _in_turn(claims: Seq[Claim]) -> tuple[list[Claim], list[Lot]]:
    """The claims, each owner of a reusable hold with what the owners before it leave.

    Also the owners of each hold, with the offer to the last one, which says what stays held.
    """
    told: list[Claim] = []
    lots: dict[str, Lot] = {}
    for pod, offer in claims:
        parent = offer.hold.parent.identity
        pods, last = lots.get(parent, ((), None))
        if offer.claims and not offer.hold.allocate_once and not offer.node_full:
            before = last.kept if last is not None else offer.guardian.requests
            offer = replace(offer, kept=kept_beside(offer.hold, before, pod.requests))
        told.append((pod, offer))
        lots[parent] = (*pods, pod), offer
    return told, list(lots.values())


def _latches_for(
    claims: Seq[Claim], lots: Seq[Lot], latches: str, one_each: bool
) -> Iterator[CreateLatch]:
    """The latches of a handover: one for all owners or, with `one_each`, one for each.

    kube-scheduler counts every latch as one pod. Where places for pods are scarce there are as many
    latches as pods will come: the owners, and a guardian for what stays held of each hold.
    Together they are as large as the guardians, or as what comes in their place if that is more.
    """
    before = [offer.guardian.requests for _, offer in lots]
    after = [sum((pod.requests for pod in pods), offer.kept) for pods, offer in lots]
    if not one_each:
        yield _latch_of(claims, sum(before, EMPTY).largest(sum(after, EMPTY)), latches)
        return
    for (pods, offer), had, has in zip(lots, before, after, strict=True):
        unused = had.minus(has)
        for number, pod in enumerate(pods):
            size = pod.requests if number else pod.requests + unused
            yield _latch_of([(pod, offer)], size, latches)
        if offer.kept:
            yield _latch_of([(pods[-1], offer)], offer.kept, latches, "rest")


def _stand(made: Seq[CreateLatch], moved: Seq[MoveLatch] = ()) -> tuple[tuple[Action, ...], ...]:
    """Create latches and then nominate them, in two separate steps."""
    creates: tuple[Action, ...] = tuple(made)
    nominates: tuple[Action, ...] = (
        *(Nominate(latch.key, "", latch.node) for latch in made),
        *moved,
    )
    return (creates, nominates) if creates else (nominates,)


def _smaller_guardian(pods: Iterable[Pod], offer: Offer) -> CreateGuardian:
    """The guardian for the rest of a hold beside its new owners, with resources and host ports."""
    ports = ports_beside(offer.guardian.placement.ports, pods)
    return CreateGuardian(
        guardian_name(offer.hold), offer.hold, offer.kept, offer.node, bound=True, ports=ports
    )


def latch_before(pod: Pod, offer: Offer, latches: str) -> Sequence:
    """Create a latch for an owner on a node where other pods will be ended for it."""
    claims = [(pod, offer)]
    made = list(_latches_for(claims, [((pod,), offer)], latches, one_each=False))
    return Sequence(Work.PREEMPT, _subjects(claims, [each.key for each in made]), _stand(made))


def latch_free_room(pod: Pod, node: str, latches: str) -> Sequence:
    """Create a latch on free room for a pod of our scheduler that matches no hold."""
    parent = Parent("v1", "Pod", pod.key.namespace, pod.key.name, pod.uid)
    claim = ((f"{pod.key.namespace}/{pod.key.name}/{pod.uid}", ""),)
    latch = _latch(latches, parent, node, pod.requests, (pod.uid,), claim)
    subjects = (pod_subject(pod.key), pod_subject(latch.key))
    return Sequence(Work.PLACE, subjects, ((latch,), (Nominate(latch.key, "", node),)))


def bind_guardian(hold: Hold, node: str, size: Resources, *guardians: Pod | None) -> Sequence:
    """Make the guardian of what stays held, while a latch of the hold keeps the room for it.

    Those that stood for it before go first.
    """
    before = tuple(DeletePod(pod.key, pod.uid) for pod in guardians if pod is not None)
    remove = (before,) if before else ()
    keep = CreateGuardian(guardian_name(hold), hold, size, node=node, bound=True)
    return Sequence(Work.HOLD, (hold_subject(hold.parent),), (*remove, (keep,)))


def shrink(hold: Hold, guardian: Pod, size: Resources, latches: str) -> Sequence:
    """Replace a guardian by one of the same or a smaller size on its node, under a latch."""
    begun = grow(hold, guardian.node, guardian.requests, latches)
    ended = bind_guardian(hold, guardian.node, size, guardian)
    subjects = (*begun.subjects, pod_subject(guardian.key))  # It may be another hold's.
    return Sequence(Work.RESIZE, subjects, begun.steps + ended.steps)


def grow(hold: Hold, node: str, size: Resources, latches: str, users: Seq[Pod] = ()) -> Sequence:
    """Create a latch where a hold will have more room than its guardian keeps.

    The room is free in the observed state, but cycles of kube-scheduler that began before may still
    take it. The guardian is created when the latch has existed for a while and the room is free.
    """
    latch = _latch(latches, hold.parent, node, size, (hold.parent.uid, hold.slot, repr(size)))
    latch = replace(latch, users=tuple(sorted(pod.uid for pod in users if pod.uid)))
    subjects = (hold_subject(hold.parent), node_subject(node), pod_subject(latch.key))
    return Sequence(Work.RESIZE, subjects, ((latch,), (Nominate(latch.key, "", node),)))


def without_ports_of(seated: Seq[Pod], hold: Hold, sequence: Sequence | None) -> Sequence | None:
    """The same, its guardian without the host ports that owners have: both could not run."""
    wished = hold.template.pod.placement.ports
    if sequence is None or not wished:
        return sequence
    ports = ports_beside(wished, (pod for pod in seated if not pod.finished))
    steps = tuple(
        tuple(
            replace(action, ports=ports) if isinstance(action, CreateGuardian) else action
            for action in step
        )
        for step in sequence.steps
    )
    return replace(sequence, steps=steps)


def _latch_of(claims: Seq[Claim], size: Resources, latches: str, *also: str) -> CreateLatch:
    """A latch for owners, which says who was to get which hold."""
    lines = []
    for pod, offer in claims:
        parent, how = offer.hold.parent, f" {PREEMPTS}" if offer.preempts else ""
        hold = f"{parent} {parent.uid}{how}" if offer.claims else ""
        lines.append((f"{pod.key.namespace}/{pod.key.name}/{pod.uid}", hold))
    first, whom = claims[0][1], [pod.uid for pod, _ in claims]
    return _latch(latches, first.hold.parent, first.node, size, (*whom, *also), tuple(lines))


def _latch(
    namespace: str,
    parent: Parent,
    node: str,
    requests: Resources,
    whom: Iterable[str],
    claims: tuple[tuple[str, str], ...] = (),
) -> CreateLatch:
    name = dns_label("latch", node, *sorted(whom))  # The same handover tried again: the same name.
    return CreateLatch(Key(namespace, name), parent, requests, node, claims)


def _subjects(claims: Seq[Claim], latches: Seq[Key]) -> tuple[Subject, ...]:
    return (
        node_subject(claims[0][1].node),
        *(pod_subject(latch) for latch in latches),
        *(pod_subject(pod.key) for pod, _ in claims),
        *dict.fromkeys(hold_subject(offer.hold.parent) for _, offer in claims),
    )
