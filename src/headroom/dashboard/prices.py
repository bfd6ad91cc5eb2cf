"""The cost of held room: prices of nodes, and the held share of a node.

A node's price per hour comes from its label or annotation `headroom.dev/price-per-hour`, or from
the price list by pool, then by instance type, then `*`. The held share of a node is the larger of
its CPU share and its memory share: the rest of the node cannot be used without it. Without any
price the unit is CPU hours.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from headroom.core.objects import Node
from headroom.core.resources import CPU, MEMORY

PRICE_KEY = "headroom.dev/price-per-hour"
INSTANCE_LABELS = ("node.kubernetes.io/instance-type", "beta.kubernetes.io/instance-type")
POOL_LABELS = (
    "karpenter.sh/nodepool",
    "cloud.google.com/gke-nodepool",
    "eks.amazonaws.com/nodegroup",
    "kubernetes.azure.com/agentpool",
    "node.kubernetes.io/pool",
    "sim.headroom.dev/pool",
)
ZONE_LABEL = "topology.kubernetes.io/zone"
EVERYTHING = "*"
MILLI = 1000
HIGHEST_PRICE = 1_000_000.0


@dataclass(frozen=True, slots=True)
class Prices:
    """Prices per node and hour, by pool, by instance type or `*`; `pool_label` names the pool."""

    by_name: Mapping[str, float] = field(default_factory=dict)
    pool_label: str = ""

    def pool_of(self, node: Node) -> str:
        """The pool of a node, from its labels; empty without one."""
        labels = (self.pool_label, *POOL_LABELS) if self.pool_label else POOL_LABELS
        return next((node.labels[label] for label in labels if label in node.labels), "")

    def of(self, node: Node) -> float | None:
        """The price of a node per hour; None if unknown."""
        written = node.labels.get(PRICE_KEY) or node.annotations.get(PRICE_KEY) or ""
        own = read_price(written)
        if own is not None:
            return own
        kinds = [node.labels[label] for label in INSTANCE_LABELS if label in node.labels]
        for name in (self.pool_of(node), *kinds, EVERYTHING):
            if name and name in self.by_name:
                return self.by_name[name]
        return None


def read_price(text: str) -> float | None:
    """Parse a price; None if it is invalid."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if 0 <= value <= HIGHEST_PRICE else None


def parse_prices(written: Iterable[str]) -> dict[str, float]:
    """Parse `POOL=PRICE`; ValueError says which is wrong."""
    found: dict[str, float] = {}
    for each in written:
        for part in filter(None, (piece.strip() for piece in each.split(","))):
            name, equals, text = part.partition("=")
            price = read_price(text) if equals and name else None
            if price is None:
                raise ValueError(f"{part!r} is not POOL=PRICE, as in general=0.20")
            found[name] = price
    return found


def held_cost(price: float | None, held: Mapping[str, int], whole: Mapping[str, int]) -> float:
    """The cost of held room per hour: a share of the node's price, or CPU hours."""
    if price is None:
        return held.get(CPU, 0) / MILLI
    shares = [held.get(name, 0) / whole[name] for name in (CPU, MEMORY) if whole.get(name)]
    return price * min(1.0, max(shares, default=0.0))
