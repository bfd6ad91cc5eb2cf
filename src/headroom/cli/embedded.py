"""The operator on the embedded cluster: the real one; alone, so without a Lease or logs."""

from __future__ import annotations

from headroom.core.policy import Policy
from headroom.engine.engine import Engine
from headroom.ports import Clock, Cluster
from headroom.runtime.operator import Operator
from headroom.wire.speech import NATIVE, Speech

OPERATOR_NAMESPACE = "headroom-system"


def embedded_operator(
    cluster: Cluster, clock: Clock, speech: Speech = NATIVE, cluster_preallocation: bool = False
) -> Operator:
    """Make an operator for a simulated cluster."""
    policy = Policy(
        namespace=OPERATOR_NAMESPACE,
        scheduler_names=speech.schedulers,
        cluster_preallocation=cluster_preallocation,
    )
    return Operator(cluster, clock, Engine(policy))
