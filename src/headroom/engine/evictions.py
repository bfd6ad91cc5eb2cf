"""Build the views for `core.eviction`, which decides which pods end for a hold or an owner.

There is one view for each case: an owner of our scheduler finds its hold in use (`preemption`),
other pods have the room of a slot of a node (`reclaim`), a hold waits for running pods to end
(`preallocation`), somebody else has ended a guardian (`preempted`).
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from functools import partial
from itertools import chain

from headroom.core.claims import Offer
from headroom.core.eviction import preallocation, preemption
from headroom.core.eviction.occupants import Occupant
from headroom.core.eviction.preallocation import Succession, may_succeed
from headroom.core.eviction.preempted import PreemptedView, was_preempted
from headroom.core.eviction.preemption import HoldInUse, HoldToEnter
from headroom.core.eviction.reclaim import ReclaimView
from headroom.core.fast_dataclass import replace
from headroom.core.hold_state.decision import CANDIDATES
from headroom.core.holds import Hold
from headroom.core.latches import kept_for
from headroom.core.names import LOCKED_PRIORITY
from headroom.core.node.kept_room import returned_on
from headroom.core.objects import ANYWHERE, Key, Pod
from headroom.core.subjects import hold_subject, node_subject
from headroom.engine.freeze import (
    hold_used_by,
    labels_around,
    node_view,
    standing_claims,
    unfit,
    unfit_on,
)
from headroom.engine.ledger import Ledger
from headroom.engine.namespace_limits import limits_of
from headroom.scheduling.choose import ChosenNode, choose


def find_preemption(ledger: Ledger, pod: Pod, now: datetime) -> Offer | None:
    """Find the hold that the pod can get with the least harmful preemption."""
    parents = chain(ledger.open.for_pod(pod), ledger.coming.for_pod(pod))
    holds = (_to_enter(ledger, ledger.holds[parent], now) for parent in parents)
    return preemption.find_preemption(pod, holds, ledger.policy, ledger.budgets.values(), now)


def remaining_victims(
    ledger: Ledger, latch: Pod, owner: Pod, hold: Hold, now: datetime
) -> tuple[Pod, ...] | None:
    """The pods that still have to be ended under a latch; empty while they are terminating.

    None if the owner cannot get the hold in this way any more.
    """
    use = _in_use(ledger, hold, latch.nominated, latch)  # What the latch keeps was looked at.
    return preemption.victims_in(use, owner, ledger.policy, ledger.budgets.values(), now)


def _to_enter(ledger: Ledger, hold: Hold, now: datetime) -> HoldToEnter:
    """A hold that a pod could get by preemption."""
    parent, busy = hold.parent.identity, ledger.agenda.busy
    node = ledger.memory[parent].node or hold.status.node

    def moving() -> bool:
        writing = busy(hold_subject(hold.parent)) or busy(node_subject(node))
        return writing or ledger.expects_owner(hold) or bool(ledger.latches_of(hold))

    def use() -> HoldInUse | None:
        if node not in ledger.nodes:
            return None
        owed = returned_on(node_view(ledger, node, now), now, parent)
        return replace(_in_use(ledger, hold, node), owed=owed)

    return HoldToEnter(hold, partial(ledger.claimants_of, hold), moving, use)


def _in_use(ledger: Ledger, hold: Hold, node: str, *latches: Pod) -> HoldInUse:
    ours = frozenset(pod.key for pod in (*ledger.guardians_of(hold), *latches))
    there, labels = occupants(ledger, ledger.state.pods_on(node)), labels_around(ledger, node)
    owners, fits = ledger.claimants_of(hold), unfit_on(ledger, node)
    return HoldInUse(hold, node, owners, there, fits, ours, labels=labels)


def occupants(ledger: Ledger, pods: Iterable[Pod]) -> tuple[Occupant, ...]:
    """Pods, with the holds that they have a claim on."""
    return tuple(Occupant(pod, hold_used_by(ledger, pod)) for pod in pods)


def reclaim_view(ledger: Ledger, hold: Hold, waits: bool) -> ReclaimView:
    """A slot of a node whose room other pods may have.

    It is decided again when room becomes free on its node and when the limits of its namespace
    change.
    """
    node = hold.template.node
    ours = (*ledger.guardians_of(hold), *ledger.latches_of(hold), *standing_claims(ledger, node))
    without = frozenset(pod.key for pod in ours)
    wanted = replace(hold.template.pod, placement=ANYWHERE)

    def fits(gone: frozenset[Key]) -> bool:
        return unfit(ledger, wanted, node, without | gone) is None

    def others() -> tuple[Occupant, ...]:
        return occupants(
            ledger, (pod for pod in ledger.state.pods_on(node) if pod.key not in without)
        )

    return ReclaimView(
        hold,
        waits,
        ledger.expects_owner(hold) or bool(ledger.slot_users_of(hold)) or node not in ledger.nodes,
        ledger.guardian_of(hold),
        limits_of(ledger, hold.home),
        others,
        fits,
        ledger.budgets.values(),
    )


def place_for(ledger: Ledger, hold: Hold) -> Succession | None:
    """Say where a hold without room waits for running pods to end, and for whom."""
    wanted = replace(hold.template.pod, priority=LOCKED_PRIORITY)
    own = frozenset(latch.key for latch in ledger.latches_of(hold))

    def fits(node: str, without: frozenset[Key]) -> bool:
        right = hold.template.node in ("", node)
        return right and unfit(ledger, wanted, node, without | own) is None

    def finds_room() -> bool:
        return isinstance(choose(wanted, ledger.state), ChosenNode)

    found = (pod for pod in ledger.pods.values() if _is_candidate(ledger, hold, pod))
    return preallocation.place_for(hold, found, fits, finds_room)


def wake_waiting_holds(ledger: Ledger, pod: Pod) -> None:
    """A pod has changed: decide the holds again that could take its place."""
    for subject in ledger.agenda.waiting(CANDIDATES) if pod.node else ():
        hold = ledger.holds.get(subject.identity)
        if hold is not None and _is_candidate(ledger, hold, pod):
            ledger.agenda.touch(hold_subject(hold.parent))


def _is_candidate(ledger: Ledger, hold: Hold, pod: Pod) -> bool:
    if not may_succeed(hold, pod, ledger.policy.across_namespaces):
        return False
    return not Occupant(pod, hold_used_by(ledger, pod)).goes_back


def note_preempted(ledger: Ledger, pod: Pod, gone: bool = False) -> None:
    """Remember where a guardian was preempted."""
    if was_preempted(pod, gone, ledger.state.nominated_on(pod.node)):
        parent = kept_for(pod)
        ledger.memory[parent] = replace(ledger.memory[parent], preempted_on=pod.node)


def preempted_view(ledger: Ledger, hold: Hold, node: str) -> PreemptedView | None:
    """A hold and the node on which somebody else ended its guardian; None if that is gone."""
    known = ledger.nodes.get(node)
    if known is None:
        return None

    def elsewhere() -> str:
        chosen = choose(hold.template.pod, ledger.state)
        return chosen.node if isinstance(chosen, ChosenNode) else ""

    counted = (*ledger.state.pods_on(node), *ledger.state.nominated_on(node))
    ours = frozenset(pod.key for pod in (*ledger.latches_of(hold), *ledger.guardians_of(hold)))
    owners, fits = ledger.claimants_of(hold), unfit_on(ledger, node)
    return PreemptedView(hold, known, owners, counted, ours, fits, elsewhere)
