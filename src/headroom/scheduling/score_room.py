"""Scores by CPU and memory: the free share of a node, and how evenly the two are used.

They depend only on the shape of a pod and on the sums of a node. So each is a value that contains
the shape, and can score many nodes at once or one node. `NodeTable.weigh` caches the scores for a
shape and updates nodes whose sums have changed. Both ways give the same integers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from headroom.scheduling.nodes import MOST, Ints, NodeTable

MAX_SCORE = 100
_HALF = MAX_SCORE // 2
_COARSE = 8
"""Large amounts are counted in coarser units, so that a hundred times the amount fits."""


@dataclass(frozen=True, slots=True)
class LeastAllocated:
    """Prefers nodes with the larger free share; `asked` is CPU and memory as counted here."""

    asked: tuple[int, int]

    def of_rows(self, table: NodeTable, rows: Ints) -> Ints:
        total = np.zeros(rows.shape[0], np.int64)
        weights = np.zeros(rows.shape[0], np.int64)
        for line, used, asked in zip((1, 2), table.nonzero, self.asked, strict=True):
            capacity = table.allocatable[line, rows]
            left = np.maximum(capacity - used[rows] - min(asked, MOST), 0)
            known = capacity > 0
            coarse = np.where(capacity >= MOST >> _COARSE, _COARSE, 0)
            share = (left >> coarse) * MAX_SCORE // np.maximum(capacity >> coarse, 1)
            total += np.where(known, share, 0)
            weights += known
        return total // np.maximum(weights, 1)

    def of_row(self, table: NodeTable, row: int) -> int:
        total = weights = 0
        for line in (1, 2):
            capacity, asked = table.allocatable.item(line, row), self.asked[line - 1]
            if capacity > 0:
                left = capacity - table.nonzero.item(line - 1, row) - asked
                coarse = _COARSE if capacity >= MOST >> _COARSE else 0
                if left > 0:
                    total += (left >> coarse) * MAX_SCORE // (capacity >> coarse)
                weights += 1
        return total // (weights or 1)


@dataclass(frozen=True, slots=True)
class Balanced:
    """Prefers nodes whose CPU and memory are used evenly.

    `by_difference`: by the change that the pod causes, not by the result.
    """

    asked: tuple[int, int]
    by_difference: bool

    def of_rows(self, table: NodeTable, rows: Ints) -> Ints:
        capacity = table.allocatable[1:3, rows]
        used = capacity - table.free[1:3, rows]
        more = np.array([min(each, MOST) for each in self.asked], np.int64)
        after = _balances(used + more[:, None], capacity)
        if not self.by_difference:
            return after
        return _HALF + (_HALF + after - _balances(used, capacity)) // 2

    def of_row(self, table: NodeTable, row: int) -> int:
        cpu, memory = table.allocatable.item(1, row), table.allocatable.item(2, row)
        if cpu <= 0 or memory <= 0:
            # With only one of the two there is no balance to compare.
            return _HALF + _HALF // 2 if self.by_difference else MAX_SCORE
        used_cpu, used_memory = cpu - table.free.item(1, row), memory - table.free.item(2, row)
        more_cpu, more_memory = (min(each, MOST) for each in self.asked)
        # Both as floating point first, as in the arrays: a ratio of integers rounds differently.
        of = (float(cpu), float(memory))
        after = _balance(
            float(used_cpu + more_cpu) / of[0], float(used_memory + more_memory) / of[1]
        )
        if not self.by_difference:
            return after
        before = _balance(float(used_cpu) / of[0], float(used_memory) / of[1])
        return _HALF + (_HALF + after - before) // 2


def _balance(cpu: float, memory: float) -> int:
    apart = abs((min(cpu, 1.0) - min(memory, 1.0)) / 2)
    return int((1 - apart) * MAX_SCORE)


def _balances(used: Ints, capacity: Ints) -> Ints:
    known = capacity > 0
    shares: NDArray[np.float64] = np.minimum(used / np.maximum(capacity, 1), 1.0)
    apart = np.abs((shares[0] - shares[1]) / 2)
    deviation = np.where(known[0] & known[1], apart, 0.0)
    return ((1 - deviation) * MAX_SCORE).astype(np.int64)
