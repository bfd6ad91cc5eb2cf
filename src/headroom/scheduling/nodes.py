"""The nodes of a cluster as rows of arrays: what is free on each, and cached answers per node.

This is separate from `state` because it knows only the sums of pods. A node keeps its row while it
exists, so all other code can refer to rows. Questions about nodes alone (does this selector match,
is this taint tolerated) are answered once and cached; only nodes that changed since are checked
again.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from headroom.core.objects import Node
from headroom.core.resources import CPU, MEMORY, PODS, Resources

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
V = TypeVar("V")

MAX_ANSWERS = 256
"""How many questions are cached; the least recently used is dropped first."""

MAX_WEIGHTS = 96
"""The same for weights: how many shapes of pods are known at a time."""

FEW = 16
"""Up to this many rows are weighed one by one: small arrays cost more than plain numbers."""

MOST = 2**60
"""The largest number in the arrays, of either sign. What pods ask for in all may be more: that is
kept exactly beside them (`exact_free`), and here it counts as this much. So no sum of a few of
these can pass 2^63-1, and a node that is asked for too much never looks roomy."""

_ZONE_LABELS = ("failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone")
_REGION_LABELS = ("failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region")


def zone_of(node: Node) -> tuple[str, str]:
    """Region and zone, the deprecated labels first, as kube-scheduler's node tree does."""
    region = next((node.labels[key] for key in _REGION_LABELS if key in node.labels), "")
    zone = next((node.labels[key] for key in _ZONE_LABELS if key in node.labels), "")
    return region, zone


def grown(array: Ints, size: int) -> Ints:
    """The array itself, or a copy padded with zeros to `size` in its last axis."""
    missing = size - array.shape[-1]
    if missing <= 0:
        return array
    padding = [(0, 0)] * (array.ndim - 1) + [(0, missing)]
    return np.pad(array, padding)


class Weight(Hashable, Protocol):
    """A number for each node, from its allocatable and used amounts, and the node itself.

    Equal weights give equal numbers; `of_row` gives the same as `of_rows`.
    """

    def of_rows(self, table: NodeTable, rows: Ints) -> Ints: ...

    def of_row(self, table: NodeTable, row: int) -> int: ...


@dataclass(slots=True)
class _Answers:
    values: Ints
    seen: int


