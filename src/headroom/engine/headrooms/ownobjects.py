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
from headroom.core.subjects import Subject, Topic, hold_subject
from headroom.engine.ledger import Ledger


class OwnObjects:
    """Makes each again that is gone."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._kept = {str(each.parent): each for each in ledger.policy.own_objects}

    def begin(self) -> None:
        """Look at all of them: one may have gone while nobody was there."""
        for kept in self._kept.values():
            self._ledger.agenda.touch(_subject(kept.parent))

    def lost(self, parent: Parent) -> None:
        """A headroom is gone; if it is one of ours it is made again."""
        if str(parent) in self._kept:
            self._ledger.agenda.touch(_subject(parent))

    def look(self, name: str, now: datetime) -> Iterator[Sequence]:
        """Make the object unless it is there."""
        kept = self._kept.get(name)
        if kept is None or name in self._ledger.slots.headrooms:
            return
        subject = _subject(kept.parent)
        if not self._ledger.agenda.resting(subject, now):
            restore = RestoreObject(kept.parent, kept.raw)
            yield Sequence(Work.OBJECT, (subject,), ((restore,),))


def _subject(parent: Parent) -> Subject:
    return hold_subject(parent, Topic.OWN)
