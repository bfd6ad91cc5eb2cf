"""What decides about the renewal of a guardian: whose turn it is, and where its successor fits."""

from __future__ import annotations

from dataclasses import replace

from headroom.core.hold_lifecycle import size_kept
from headroom.core.hold_state.view import HoldView, RenewalView
from headroom.core.holds import Hold
from headroom.core.objects import Pod
from headroom.core.renewal import Guardians
from headroom.engine.freeze import unsettled_on
from headroom.engine.headrooms.creation_limits import crowded
from headroom.engine.headrooms.slot_pods import slots_of
from headroom.engine.ledger import Ledger
from headroom.engine.node_fit import unfit
from headroom.scheduling.choose import ChosenNode, choose


def renewal_of(ledger: Ledger, view: HoldView, told: Guardians) -> RenewalView | None:
    """Whose turn it is to renew a guardian that is due, and what stands in its way."""
    hold, old, successor = view.hold, told.standing, told.successor
    if old is None:
        return None
    slots = slots_of(ledger, hold.group)
    renewing = sum(ledger.memory[each].renewing for each in slots if each != hold.parent.identity)
    in_place = _fits_in_place(ledger, view, old)
    waits = successor is not None and bool(successor.unschedulable_message)
    latches = frozenset(latch.key for latch in view.latches)
    return RenewalView(
        others=renewing,
        most=max(1, -(-len(slots) * ledger.policy.renewed_at_once // 100)),
        stuck=waits or (bool(view.obstacles.node_limit) and not in_place),
        unsettled=bool(unsettled_on(ledger, old.node) - latches),
        beside=_fits_beside(ledger, hold, old),
        in_place=in_place and not view.obstacles.limit,
        crowded=crowded(ledger, hold),
    )


def _fits_in_place(ledger: Ledger, view: HoldView, old: Pod) -> bool:
    """Whether a hold's guardian of the size to keep would find room where the old one stands."""
    ours = frozenset({old.key} | {latch.key for latch in view.latches})
    wanted = replace(view.hold.template.pod, requests=size_kept(view, old))
    return unfit(ledger, wanted, old.node, ours) is None


def _fits_beside(ledger: Ledger, hold: Hold, old: Pod) -> bool:
    """Whether a hold's guardian would find room while the old one still stands."""
    wanted = hold.template.pod
    if hold.template.node:
        return unfit(ledger, wanted, hold.template.node, frozenset()) is None
    if unfit(ledger, wanted, old.node, frozenset()) is None:
        return True
    return isinstance(choose(wanted, ledger.state), ChosenNode)
