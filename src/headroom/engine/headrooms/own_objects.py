"""Headrooms that the operator maintains while a dialect is on: a deleted one is created again.

Without them a dialect has no effect, and the pods behind its gate would wait without a message. To
remove them, switch the dialect off.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from headroom.core.actions import RestoreObject
from headroom.core.objects import Parent
from headroom.core.plan import Sequence, Work
from headroom.core.subjects import Topic, hold_subject
from headroom.engine.ledger import Ledger


def touch_own(ledger: Ledger, parent: Parent | None = None) -> None:
    """Check the one that is gone, or all: one may have been deleted while no operator ran."""
    for kept in ledger.policy.own_objects:
        if parent is None or kept.parent.identity == parent.identity:
            ledger.agenda.touch(hold_subject(kept.parent, Topic.OWN))


def look(ledger: Ledger, name: str, now: datetime) -> Iterator[Sequence]:
    """Create the object unless it is there."""
    for kept in ledger.policy.own_objects:
        subject = hold_subject(kept.parent, Topic.OWN)
        missing = kept.parent.identity == name and name not in ledger.slots.headrooms
        if missing and not ledger.agenda.in_backoff(subject, now):
            restore = RestoreObject(kept.parent, kept.raw)
            yield Sequence(Work.OBJECT, (subject,), ((restore,),))
