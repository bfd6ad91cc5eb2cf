"""Choose a node for one pod as kube-scheduler would, or say why there is none.

The node a pod was nominated to is tried first, a single feasible node needs no score, and in large
clusters only some of the nodes are checked. If several nodes have the best score, kube-scheduler's
choice is random (in 1.34) or depends on timing (later versions). Here `tie` decides, and `maxima`
lists all of them. It uses `filters` and `scores`; if no node fits, see `preempt`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np

from headroom.core.objects import Pod
from headroom.scheduling.cycle import Cycle
from headroom.scheduling.filters import Feasibility, feasible, verdict_with_nominated
from headroom.scheduling.nodes import Bools, Ints, NodeTable
from headroom.scheduling.scores import BALANCED_BY_DIFFERENCE, Scores, score
from headroom.scheduling.state import ClusterState

TieBreak = Callable[[Sequence[str]], str]

MIN_FEASIBLE = 100
MIN_PERCENTAGE = 5
MANY = 32
"""With more names than this, selecting one is faster than sorting all."""


@dataclass(frozen=True, slots=True)
class ChosenNode:
    """A node; `tied` are all that are as good, by name; `scores` is None if none were needed.

    `next_start` is where the search for the next pod's node begins.
    """

    node: str
    tied: Sequence[str]
    scores: Scores | None
    next_start: int

    @property
    def maxima(self) -> tuple[str, ...]:
        """All nodes that are as good, by name."""
        return tuple(self.tied)


@dataclass(frozen=True, slots=True)
class Unschedulable:
    """No node; `feasibility` has the reason for each, and where preemption might help."""

    feasibility: Feasibility
    next_start: int

    @property
    def reasons(self) -> dict[str, int]:
        return self.feasibility.reasons()

    @property
    def message(self) -> str:
        """The reason in kube-scheduler's words, without the result of preemption."""
        return self.feasibility.message()


@dataclass(frozen=True, slots=True)
class Profile:
    """The settings of the imitated kube-scheduler.

    `percentage` is its percentageOfNodesToScore (0: by the size of the cluster).
    """

    percentage: int = 0
    version: tuple[int, int] = BALANCED_BY_DIFFERENCE


DEFAULT_PROFILE = Profile()


def first_by_name(names: Sequence[str]) -> str:
    """Break a tie predictably."""
    return min(names)


def choose(
    pod: Pod,
    state: ClusterState,
    start: int = 0,
    tie: TieBreak = first_by_name,
    profile: Profile = DEFAULT_PROFILE,
) -> ChosenNode | Unschedulable:
    """Choose a node for a pod; the state is not changed, the caller binds the pod."""
    if pod.nominated and _fits_where_nominated(pod, state):
        return ChosenNode(pod.nominated, (pod.nominated,), None, start)
    feasibility = feasible(pod, state)
    rows, next_start = _sample(feasibility, start, profile.percentage)
    if not rows.shape[0]:
        return Unschedulable(feasibility, next_start)
    if rows.shape[0] == 1:
        name = state.table.name(int(rows[0]))
        return ChosenNode(name, (name,), None, next_start)
    scores = score(feasibility.turn, rows, profile.version)
    best = rows[scores.total == scores.total.max()]
    tied = names_by_order(best, state.table)
    return ChosenNode(tie(tied), tied, scores, next_start)


class SortedNames(Sequence[str]):
    """Node names in sorted order, calculated on demand.

    One of hundreds of equally good nodes is chosen; the names of the others are not read.
    """

    def __init__(self, rows: Ints, table: NodeTable) -> None:
        places, self._names = table.by_name()
        self._places = places[rows]

    def __len__(self) -> int:
        return int(self._places.shape[0])

    def __iter__(self) -> Iterator[str]:
        return map(self._names.__getitem__, np.sort(self._places).tolist())

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[str]: ...
    def __getitem__(self, index: int | slice) -> str | Sequence[str]:
        if isinstance(index, slice) or not 0 <= index < len(self):
            return tuple(self)[index]
        return self._names[int(np.partition(self._places, index)[index])]


def names_by_order(rows: Ints, table: NodeTable) -> Sequence[str]:
    """The names of rows in sorted order."""
    return SortedNames(rows, table) if rows.shape[0] > MANY else tuple(sorted(table.names_of(rows)))


def feasible_nodes_to_find(nodes: int, percentage: int = 0) -> int:
    """After how many feasible nodes kube-scheduler stops its search."""
    if nodes < MIN_FEASIBLE:
        return nodes
    share = percentage or max(MIN_PERCENTAGE, 50 - nodes // 125)
    return max(MIN_FEASIBLE, nodes * share // 100)


def _fits_where_nominated(pod: Pod, state: ClusterState) -> bool:
    row = state.table.row_of.get(pod.nominated)
    if row is None or state.table.nodes[row] is None:
        return False
    rivals = state.nominated_on(pod.nominated)
    return verdict_with_nominated(Cycle(pod, state), row, rivals) is None


def _sample(feasibility: Feasibility, start: int, percentage: int) -> tuple[Ints, int]:
    """Take feasible rows from `start` on until there are enough, and return where to continue.

    The node at which the search stops is checked again next time. (kube-scheduler with several
    workers may check a few more.)
    """
    table = feasibility.turn.state.table
    order = table.order()
    if feasibility.considered is not table.present:
        order = order[feasibility.considered[order]]
    return sampled(feasibility.passed, order, start, table.count, percentage)


def sampled(
    passed: Bools, order: Ints, start: int, count: int, percentage: int = 0
) -> tuple[Ints, int]:
    """The same for nodes in a given order; `count` is the total number of nodes."""
    size = order.shape[0]
    if not size:
        return order, start
    begin = start % size
    enough = feasible_nodes_to_find(size, percentage)
    found = _search(passed, order, begin, enough + 1)
    looked_at = size
    if found.shape[0] > enough:
        looked_at = int(found[enough] - begin) % size
        found = found[:enough]
    return order[found], (start + looked_at) % count


def _search(passed: Bools, order: Ints, begin: int, most: int) -> Ints:
    """The positions of the first `most` nodes that pass, from `begin` on, wrapping around.

    They are searched in pieces: if most nodes pass, most need not be checked.
    """
    size = order.shape[0]
    pieces = []
    found, at = 0, 0
    while at < size and found < most:
        place = (begin + at) % size
        length = min(most + most // 8, size - at, size - place)
        piece = passed[order[place : place + length]].nonzero()[0] + place
        pieces.append(piece)
        found += piece.shape[0]
        at += length
    return (pieces[0] if len(pieces) == 1 else np.concatenate(pieces))[:most]
