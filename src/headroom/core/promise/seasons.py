"""Arrivals at the same minute of the hour, and at the same time of the day."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class Season:
    """The usual rate in each part of a period; old rounds count less with each new one.

    `sums` over `weights` are the rates, in pods a second; `running` counts the part that is not
    over yet.
    """

    width: float
    parts: int
    half: float
    sums: list[float] = field(default_factory=list)
    weights: list[float] = field(default_factory=list)
    running: float = 0.0

    def __post_init__(self) -> None:
        self.sums = self.sums or [0.0] * self.parts
        self.weights = self.weights or [0.0] * self.parts

    def count(self, before: float, now: float, arrivals: float) -> None:
        """So many pods came between two moments that are one step apart."""
        self.running += arrivals
        part = before // self.width
        if now // self.width != part:
            at = int(part) % self.parts
            fade = 0.5 ** (1.0 / self.half)
            self.sums[at] = self.sums[at] * fade + self.running / self.width
            self.weights[at] = self.weights[at] * fade + 1.0
            self.running = 0.0

    def skip(self) -> None:
        """Arrivals were unknown for a while: the current part is not counted."""
        self.running = 0.0

    def ahead(self, now: float, lead: float, otherwise: float) -> float:
        """The usual rate in the lead time from now; `otherwise` for parts never seen."""
        width, parts, sums, weights = self.width, self.parts, self.sums, self.weights
        end, total, at = now + lead, 0.0, now
        part = int(now // width)
        while at < end:
            until = min((part + 1) * width, end)
            index = part % parts
            weight = weights[index]
            total += (until - at) * (sums[index] / weight if weight > 0.0 else otherwise)
            at = until
            part += 1
        return total / lead
