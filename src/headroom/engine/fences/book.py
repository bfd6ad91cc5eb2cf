"""Guardians that are being bound behind fences, and nodes where holds may get room back."""

from __future__ import annotations

from datetime import datetime

from headroom.core.resources import Resources
from headroom.engine.indexes import drop


class PutBack:
    """Guardians that are being bound to a node by us, from the decision until they stand.

    Others count them before the watch shows them. What they are bound behind must stay: a fence
    does not go meanwhile.
    """

    def __init__(self) -> None:
        self._by_node: dict[str, dict[str, Resources]] = {}

    def begin(self, node: str, parent: str, requests: Resources) -> None:
        self._by_node.setdefault(node, {})[parent] = requests

    def end(self, node: str, parent: str) -> None:
        drop(self._by_node, node, parent)

    def on(self, node: str) -> dict[str, Resources]:
        """What is on its way to a node, by hold."""
        return self._by_node.get(node, {})


class Returning:
    """By node: the holds that have owners there, or had, and may be about to have room back."""

    def __init__(self) -> None:
        self._by_node: dict[str, dict[str, None]] = {}
        self._by_hold: dict[str, dict[str, None]] = {}
        self._owed: dict[str, datetime] = {}  # holds that could have back what they lack, since

    def add(self, node: str, parent: str) -> None:
        self._by_node.setdefault(node, {})[parent] = None
        self._by_hold.setdefault(parent, {})[node] = None

    def remove(self, node: str, parent: str) -> None:
        drop(self._by_node, node, parent)
        drop(self._by_hold, parent, node)

    def forget(self, parent: str) -> None:
        """A hold is gone, and returns nothing any more."""
        self.paid(parent)
        for node in tuple(self._by_hold.get(parent, ())):
            self.remove(node, parent)

    def is_owed(self, parent: str) -> bool:
        return parent in self._owed

    def paid(self, parent: str) -> None:
        """Nothing that is free belongs to a hold any more."""
        self._owed.pop(parent, None)

    def owed_since(self, parent: str, owed: bool, now: datetime) -> datetime | None:
        """Take note of whether free room is a hold's; say since when it has been all along."""
        if owed:
            return self._owed.setdefault(parent, now)
        self.paid(parent)
        return None

    def at(self, node: str) -> tuple[str, ...]:
        return tuple(self._by_node.get(node, ()))

    def nodes(self) -> tuple[str, ...]:
        return tuple(self._by_node)
