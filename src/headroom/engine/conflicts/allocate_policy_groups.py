"""The kind of each hold in the rule about allocate policies (`core.hold_state`)."""

from __future__ import annotations

from headroom.core.hold_state.allocate_policy_groups import kept_apart, side_of
from headroom.core.holds import Hold
from headroom.engine.indexes import drop


class Sides:
    """The holds of each side that have not ended."""

    def __init__(self) -> None:
        self._by_side: dict[str, dict[str, None]] = {}

    def see(self, hold: Hold) -> Hold:
        """Take note of a hold; the same, kept apart from the other side if there is one."""
        self.forget(hold)
        side = side_of(hold)
        if not side or hold.terminal:
            return hold
        self._by_side.setdefault(side, {})[hold.parent.uid] = None
        return kept_apart(hold) if len(self._by_side) > 1 else hold

    def forget(self, hold: Hold) -> None:
        for side in tuple(self._by_side):
            drop(self._by_side, side, hold.parent.uid)
