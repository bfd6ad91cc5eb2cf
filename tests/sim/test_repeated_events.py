"""A repeated event is only counted, and shows its count, time and version when it is read."""

from __future__ import annotations

from headroom.sim.api.events import Recorder
from headroom.sim.api.store import ObjectChange
from headroom.sim.api.values import Json, ref_of
from headroom.sim.world import SimWorld
from tests.sim.things import pod


def recorded(world: SimWorld, times: int, reason: str = "Waits") -> Recorder:
    """Record an event about a pod, one second apart."""
    recorder = Recorder(world.store, "tester")
    about = world.get("Pod", "default", "p") or world.apply(pod("p"))
    for _ in range(times):
        recorder.record(about, "Normal", reason, "it waits")
        world.loop.settle_at(world.elapsed + 1)
    return recorder


def found(world: SimWorld, reason: str = "Waits") -> Json:
    [event] = [each for each in world.events() if each["reason"] == reason]
    return event


def test_the_count_is_complete_whenever_it_is_read(world: SimWorld) -> None:
    recorder = recorded(world, 3)
    event = found(world)
    assert (event["count"], event["firstTimestamp"][-3:]) == (3, "00Z")
    assert event["lastTimestamp"][-3:] == "02Z"
    for count in (4, 5):
        recorder.record(world.list("Pod")[0], "Normal", "Waits", "it waits")
        assert world.store.get(ref_of(event)) == found(world)
        assert found(world)["count"] == count
    assert event["count"] == 3  # An object that was read is never changed.


def test_every_repetition_is_a_version(world: SimWorld) -> None:
    recorded(world, 1)
    before = world.store.version
    recorded(world, 3)
    assert world.store.version == before + 3
    recorded(world, 1, "Other")
    assert int(found(world)["metadata"]["resourceVersion"]) == before + 3
    assert int(found(world, "Other")["metadata"]["resourceVersion"]) == before + 4


def test_a_watcher_of_events_gets_every_repetition(world: SimWorld) -> None:
    recorded(world, 2)
    seen: list[ObjectChange] = []
    world.store.listen("Event", seen.append)
    recorded(world, 2)
    assert [change.obj["count"] for change in seen] == [3, 4]
    assert [(change.old or {})["count"] for change in seen] == [2, 3]


def test_a_forgotten_event_has_its_count(world: SimWorld) -> None:
    recorded(world, 2)
    ref = ref_of(found(world))
    recorded(world, 2)
    forgotten = world.store.forget(ref)
    assert forgotten is not None
    assert forgotten["count"] == 4
    recorded(world, 1)
    assert found(world)["count"] == 1
