"""Exact amounts of named resources, as whole numbers.

CPU is counted in thousandths of a core, everything else in its own unit (bytes, pods, devices),
rounded up, as kube-scheduler does. `amounts` parses and prints texts such as `500m` or `1Gi`.
"""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, KeysView, Mapping, ValuesView

CPU = "cpu"
MEMORY = "memory"
EPHEMERAL_STORAGE = "ephemeral-storage"
PODS = "pods"
TOO_MANY_PODS = "Too many pods"  # kube-scheduler's reason for a node that is full by number


class Resources(Mapping[str, int]):
    """An immutable vector of resources; what is absent counts as zero.

    Zero amounts are kept out, so equal needs compare equal. Adding and subtracting go name by
    name; a difference may be negative, `minus` stops at zero.
    """

    __slots__ = ("_amounts", "_hash")

    def __init__(self, amounts: Mapping[str, int] | None = None) -> None:
        self._amounts = {name: value for name, value in (amounts or {}).items() if value}
        self._hash: int | None = None

    def __getitem__(self, name: str) -> int:
        return self._amounts.get(name, 0)

    def get(self, name: str, default: int = 0) -> int:  # type: ignore[override]  # int, never None
        return self._amounts.get(name, default)

    def __iter__(self) -> Iterator[str]:
        return iter(self._amounts)

    # The mixins of Mapping would go through __getitem__ one by one, and these run for every pod.
    def keys(self) -> KeysView[str]:
        return self._amounts.keys()

    def values(self) -> ValuesView[int]:
        return self._amounts.values()

    def items(self) -> ItemsView[str, int]:
        return self._amounts.items()

    def __len__(self) -> int:
        return len(self._amounts)

    def __bool__(self) -> bool:
        return bool(self._amounts)

    def __contains__(self, name: object) -> bool:
        return name in self._amounts

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Resources) and self._amounts == other._amounts

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash(frozenset(self._amounts.items()))
        return self._hash

    def __repr__(self) -> str:
        inner = ", ".join(f"{name}={self._amounts[name]}" for name in sorted(self._amounts))
        return f"Resources({inner})"

    def __add__(self, other: Resources) -> Resources:
        if not other._amounts or not self._amounts:
            return self if self._amounts else other
        total = dict(self._amounts)
        for name, value in other._amounts.items():
            total[name] = total.get(name, 0) + value
        return Resources(total)

    def __sub__(self, other: Resources) -> Resources:
        total = dict(self._amounts)
        for name, value in other._amounts.items():
            total[name] = total.get(name, 0) - value
        return Resources(total)

    def __mul__(self, count: int) -> Resources:
        return Resources({name: value * count for name, value in self._amounts.items()})

    def minus(self, other: Resources) -> Resources:
        """Take `other` away, stopping at zero for each name."""
        left, taken = self._amounts.items(), other._amounts
        return Resources({name: max(0, value - taken.get(name, 0)) for name, value in left})

    def largest(self, other: Resources) -> Resources:
        """For each name the larger of the two amounts."""
        names = self._amounts.keys() | other._amounts.keys()
        return Resources({name: max(self[name], other[name]) for name in names})

    def at_most(self, most: Resources) -> Resources:
        """For each of these names, the amount or what `most` has of it, if that is less."""
        return Resources({name: min(value, most[name]) for name, value in self._amounts.items()})

    def only(self, names: Mapping[str, int] | frozenset[str]) -> Resources:
        """Keep just the given names."""
        return Resources({name: value for name, value in self.items() if name in names})

    def without(self, left_out: str) -> Resources:
        """All but this one."""
        return Resources({name: value for name, value in self.items() if name != left_out})

    def fits_in(self, room: Resources) -> bool:
        """Say whether every amount is at most that of `room`."""
        has = room._amounts
        for name, value in self._amounts.items():
            if value > 0 and value > has.get(name, 0):
                return False
        return True


EMPTY = Resources()
