"""Bursts of pods: the slots in their way are given up together, and no more than needed."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from headroom.core.actions import CreateGuardian, DeletePod
from headroom.core.holds import LOCKED, PREEMPTIBLE
from headroom.core.objects import Pod
from headroom.core.plan import Sequence
from headroom.core.pod_memory import NOTHING, PodMemory
from headroom.core.sizes.replicas import Replicas
from headroom.engine.memories import Memories
from tests.builders import node, pod
from tests.core.headroom_builder import headroom
from tests.engine.play import Play


def burst(count: int, cpu: int = 1, **parts: Any) -> list[Pod]:
    return [pod(f"burst-{number:02}", cpu, priority=0, **parts) for number in range(count)]


def full(slots: int = 4, mode: str = PREEMPTIBLE) -> Play:
    """A cluster of two nodes whose room is all held."""
    play = Play(node("a", 2), node("b", 2), headroom(Replicas(slots), mode=mode))
    play.run()
    assert len(play.ours("guardian")) == slots
    return play


def deletes(plan: tuple[Sequence, ...]) -> list[int]:
    """How many pods are deleted by each sequence that deletes any."""
    counts = [
        sum(isinstance(action, DeletePod) for step in sequence.steps for action in step)
        for sequence in plan
    ]
    return [count for count in counts if count]


def test_a_burst_gets_its_room_in_one_plan() -> None:
    play = full()
    play.put(*burst(3))
    assert deletes(play.plan()) == [3]


def test_no_more_is_given_up_than_is_needed() -> None:
    play = Play(node("a", 2), node("b", 2), node("c", 2), headroom(Replicas(4), mode=PREEMPTIBLE))
    play.run()
    play.put(*burst(3))  # Two of them find free room.
    assert deletes(play.plan()) == [1]


def test_a_pod_as_large_as_two_slots_gets_both_of_one_node() -> None:
    play = full()
    play.put(*burst(2, cpu=2))
    assert deletes(play.plan()) == [4]


def test_one_pod_alone_is_left_to_kube_scheduler() -> None:
    play = full()
    play.put(*burst(1))
    assert deletes(play.plan()) == []


def test_locked_slots_are_nobodys() -> None:
    play = full(mode=LOCKED)
    play.put(*burst(3))
    assert deletes(play.plan()) == []


def test_pods_that_may_not_preempt_or_are_not_more_important_take_nothing() -> None:
    play = full()
    play.put(*burst(3, preempts=False))
    assert deletes(play.plan()) == []
    low = [pod(f"low-{number}", 1, priority=-10) for number in range(3)]
    play.put(*low)
    assert deletes(play.plan()) == []


def test_those_who_were_served_are_not_served_twice() -> None:
    play = full()
    play.put(*burst(2))
    first = play.plan()
    play.put(*burst(4)[2:])
    second = play.plan()
    assert (deletes(first), deletes(second)) == ([2], [2])


def test_nothing_is_held_anew_in_the_way_and_everything_after() -> None:
    play = full()
    play.done.clear()
    play.put(*burst(3))
    play.round()
    play.run(1, scheduling=False)
    assert play.did(CreateGuardian) == []
    play.run(3)
    assert all(play.pod(each.key.name).node for each in burst(3))
    assert len(play.ours("guardian")) == 4  # The rest waits for room.


def test_pods_that_never_come_do_not_keep_slots_from_being_held() -> None:
    play = full()
    play.put(*burst(3))
    play.round()
    for each in burst(3):
        play.toy.remove(play.pod(each.key.name))
    play.run(20)
    assert sum(bool(each.node) for each in play.ours("guardian")) == 4


class CountedMemories(Memories[PodMemory]):
    """Memories of pods that count how often each pod is looked at."""

    def __init__(self, before: Memories[PodMemory]) -> None:
        super().__init__(NOTHING)
        self.update(before)
        self.looks: Counter[str] = Counter()

    def __getitem__(self, name: str) -> PodMemory:
        self.looks[name] += 1
        return super().__getitem__(name)


@pytest.mark.parametrize("many", [50, 1500])
def test_pods_that_were_looked_at_are_left_alone_when_others_come(many: int) -> None:
    play = full()
    play.put(*(pod(f"large-{number:03}", 9, priority=0) for number in range(many)))
    play.plan()
    ledger = play.engine.ledger
    counted = ledger.pod_memory = CountedMemories(ledger.pod_memory)
    play.put(*burst(2))
    assert deletes(play.plan()) == [2]
    looked_at = [uid for uid in counted.looks if uid.startswith("uid-of-large")]
    assert looked_at == []


def test_pods_that_wait_cost_nothing_where_no_slot_is_preemptible() -> None:
    play = full(mode=LOCKED)
    play.put(*burst(50, cpu=9))
    play.plan()
    ledger = play.engine.ledger
    counted = ledger.pod_memory = CountedMemories(ledger.pod_memory)
    play.put(pod("one-more", 9, priority=0))
    play.plan()
    assert [uid for uid in counted.looks if uid.startswith("uid-of-burst")] == []
