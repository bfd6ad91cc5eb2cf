"""Expired slots whose room goes to the slot that replaces them.

If slots are objects of a dialect, an expired one stays as a record and another is created
under another name. The old guardian stays until the new one replaces it, under a latch. It is
deleted without a successor only if no new slot is wanted, or none was created for a while. Until
then the expired slot waits on the agenda for its successor, which finds it there.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from headroom.core.headrooms.headrooms import NEVER
from headroom.core.headrooms.windows import active
from headroom.core.hold_state.decision import replacement_of
from headroom.core.holds import Hold
from headroom.core.objects import Pod
from headroom.core.subjects import hold_subject, pod_subject
from headroom.engine.cron import calendar
from headroom.engine.freeze import unfit, unsettled_on
from headroom.engine.ledger import Ledger


def is_replaceable(ledger: Ledger, hold: Hold, now: datetime) -> bool:
    """Whether a hold has expired, and another slot may take its room over.

    A hold that ends in another way, by deletion or with its pod, leaves no room.
    """
    headroom = ledger.slots.headrooms.get(hold.group)
    ends = hold.tenure.ends_at(hold) if hold.tenure is not None else None
    if hold.member is None or ends is None or ends > now or hold.status.phase == "Succeeded":
        return False
    if headroom is None or hold.deleted is not None:
        return False
    same = headroom.parent.uid == hold.member.of.uid and headroom.deleted is None
    guardian = ledger.guardian_of(hold)
    return (
        same
        and not headroom.paused
        and headroom.refill != NEVER
        and guardian is not None
        and bool(guardian.node)
        and active(headroom, now, calendar) is not None
    )


def predecessor_of(
    ledger: Ledger, hold: Hold, standing: Pod | None
) -> tuple[Pod | None, tuple[str, ...]]:
    """The guardian of an expired slot, whose room a new slot takes over.

    If its node is busy at the moment: the nodes to wait for.
    """
    if hold.member is None or hold.terminal or standing is not None:
        return None, ()
    nodes: list[str] = []
    for old, guardian in _predecessors(ledger, hold):
        about = (hold_subject(old.parent), pod_subject(guardian.key))
        busy = any(map(ledger.agenda.busy, about))
        if old.terminal and not busy and not unsettled_on(ledger, guardian.node):
            return guardian, ()
        nodes.append(guardian.node)
    return None, tuple(nodes)


def _predecessors(ledger: Ledger, hold: Hold) -> Iterator[tuple[Hold, Pod]]:
    """The expired slots whose room is large enough for a new slot, with their guardians."""
    for subject in ledger.agenda.waiting(replacement_of(hold)):
        old = ledger.holds.get(subject.identity)
        guardian = ledger.guardian_of(old) if old is not None else None
        if old is None or guardian is None or not guardian.node:
            continue
        passing = unsettled_on(ledger, guardian.node) | {guardian.key}
        if unfit(ledger, hold.template.pod, guardian.node, passing) is None:
            yield old, guardian
