"""The operator on the embedded cluster: the real one; alone, so without a Lease or logs."""

from __future__ import annotations

from headroom.core.policy import Policy
from headroom.engine.engine import Engine
from headroom.ports import Clock, Cluster
from headroom.runtime.operator import Operator

OPERATOR_NAMESPACE = "headroom-system"


def embedded_operator(cluster: Cluster, clock: Clock) -> Operator:
    """Make an operator for a simulated cluster."""
    return Operator(cluster, clock, Engine(Policy(namespace=OPERATOR_NAMESPACE)))
