"""Handovers in their turn: one a node at a time, owners of a node together, never too many."""

from __future__ import annotations

from datetime import timedelta

from headroom.core.names import CLAIM_GATE, SCHEDULER_NAME
from headroom.core.objects import Pod
from headroom.core.plan import Sequence, Work
from headroom.core.policy import Policy
from tests.builders import hold, node, pod
from tests.engine.play import Play


def gated(name: str) -> Pod:
    return pod(name, cpu=1, labels={"app": "web"}, gates=(CLAIM_GATE,))


def ours(name: str, cpu: int = 1) -> Pod:
    return pod(name, cpu=cpu, labels={"app": "web"}, scheduler=SCHEDULER_NAME)


def held(count: int, nodes: int = 1, policy: Policy | None = None) -> Play:
    """So many holds of one cpu each, evenly on nodes that they fill."""
    play = Play(policy=policy)
    for number in range(nodes):
        play.put(node(f"n{number}", cpu=count // nodes))
    play.put(*(hold(f"h{number}", cpu=1, memory=0) for number in range(count)))
    play.run()
    assert all(each.node for each in play.ours("guardian"))
    return play


def handovers(play: Play) -> list[Sequence]:
    return [each for each in play.plan() if each.work.value.startswith("door")]


def test_owners_of_one_node_go_together() -> None:
    play = held(3)
    play.put(gated("p"), gated("q"), gated("r"))
    (together,) = handovers(play)
    assert [len(step) for step in together.steps] == [3, 3, 3]


def test_those_at_the_other_door_go_next() -> None:
    play = held(2)
    play.put(gated("p"), ours("q"))
    (first,) = handovers(play)
    assert first.work == Work.DOOR1
    play.perform(first)
    play.run()
    assert [play.pod(name).node for name in ("p", "q")] == ["n0", "n0"]
    assert [each.status.phase for each in play.toy.holds.values()] == ["Succeeded", "Succeeded"]


def test_nodes_do_not_wait_for_each_other() -> None:
    play = held(2, nodes=2)
    play.put(ours("p"), ours("q"))
    assert len(handovers(play)) == 2


def test_only_so_many_are_under_way_at_once() -> None:
    play = held(3, nodes=3, policy=Policy(handovers_at_once=2))
    play.put(ours("p"), ours("q"), ours("r"))
    first = handovers(play)
    assert len(first) == 2
    assert handovers(play) == []
    play.perform(first[0])
    assert len(handovers(play)) == 1


def test_a_node_in_the_middle_of_a_handover_is_left_alone() -> None:
    play = held(2)
    play.put(gated("p"))
    (first,) = handovers(play)
    play.put(gated("q"))
    assert handovers(play) == []
    play.perform(first)
    assert handovers(play) == []
    play.run()
    assert [play.pod(name).node for name in ("p", "q")] == ["n0", "n0"]


def test_an_owner_larger_than_its_guardian_goes_alone_and_slowly() -> None:
    play = Play(node("a", cpu=4), hold("h", cpu=1, memory=0), hold("i", cpu=1, memory=0))
    play.run()
    play.put(ours("p", cpu=2), ours("q"))
    (first,) = handovers(play)
    assert first.work == Work.DOOR2_SLOW
    play.perform(first)
    play.run()
    assert [play.pod(name).node for name in ("p", "q")] == ["a", "a"]


def test_a_parked_claim_whose_owner_went_is_dropped_and_its_hold_is_free_again() -> None:
    play = held(2)
    play.put(gated("p"))
    (first,) = handovers(play)
    play.put(gated("q"))
    assert handovers(play) == []
    play.toy.remove(play.pod("q"))
    play.perform(first)
    play.run()
    play.put(gated("r"))
    play.run()
    assert play.pod("r").node == "n0"


def test_a_hundred_owners_get_a_hundred_holds_each_its_own() -> None:
    play = held(100, nodes=10)
    play.put(*(gated(f"g{number}") for number in range(50)))
    play.put(*(ours(f"o{number}") for number in range(50)))
    play.run(60)
    assert {each.status.phase for each in play.toy.holds.values()} == {"Succeeded"}
    owners = [use.uid for each in play.toy.holds.values() for use in each.status.owners]
    assert len(set(owners)) == len(owners) == 100


def test_who_is_next_in_line_for_a_shared_hold_is_not_sent_away() -> None:
    play = Play(node("a", cpu=4), hold("h", cpu=4, memory=0, allocate_once=False))
    play.run()
    play.put(gated("first"), gated("second"))
    begun = play.plan()  # The hold is being given to one of them, and that takes its time.
    play.now += timedelta(seconds=1)
    assert Work.RELEASE not in [sequence.work for sequence in play.plan()]
    for sequence in begun:
        play.perform(sequence)
    play.run()
    assert [play.pod(name).node for name in ("first", "second")] == ["a", "a"]


def test_a_handover_at_the_gate_waits_for_guardians_under_way_and_for_no_others() -> None:
    play = held(1)
    play.put(hold("first", cpu=1, memory=0))
    (making,) = (each for each in play.plan() if each.work == Work.HOLD)
    play.put(gated("p"))
    assert handovers(play) == []
    play.put(hold("second", cpu=1, memory=0))
    assert [each for each in play.plan() if each.work == Work.HOLD] == []
    play.perform(making)
    (handover,) = handovers(play)
    assert handover.work == Work.DOOR1
    play.perform(handover)
    play.run()
    assert play.pod("p").node == "n0"
    assert len([each for each in play.ours("guardian") if not each.node]) == 2


def test_guardians_are_made_again_when_the_owner_that_waited_is_gone() -> None:
    play = held(1)
    play.put(hold("first", cpu=1, memory=0))
    (making,) = (each for each in play.plan() if each.work == Work.HOLD)
    play.put(gated("p"))
    play.plan()
    play.toy.remove(play.pod("p"))
    play.put(hold("second", cpu=1, memory=0))
    play.plan()
    play.perform(making)
    play.run()
    assert len(play.ours("guardian")) == 3
