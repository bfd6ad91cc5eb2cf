"""Slots without a guardian use no quota; how many of them are known is bounded by namespace."""

from __future__ import annotations

from dataclasses import replace

import pytest

from headroom.core.demand.followers import FixedCount
from headroom.core.headrooms.headrooms import Headroom
from headroom.core.headrooms.slot_batch import BatchLimits, guarded_first, within
from headroom.core.index_entries import By
from headroom.core.policy import Policy
from headroom.core.sizes.follow import Follow
from headroom.core.sizes.kind import Size
from headroom.core.sizes.per_node import PerNode
from headroom.core.sizes.replicas import Replicas
from headroom.engine.headrooms.size_inputs import LEAST_UNGUARDED
from tests.builders import node, pod
from tests.core.headroom_builder import headroom
from tests.engine.play import Play
from tests.engine.test_pacing import Quota

FEW = Policy(slots_unguarded=20)
GATE = "example.com/wait"


def named(name: str, size: Size, namespace: str = "default") -> Headroom:
    made = headroom(size, cpu=0)
    return replace(
        made, parent=replace(made.parent, name=name, namespace=namespace, uid=f"uid-{name}")
    )


def known(play: Play, namespace: str = "default") -> int:
    return len(play.engine.ledger.hold_index.of(By.REACHING, namespace))


def test_many_headrooms_that_a_quota_refuses_take_the_memory_of_one() -> None:
    many = [named(f"greedy-{n}", Replicas(100_000)) for n in range(30)]
    play = Play(node("a", 64), *many)
    play.answer = Quota(2)
    play.run(seconds=60)
    most = Policy().slots_unguarded + len(many) * LEAST_UNGUARDED
    assert known(play) <= most + 2
    assert len(play.ours("guardian")) == 2


@pytest.mark.parametrize(
    "size",
    [
        Replicas(100),
        PerNode(10),
        Follow(GATE, FixedCount(100)),
    ],
    ids=["replicas", "per-node", "follow"],
)
def test_every_size_keeps_to_the_bound(size: Size) -> None:
    nodes = [node(f"n{n}", 64) for n in range(10)]
    follow = [named(f"h{n}", size) for n in range(3)]
    play = Play(*nodes, *follow, policy=FEW)
    play.answer = Quota(0)
    play.put(pod("leader", 0, gates=(GATE,)))
    play.run(seconds=30)
    assert LEAST_UNGUARDED <= known(play) <= 20 + 3 * LEAST_UNGUARDED


@pytest.mark.slow
@pytest.mark.parametrize("size", [Replicas(60), PerNode(6)], ids=["replicas", "per-node"])
def test_as_guardians_are_made_the_others_follow(size: Size) -> None:
    nodes = [node(f"n{n}", 64) for n in range(10)]
    play = Play(*nodes, *(named(f"h{n}", size) for n in range(3)), policy=FEW)
    quota = play.answer = Quota(0)
    play.run(seconds=30)
    assert not play.ours("guardian")
    quota.most = 1000
    play.run(seconds=600)
    assert len(play.ours("guardian")) == 180
    assert known(play) == 180


def test_guardians_that_wait_for_a_node_are_charged_and_do_not_count() -> None:
    play = Play(named("waits", Replicas(50)), policy=FEW)
    play.run(seconds=60)
    assert len(play.ours("guardian")) == 50


def test_each_namespace_has_a_bound_of_its_own() -> None:
    play = Play(node("a", 64), named("greedy", Replicas(100)), policy=FEW)
    play.answer = Quota(0)
    play.run(seconds=10)
    play.put(named("calm", Replicas(20), "calm"))
    play.run(seconds=10)
    assert known(play, "calm") == 20
    assert all(each.key.namespace == "calm" for each in play.ours("guardian"))


def test_what_is_gone_leaves_its_share_to_others() -> None:
    first, second = named("first", Replicas(100)), named("second", Replicas(100))
    play = Play(node("a", 64), first, second, policy=FEW)
    play.answer = Quota(0)
    play.run(seconds=10)
    assert known(play) == 20 + LEAST_UNGUARDED
    play.toy.remove(first)
    play.put(replace(second, generation=2))
    play.run(seconds=10)
    assert known(play) == 20


def test_slots_with_a_guardian_or_an_owner_are_known_whatever_the_bound() -> None:
    names = tuple(map(str, range(100)))
    reach = BatchLimits(used=frozenset({"70"}), unguarded=2)
    assert within(names, frozenset({"90"}), reach) == (("0", "1", "70", "90"), 96)
    assert guarded_first(names, frozenset({"90"}), reach) == ([0, 1, 70, 90], 96)
