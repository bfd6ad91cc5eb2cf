"""The tenure of a ticket: how long it lasts, and the life of its object."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from headroom.core.hold_state.view import HoldDecision, HoldView
from headroom.core.holds import Hold
from headroom.core.objects import Key, Pod
from headroom.core.plan import Sequence
from headroom.core.policy import Policy
from headroom.dialects.korder.rules import ticket_lifecycle
from headroom.dialects.korder.rules.ticket_times import ends_at


@dataclass(frozen=True, slots=True)
class TicketTenure:
    """Its object is deleted `cleanup` after its end, None: never."""

    duration: timedelta | None
    cleanup: timedelta | None = None

    def endless(self) -> TicketTenure:
        return replace(self, duration=None)

    def ends_at(self, hold: Hold) -> datetime | None:
        return ends_at(hold)

    def decide(self, view: HoldView, now: datetime, policy: Policy) -> HoldDecision:
        return ticket_lifecycle.decide(view, self.cleanup, now, policy)

    def left_over(self, hold: Hold, pods: Mapping[Key, Pod]) -> Pod | None:
        return ticket_lifecycle.left_over(hold, pods)

    def dismissed(self, hold: Hold, guardians: tuple[Pod, ...]) -> Sequence:
        return ticket_lifecycle.dismissed(hold, guardians)
