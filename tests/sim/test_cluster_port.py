"""The embedded cluster behind the port: what an operator sees and what becomes of its writes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator

import pytest

from headroom.core.actions import (
    Bind,
    DeletePod,
    Done,
    Gone,
    MarkUnschedulable,
    Nominate,
    Outcome,
    Stale,
    Tell,
    Unavailable,
    Ungate,
)
from headroom.core.objects import Key, Pod
from headroom.ports import Clock, Cluster, Event, Lost, Seen, Synced
from headroom.sim.api.values import Ref, condition_of, dig, uid_of
from headroom.sim.faults import Fault
from headroom.sim.world import START, SimWorld
from headroom.wire.writes import Write
from tests.sim.things import node, pod

P = Key("default", "p")


class Listener:
    """An operator that only listens, and does what a test asks."""

    def __init__(self, cluster: Cluster, clock: Clock) -> None:
        self.cluster = cluster
        self.clock = clock
        self.events: list[Event] = []
        self.outcomes: list[Outcome] = []
        self.ended = ""
        self._stop = asyncio.Event()

    async def run(self) -> None:
        reading = asyncio.create_task(self._read())
        try:
            await self._stop.wait()
            self.ended = "stopped"
        except asyncio.CancelledError:
            self.ended = "killed"
            raise
        finally:
            reading.cancel()

    def stop(self) -> None:
        self._stop.set()

    def contained(self) -> Iterator[str]:
        return iter(())

    async def _read(self) -> None:
        async for event in self.cluster.watch():
            self.events.append(event)

    def seen(self) -> list[str]:
        """Which pods were told of, in order."""
        return [
            event.thing.key.name
            for event in self.events
            if isinstance(event, Seen) and isinstance(event.thing, Pod)
        ]


def listening(world: SimWorld) -> Listener:
    made: list[Listener] = []

    def factory(cluster: Cluster, clock: Clock) -> Listener:
        made.append(Listener(cluster, clock))
        return made[0]

    world.start_operator(factory)
    return made[0]


def outcome(world: SimWorld, action: object) -> Outcome:
    operator = listening(world) if not world.operator_alive else None
    cluster = operator.cluster if operator else None
    assert cluster is not None
    task = world.loop.create_task(cluster.perform(action))  # type: ignore[arg-type]  # any action
    world.run_for(0.1)
    world.kill_operator()
    world.run_for(0.01)
    return task.result()


def uid(world: SimWorld, name: str = "p") -> str:
    return uid_of(world.server.get(Ref("Pod", "default", name)))


def test_what_is_there_is_told_first_then_synced_then_changes(world: SimWorld) -> None:
    world.apply(node("a"))
    world.apply(pod("before"))
    operator = listening(world)
    world.run_for(0.05)
    world.apply(pod("after"))
    world.run_for(0.05)
    synced = operator.events.index(Synced())
    told = [type(event).__name__ for event in operator.events[:synced]]
    assert set(told) == {"Seen"}
    assert "after" in operator.seen()
    assert "before" in operator.seen()


def test_pod_events_keep_their_order(world: SimWorld) -> None:
    operator = listening(world)
    world.run_for(0.05)
    for number in range(50):
        world.apply(pod(f"p{number}"))
        world.delete("Pod", "default", f"p{number}")
    world.run_for(0.05)
    told = []
    for event in operator.events:
        match event:
            case Lost(Pod(key=key)):
                told.append(key.name)
            case Seen(Pod(key)):
                told.append(key.name)
    assert told == [f"p{number}" for number in range(50) for _ in range(2)]


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda w: Nominate(P, uid(w), "a"), Done),
        (lambda w: Nominate(P, "another", "a"), Stale),
        (lambda w: Bind(P, uid(w), "a"), Done),
        (lambda w: Bind(P, "another", "a"), Stale),
        (lambda w: DeletePod(P, uid(w)), Done),
        (lambda w: DeletePod(P, "another"), Stale),
        (lambda w: DeletePod(Key("default", "nobody"), ""), Gone),
        (lambda w: Ungate(P, uid(w), "some.gate", 0), Stale),
        (lambda w: MarkUnschedulable(P, uid(w), "no room", START), Done),
    ],
)
def test_writes_come_out_as_the_real_ones_do(
    world: SimWorld, make: Callable[[SimWorld], object], expected: type
) -> None:
    world.apply(pod("p", schedulerName="ours"))
    assert isinstance(outcome(world, make(world)), expected)


def test_ungating_leaves_other_gates_alone(world: SimWorld) -> None:
    world.apply(pod("p", schedulingGates=[{"name": "other"}, {"name": "ours"}]))
    assert isinstance(outcome(world, Ungate(P, uid(world), "ours", 1)), Done)
    stored = world.server.get(Ref("Pod", "default", "p"))
    assert stored["spec"]["schedulingGates"] == [{"name": "other"}]


def test_a_condition_leaves_other_conditions_alone(world: SimWorld) -> None:
    world.apply(pod("p", schedulingGates=[{"name": "g"}]))
    assert isinstance(outcome(world, MarkUnschedulable(P, uid(world), "full", START)), Done)
    condition = condition_of(world.server.get(Ref("Pod", "default", "p")), "PodScheduled")
    assert condition is not None
    assert condition["message"] == "full"


def test_the_same_thing_told_twice_is_counted(world: SimWorld) -> None:
    world.apply(pod("p", schedulerName="ours"))
    operator = listening(world)
    tell = Tell("v1", "Pod", P, uid(world), "Normal", "Claimed", "runs there", START)
    for _ in range(3):
        world.loop.create_task(operator.cluster.perform(tell))
        world.run_for(0.1)
    assert [(event["reason"], event["count"]) for event in world.events()] == [("Claimed", 3)]


@pytest.mark.parametrize(
    ("fault", "expected", "happened"),
    [
        (Fault.CONFLICT, Stale, False),
        (Fault.BUSY, Unavailable, False),
        (Fault.BROKEN, Unavailable, False),
        (Fault.LOST, Unavailable, False),
        (Fault.UNANSWERED, Unavailable, True),
    ],
)
def test_faults_to_order(world: SimWorld, fault: Fault, expected: type, happened: bool) -> None:
    world.apply(pod("p", schedulerName="ours"))
    world.faults.fail_next(fault)
    assert isinstance(outcome(world, Nominate(P, uid(world), "a")), expected)
    stored = world.server.get(Ref("Pod", "default", "p"))
    assert (dig(stored, "status", "nominatedNodeName") == "a") == happened


def test_faults_can_be_chosen_by_write(world: SimWorld) -> None:
    world.apply(pod("p", schedulerName="ours"))

    def only_deletes(write: Write) -> Fault | None:
        return Fault.BROKEN if write.verb == "delete" else None

    world.faults.decide = only_deletes
    assert isinstance(outcome(world, DeletePod(P, uid(world))), Unavailable)


def test_watches_can_be_held_back_and_lose_nothing(world: SimWorld) -> None:
    made: list[Listener] = []

    def factory(cluster: Cluster, clock: Clock) -> Listener:
        made.append(Listener(cluster, clock))
        return made[0]

    cluster = world.start_operator(factory)
    world.run_for(0.05)
    cluster.hold_watches()
    world.apply(pod("p"))
    world.run_for(5)
    assert made[0].seen() == []
    cluster.release_watches()
    world.run_for(0.05)
    assert made[0].seen()[0] == "p"


def test_a_killed_operator_hears_and_does_nothing_more(world: SimWorld) -> None:
    operator = listening(world)
    world.run_for(0.05)
    world.kill_operator()
    world.run_for(0.05)
    assert operator.ended == "killed"
    heard = len(operator.events)
    world.apply(pod("p"))
    world.run_for(1)
    assert len(operator.events) == heard
    assert not world.operator_alive


def test_a_stopped_operator_ends_in_good_order_and_another_may_start(world: SimWorld) -> None:
    operator = listening(world)
    world.run_for(0.05)
    world.stop_operator()
    world.run_for(0.05)
    assert operator.ended == "stopped"
    assert listening(world) is not operator


def test_an_operator_that_crashes_stops_the_run(world: SimWorld) -> None:
    class Broken(Listener):
        async def run(self) -> None:
            raise ValueError("a bug")

    world.start_operator(Broken)
    with pytest.raises(Exception, match="actor failed") as caught:
        world.run_for(1)
    assert isinstance(caught.value.__cause__, ValueError)
