"""The two doors: the exact order of writes that gives a guardian's room to its owner alone.

Why this order holds is measured and explained in docs/concepts/handover.md. In short:
kube-scheduler sees pods in one ordered stream and counts a nominated pod on its node, so whatever
stands nominated before the guardian is deleted keeps the room from everyone else.

    door 1   nominate owner → delete guardian → remove gate            (kube-scheduler binds)
    door 2   make latch → nominate latch → delete guardians → bind     (we bind; latch goes later)
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Sequence as Seq
from dataclasses import replace

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
from headroom.core.claims import Offer
from headroom.core.holds import Hold
from headroom.core.latches import PREEMPTS
from headroom.core.names import CLAIM_GATE
from headroom.core.naming import dns_label, guardian_name
from headroom.core.objects import Key, Parent, Pod
from headroom.core.plan import Sequence, hold_subject, node_subject, pod_subject
from headroom.core.policies import kept_beside, ports_beside
from headroom.core.resources import EMPTY, Resources

Claim = tuple[Pod, Offer]


def ungate(pod: Pod) -> Ungate:
    """Remove our gate and no other."""
    return Ungate(pod.key, pod.uid, CLAIM_GATE, pod.gates.index(CLAIM_GATE))


def through_gate(claims: Seq[Claim], latches: str, rivals: Seq[Pod] = ()) -> Sequence:
    """Door 1, for owners that go to one node together; `rivals` of ours go before room is free.

    All are nominated before any guardian goes, and all guardians are gone before any gate opens:
    each owner then sees the node exactly full, and itself in it. What stays held of a reusable hold
    is kept by a latch; its smaller guardian follows when the owner is bound.
    """
    node = claims[0][1].node
    latched = [
        _latch(latches, offer.hold.parent, node, offer.kept, (pod.uid,), (_line(pod, offer),))
        for pod, offer in claims
        if offer.kept
    ]
    nominations: list[Action] = [Nominate(latch.key, "", node) for latch in latched]
    nominations += [Nominate(pod.key, pod.uid, node, offer.hold.parent) for pod, offer in claims]
    nominations += [DeletePod(rival.key, rival.uid) for rival in rivals]
    steps: list[tuple[Action, ...]] = [tuple(latched)] if latched else []
    steps.append(tuple(nominations))
    steps.append(tuple(DeletePod(offer.guardian.key, offer.guardian.uid) for _, offer in claims))
    steps.append(tuple(ungate(pod) for pod, _ in claims))
    return Sequence("door1", _subjects(claims, [latch.key for latch in latched]), tuple(steps))


def finish_gate(owners: Seq[tuple[Pod, Pod | None]], rivals: Seq[Pod] = ()) -> Sequence:
    """Go on where nominated owners of one node were left: all guardians still there, then gates."""
    guardians = tuple(DeletePod(each.key, each.uid) for _, each in owners if each is not None)
    others = tuple(DeletePod(rival.key, rival.uid) for rival in rivals)
    first = tuple(step for step in (others, guardians) if step)
    subjects = tuple(pod_subject(pod.key) for pod, _ in owners)
    return Sequence("door1-finish", subjects, (*first, tuple(ungate(pod) for pod, _ in owners)))


def one_after_another(claims: Seq[Claim]) -> list[Claim]:
    """The same claims, each owner of a reusable hold with what those before it leave.

    The last of a hold says what stays held of it.
    """
    left: dict[str, Resources] = {}
    told: list[Claim] = []
    for pod, offer in claims:
        parent = str(offer.hold.parent)
        if offer.claims and not offer.hold.allocate_once:
            before = left.get(parent, offer.guardian.requests)
            offer = replace(offer, kept=kept_beside(offer.hold, before, pod.requests))
            left[parent] = offer.kept
        told.append((pod, offer))
    return told


def latch_size(claims: Seq[Claim]) -> Resources:
    """As large as the guardians, or as what comes in their place if that is more."""
    before, after = EMPTY, EMPTY
    for pods, offer in _by_hold(claims):
        before = before + offer.guardian.requests
        after = after + offer.kept
        for pod in pods:
            after = after + pod.requests
    return before.largest(after)


def through_latch(claims: Seq[Claim], latches: str, spare: Pod | None = None) -> Sequence:
    """Door 2, for owners that go to one node together: they share one latch.

    Owners of one reusable hold come `one_after_another`; its guardian is replaced once for all.
    A spare latch of the right size saves a write before the owners are bound, and two after.
    """
    node = claims[0][1].node
    latch = _claims_latch(claims, latches)
    first: tuple[tuple[Action, ...], ...] = ((latch,), (Nominate(latch.key, "", node),))
    key = latch.key
    if spare is not None:
        key = spare.key
        first = ((MoveLatch(key, spare.uid, latch.parent, node, latch.claims),),)
    holds = _by_hold(claims)
    deletes = tuple(DeletePod(offer.guardian.key, offer.guardian.uid) for _, offer in holds)
    binds = tuple(
        Bind(pod.key, pod.uid, node, offer.hold.parent if offer.claims else None)
        for pod, offer in claims
    )
    keeps = tuple(_smaller_guardian(pods, offer) for pods, offer in holds if offer.kept)
    return Sequence(
        "door2",
        _subjects(claims, [key]),
        (*first, deletes, (*binds, *keeps)),
    )


def _by_hold(claims: Seq[Claim]) -> list[tuple[list[Pod], Offer]]:
    """The owners of each hold, with the offer to the last of them."""
    found: dict[str, tuple[list[Pod], Offer]] = {}
    for pod, offer in claims:
        parent = str(offer.hold.parent)
        found[parent] = ([*found[parent][0], pod] if parent in found else [pod], offer)
    return list(found.values())


def _smaller_guardian(pods: Iterable[Pod], offer: Offer) -> CreateGuardian:
    """What keeps the rest of a hold beside its new owners, in its resources and host ports."""
    ports = ports_beside(offer.guardian.placement.ports, pods)
    return CreateGuardian(
        guardian_name(offer.hold), offer.hold, offer.kept, offer.node, bound=True, ports=ports
    )


def latch_only(claims: Seq[Claim], latches: str) -> Sequence:
    """The first half of door 2, for an owner that also needs free room of the node.

    Cycles of kube-scheduler that began before may still take that free room, so the rest happens
    when the latch has stood for a while and the owner is seen to fit still.
    """
    node = claims[0][1].node
    latch = _claims_latch(claims, latches)
    return Sequence(
        "door2-slow", _subjects(claims, [latch.key]), ((latch,), (Nominate(latch.key, "", node),))
    )


def latch_before(pod: Pod, offer: Offer, latches: str) -> Sequence:
    """Stand a latch where others have to give way for an owner, before they know of it."""
    latch = _claims_latch([(pod, offer)], latches)
    steps = ((latch,), (Nominate(latch.key, "", offer.node),))
    return Sequence("preempt", _subjects([(pod, offer)], [latch.key]), steps)


def latch_free_room(pod: Pod, node: str, latches: str) -> Sequence:
    """Stand a latch on free room for a pod of ours that matches no hold."""
    parent = Parent("v1", "Pod", pod.key.namespace, pod.key.name, pod.uid)
    claim = ((f"{pod.key}/{pod.uid}", ""),)
    latch = _latch(latches, parent, node, pod.requests, (pod.uid,), claim)
    subjects = (pod_subject(pod.key), pod_subject(latch.key))
    return Sequence("place", subjects, ((latch,), (Nominate(latch.key, "", node),)))


def put_back(hold: Hold, node: str, size: Resources, guardian: Pod | None = None) -> Sequence:
    """Make the guardian of what stays held, while a latch of the hold keeps the room for it."""
    remove = ((DeletePod(guardian.key, guardian.uid),),) if guardian else ()
    keep = CreateGuardian(guardian_name(hold), hold, size, node=node, bound=True)
    return Sequence("hold", (hold_subject(hold.parent),), (*remove, (keep,)))


def shrink(hold: Hold, guardian: Pod, size: Resources, latches: str) -> Sequence:
    """Replace a guardian by a smaller one on the same node, never leaving the room bare."""
    begun = grow(hold, guardian.node, guardian.requests, latches)
    ended = put_back(hold, guardian.node, size, guardian)
    return Sequence("resize", begun.subjects, begun.steps + ended.steps)


def grow(hold: Hold, node: str, size: Resources, latches: str) -> Sequence:
    """Stand a latch where a hold is to have more room than its guardian keeps.

    The room is free as far as we see, but cycles of kube-scheduler that began before may still take
    it: the guardian follows when the latch has stood for a while and its room is still there.
    """
    latch = _latch(latches, hold.parent, node, size, (hold.parent.uid, hold.slot, repr(size)))
    subjects = (hold_subject(hold.parent), node_subject(node), pod_subject(latch.key))
    return Sequence("resize", subjects, ((latch,), (Nominate(latch.key, "", node),)))


def _claims_latch(claims: Seq[Claim], latches: str) -> CreateLatch:
    return _latch(
        latches,
        claims[0][1].hold.parent,
        claims[0][1].node,
        latch_size(claims),
        (pod.uid for pod, _ in claims),
        tuple(_line(pod, offer) for pod, offer in claims),
    )


def _line(pod: Pod, offer: Offer) -> tuple[str, str]:
    parent = offer.hold.parent
    how = f" {PREEMPTS}" if offer.preempts else ""
    return f"{pod.key}/{pod.uid}", f"{parent} {parent.uid}{how}" if offer.claims else ""


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


def _subjects(claims: Seq[Claim], latches: Seq[Key]) -> tuple[str, ...]:
    return (
        node_subject(claims[0][1].node),
        *(pod_subject(latch) for latch in latches),
        *(pod_subject(pod.key) for pod, _ in claims),
        *dict.fromkeys(hold_subject(offer.hold.parent) for _, offer in claims),
    )