@dataclass(slots=True)
class NodeTable:
    """Rows of nodes; a row without a node (`nodes[row] is None`) is free or waits for its node.

    `free` is allocatable minus requested, with one line for each resource that some node has had.
    The pod count is a resource of which every pod takes one. Pods may request any number of
    resources that no node has: these requests are kept separately, by row, as long as the pods
    exist. `nonzero` are the requests that LeastAllocated uses: CPU and memory, with
    kube-scheduler's defaults for missing requests.
    """

    nodes: list[Node | None] = field(default_factory=list)
    row_of: dict[str, int] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=lambda: {PODS: 0, CPU: 1, MEMORY: 2})
    allocatable: Ints = field(default_factory=lambda: np.zeros((8, 64), np.int64))
    free: Ints = field(default_factory=lambda: np.zeros((8, 64), np.int64))
    nonzero: Ints = field(default_factory=lambda: np.zeros((2, 64), np.int64))
    present: Bools = field(default_factory=lambda: np.zeros(64, np.bool_))
    count: int = 0
    version: int = 0  # another one after each change that an answer could depend on
    unwelcoming: int = 0  # how many nodes have a taint with the effect PreferNoSchedule
    _beyond: dict[tuple[int, int], int] = field(default_factory=dict)  # by line and row: past MOST
    _nonzero_beyond: dict[tuple[int, int], int] = field(default_factory=dict)
    _unknown: dict[int, dict[str, int]] = field(default_factory=dict)  # by row: not offered
    _names: list[str] = field(default_factory=list)
    _by_name: tuple[Ints, list[str]] | None = None
    _spare: list[int] = field(default_factory=list)
    _zones: dict[tuple[str, str], dict[str, None]] = field(default_factory=dict)
    _order: Ints | None = None
    _changed: list[int] = field(default_factory=list)
    _answers: dict[Hashable, _Answers] = field(default_factory=dict)
    _moved: list[int] = field(default_factory=list)
    _weights: dict[Weight, _Answers] = field(default_factory=dict)
    _weighed_once: dict[Weight, None] = field(default_factory=dict)

    @property
    def capacity(self) -> int:
        """How many rows the arrays have; vectors by row have this length."""
        return int(self.present.shape[0])

    def name(self, row: int) -> str:
        return self._names[row]

    def names_of(self, rows: Ints) -> list[str]:
        names = self._names
        return [names[row] for row in rows.tolist()]

    def by_name(self) -> tuple[Ints, list[str]]:
        """The position of each row in the sorted names, and the sorted names."""
        if self._by_name is None:
            rows = sorted(range(len(self._names)), key=self._names.__getitem__)
            places = np.empty(len(rows), np.int64)
            places[rows] = np.arange(len(rows))
            self._by_name = places, [self._names[row] for row in rows]
        return self._by_name

    def row(self, name: str) -> int:
        """The row of a node's name; a new one if there is none yet."""
        row = self.row_of.get(name)
        if row is None:
            row = self._spare.pop() if self._spare else self._append()
            self.row_of[name] = row
            self._names[row] = name
            self._by_name = None
        return row

    def free_of(self, resource: str) -> Ints:
        """What is free of a resource, by row; zero if no node has had it."""
        line = self.lines.get(resource)
        return np.zeros(self.capacity, np.int64) if line is None else self.free[line]

    def allocatable_of(self, resource: str) -> Ints:
        """What each node has of a resource, by row."""
        line = self.lines.get(resource)
        return np.zeros(self.capacity, np.int64) if line is None else self.allocatable[line]

    def has_line(self, resource: str) -> bool:
        """Whether some node has had this resource."""
        return resource in self.lines

    def _offer(self, resource: str) -> None:
        """A node has this resource: if it is the first one, count the requests of pods for it."""
        if resource in self.lines:
            return
        line = self.lines[resource] = len(self.lines)
        if line >= self.free.shape[0]:
            wider = ((0, self.free.shape[0]), (0, 0))
            self.free = np.pad(self.free, wider)
            self.allocatable = np.pad(self.allocatable, wider)
        for row, asked in list(self._unknown.items()):
            _move(self.free, self._beyond, (line, row), -asked.pop(resource, 0))
            if not asked:
                del self._unknown[row]

    def set(self, node: Node) -> int:
        """Update a node; its row and its place in the order stay if possible."""
        row = self.row(node.name)
        old = self.nodes[row]
        self._set_allocatable(row, node.allocatable)
        self.nodes[row] = node
        self.unwelcoming += _is_unwelcoming(node) - _is_unwelcoming(old)
        if old is None:
            self.count += 1
            self._note_move(row)
            self.present[row] = True
            self._enter_zone(node)
        elif zone_of(old) != zone_of(node):
            self._leave_zone(old)
            self._enter_zone(node)
        if old is None or _says_otherwise(old, node):
            self._note_change(row)
        return row

    def remove(self, name: str) -> int | None:
        """Remove a node but keep its row and sums: its pods may still be known."""
        row = self.row_of.get(name)
        node = self.nodes[row] if row is not None else None
        if row is None or node is None:
            return None
        self._set_allocatable(row, Resources())
        self.nodes[row] = None
        self.unwelcoming -= _is_unwelcoming(node)
        self.count -= 1
        self.present[row] = False
        self._leave_zone(node)
        self._note_change(row)
        return row

    def release(self, row: int) -> None:
        """Free the row of a node that is gone and has no pods."""
        del self.row_of[self._names[row]]
        self._names[row] = ""
        self._by_name = None
        self._spare.append(row)

    def occupy(self, row: int, requests: Resources, nonzero: tuple[int, int], sign: int) -> None:
        """Add (`sign` 1) or subtract (-1) one pod's requests."""
        self._note_move(row)
        self.free[0, row] -= sign
        for resource, amount in requests.items():
            line = self.lines.get(resource)
            if line is None:
                self._ask_unknown(row, resource, sign * amount)
            else:
                _move(self.free, self._beyond, (line, row), -sign * amount)
        _move(self.nonzero, self._nonzero_beyond, (0, row), sign * nonzero[0])
        _move(self.nonzero, self._nonzero_beyond, (1, row), sign * nonzero[1])

    def _ask_unknown(self, row: int, resource: str, change: int) -> None:
        asked = self._unknown.setdefault(row, {})
        asked[resource] = asked.get(resource, 0) + change
        if not asked[resource]:
            del asked[resource]
        if not asked:
            del self._unknown[row]

    def exact_free(self, resource: str, row: int) -> int:
        """What is free of a resource on a node, also beyond the range of the arrays."""
        line = self.lines.get(resource)
        if line is None:
            return -self._unknown.get(row, {}).get(resource, 0)
        beyond = self._beyond.get((line, row))
        return int(self.free[line, row]) if beyond is None else beyond

    def overbooked(self, row: int) -> dict[str, int]:
        """What pods request beyond a node's capacity, by resource."""
        asked = dict(self._unknown.get(row, {}))
        if min(self.free[:, row].tolist()) < 0:
            exact = ((each, self.exact_free(each, row)) for each in self.lines)
            asked |= {each: -amount for each, amount in exact if amount < 0}
        return asked

    def order(self) -> Ints:
        """The rows in kube-scheduler's order: one node of each zone in turn."""
        if self._order is None:
            zones = [list(names) for names in self._zones.values()]
            longest = max(map(len, zones), default=0)
            turns = (names[turn] for turn in range(longest) for names in zones if turn < len(names))
            self._order = np.fromiter((self.row_of[name] for name in turns), np.int64, self.count)
        return self._order

    def reorder(self, names: Iterable[str]) -> None:
        """Sort the nodes as if they had been added one after the other."""
        self._zones.clear()
        self._order = None
        for name in names:
            node = self.nodes[self.row_of[name]]
            if node is not None:
                self._enter_zone(node)

    def ask(self, question: Hashable, judge: Callable[[Node], int]) -> Ints:
        """Every node's answer to a question by row (0 without a node).

        The answer may depend only on the question and the node's name, labels, taints and cordon.
        """
        answers = self._answers.pop(question, None)
        if answers is None:
            answers = _Answers(np.zeros(self.capacity, np.int64), len(self._changed))
            rows: list[int] = list(self.row_of.values())
            if len(self._answers) >= MAX_ANSWERS:
                del self._answers[next(iter(self._answers))]
        else:
            answers.values = grown(answers.values, self.capacity)
            rows = self._changed[answers.seen :]
            answers.seen = len(self._changed)
        self._answers[question] = answers
        for row in rows:
            node = self.nodes[row]
            answers.values[row] = 0 if node is None else judge(node)
        return answers.values

    def weigh(self, weight: Weight, rows: Ints) -> Ints:
        """The weights of rows."""
        known = self.weights_of(weight)
        return weight.of_rows(self, rows) if known is None else known[rows]

    def weights_of(self, weight: Weight) -> Ints | None:
        """The weights of all rows; None at the first request of a weight.

        A weight that is requested again is calculated for all rows, and from then on only for rows
        whose sums have changed, so that pods of one shape share the work.
        """
        known = self._weights.pop(weight, None)
        if known is None and weight not in self._weighed_once:
            _remember(self._weighed_once, weight, None)
            return None
        if known is None:
            known = _Answers(weight.of_rows(self, np.arange(self.capacity)), len(self._moved))
        elif known.values.shape[0] < self.capacity:
            known.values = grown(known.values, self.capacity)
        if known.seen < len(self._moved):
            changed = list(dict.fromkeys(self._moved[known.seen :]))
            known.seen = len(self._moved)
            if len(changed) > FEW:
                known.values[changed] = weight.of_rows(self, np.array(changed, np.int64))
            else:
                for row in changed:
                    known.values[row] = weight.of_row(self, row)
        _remember(self._weights, weight, known)
        return known.values

    def _append(self) -> int:
        row = len(self._names)
        self._names.append("")
        self.nodes.append(None)
        if row >= self.capacity:
            size = 2 * self.capacity
            self.free = grown(self.free, size)
            self.allocatable = grown(self.allocatable, size)
            self.nonzero = grown(self.nonzero, size)
            self.present = np.pad(self.present, (0, size - self.capacity))
        return row

    def _set_allocatable(self, row: int, allocatable: Resources) -> None:
        for resource in allocatable:
            self._offer(resource)
        for resource, line in self.lines.items():
            amount = min(allocatable[resource], MOST)
            change = amount - int(self.allocatable[line, row])
            if change:
                self._note_move(row)
                _move(self.free, self._beyond, (line, row), change)
                self.allocatable[line, row] = amount

    def _enter_zone(self, node: Node) -> None:
        self._zones.setdefault(zone_of(node), {})[node.name] = None
        self._order = None

    def _leave_zone(self, node: Node) -> None:
        zone = zone_of(node)
        del self._zones[zone][node.name]
        if not self._zones[zone]:
            del self._zones[zone]
        self._order = None

    def _note_move(self, row: int) -> None:
        self.version += 1
        self._moved.append(row)
        if len(self._moved) > 4 * self.capacity:
            self._moved.clear()
            self._weights.clear()

    def _note_change(self, row: int) -> None:
        self._note_move(row)  # Weights may depend on it too.
        self._changed.append(row)
        if len(self._changed) > 4 * self.capacity:
            # Checking all nodes again is cheaper than replaying such a long list.
            self._changed.clear()
            self._answers.clear()


def _remember(kept: dict[Weight, V], weight: Weight, value: V) -> None:
    """Store a value as the newest; the least recently used is dropped."""
    if len(kept) >= MAX_WEIGHTS:
        del kept[next(iter(kept))]
    kept[weight] = value


def _move(
    array: Ints, beyond: dict[tuple[int, int], int], cell: tuple[int, int], change: int
) -> None:
    """Add to one cell; what exceeds MOST is kept exactly in `beyond`, to be subtracted later."""
    exact = beyond.pop(cell) if beyond and cell in beyond else array.item(cell)
    exact += change
    if -MOST <= exact <= MOST:
        array[cell] = exact
    else:
        beyond[cell] = exact
        array[cell] = MOST if exact > 0 else -MOST


def _is_unwelcoming(node: Node | None) -> bool:
    return node is not None and any(one.effect == "PreferNoSchedule" for one in node.taints)


def _says_otherwise(old: Node, new: Node) -> bool:
    """Whether any answer could differ; heartbeats and capacity cannot change one."""
    return (
        old.labels != new.labels
        or old.taints != new.taints
        or old.unschedulable != new.unschedulable
    )
