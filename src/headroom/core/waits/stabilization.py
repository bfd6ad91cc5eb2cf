"""Facts that count only after they have lasted: several streams may disagree for a moment."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Generic, TypeVar

_Key = TypeVar("_Key", bound=Hashable)
_Fact = TypeVar("_Fact")


@dataclass(frozen=True, slots=True)
class Lasting(Generic[_Fact]):
    """A fact, and since when it has been the same all along."""

    fact: _Fact
    since: datetime

    def told(self, fact: _Fact, now: datetime) -> Lasting[_Fact]:
        """The same after one more look."""
        return self if fact == self.fact else Lasting(fact, now)


class Stabilization(Generic[_Key, _Fact]):
    """For each key the fact that was told last, and since when it has been the same all along."""

    def __init__(self, needed: timedelta) -> None:
        self._needed = needed
        self._known: dict[_Key, tuple[_Fact, datetime]] = {}

    def tell(self, key: _Key, fact: _Fact, now: datetime) -> datetime:
        """Take note of a fact as it is now; from when on it counts, if it stays as it is."""
        known = self._known.get(key)
        if known is None or known[0] != fact:
            known = self._known[key] = (fact, now)
        return known[1] + self._needed

    def counts_from(self, key: _Key) -> datetime | None:
        """From when on the fact counts that was told last; None where none was."""
        known = self._known.get(key)
        return known[1] + self._needed if known is not None else None

    def forget(self, key: _Key) -> None:
        """It is no longer so, or nobody asks."""
        self._known.pop(key, None)
