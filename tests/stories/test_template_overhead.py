"""A template that states an overhead and no runtime class: its room is kept all the same."""

from __future__ import annotations

from tests.stories.things import hold, pod
from tests.stories.world import World


def test_the_overhead_of_a_template_is_kept_without_a_runtime_class(world: World) -> None:
    world.add_node("a", cpu=2)
    world.start_operator()
    world.apply(hold("h", cpu="1500m", template={"overhead": {"cpu": "500m"}}))
    world.until_held("h")
    world.apply(pod("rival", cpu="100m"))
    world.pass_time(5)
    assert world.node_of("rival") == ""
    world.apply(pod("owner", cpu=2, app="web", gated=True))
    world.until_runs("owner", on="a")
