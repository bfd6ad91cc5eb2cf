"""The slots of a headroom by the pods that stand for them, or have claimed them."""

from __future__ import annotations

from headroom.core.genuine import has_got, stands_for
from headroom.core.standing.headrooms import Headroom
from headroom.engine.ledger import Ledger


def guarded(ledger: Ledger, headroom: Headroom) -> frozenset[str]:
    """The slots of a headroom that have a guardian, whether they are wished for or not."""
    prefix = f"{headroom.parent.whole}#"
    return frozenset(
        name.removeprefix(prefix)
        for name, keys in ledger.guardian_keys.items()
        if name.startswith(prefix) and any(stands_for(headroom, ledger.pods[key]) for key in keys)
    )


def claimed_slots(ledger: Ledger, headroom: Headroom) -> tuple[str, ...]:
    """The slots of a headroom that pods which are still there have claimed."""
    prefix, across = f"{headroom.parent.whole}#", ledger.policy.across_namespaces
    own = ((name, keys) for name, keys in ledger.claimant_keys.items() if name.startswith(prefix))
    seats = ((name, ledger.pods[key]) for name, keys in own for key in keys)
    got = (
        name.removeprefix(prefix)
        for name, pod in seats
        if has_got(headroom, pod, across, ledger.owners.knows(pod))
    )
    return tuple(dict.fromkeys(got))
