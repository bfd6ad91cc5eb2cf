"""What decides about the renewal of a guardian: whose turn it is, and where its successor fits."""

from __future__ import annotations

from dataclasses import replace

from headroom.core.hold_state.view import RenewalView
from headroom.core.holds import Hold
from headroom.core.objects import Pod
from headroom.core.resources import Resources
from headroom.engine.freeze import unsettled_on
from headroom.engine.headrooms.slot_pods import slots_of
from headroom.engine.ledger import Ledger
from headroom.engine.node_fit import unfit
from headroom.scheduling.choose import ChosenNode, choose


def turn_to_renew(ledger: Ledger, hold: Hold, old: Pod, stuck: bool) -> RenewalView:
    """What decides whether a hold may be renewed now."""
    whole, own = hold.group, hold.parent.identity
    slots = slots_of(ledger, whole)
    others = sum(ledger.memory[each].renewing for each in slots if each != own)
    most = max(1, -(-len(slots) * ledger.policy.renewed_at_once // 100))
    latches = frozenset(latch.key for latch in ledger.latches_of(hold))
    unsettled = bool(unsettled_on(ledger, old.node) - latches)
    return RenewalView(others, most, stuck, unsettled)


def fits_in_place(ledger: Ledger, hold: Hold, old: Pod, size: Resources) -> bool:
    """Whether a hold's guardian of a size would find room where the old one stands."""
    ours = frozenset({old.key} | {latch.key for latch in ledger.latches_of(hold)})
    return unfit(ledger, replace(hold.template.pod, requests=size), old.node, ours) is None


def fits_beside(ledger: Ledger, hold: Hold, old: Pod) -> bool:
    """Whether a hold's guardian would find room while the old one still stands."""
    wanted = hold.template.pod
    if hold.template.node:
        return unfit(ledger, wanted, hold.template.node, frozenset()) is None
    if unfit(ledger, wanted, old.node, frozenset()) is None:
        return True
    return isinstance(choose(wanted, ledger.state), ChosenNode)
