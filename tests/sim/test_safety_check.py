"""The safety rule of handovers is checked at every write, and an operator that breaks it is found.

`Reckless` stands between a true operator and the cluster and breaks the protocol on purpose: it
leaves writes out, and adds some. What the operator decides is as shipped.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator

import pytest

from headroom.core.actions import (
    Action,
    Bind,
    CreateGuardian,
    CreateLatch,
    DeletePod,
    Done,
    Nominate,
    Outcome,
)
from headroom.core.objects import Key
from headroom.core.policy import Policy
from headroom.engine.engine import Engine
from headroom.ports import Cluster, Event
from headroom.runtime.operator import Operator
from headroom.sim.errors import SimulationError
from headroom.sim.world import SimWorld
from tests.sim.things import node
from tests.stories.things import headroom, hold, pod

Instead = Callable[["Reckless", Action], Outcome | None]


class Reckless:
    """`instead` answers an action without doing it; what is in `after` is done after a bind."""

    def __init__(self, inner: Cluster, instead: Instead, after: Instead) -> None:
        self._inner = inner
        self._instead = instead
        self._after = after
        self.latches: list[Key] = []
        self.more: list[Action] = []

    def watch(self) -> AsyncGenerator[Event, None]:
        return self._inner.watch()

    async def perform(self, action: Action) -> Outcome:
        if isinstance(action, CreateLatch):
            self.latches.append(action.key)
        skipped = self._instead(self, action)
        if skipped is not None:
            return skipped
        outcome = await self._inner.perform(action)
        self._after(self, action)
        while self.more:
            await self._inner.perform(self.more.pop())
        return outcome


def nothing(reckless: Reckless, action: Action) -> None:
    """All is done as the operator says."""


def no_latch(reckless: Reckless, action: Action) -> Outcome | None:
    latch = isinstance(action, Nominate) and action.key in reckless.latches
    return Done("lie") if latch or isinstance(action, CreateLatch) else None


def no_nomination(reckless: Reckless, action: Action) -> Outcome | None:
    return Done() if isinstance(action, Nominate) and action.claimed is not None else None


def no_rest(reckless: Reckless, action: Action) -> Outcome | None:
    return Done("lie") if isinstance(action, CreateGuardian) and action.bound else None


def unlatch_at_once(reckless: Reckless, action: Action) -> None:
    if isinstance(action, Bind):
        reckless.more += [DeletePod(key, "") for key in reckless.latches]


def bind_the_other_too(reckless: Reckless, action: Action) -> None:
    if isinstance(action, Bind) and action.key.name == "owner":
        reckless.more.append(Bind(Key("default", "other"), "", action.node, action.claimed))


@pytest.fixture
def world() -> Iterator[SimWorld]:
    made = SimWorld(seed=1)
    made.apply(node("a", cpu="4"))
    yield made
    made.may_contain = True
    made.close()


def played(world: SimWorld, instead: Instead = nothing, after: Instead = nothing) -> list[str]:
    """Start an operator that breaks these rules, and have an owner come; what was found."""

    world.start_operator(
        lambda cluster, clock: Operator(Reckless(cluster, instead, after), clock, Engine(Policy()))
    )
    world.run_for(10)
    assert world.safety_check.breaches == []
    return owner_comes(world)


def owner_comes(world: SimWorld, **spec: object) -> list[str]:
    world.apply(pod("owner", cpu=1, app="web", **(spec or {"ours": True})))
    world.run_for(10)
    return [words.partition(": ")[2] for words in world.safety_check.breaches]


def test_the_shipped_protocol_breaks_nothing(world: SimWorld) -> None:
    world.apply(hold("h", cpu=2, allocateOnce=False))
    assert played(world) == []
    world.apply(pod("next", cpu=1, app="web", gated=True))
    world.run_for(10)
    assert world.safety_check.breaches == []


def test_a_guardian_deleted_without_a_latch_is_found(world: SimWorld) -> None:
    world.apply(hold("h", cpu=1))
    found = played(world, instead=no_latch)
    short = "Hold/default/h: 1000 cpu of what is promised on a is not counted"
    assert found == [short]


def test_a_latch_removed_right_after_the_bind_is_found(world: SimWorld) -> None:
    world.apply(hold("h", cpu=1))
    found = played(world, after=unlatch_at_once)
    short = "Hold/default/h: 1000 cpu of what is promised on a is not counted"
    assert found == [short]


def test_a_rest_that_is_not_held_is_found(world: SimWorld) -> None:
    world.apply(hold("h", cpu=3, allocateOnce=False))
    found = played(world, instead=no_rest)
    short = "Hold/default/h: 2000 cpu of what is promised on a is not counted"
    assert found == [short]


def test_a_hold_that_is_given_twice_is_found(world: SimWorld) -> None:
    world.apply(hold("h", cpu=1))
    world.apply(pod("other", cpu=1, app="web", schedulerName="nobody's"))
    found = played(world, after=bind_the_other_too)
    twice = "Hold/default/h: promised twice on a: default/other, default/owner"
    assert found == [twice]


def test_an_owner_at_the_gate_that_is_not_nominated_is_found(world: SimWorld) -> None:
    world.apply(hold("h", cpu=1))
    world.start_operator(
        lambda cluster, clock: Operator(
            Reckless(cluster, no_nomination, nothing), clock, Engine(Policy())
        )
    )
    world.run_for(10)
    found = owner_comes(world, gated=True)
    short = "Hold/default/h: 1000 cpu of what is promised on a is not counted"
    assert short in found


class Slow(Reckless):
    """Sends the deletion of a guardian a moment after somebody has deleted its owner."""

    def __init__(self, inner: Cluster, world: SimWorld, pause: float) -> None:
        super().__init__(inner, nothing, nothing)
        self._world = world
        self._pause = pause

    async def perform(self, action: Action) -> Outcome:
        if isinstance(action, DeletePod) and self._world.get("Pod", "default", "owner"):
            self._world.delete("Pod", "default", "owner", grace=0)
            if self._pause:
                await asyncio.sleep(self._pause)
        return await super().perform(action)


@pytest.mark.parametrize(("pause", "breaches"), [(0.0, 0), (0.1, 1)])
def test_an_owner_that_is_deleted_is_an_excuse_only_before_the_operator_is_shown_that(
    world: SimWorld, pause: float, breaches: int
) -> None:
    world.apply(hold("h", cpu=1))
    world.start_operator(
        lambda cluster, clock: Operator(Slow(cluster, world, pause), clock, Engine(Policy()))
    )
    world.run_for(10)
    found = owner_comes(world, gated=True)
    short = "Hold/default/h: 1000 cpu of what is promised on a is not counted"
    assert found == [short] * breaches


def test_a_slot_that_is_given_up_and_then_given_away_is_found(world: SimWorld) -> None:
    world.apply(headroom("r", cpu=1, replicas=1))
    found = played(world, instead=no_latch)
    given = "given to default/owner on a, although nothing kept its room for a moment"
    assert [words.rpartition(": ")[2] for words in found] == [given]


def test_a_slot_that_is_given_up_for_good_is_no_breach(world: SimWorld) -> None:
    world.apply(headroom("r", cpu=1, replicas=1))
    world.start_operator(lambda cluster, clock: Operator(cluster, clock, Engine(Policy())))
    world.run_for(10)
    world.patch("Headroom", "default", "r", {"spec": {"size": {"replicas": 0}}})
    world.run_for(10)
    assert world.safety_check.breaches == []


def test_what_others_take_away_is_no_breach(world: SimWorld) -> None:
    world.apply(hold("h", cpu=1))
    world.start_operator(lambda cluster, clock: Operator(cluster, clock, Engine(Policy())))
    world.run_for(10)
    guardian = world.list("Pod")[0]["metadata"]["name"]
    world.delete("Pod", "default", guardian, grace=0)
    world.run_for(10)
    assert owner_comes(world) == []


def test_what_was_promised_on_a_node_goes_with_it(world: SimWorld) -> None:
    world.apply(headroom("each", cpu=1, app="nobody", size={"perNode": {"slots": 1}}))
    world.start_operator(lambda cluster, clock: Operator(cluster, clock, Engine(Policy())))
    world.run_for(10)
    world.delete("Node", "", "a")
    world.run_for(10)
    world.delete("Headroom", "default", "each")
    world.run_for(60)
    world.apply(node("a", cpu="4"))
    world.apply(headroom("r", cpu=1, replicas=1))
    world.run_for(60)
    assert owner_comes(world) == []


def test_a_test_that_leaves_a_breach_behind_fails() -> None:
    world = SimWorld(seed=1)
    world.apply(node("a", cpu="4"))
    world.apply(hold("h", cpu=1))
    assert played(world, instead=no_latch)
    with pytest.raises(SimulationError, match=r"did what it must not: .* is not counted"):
        world.close()


def test_a_hold_that_is_made_larger_may_move_to_another_node(world: SimWorld) -> None:
    """The guardian of the new shape stands before the old one goes: nothing was promised here."""
    world.apply(hold("h", cpu=1))
    world.start_operator(lambda cluster, clock: Operator(cluster, clock, Engine(Policy())))
    world.run_for(10)
    world.apply(node("b", cpu="8"))
    larger = hold("h", cpu=5)["spec"]["template"]
    world.patch("Hold", "default", "h", {"spec": {"template": larger}})
    world.run_for(10)
    held = [item["spec"]["nodeName"] for item in world.list("Pod")]
    assert held == ["b"]
    assert world.safety_check.breaches == []
