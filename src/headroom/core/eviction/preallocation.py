"""Room that running pods still use, and that a hold will get when they end.

This module decides which pods a hold may succeed, and which of them it waits for: as few as
possible, and only pods that fit into the hold, because it gets only their room and the free room
beside them. Resources that they request and the hold does not keep return to the node. A latch then
keeps all other pods out, see `hold_lifecycle`. The running pods themselves are not touched.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from headroom.core.claims import claim_of
from headroom.core.fast_dataclass import replace
from headroom.core.hold_order import affinity_refusal, fullness
from headroom.core.holds import Hold, Problem
from headroom.core.objects import Key, Pod
from headroom.core.owners import owner_refusal
from headroom.core.policy import Policy
from headroom.core.renewal import healthiest
from headroom.core.resources import EMPTY, Resources

Fits = Callable[[str, frozenset[Key]], bool]
"""Whether the hold would fit on a node if those pods were gone."""


@dataclass(frozen=True, slots=True)
class Succession:
    """The node on which a hold waits, and for the end of which pods."""

    node: str
    pods: tuple[Pod, ...] = ()

    @property
    def message(self) -> str:
        names = ", ".join(str(pod.key) for pod in self.pods)
        return f"waits on {self.node} for the end of {names}" if names else "its room is free"


def needs_place(hold: Hold, guardians: Sequence[Pod], owners: Sequence[Pod]) -> bool:
    """Whether a hold has no room yet and may take the place of running pods."""
    if not hold.pre_allocation or hold.terminal:
        return False
    guardian = healthiest(hold, guardians)
    return (guardian is None or not guardian.node) and not owners


def place_for(
    hold: Hold, candidates: Iterable[Pod], fits: Fits, finds_room: Callable[[], bool]
) -> Succession | None:
    """Say where a hold waits and for whom; None when it is to be held like any other.

    `finds_room` says whether it would find free room on some node. One that already waits on a node
    stays there as long as that makes sense: its latch is there.
    """
    by_node: dict[str, list[Pod]] = {}
    for pod in candidates:
        by_node.setdefault(pod.node, []).append(pod)
    if hold.status.phase == "Waiting":
        here = hold.status.node
        if fits(here, frozenset()):
            return Succession(here)
        staying = succession(hold, {here: by_node.get(here, [])}, fits)
        if staying is not None:
            return staying
    if not hold.terms.needs_candidate and finds_room():
        return None
    return succession(hold, by_node, fits)


def permitted(hold: Hold, policy: Policy) -> Hold:
    """The hold, as far as the operator's settings let it.

    One that wants pods of others has a problem more, unless that is allowed. Taints that are for
    pods with an affinity only are for all pods, where that is wanted.
    """
    if policy.taints_bind_all and not hold.terms.binds_all:
        hold = replace(hold, terms=replace(hold.terms, binds_all=True))
    if not hold.terms.takes_marked or policy.cluster_preallocation:
        return hold
    problem = Problem(
        "spec.preAllocationPolicy.mode",
        "Cluster takes the place of pods of every namespace that are marked for it; refused unless "
        "the operator runs with --allow-cluster-preallocation",
    )
    return replace(hold, problems=(*hold.problems, problem))


def may_succeed(hold: Hold, pod: Pod, across_namespaces: bool = False) -> bool:
    """Whether a hold may take the place of a pod.

    That is a running one of its owners without a claim, or one that is marked for it, whoever's.
    """
    if not pod.occupies_node or pod.deleted is not None:
        return False
    left = _left_by(pod, hold)
    if not left.fits_in(hold.template.pod.requests) or (pod.requests and not left):
        return False
    if hold.terms.takes_marked:
        return pod.pre_allocatable is not None
    return (
        claim_of(pod) is None
        and owner_refusal(hold, pod, across_namespaces) is None
        and affinity_refusal(pod, hold) is None
    )


def succession(hold: Hold, by_node: Mapping[str, Iterable[Pod]], fits: Fits) -> Succession | None:
    """Choose where a hold waits: for the fewest pods, then for those that fill it best."""
    found = (
        _on_node(hold, node, sorted(pods, key=_turn), fits)
        for node, pods in sorted(by_node.items())
    )
    return min((each for each in found if each), key=lambda each: _rank(hold, each), default=None)


def _on_node(hold: Hold, node: str, pods: Sequence[Pod], fits: Fits) -> Succession | None:
    if not hold.terms.takes_several:
        return next(
            (Succession(node, (pod,)) for pod in pods if fits(node, frozenset({pod.key}))), None
        )
    taken: list[Pod] = []
    total = EMPTY
    for pod in pods:
        if not (total + _left_by(pod, hold)).fits_in(hold.template.pod.requests):
            continue
        total = total + _left_by(pod, hold)
        taken.append(pod)
        if fits(node, frozenset(each.key for each in taken)):
            return Succession(node, tuple(taken))
    return None


def _left_by(pod: Pod, hold: Hold) -> Resources:
    """What of a pod's room a hold could have: of the resources that it keeps."""
    return pod.requests.only(hold.template.pod.requests)


def _turn(pod: Pod) -> tuple[int, str, Key]:
    """The highest priority that a pod was given for this comes first, then the lowest uid."""
    return -(pod.pre_allocatable or 0), pod.uid, pod.key


def _rank(hold: Hold, found: Succession) -> tuple[int, int, str]:
    total = EMPTY
    for pod in found.pods:
        total = total + _left_by(pod, hold)
    return len(found.pods), -fullness(total, hold.template.pod.requests, EMPTY), found.node
