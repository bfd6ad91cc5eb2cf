"""A LimitRange that refuses guardians: the object says which one and why, and goes on when it may.

The API server tells the bound, not whose it is; and where a LimitRange gives a container a limit
below its request, it does not even say that there is one.
"""

from __future__ import annotations

from tests.stories.things import NAMESPACE, Json, headroom, hold
from tests.stories.world import World

LIMITED = {"resources": {"requests": {"cpu": "1"}, "limits": {"cpu": "2"}}}


def limit_range(name: str, **bounds: Json) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "LimitRange",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {"limits": [{"type": "Container", **bounds}]},
    }


def told(world: World, kind: str, name: str) -> str:
    found = world.get(kind, name) or {}
    conditions = found.get("status", {}).get("conditions", ())
    return " ".join(str(each.get("message")) for each in conditions)


def until_told(world: World, kind: str, name: str, *words: str) -> None:
    def so() -> bool:
        return all(word in told(world, kind, name) for word in words)

    world.until(f"{kind} {name} says {words}", so)


def test_slots_that_a_limit_range_refuses_say_which_and_why_and_come_when_it_goes(
    world: World,
) -> None:
    world.add_node("a", cpu=8)
    world.apply(limit_range("tiny", min={"cpu": "1m"}), limit_range("small", max={"cpu": "100m"}))
    world.start_operator()
    world.apply(headroom("many", cpu=1, replicas=3, template=LIMITED))
    world.apply(hold("one", cpu=1))
    bound = "maximum cpu usage per Container is 100m"
    until_told(world, "Headroom", "many", bound, f"LimitRange small of namespace {NAMESPACE}")
    # A container without a limit gets one, which is below what it asks for.
    until_told(world, "Hold", "one", "cpu limit of", "small")
    assert world.ours("guardian") == []
    world.delete("LimitRange", "small")
    world.until("all are held", lambda: len(world.ours("guardian")) == 4)
    world.until("the slots say so", lambda: bound not in told(world, "Headroom", "many"))
