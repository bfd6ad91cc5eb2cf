"""Indexes as dicts of dicts: ordered sets, so that decisions are reproducible; and their keys."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Mapping
from typing import Any, Generic, TypeVar

from headroom.core.index_entries import By, Entry
from headroom.core.resources import EMPTY, Resources

_K = TypeVar("_K")
_N = TypeVar("_N", bound=Hashable)
_V = TypeVar("_V")
Entries = tuple[Entry, ...]


def drop(index: dict[_K, dict[_V, Any]], key: _K, value: _V) -> None:
    """Remove a value from an index; a key without values is removed, too."""
    entries = index.get(key)
    if entries is not None:
        entries.pop(value, None)
        if not entries:
            del index[key]


class Index(Generic[_N]):
    """The names of objects by their entries, in the order in which they got each entry."""

    def __init__(self) -> None:
        self._entries: dict[_N, tuple[Entry, ...]] = {}
        self._names: dict[By, dict[Hashable, dict[_N, None]]] = {by: {} for by in By}
        self._totals: dict[tuple[By, Hashable], Counter[str]] = {}

    def __len__(self) -> int:
        """How many objects have an entry."""
        return len(self._entries)

    def put(self, name: _N, entries: tuple[Entry, ...] = ()) -> tuple[Entries, Entries]:
        """Set the entries of an object; return the removed and the added ones."""
        before = self._entries.get(name, ())
        if before == entries:
            return (), ()
        lost = tuple([entry for entry in before if entry not in entries]) if entries else before
        got = tuple([entry for entry in entries if entry not in before]) if before else entries
        for by, value, amount in lost:
            names = self._names[by].get(value, {})  # Of two equal entries the first took it out.
            names.pop(name, None)
            if not names:
                self._names[by].pop(value, None)
            if amount is not None:
                self._totals[by, value].subtract(amount)
                if not names:
                    del self._totals[by, value]
        for by, value, amount in got:
            self._names[by].setdefault(value, {})[name] = None
            if amount is not None:
                self._totals.setdefault((by, value), Counter()).update(amount)
        if entries:
            self._entries[name] = entries
        else:
            del self._entries[name]
        return lost, got

    def of(self, by: By, value: Hashable = "") -> Collection[_N]:
        """The objects with an entry."""
        found = self._names[by]
        return found.get(value, ())

    def all(self, by: By) -> Mapping[Any, Collection[_N]]:
        """The objects of all entries of this kind, by value."""
        return self._names[by]

    def amount(self, name: _N) -> Resources:
        """The amount of an object in totals."""
        amounts = (entry.amount for entry in self._entries.get(name, ()))
        return next((amount for amount in amounts if amount is not None), EMPTY)

    def total(self, by: By, value: Hashable) -> Resources:
        """The sum of the amounts of the objects with an entry."""
        return Resources(self._totals.get((by, value)))

    def entries(self, name: _N) -> tuple[Entry, ...]:
        """All entries of an object."""
        return self._entries.get(name, ())
