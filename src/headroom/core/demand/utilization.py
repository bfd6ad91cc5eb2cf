"""Calculate how many placeholders keep the requests of real pods under a share of the capacity.

The headroom to keep is `used * (1/threshold - 1)`: if it were used, the nodes would be filled up to
the threshold again. It does not depend on the capacity, so it cannot oscillate: nodes that an
autoscaler adds for placeholders do not make any placeholder superfluous. While less than the
threshold is used, all placeholders fit into existing room. When it is crossed, one of them waits,
and the autoscaler acts. `scale_rate` limits the speed of changes, `bounded` the number.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from headroom.core.headrooms.eligibility import sorted_out
from headroom.core.headrooms.headrooms import Limits
from headroom.core.objects import Node, Pod
from headroom.core.resources import EMPTY, PODS, Resources
from headroom.core.sizes.kind import WHOLE


@dataclass(frozen=True, slots=True)
class Load:
    """What real pods ask of the nodes that count, and what more these nodes could take.

    Nodes count as capacity where a placeholder may stand: ready, not cordoned, not leaving.
    `nodes` counts every Node object, as a limit on nodes does. `pods` are real pods that have not
    ended. `a_node` is how many placeholders the roomiest node takes, at least one, `vacant` how
    many the room takes that is free now, where real pods do not wait for it. `ahead` is how many
    placeholders the real pods count for that wait and find no free room: they take the nodes to
    come first.
    """

    used: Resources = EMPTY
    nodes: int = 0
    pods: int = 0
    a_node: int = 1
    vacant: int = 0
    ahead: int = 0

    def to_come(self, limit: int) -> int:
        """How many placeholders the nodes could take that are still allowed."""
        return max(0, (limit - self.nodes) * self.a_node - self.ahead)


@dataclass(frozen=True, slots=True)
class Use:
    """What real pods that have not ended ask for, by node; `pods` is how many there are.

    `taken` is what all pods ask for, placeholders included. `waiting` counts real pods that wait
    for a node, by what they ask for.
    """

    by_node: Mapping[str, Resources]
    taken: Mapping[str, Resources]
    pods: int = 0
    waiting: Mapping[Resources, int] = field(default_factory=dict)


def load_on(nodes: Collection[Node], use: Use, shape: Pod) -> Load:
    """The load of a cluster for placeholders of this shape."""
    counted, _ = sorted_out(nodes, shape)
    used = EMPTY
    for node in counted:
        # A rejected pod may request more than its node has.
        used += use.by_node.get(node.name, EMPTY).at_most(node.allocatable)
    one = shape.requests
    roomiest = max((_fits(node.allocatable, one) for node in counted), default=1)
    free = sum(_fits(_left(node, use), one) for node in counted)
    vacant = max(0, free - pieces(use.by_node.get("", EMPTY), one))
    ahead = max(0, _pieces_ahead(use.waiting, counted, one) - free)
    return Load(used, len(nodes), use.pods, max(1, roomiest), vacant, ahead)


def _pieces_ahead(waiting: Mapping[Resources, int], nodes: Collection[Node], one: Resources) -> int:
    """As how many placeholders the waiting pods count; none brings a node that it is too large for.

    A node to come is taken to be as large as one that is there.
    """
    return sum(
        count * pieces(asked, one)
        for asked, count in waiting.items()
        if any(asked.fits_in(node.allocatable) for node in nodes)
    )


def placeholders(used: Resources, one: Resources, permille: int) -> int:
    """How many placeholders of this shape hold the headroom that a threshold asks for.

    The threshold is in thousandths, more than none and at most all; at all, nothing is held.
    """
    numbers = (
        -(-used[name] * (WHOLE - permille) // (permille * amount))
        for name, amount in one.items()
        if name != PODS and amount > 0
    )
    return max(numbers, default=0)


def bounded(
    wanted: int, load: Load, bound: int, limits: Limits, quota: int | None = None
) -> tuple[int, tuple[str, ...]]:
    """Hold a number to its limits, of which `bound` are on a node; also name those that bite.

    Real pods never give way. At the limit on nodes nothing may wait but what fits on them, because
    whatever else waits would bring a node; beyond it everything goes, because what stands on a node
    keeps it. Below it no more may wait than the nodes that are still allowed could take beside the
    real pods that wait: nodes on their way are no Node objects yet, and one that has just come is
    still empty. `quota` is how many a namespace's quotas let in, those that stand included.
    """
    count, held_by = wanted, []
    at_most = {
        "slots": limits.slots,
        "pods": None if limits.pods is None else max(0, limits.pods - load.pods),
        "quota": quota,
        "nodes": _under_node_limit(load, bound, limits.nodes),
    }
    for name, most in at_most.items():
        if most is not None and count > most:
            count = most
            held_by.append(name)
    return count, tuple(held_by)


def may_wait(load: Load, waiting: int, limit: int, fits: bool) -> bool:
    """Whether one more placeholder may wait for a node, where the number of nodes is limited.

    Those that wait may be as many as the nodes that are still allowed could take; whoever comes on
    top of that must fit on the nodes that are there, and leave room for the others.
    """
    if load.nodes > limit:
        return False
    to_come = load.to_come(limit)
    return waiting < to_come or (fits and waiting < to_come + load.vacant)


def _under_node_limit(load: Load, bound: int, limit: int | None) -> int | None:
    if limit is None:
        return None
    if load.nodes > limit:
        return 0
    return bound + load.vacant + load.to_come(limit)


def _left(node: Node, use: Use) -> Resources:
    taken = use.taken.get(node.name, EMPTY)
    return Resources({name: room - taken[name] for name, room in node.allocatable.items()})


def pieces(asked: Resources, one: Resources) -> int:
    """As how many placeholders so much counts."""
    counts = (-(-asked[name] // amount) for name, amount in one.items() if amount > 0)
    return max(counts, default=0)


def _fits(room: Resources, one: Resources) -> int:
    counts = (room[name] // amount for name, amount in one.items() if amount > 0)
    return max(0, min(counts, default=room[PODS] or 1))
