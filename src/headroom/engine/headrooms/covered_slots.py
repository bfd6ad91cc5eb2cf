"""Slots that follow a pod onto a full node and are not needed, because Preemptible slots are there.

A follower that preempts evicts the least important pods that make room. Any Preemptible slot on the
node is as good for this as its own slot, which would only wait beside it. Each existing slot
replaces one that would wait. If the node has room, kube-scheduler places the slot.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from headroom.core.demand.followers import Followed
from headroom.core.headrooms.headrooms import Headroom
from headroom.core.headrooms.size_limits import Note
from headroom.core.holds import PREEMPTIBLE, PodTemplate
from headroom.core.latches import kept_for
from headroom.core.names import ROLE_GUARDIAN, ROLE_LABEL
from headroom.core.objects import Key, Pod
from headroom.core.sizes.follow import BesideSlot, beside_slots
from headroom.engine.ledger import Ledger
from headroom.engine.node_fit import unfit


def covered(
    ledger: Ledger, headroom: Headroom, template: PodTemplate | Note, followed: tuple[Followed, ...]
) -> tuple[tuple[str, str], ...]:
    """The slots of a headroom that others cover, each with whose room that is and where."""
    rule = headroom.size.follows
    if headroom.mode != PREEMPTIBLE or rule is None or not isinstance(template, PodTemplate):
        return ()
    used: dict[Key, None] = {}
    found: list[tuple[str, str]] = []
    for slot in beside_slots(headroom.parent, rule, template, followed):
        spare = _spare(ledger, slot, used) if _waits(ledger, headroom, slot) else None
        if spare is not None:
            used[spare.key] = None
            found.append((slot.name, f"{kept_for(spare)} has room on {spare.node}"))
    return tuple(found)


def _waits(ledger: Ledger, headroom: Headroom, slot: BesideSlot) -> bool:
    """Whether a slot would find no room on its owner's node."""
    if not slot.next_to:
        return False
    hold = ledger.holds.get(str(replace(headroom.parent, slot=slot.name)))
    guardian = ledger.guardian_of(hold) if hold is not None else None
    if guardian is not None and guardian.node:
        return False
    return unfit(ledger, slot.template.pod, slot.next_to, frozenset()) is not None


def _spare(ledger: Ledger, slot: BesideSlot, used: dict[Key, None]) -> Pod | None:
    """The smallest slot on the node that is large enough and covers no other."""
    asked = slot.template.pod.requests
    fitting = (
        pod
        for pod in _preemptible(ledger, slot.next_to)
        if pod.key not in used and asked.fits_in(pod.requests)
    )
    return min(fitting, key=lambda pod: (sum(pod.requests.values()), pod.key), default=None)


def _preemptible(ledger: Ledger, node: str) -> Iterator[Pod]:
    """Guardians on a node that may be preempted; slots that follow are kept for their own."""
    for pod in ledger.state.pods_on(node):
        if pod.labels.get(ROLE_LABEL) == ROLE_GUARDIAN and pod.deleted is None:
            hold = ledger.holds.get(kept_for(pod))
            if hold is not None and hold.mode == PREEMPTIBLE and hold.template.beside is None:
                yield pod
