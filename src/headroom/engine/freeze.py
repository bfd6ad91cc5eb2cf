"""Freeze a node or a hold: build the values that decisions in `core` read.

A view is derived from pods, their annotations, the writes in progress and what is remembered of
holds, at the moment when it is asked for. Nobody keeps it up to date, and to ask changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from headroom.core.allocation import keeps_rest
from headroom.core.claims import claim_of
from headroom.core.doors.latch_decision import keeps_claim, keeps_place
from headroom.core.fast_dataclass import replace
from headroom.core.holds import Hold
from headroom.core.index_entries import By
from headroom.core.latches import claims_on, kept_for
from headroom.core.node.kept_room import could_have_back
from headroom.core.node.view import HoldRoom, NodeView, StandingFence, Unfit, is_claim
from headroom.core.objects import NO_LABELS, Key, Pod
from headroom.core.subjects import fence_subject, node_subject, pod_subject
from headroom.engine.doors.taken_over import took_over
from headroom.engine.ledger import Ledger
from headroom.engine.observation.owners import owns
from headroom.scheduling.filters import feasible_on


def hold_room(ledger: Ledger, hold: Hold) -> HoldRoom:
    """A hold with the pods that keep or use its room."""
    latches = ledger.latches_of(hold)
    firm = {latch.key: ledger.firm_from(latch) for latch in latches}
    parent = hold.parent.identity
    return HoldRoom(
        hold,
        ledger.guardians_of(hold),
        ledger.claimants_of(hold),
        ledger.slot_users_of(hold),
        latches,
        tuple(ledger.having(By.LATCH_OF_HOLD, parent)),
        ledger.memory[parent].node,
        frozenset(key for key in firm if ledger.agenda.busy(pod_subject(key))),
        {key: moment for key, moment in firm.items() if moment is not None},
        {
            line: ledger.pods[line.owner].requests
            for latch in latches
            for line in claims_on(latch)
            if _is_bound_by_us(ledger, line.owner, line.uid)
        },
        frozenset(latch.key for latch in latches if took_over(ledger, latch)),
    )


def claimed(ledger: Ledger, pod: Pod) -> Hold | None:
    """The hold that a pod names in its claim, if this hold exists."""
    claim = claim_of(pod)
    return ledger.holds.get(claim[0]) if claim is not None else None


def hold_used_by(ledger: Ledger, pod: Pod) -> Hold | None:
    """The hold that a pod has a valid claim on."""
    hold = claimed(ledger, pod)
    return hold if hold is not None and owns(ledger, hold, pod) else None


def _is_bound_by_us(ledger: Ledger, key: Key, uid: str) -> bool:
    """Whether a pod has a node, and we bound it."""
    pod = ledger.pods.get(key)
    return pod is not None and pod.uid == uid and pod.occupies_node and ledger.bound_by_us(pod)


def standing_claims(ledger: Ledger, node: str) -> tuple[Pod, ...]:
    """Latches on a node by which holds keep their claim on room that owners use there."""
    return tuple(
        pod
        for pod in ledger.state.nominated_on(node)
        if pod.key in ledger.latches
        and (hold := ledger.holds.get(kept_for(pod))) is not None
        and is_claim(pod, hold)
    )


def unsettled_on(ledger: Ledger, node: str, latches: bool = True) -> frozenset[Key]:
    """Pods of ours that are between two states on a node.

    An owner that is nominated but not bound, and a latch that outlives its handover, both
    count twice for a moment; kube-scheduler would find the node too full for the next owner.
    """
    return frozenset(
        pod.key
        for pod in ledger.state.nominated_on(node)
        if claim_of(pod) is not None
        or (latches and pod.key in ledger.latches and not stands_for_hold(ledger, pod))
    )


def stands_for_hold(ledger: Ledger, latch: Pod) -> bool:
    """Whether a latch keeps room for its hold itself, not for an owner."""
    hold = ledger.holds.get(kept_for(latch))
    if hold is None or claims_on(latch):
        return False
    if keeps_rest(hold):
        lost = ledger.memory[hold.parent.identity].reclaims
        return keeps_claim(latch, hold, ledger.slot_users_of(hold), ledger.guardian_of(hold), lost)
    places = ledger.state.free_places(latch.nominated)
    return keeps_place(latch, hold, ledger.claimants_of(hold), places)


def unfit(ledger: Ledger, pod: Pod, node: str, without: frozenset[Key]) -> str | None:
    """Why a pod would not fit on a node, or None; our own pods ignore our fences."""
    return unfit_on(ledger, node)(pod, without)


def unfit_on(ledger: Ledger, node: str) -> Unfit:
    """The same function for one node, to be called for several pods."""
    if node not in ledger.nodes:
        return lambda pod, without: f"there is no node {node}"
    fences = frozenset(ledger.index.of(By.FENCE, node))
    return lambda pod, without: feasible_on(pod, node, ledger.state, without | fences)


def labels_around(ledger: Ledger, node: str) -> Mapping[str, str]:
    """The labels of a node; none of one that is not known."""
    known = ledger.nodes.get(node)
    return known.labels if known is not None else NO_LABELS


def node_view(ledger: Ledger, node: str, now: datetime) -> NodeView:
    """A node as it is now."""
    state, latches = ledger.state, standing_claims(ledger, node)
    binding, back = ledger.work.of(By.BINDING, node), ledger.hold_index.of(By.RETURNING, node)
    names = (*map(kept_for, latches), *[each.identity for each in binding], *back)
    holds = {name: ledger.holds[name] for name in names if name in ledger.holds}
    rooms = {name: hold_room(ledger, hold) for name, hold in holds.items()}
    amounts = [(each.identity, ledger.work.amount(each)) for each in binding]
    view = NodeView(
        node,
        node in ledger.nodes,
        unfit_on(ledger, node),
        labels_around(ledger, node),
        tuple(state.nominated_on(node)),
        unsettled_on(ledger, node),
        tuple([(latch, rooms[kept_for(latch)]) for latch in latches]),
        tuple([(rooms[name], size) for name, size in amounts if name in rooms]),
        tuple([rooms[name] for name in back if name in rooms]),
        fences=tuple(
            StandingFence(fence, ledger.shown_since(fence, node))
            for fence in ledger.having(By.FENCE, node)
        ),
        places=state.free_places(node),
        places_without_arrivals=state.free_places(node, expected=False),
        handing_over=ledger.agenda.busy(node_subject(node)),
        fence_changing=ledger.agenda.busy(fence_subject(node)),
    )
    owed = [room.name for room in view.returning if could_have_back(view, room)]
    if not owed:
        return view
    return replace(view, owed_since={name: ledger.memory[name].owed_since or now for name in owed})
