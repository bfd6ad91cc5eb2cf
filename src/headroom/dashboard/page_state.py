"""The dashboard's data, kept up to date: sums per node, rows of objects, waiting pods.

The caller tells `Book` which pods, nodes and objects may have changed, and `Book` reads them from a
`ClusterView`. Unchanged rows stay the same object, so that differences are cheap. There is no clock
and no I/O. If everything is passed at once, this is a pure function from a view to the data.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from headroom.core.objects import Key, Node, Pod
from headroom.core.resources import CPU, MEMORY, PODS, Resources
from headroom.dashboard import rows
from headroom.dashboard.prices import ZONE_LABEL, Prices, held_cost
from headroom.dashboard.view import ClusterView

USES = ("used", "claimed", "held")
MOST_WAITING = 2000
MOST_LABELS = 40
UNSHOWN_LABELS = frozenset({"kubernetes.io/hostname"})
NO_POOL = "no pool"


@dataclass(slots=True)
class _Sums:
    """The sums of one node's pods, and their keys."""

    by_use: dict[str, dict[str, int]] = field(default_factory=lambda: {use: {} for use in USES})
    held_for: dict[str, dict[str, int]] = field(default_factory=dict)  # by namespace
    pods: dict[Key, None] = field(default_factory=dict)

    def count(self, placed: _Placed, sign: int) -> None:
        _add(self.by_use[placed.use], placed.requests, sign)
        if placed.use == rows.HELD:
            here = self.held_for.setdefault(placed.namespace, {})
            _add(here, placed.requests, sign)
            if not here:
                del self.held_for[placed.namespace]


@dataclass(frozen=True, slots=True)
class _Placed:
    """How a pod was last counted."""

    node: str
    use: str
    requests: Resources
    namespace: str


def _add(sums: dict[str, int], requests: Resources, sign: int) -> None:
    for name, amount in requests.items():
        total = sums.get(name, 0) + sign * amount
        if total:
            sums[name] = total
        else:
            sums.pop(name, None)


