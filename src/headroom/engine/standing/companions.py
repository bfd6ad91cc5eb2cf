"""What a Headroom has besides its slots: the SlotSet that controls its guardians, and the DaemonSet
by which Karpenter counts slots per node. Both are created before the first guardian.
"""

from __future__ import annotations

from datetime import datetime

from headroom.core.actions import CreateSlotSet, Outcome
from headroom.core.holds import Hold
from headroom.core.plan import Sequence
from headroom.core.standing.headrooms import Headroom, Workload
from headroom.core.standing.sizing import Wish
from headroom.core.standing.windows import ActiveWindow
from headroom.engine.ledger import Ledger
from headroom.engine.standing.known import Known
from headroom.engine.standing.overheads import Concerning as OfOverheads
from headroom.engine.standing.overheads import Overheads
from headroom.engine.standing.slotsets import SlotSets

Concerning = OfOverheads | CreateSlotSet


class Companions:
    """Keeps both in line with the wishes."""

    def __init__(self, ledger: Ledger) -> None:
        self._overheads = Overheads(ledger)
        self._slot_sets = SlotSets(ledger)

    def first(
        self, headroom: Headroom, known: Known, window: ActiveWindow | None, now: datetime
    ) -> Sequence | None:
        """What is to be made before guardians; None where all of it is there."""
        made = self._slot_sets.first(headroom, now)
        return made or self._overheads.first(headroom, known, window, now)

    def write(
        self, headroom: Headroom, known: Known, window: ActiveWindow | None, now: datetime
    ) -> Sequence | None:
        """Bring up to date what changes with the wish."""
        return self._overheads.write(headroom, known, window, now)

    def concerned(self, workload: Workload) -> tuple[str, ...]:
        """The headrooms whose companion has come, changed or gone."""
        return (*self._overheads.concerned(workload), *self._slot_sets.concerned(workload))

    def forget(self, whole: str) -> None:
        """A headroom is gone; its companions are collected with it."""
        self._overheads.forget(whole)
        self._slot_sets.forget(whole)

    def settled(self, action: Concerning, outcome: Outcome, now: datetime) -> str:
        """Take note of what became of a write; name the headroom that is to be looked at."""
        if isinstance(action, CreateSlotSet):
            self._slot_sets.settled(action, outcome, now)
            return ""
        return self._overheads.settled(action, outcome, now)

    def member(self, headroom: Headroom, hold: Hold) -> Hold:
        """The hold of an object that is a slot, with the DaemonSet as an owner of its guardian."""
        return self._overheads.member(headroom, hold)

    def dressed(self, headroom: Headroom, wished: Wish) -> Wish:
        """The wish, with these as owners of its guardians."""
        return self._slot_sets.dressed(headroom, self._overheads.dressed(headroom, wished))
