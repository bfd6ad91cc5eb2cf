"""Latches by which holds keep their claim on a node while owners use their room there.

They are larger than what a hold lacks: as large as the whole hold, including the owners' room.
"""

from __future__ import annotations

from collections.abc import Iterator

from headroom.core.allocation import keeps_rest, to_keep
from headroom.core.fences import returns
from headroom.core.holds import Hold
from headroom.core.latches import claims_on, kept_for, users_on
from headroom.core.objects import Key, Pod
from headroom.core.resources import Resources
from headroom.engine.ledger import Ledger


def claims_standing_on(ledger: Ledger, node: str) -> frozenset[Key]:
    """Latches on a node by which holds keep their claim on what owners use there.

    Those of slots, and of reusable holds for whose rest no guardian has a place.
    """
    return frozenset(latch.key for latch, _ in claims_on_node(ledger, node))


def claims_on_node(ledger: Ledger, node: str) -> Iterator[tuple[Pod, Hold]]:
    for latch in ledger.state.nominated_on(node):
        hold = ledger.holds.get(kept_for(latch)) if latch.key in ledger.latches else None
        if hold is not None and not claims_on(latch) and (keeps_rest(hold) or users_on(latch)):
            yield latch, hold


def goes_without_place(ledger: Ledger, hold: Hold, node: str) -> bool:
    """Whether an owner may leave a part of a hold where no guardian has a place for it.

    Only where all places are taken by pods that are there: owners on their way take the place of
    a guardian each, and may leave one free.
    """
    return returns(hold) and ledger.state.free_places(node, expected=False) < 1


def users_of(ledger: Ledger, hold: Hold) -> list[Pod]:
    """Owners of a hold that have their room, lodgers of a slot among them."""
    seated = [pod for pod in ledger.claimants_of(hold) if pod.occupies_node]
    return [*seated, *ledger.lodgers_of(hold)]


def lacking(ledger: Ledger, hold: Hold) -> Resources:
    """What of a hold neither owners use nor a guardian keeps: it may be free for a moment."""
    guardian = ledger.guardian_of(hold)
    kept = to_keep(hold, users_of(ledger, hold))
    return kept.minus(guardian.requests) if guardian is not None and guardian.node else kept
