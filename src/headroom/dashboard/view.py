"""The input of the dashboard: the objects of a cluster as core values, at one time.

A live operator, a simulation and a file all provide the same view, so that one page serves them
all.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from headroom.core.headrooms.headrooms import Headroom
from headroom.core.holds import Hold
from headroom.core.objects import Key, Node, Pod


@dataclass(frozen=True, slots=True)
class ClusterView:
    """A cluster at `now`; holds and headrooms are keyed by the text of their parent.

    Holds that represent a slot of a headroom are not objects, and are left out.
    """

    now: datetime
    nodes: Mapping[str, Node]
    pods: Mapping[Key, Pod]
    holds: Mapping[str, Hold]
    headrooms: Mapping[str, Headroom]


class SeenObjects(Protocol):
    """Objects that were read once, such as those of a file; plain sequences."""

    @property
    def now(self) -> datetime: ...
    @property
    def nodes(self) -> tuple[Node, ...]: ...
    @property
    def pods(self) -> tuple[Pod, ...]: ...
    @property
    def holds(self) -> tuple[Hold, ...]: ...
    @property
    def headrooms(self) -> tuple[Headroom, ...]: ...


def view_of(seen: SeenObjects) -> ClusterView:
    """The view of objects that were read once."""
    return ClusterView(
        seen.now,
        {node.name: node for node in seen.nodes},
        {pod.key: pod for pod in seen.pods},
        {str(hold.parent): hold for hold in seen.holds},
        {headroom.parent.whole: headroom for headroom in seen.headrooms},
    )
