"""The real operator on the embedded cluster; there is only one, so without a Lease or logs."""

from __future__ import annotations

from collections.abc import Sequence
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
from headroom.sim.api.values import Json, dig
from headroom.sim.scenarios.model import Scenario
from headroom.sim.scenarios.play import Play
from headroom.wire.kind_codecs import NATIVE, KindCodecs
from headroom.wire.kinds import DAEMON_SETS, SLOT_SETS

OPERATOR_NAMESPACE = "headroom-system"
DEFAULT_POLICY = Policy(namespace=OPERATOR_NAMESPACE)


def embedded_operator(
    cluster: Cluster, clock: Clock, codecs: KindCodecs = NATIVE, policy: Policy = DEFAULT_POLICY
) -> Operator:
    """Create an operator for a simulated cluster."""
    known = replace(
        policy,
        namespace=OPERATOR_NAMESPACE,
        scheduler_names=codecs.schedulers,
        own_objects=codecs.own_objects(),
        slot_sets=SLOT_SETS in codecs.resources,
    )
    return Operator(cluster, clock, Engine(known))


def embedded_play(scenario: Scenario, codecs: KindCodecs, policy: Policy) -> Play:
    """Prepare the run of a scenario with the real operator."""
    codecs, policy = found_in(scenario, codecs, policy)
    operator = partial(embedded_operator, codecs=codecs, policy=policy)
    return Play(scenario, operator, codecs=codecs, policy=policy)


def found_in(scenario: Scenario, codecs: KindCodecs, policy: Policy) -> tuple[KindCodecs, Policy]:
    """Both, with the facts that an operator detects about its cluster when it starts."""
    if not _lacks_slot_sets(scenario.restored):
        codecs = codecs.following((SLOT_SETS,))
    if scenario.autoscaling.counts_daemon_sets:
        codecs = codecs.following((DAEMON_SETS,))
        policy = replace(policy, node_overhead=True)
    return codecs, policy


def _lacks_slot_sets(objects: Sequence[Json]) -> bool:
    """Whether pods of a dump are controlled by SlotSets that are not in the dump.

    New SlotSets would have other uids, and every guardian would be replaced for them.
    """
    kind = SLOT_SETS.kind
    there = {dig(each, "metadata", "uid") for each in objects if each.get("kind") == kind}
    owners = (dig(each, "metadata", "ownerReferences") or () for each in objects)
    named = {owner.get("uid") for each in owners for owner in each if owner.get("kind") == kind}
    return bool(named - there)


def with_placeholders(scenario: Scenario, options: Options) -> Scenario:
    """The scenario with the object that the flags of proactive scale-up create.

    A real operator creates it at its start; here it exists from the beginning.
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