class Book:
    """All rows; the `take` methods update them."""

    def __init__(self, prices: Prices | None = None) -> None:
        self._prices = prices or Prices()
        self._placed: dict[Key, _Placed] = {}
        self._sums: dict[str, _Sums] = {}
        self._nodes: dict[str, rows.Row] = {}
        self._labels: dict[str, dict[str, str]] = {}
        self._objects: dict[str, rows.Row] = {}
        self._waiting: dict[str, rows.Row] = {}
        self._costs: dict[str, tuple[str, dict[str, float], bool]] = {}
        self._dirty: dict[str, None] = {}

    def take_pods(self, view: ClusterView, keys: Iterable[Key]) -> None:
        """Count these pods as they are now."""
        for key in keys:
            pod = view.pods.get(key)
            self._place(key, pod)
            name = str(key)
            if pod is not None and not pod.node and not pod.finished and pod.deleted is None:
                _put(
                    self._waiting,
                    name,
                    rows.waiting_row(pod) if rows.use_of(pod) != rows.ASIDE else None,
                )
            else:
                self._waiting.pop(name, None)

    def take_nodes(self, names: Iterable[str]) -> None:
        """Mark these nodes as changed."""
        self._dirty.update(dict.fromkeys(names))

    def take_objects(self, view: ClusterView, names: Iterable[str]) -> None:
        """Update the rows of these Headrooms and Holds."""
        for name in names:
            row = None
            if (headroom := view.headrooms.get(name)) is not None:
                row = rows.headroom_row(headroom, view.now) if headroom.served else None
            elif (hold := view.holds.get(name)) is not None:
                row = rows.hold_row(hold) if not hold.slot else None
            _put(self._objects, name, row)

    def settle(self, view: ClusterView, most: int = sys.maxsize) -> bool:
        """Update the rows of changed nodes; return whether more remain."""
        for name in list(islice(self._dirty, most)):
            del self._dirty[name]
            node = view.nodes.get(name)
            if node is None:
                for section in (self._nodes, self._labels, self._costs):
                    section.pop(name, None)
                continue
            _put(self._nodes, name, self._node_row(node))
            labels = [item for item in node.labels.items() if item[0] not in UNSHOWN_LABELS]
            _put(self._labels, name, dict(sorted(labels)[:MOST_LABELS]))
            self._price(node)
        return bool(self._dirty)

    def sections(self) -> dict[str, Any]:
        """The sections of the data that come from objects; rows are shared and never changed."""
        names = sorted(self._waiting) if len(self._waiting) > MOST_WAITING else self._waiting
        shown = {name: self._waiting[name] for name in list(names)[:MOST_WAITING]}
        return {
            "nodes": dict(self._nodes),
            "labels": dict(self._labels),
            "objects": dict(self._objects),
            "waiting": shown,
            "more_waiting": len(self._waiting) - len(shown),
            "cost": self.cost(),
        }

    def cost(self) -> dict[str, Any]:
        """The cost of held room per hour, by pool and by namespace."""
        pools: dict[str, float] = {}
        namespaces: dict[str, float] = {}
        priced = any(each[2] for each in self._costs.values())
        unpriced = 0
        for _, (pool, by_namespace, has_price) in sorted(self._costs.items()):
            if priced and not has_price:
                unpriced += 1
                continue
            for namespace, amount in by_namespace.items():
                pools[pool] = pools.get(pool, 0.0) + amount
                namespaces[namespace] = namespaces.get(namespace, 0.0) + amount
        return {
            "unit": "price" if priced else "cpu",
            "total": round(sum(pools.values()), 6),
            "pools": {name: round(pools[name], 6) for name in sorted(pools)},
            "namespaces": {name: round(namespaces[name], 6) for name in sorted(namespaces)},
            "unpriced": unpriced,
        }

    def pods_on(self, view: ClusterView, node: str) -> list[rows.Row]:
        """The pods of a node, with guardians and owners."""
        sums = self._sums.get(node)
        found = [view.pods[key] for key in (sums.pods if sums else ()) if key in view.pods]
        return [rows.pod_row(pod) for pod in sorted(found, key=lambda pod: pod.key)]

    def _place(self, key: Key, pod: Pod | None) -> None:
        old = self._placed.get(key)
        new = None
        if pod is not None and pod.occupies_node and (use := rows.use_of(pod)) != rows.ASIDE:
            new = _Placed(pod.node, use, pod.requests, key.namespace)
        if new == old:
            return
        if old is not None:
            sums = self._sums[old.node]
            sums.count(old, -1)
            sums.pods.pop(key, None)
            if not sums.pods:
                del self._sums[old.node]
            del self._placed[key]
            self._dirty[old.node] = None
        if new is not None:
            sums = self._sums.setdefault(new.node, _Sums())
            sums.count(new, 1)
            sums.pods[key] = None
            self._placed[key] = new
            self._dirty[new.node] = None

    def _node_row(self, node: Node) -> rows.Row:
        sums = self._sums.get(node.name) or _Sums()
        return {
            "pool": self._prices.pool_of(node),
            "zone": node.labels.get(ZONE_LABEL, ""),
            "state": rows.node_state(node),
            "whole": _shown(node.allocatable),
            **{use: dict(sorted(sums.by_use[use].items())) for use in USES},
            "pods": len(sums.pods),
        }

    def _price(self, node: Node) -> None:
        sums = self._sums.get(node.name)
        if sums is None or not sums.held_for:
            self._costs.pop(node.name, None)
            return
        price = self._prices.of(node)
        by_namespace = {
            namespace: held_cost(price, held, node.allocatable)
            for namespace, held in sums.held_for.items()
        }
        pool = self._prices.pool_of(node) or NO_POOL
        self._costs[node.name] = (pool, by_namespace, price is not None)


def _put(section: dict[str, Any], name: str, row: Any) -> None:
    """Set a row; an equal row stays the same object, so that differences are cheap."""
    if row is None:
        section.pop(name, None)
    elif section.get(name) != row:
        section[name] = row


def _shown(allocatable: Resources) -> dict[str, int]:
    """The resources that users can choose: CPU, memory, pods, devices; not every huge page size."""
    kept = (CPU, MEMORY, PODS)
    return {
        name: allocatable[name]
        for name in sorted(allocatable)
        if name in kept or "/" in name or not name.startswith("hugepages-")
    }


def filled(view: ClusterView, prices: Prices | None = None) -> Book:
    """A book of everything in a view."""
    book = Book(prices)
    take_all(book, view)
    return book


def take_all(book: Book, view: ClusterView, old: ClusterView | None = None) -> None:
    """Update a book from an old view to a new one."""
    was = old or ClusterView(view.now, {}, {}, {}, {})
    book.take_pods(view, dict.fromkeys((*was.pods, *view.pods)))
    book.take_nodes((*was.nodes, *view.nodes))
    names = (*was.headrooms, *was.holds, *view.headrooms, *view.holds)
    book.take_objects(view, dict.fromkeys(names))
    book.settle(view)
