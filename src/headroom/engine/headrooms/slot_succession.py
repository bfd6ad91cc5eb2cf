"""Expired slots whose room goes to the slot that replaces them.

If slots are objects (korder's Tickets), an expired one stays as a record and another is created
under another name. The old guardian stays until the new one takes over, under a latch. It is
deleted without a successor only if none is wanted, or none has come for a while.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from headroom.core.headrooms.headrooms import NEVER
from headroom.core.headrooms.windows import Calendar, active
from headroom.core.holds import Hold
from headroom.core.objects import Key, Pod
from headroom.core.subjects import hold_subject, node_changed, pod_subject
from headroom.engine.indexes import drop
from headroom.engine.ledger import Ledger
from headroom.engine.node_fit import unfit

LONGEST_WAIT = timedelta(seconds=30)
"""How long the guardian of a slot that has expired waits for an heir."""

Seat = tuple[str, str]  # the headroom, and the only node that the slot may stand on


class SlotSuccession:
    """Remembers which slots have expired and still keep their room, and since when."""

    def __init__(self, ledger: Ledger, calendar: Calendar) -> None:
        self._ledger = ledger
        self._calendar = calendar
        self._left: dict[Seat, dict[str, None]] = {}
        self._since: dict[str, datetime] = {}

    def forget(self, hold: Hold) -> None:
        """A hold is gone, or has no room to leave."""
        drop(self._left, _seat(hold), str(hold.parent))
        self._since.pop(str(hold.parent), None)

    def note(self, hold: Hold, ends: datetime | None, now: datetime) -> None:
        """Take note of a hold whose time is over and whose room another slot may take over.

        `ends` is when that is; what ends otherwise, by deletion or because its pod has, has none.
        """
        over = ends is not None and ends <= now and hold.status.phase != "Succeeded"
        if hold.member is None or not over or not self._leaves_room(hold, now):
            self.forget(hold)
            return
        parent = str(hold.parent)
        until = self._since.setdefault(parent, now) + LONGEST_WAIT
        if now >= until:
            drop(self._left, _seat(hold), parent)
            return
        self._left.setdefault(_seat(hold), {})[parent] = None
        self._ledger.agenda.later(hold_subject(hold.parent), until)

    def awaited(self, hold: Hold) -> bool:
        """Whether a hold whose time is over keeps its guardian, because another is to come."""
        return str(hold.parent) in self._left.get(_seat(hold), ())

    def estate_for(self, hold: Hold, standing: Pod | None) -> tuple[Pod | None, bool]:
        """The guardian of a slot that has expired, whose room a new one is to take over.

        Also whether there is one at all: if it cannot be had in this moment, `wait` for it.
        """
        if hold.member is None or hold.terminal or standing is not None:
            return None, False
        ledger, waits = self._ledger, False
        for old, guardian in self._estates(hold):
            about = (hold_subject(old.parent), pod_subject(guardian.key))
            busy = any(map(ledger.agenda.busy, about))
            if old.terminal and not busy and not ledger.unsettled_on(guardian.node):
                return guardian, True
            waits = True
        return None, waits

    def wait(self, hold: Hold, now: datetime) -> None:
        """Look at a new slot again when the room of an expired one may be had."""
        ledger, subject = self._ledger, hold_subject(hold.parent)
        for _, guardian in self._estates(hold):
            ledger.agenda.wait(subject, on=node_changed(guardian.node))
        ledger.agenda.later(subject, now + ledger.policy.first_look)

    def _estates(self, hold: Hold) -> Iterator[tuple[Hold, Pod]]:
        """The expired slots whose room would do for a new one, with their guardians."""
        ledger = self._ledger
        for parent in self._left.get(_seat(hold), ()):
            old = ledger.holds.get(parent)
            guardian = ledger.guardian_of(old) if old is not None else None
            if old is None or guardian is None or not guardian.node:
                continue
            if unfit(ledger, hold.template.pod, guardian.node, self._passing(guardian)) is None:
                yield old, guardian

    def _passing(self, guardian: Pod) -> frozenset[Key]:
        return self._ledger.unsettled_on(guardian.node) | {guardian.key}

    def _leaves_room(self, hold: Hold, now: datetime) -> bool:
        headroom = self._ledger.slots.headrooms.get(hold.group)
        if headroom is None or hold.deleted is not None or hold.member is None:
            return False
        same = headroom.parent.uid == hold.member.of.uid and headroom.deleted is None
        guardian = self._ledger.guardian_of(hold)
        return (
            same
            and not headroom.paused
            and headroom.refill != NEVER
            and guardian is not None
            and bool(guardian.node)
            and active(headroom, now, self._calendar) is not None
        )


def _seat(hold: Hold) -> Seat:
    return hold.group, hold.template.node
