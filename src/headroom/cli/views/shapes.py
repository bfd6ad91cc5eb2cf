"""The chosen shapes of a headroom's slots: from its status, or calculated."""

from __future__ import annotations

from datetime import datetime

from headroom.cli.source import World
from headroom.core.headrooms.announced_pods import PodAutoscaler
from headroom.core.headrooms.candidates import Maker, candidates, maker_of
from headroom.core.headrooms.headrooms import Auto, AutoStatus, Headroom, Shape, Workload
from headroom.core.headrooms.shapes import (
    NO_SHAPES,
    ChosenWorkload,
    Shapes,
    in_scope,
    ranked,
    shape_name,
)
from headroom.core.sizes.kind import slots_told
from headroom.wire.kinds import DEPLOYMENTS, REPLICA_SETS


def shapes_of(world: World, headroom: Headroom) -> Shapes:
    """What the operator chose, or what it would choose from these objects."""
    auto = headroom.slot.auto
    if auto is None:
        return NO_SHAPES
    told = headroom.status.auto
    if told is not None and told.chosen:
        known = {shape_name(each): each for each in world.workloads}
        found = ((each, known.get(_name(each))) for each in told.chosen)
        chosen = tuple(
            ChosenWorkload(workload, shape.growth, shape.why)
            for shape, workload in found
            if workload is not None and not workload.problems
        )
        had = {_name(each): each.slots for each in told.chosen}
        return Shapes(chosen, had, told.candidates)
    scope = _scope(world, headroom, auto)
    made: dict[Maker, list[datetime]] = {}
    for pod in world.pods:
        if pod.created is not None and (maker := maker_of(pod)) is not None:
            made.setdefault(maker, []).append(pod.created)
    scaling: dict[tuple[str, str, str], list[PodAutoscaler]] = {}
    for each in world.autoscalers:
        scaling.setdefault((each.key.namespace, each.kind, each.target), []).append(each)
    evidence = candidates(
        scope,
        world.workloads,
        world.pods,
        lambda maker: made.get(maker, ()),
        lambda each: scaling.get((each.namespace, each.ref.kind, each.ref.name), ()),
    )
    return Shapes(ranked(evidence, auto.top, (), world.now), {}, len(scope))


def shapes_told(told: AutoStatus | None) -> list[str]:
    """What was chosen and why, one sentence each."""
    if told is None:
        return []
    return [f"{_name(each)}: {slots_told(each.slots)}; {each.why}" for each in told.chosen] or [
        f"nothing chosen of {told.candidates} workloads in scope"
    ]


def _scope(world: World, headroom: Headroom, auto: Auto) -> list[Workload]:
    labels = {each.name: each.labels for each in world.namespaces}
    deployments = {each.uid for each in world.workloads if each.ref.kind == DEPLOYMENTS.kind}
    return [
        each
        for each in world.workloads
        if not (each.ref.kind == REPLICA_SETS.kind and each.controller in deployments - {""})
        and in_scope(headroom, auto, each, labels.get(each.namespace, {}))
    ]


def _name(shape: Shape) -> str:
    return f"{shape.kind}/{shape.namespace}/{shape.name}"
