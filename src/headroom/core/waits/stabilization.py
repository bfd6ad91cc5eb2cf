"""Facts that count only after they have lasted: several streams may disagree for a moment."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Generic, TypeVar

_Fact = TypeVar("_Fact")


@dataclass(frozen=True, slots=True)
class Lasting(Generic[_Fact]):
    """A fact, and since when it has been the same all along."""

    fact: _Fact
    since: datetime

    def told(self, fact: _Fact, now: datetime) -> Lasting[_Fact]:
        """The same after one more look."""
        return self if fact == self.fact else Lasting(fact, now)
