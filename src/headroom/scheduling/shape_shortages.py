"""Where a shape of pods lacks room: one answer a node, kept like the scores of `score_room`.

Pods of one shape ask the same of all nodes again and again, and between two of them few nodes have
changed. `NodeTable.weights_of` keeps the answers and asks again for those.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from headroom.scheduling.nodes import Bools, Ints, NodeTable
from headroom.scheduling.reasons import insufficient


@dataclass(frozen=True, slots=True)
class Lacking:
    """One where a node has too little left of anything in `wanted`, zero where it has enough."""

    wanted: tuple[tuple[str, int], ...]

    def of_rows(self, table: NodeTable, rows: Ints) -> Ints:
        return self.anything(table)[rows].astype(np.int64)

    def of_row(self, table: NodeTable, row: int) -> int:
        for resource, amount in self.wanted:
            line = table.lines.get(resource)
            if line is None or int(table.free[line, row]) < amount:
                return 1
        return 0

    def anything(self, table: NodeTable) -> Bools:
        """Say by row where something is lacking."""
        first, *others = self.each(table)
        failing = first[1]
        for _, lacking in others:
            failing = failing | lacking
        return failing

    def each(self, table: NodeTable) -> tuple[tuple[str, Bools], ...]:
        """Say by row what is lacking, in kube-scheduler's words."""
        nowhere = np.ones(table.capacity, np.bool_)  # Once, however many a pod names.
        return tuple(
            (
                insufficient(resource),
                table.free_of(resource) < amount if table.has_line(resource) else nowhere,
            )
            for resource, amount in self.wanted
        )
