"""The operator on the embedded cluster: the real one, without a Lease and without logs."""

from __future__ import annotations

from headroom.core.policy import Policy
from headroom.engine.engine import Engine
from headroom.ports import Clock, Cluster
from headroom.runtime.operator import Operator


def embedded_operator(cluster: Cluster, clock: Clock) -> Operator:
    """Make an operator for a simulated cluster."""
    return Operator(cluster, clock, Engine(Policy()))
