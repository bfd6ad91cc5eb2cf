"""Pods on a node, and whose room it is that they would leave."""

from __future__ import annotations

from dataclasses import dataclass

from headroom.core.holds import Hold
from headroom.core.names import ROLE_LABEL
from headroom.core.objects import Pod


@dataclass(frozen=True, slots=True)
class Occupant:
    """A pod, and the hold that it has a claim on, if its claim stands."""

    pod: Pod
    hold: Hold | None = None

    @property
    def goes_back(self) -> bool:
        """Whether a hold has what the pod leaves: it is a guardian, or returns it."""
        if ROLE_LABEL in self.pod.labels:
            return True
        return self.hold is not None and not (self.hold.terminal or self.hold.allocate_once)
