"""The chosen shapes of a headroom's slots, from its status."""

from __future__ import annotations

from headroom.cli.source import World
from headroom.core.headrooms.headrooms import AutoStatus, Headroom, Shape
from headroom.core.headrooms.shapes import ChosenWorkload, Shapes, shape_name, slots_had
from headroom.core.sizes.kind import slots_told


def shapes_before(world: World, headroom: Headroom) -> Shapes | None:
    """What the operator chose, as far as these objects have it; None if it has chosen nothing."""
    told = headroom.status.auto
    if told is None or not told.chosen or headroom.slot.auto is None:
        return None
    known = {shape_name(each): each for each in world.workloads}
    found = ((each, known.get(_name(each))) for each in told.chosen)
    chosen = tuple(
        ChosenWorkload(workload, shape.growth, shape.why)
        for shape, workload in found
        if workload is not None and not workload.problems
    )
    return Shapes(chosen, slots_had(told), told.candidates)


def shapes_told(told: AutoStatus | None) -> list[str]:
    """What was chosen and why, one sentence each."""
    if told is None:
        return []
    return [f"{_name(each)}: {slots_told(each.slots)}; {each.why}" for each in told.chosen] or [
        f"nothing chosen of {told.candidates} workloads in scope"
    ]


def _name(shape: Shape) -> str:
    return f"{shape.kind}/{shape.namespace}/{shape.name}"
