"""The operator on the embedded cluster: the real one; alone, so without a Lease or logs."""

from __future__ import annotations

from dataclasses import replace

from headroom.core.policy import Policy
from headroom.engine.engine import Engine
from headroom.ports import Clock, Cluster
from headroom.runtime.operator import Operator
from headroom.wire.speech import NATIVE, Speech

OPERATOR_NAMESPACE = "headroom-system"
DEFAULT_POLICY = Policy(namespace=OPERATOR_NAMESPACE)


def embedded_operator(
    cluster: Cluster, clock: Clock, speech: Speech = NATIVE, policy: Policy = DEFAULT_POLICY
) -> Operator:
    """Make an operator for a simulated cluster."""
    known = replace(policy, namespace=OPERATOR_NAMESPACE, scheduler_names=speech.schedulers)
    return Operator(cluster, clock, Engine(known))
