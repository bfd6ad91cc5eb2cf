"""Which nodes lack room for a pod shape: one cached answer for each node, as in `score_room`.

Pods of one shape need the same answers again and again, and few nodes change between two pods.
`NodeTable.weights_of` caches the answers and recalculates those of changed nodes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from headroom.scheduling.nodes import Bools, Ints, NodeTable
from headroom.scheduling.reasons import insufficient


@dataclass(frozen=True, slots=True)
class ResourceShortage:
    """1 for a node that has too little of a resource in `wanted`, otherwise 0."""

    wanted: tuple[tuple[str, int], ...]

    def of_rows(self, table: NodeTable, rows: Ints) -> Ints:
        return self.anything(table)[rows].astype(np.int64)

    def of_row(self, table: NodeTable, row: int) -> int:
        for resource, amount in self.wanted:
            line = table.lines.get(resource)
            if line is None or table.free.item(line, row) < amount:
                return 1
        return 0

    def anything(self, table: NodeTable) -> Bools:
        """By row: whether any resource is short."""
        first, *others = self.each(table)
        failing = first[1]
        for _, lacking in others:
            failing = failing | lacking
        return failing

    def each(self, table: NodeTable) -> tuple[tuple[str, Bools], ...]:
        """By row and resource: what is short, with kube-scheduler's reason."""
        nowhere = np.ones(table.capacity, np.bool_)  # shared by all unknown resources
        return tuple(
            (
                insufficient(resource),
                table.free_of(resource) < amount if table.has_line(resource) else nowhere,
            )
            for resource, amount in self.wanted
        )
