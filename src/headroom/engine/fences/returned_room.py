"""Room that is free for a moment but belongs to a hold: owners of reusable holds have returned it.

A hold gets its room back with its next guardian, some writes later. Until then the node looks
emptier than it is. Fences keep other pods off. This module does the same for pods that we place:
an owner that needs more than its hold has, a pod of our scheduler without a hold, a pod that grows
in place.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from headroom.core.allocation import to_keep
from headroom.core.fences import returns
from headroom.core.holds import Hold
from headroom.core.latches import claims_on
from headroom.core.objects import ANYWHERE, Pod
from headroom.core.resources import EMPTY, Resources
from headroom.engine.conflicts.standingclaims import claims_on_node, lacking
from headroom.engine.ledger import Ledger
from headroom.engine.node_fit import unfit

LONGEST_OWED = timedelta(seconds=30)
"""How long room that is free waits for the hold that it belongs to."""


def users_on(ledger: Ledger, hold: Hold, node: str) -> list[Pod]:
    """Owners of a hold that use its room on a node."""
    return [pod for pod in ledger.claimants_of(hold) if pod.node == node and not pod.finished]


def is_whole(ledger: Ledger, hold: Hold, node: str) -> bool:
    """Whether a guardian keeps all of a hold that owners do not use, here or elsewhere."""
    return not _missing(ledger, hold, node)


def owed(ledger: Ledger, hold: Hold, node: str, now: datetime) -> Resources:
    """What is free on a node and a hold is about to have back.

    Nothing when it could not have all of it back: then somebody else has got it. What counts twice
    for a moment, as latches do that have served, has got nothing. Nor for ever: a hold that may not
    have a guardian, for want of quota perhaps, keeps nobody waiting.
    """
    missing = _missing(ledger, hold, node)
    fits = bool(missing) and _has_room(ledger, hold, node)
    since = ledger.contention.returning.owed_since(str(hold.parent), fits, now)
    late = since is None or now >= since + LONGEST_OWED
    return EMPTY if late else missing.minus(_latched(ledger, hold, node))


def _has_room(ledger: Ledger, hold: Hold, node: str) -> bool:
    """Whether all that a hold is to keep would fit on its node."""
    size = to_keep(hold, users_on(ledger, hold, node))
    ours = (*ledger.guardians_of(hold), *ledger.latches_of(hold))
    without = ledger.unsettled_on(node) | {pod.key for pod in ours}
    for latch, other in claims_on_node(ledger, node):  # Larger than what those holds lack.
        if other.parent != hold.parent:
            without |= {latch.key}
            size = size + lacking(ledger, other)
    wanted = replace(hold.template.pod, requests=size, placement=ANYWHERE)
    return unfit(ledger, wanted, node, without) is None


def owed_on(ledger: Ledger, node: str, now: datetime, besides: Hold | None = None) -> Resources:
    """What is free on a node and belongs to holds there, other than the one given."""
    total = EMPTY
    for parent in ledger.contention.returning.at(node):
        hold = ledger.holds.get(parent)
        here = hold is not None and ledger.last_node.get(parent, "") in ("", node)
        if hold is not None and here and (besides is None or hold.parent != besides.parent):
            total = total + owed(ledger, hold, node, now)
    return total


def _missing(ledger: Ledger, hold: Hold, node: str) -> Resources:
    """What the guardian of a hold is too small by; all of it while there is none."""
    size = to_keep(hold, users_on(ledger, hold, node))
    if not returns(hold) or not size:
        return EMPTY
    guardian = ledger.guardian_of(hold)
    stands = guardian is not None and bool(guardian.node)
    return size.minus(guardian.requests) if guardian is not None and stands else size


def _latched(ledger: Ledger, hold: Hold, node: str) -> Resources:
    """What a latch keeps already for a hold, or for an owner on its way into it."""
    kept = EMPTY
    for latch in (ledger.pods[key] for key in ledger.latches.about(str(hold.parent))):
        claims = claims_on(latch)
        if latch.nominated == node and (not claims or any(map(ledger.waits, claims))):
            kept = kept.largest(latch.requests)
    return kept
