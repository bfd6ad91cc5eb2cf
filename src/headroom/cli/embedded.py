"""The operator on the embedded cluster: the real one; alone, so without a Lease or logs."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from headroom.cli.output import say
from headroom.core.policy import Policy
from headroom.dialects.proactive.names import PRIORITY
from headroom.dialects.proactive.objects import headroom_object, remark_on
from headroom.dialects.proactive.options import Options
from headroom.engine.engine import Engine
from headroom.ports import Clock, Cluster
from headroom.runtime.operator import Operator
from headroom.sim.scenarios.model import Scenario
from headroom.sim.scenarios.play import Play
from headroom.wire.kinds import DAEMON_SETS, SLOT_SETS
from headroom.wire.speech import NATIVE, Speech

OPERATOR_NAMESPACE = "headroom-system"
DEFAULT_POLICY = Policy(namespace=OPERATOR_NAMESPACE)


def embedded_operator(
    cluster: Cluster, clock: Clock, speech: Speech = NATIVE, policy: Policy = DEFAULT_POLICY
) -> Operator:
    """Make an operator for a simulated cluster."""
    known = replace(
        policy,
        namespace=OPERATOR_NAMESPACE,
        scheduler_names=speech.schedulers,
        own_objects=speech.own_objects(),
        slot_sets=SLOT_SETS in speech.resources,
    )
    return Operator(cluster, clock, Engine(known))


def embedded_play(scenario: Scenario, speech: Speech, policy: Policy) -> Play:
    """A run of a scenario with the real operator, ready to begin."""
    speech = speech.following((SLOT_SETS,))
    if scenario.autoscaling.counts_daemon_sets:  # As the operator finds out on a cluster.
        speech = speech.following((DAEMON_SETS,))
        policy = replace(policy, node_overhead=True)
    operator = partial(embedded_operator, speech=speech, policy=policy)
    return Play(scenario, operator, speech=speech, policy=policy)


def with_placeholders(scenario: Scenario, options: Options) -> Scenario:
    """The scenario with the object that the flags of proactive scale-up come to.

    A real operator makes it at its start; here it is there from the beginning.
    """
    if not options.enabled:
        return scenario
    manner = scenario.autoscaling.manner
    deaf = manner.cutoff is not None and manner.cutoff > PRIORITY
    autoscaler = (
        f"{manner.profile} is at work here" if deaf and scenario.autoscaling.enabled else ""
    )
    if remark := remark_on(options, autoscaler):
        say(f"note: {remark}")
    made = headroom_object(options, OPERATOR_NAMESPACE, autoscaler)
    return replace(scenario, objects=(*scenario.objects, made))
