"""Standing headrooms in the engine: slots come, are claimed, refilled, renewed and go."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from headroom.core.actions import CreateGuardian, DeletePod, WriteHeadroomStatus
from headroom.core.headrooms.headrooms import NEVER, Headroom, Slot, Window
from headroom.core.holds import PodTemplate, Problem
from headroom.core.latches import kept_for
from headroom.core.names import ROLE_GUARDIAN, ROLE_LABEL, SCHEDULER_NAME
from headroom.core.objects import Pod
from headroom.core.sizes.per_node import PerNode
from headroom.core.sizes.replicas import Replicas
from tests.builders import NOON, node, pod
from tests.core.headroom_builder import headroom, shape
from tests.engine.play import Play


def guardians(play: Play) -> list[Pod]:
    pods = play.toy.pods.values()
    return sorted(
        (each for each in pods if each.labels.get(ROLE_LABEL) == ROLE_GUARDIAN), key=kept_for
    )


def slots(play: Play) -> list[str]:
    """The slots that are held, each with its node."""
    return [f"{kept_for(each).partition('#')[2]}@{each.node}" for each in guardians(play)]


def status(play: Play) -> tuple[int, int, int]:
    shown = play.toy.headrooms["Headroom/default/burst"].status
    return shown.desired, shown.held, shown.claimed


def owner(name: str) -> Pod:
    return pod(name, 1, labels={"app": "web"}, scheduler=SCHEDULER_NAME)


def reshaped(wanted: Headroom, cpu: int) -> Headroom:
    template = replace(shape(cpu), shape=f"cpu {cpu}")
    return replace(wanted, slot=Slot(template=template), generation=wanted.generation + 1)


def creates(play: Play) -> int:
    return sum(isinstance(action, CreateGuardian) for action in play.done)


def test_as_many_slots_stand_as_are_asked_for_and_one_status_says_so() -> None:
    play = Play(node("a", 4), headroom(Replicas(3)))
    play.run()
    assert slots(play) == ["0@a", "1@a", "2@a"]
    assert status(play) == (3, 3, 0)
    assert sum(isinstance(action, WriteHeadroomStatus) for action in play.done) == 1


def test_a_hole_is_filled_under_its_own_name() -> None:
    play = Play(node("a", 4), headroom(Replicas(3)))
    play.run()
    before = [each.key for each in guardians(play)]
    play.toy.remove(guardians(play)[1])
    play.run()
    assert [each.key for each in guardians(play)] == before
    assert status(play) == (3, 3, 0)


def test_fewer_slots_give_the_highest_back_and_more_are_added() -> None:
    play = Play(node("a", 9), wanted := headroom(Replicas(4)))
    play.run()
    play.put(replace(wanted, size=Replicas(2), generation=2))
    play.run()
    assert slots(play) == ["0@a", "1@a"]
    play.put(replace(wanted, size=Replicas(5), generation=3))
    play.run()
    assert len(slots(play)) == 5


def test_an_owner_gets_a_slot_and_the_slot_is_held_again() -> None:
    play = Play(node("a", 2), node("b", 1), headroom(Replicas(2)))
    play.run()
    play.put(owner("x"))
    play.run(40)
    assert play.pod("x").node
    assert len(slots(play)) == 2
    assert status(play) == (2, 2, 1)
    assert [tell.kind for tell in play.toy.told if tell.reason == "Claimed"] == ["Headroom", "Pod"]


def test_a_second_owner_of_a_slot_is_not_confused_with_the_first() -> None:
    play = Play(node("a", 4), headroom(Replicas(1)))
    play.run()
    for name in ("x", "y", "z"):
        play.put(owner(name))
        play.run(40)
        assert play.pod(name).node == "a"
    assert status(play) == (1, 1, 3)


def test_a_claimed_slot_is_not_replaced_where_nothing_is_refilled() -> None:
    play = Play(node("a", 4), headroom(Replicas(2), refill=NEVER))
    play.run()
    play.put(owner("x"))
    play.run(40)
    assert len(slots(play)) == 1
    play.toy.remove(play.pod("x"))
    play.restart()
    play.run(40)
    assert len(slots(play)) == 1, "also after a restart that never saw the owner"


def test_every_eligible_node_has_its_slot_and_a_node_that_joins_gets_one() -> None:
    play = Play(node("a", 2), node("b", 2, unschedulable=True), headroom(PerNode(1)))
    play.run()
    assert slots(play) == ["a@a"]
    play.put(node("c", 2), node("b", 2))
    play.run()
    assert slots(play) == ["a@a", "b@b", "c@c"]


def test_a_node_that_is_cordoned_or_gone_loses_its_slot() -> None:
    play = Play(node("a", 2), node("b", 2), node("c", 2), headroom(PerNode(1)))
    play.run()
    play.put(node("a", 2, unschedulable=True))
    play.toy.remove(play.toy.nodes["c"])
    play.run()
    assert slots(play) == ["b@b"]


def test_a_blip_changes_nothing_and_a_long_absence_does() -> None:
    play = Play(node("a", 2), node("b", 2), headroom(PerNode(1)))
    play.run()
    done = len(play.done)
    play.put(node("a", 2, ready=False, unready_since=play.now))
    play.run(30)
    assert len(play.done) == done
    play.run(30)
    assert slots(play) == ["b@b"]


def test_a_heartbeat_writes_nothing() -> None:
    play = Play(node("a", 2), headroom(PerNode(1)))
    play.run()
    done = len(play.done)
    for version in ("7", "8", "9"):
        play.put(node("a", 2, version=version))
        play.run()
    assert len(play.done) == done


def test_a_changed_template_is_rolled_new_before_old() -> None:
    play = Play(node("a", 9), wanted := reshaped(headroom(Replicas(2)), 1))
    play.run()
    play.put(reshaped(wanted, 2))
    lowest = 2
    for _ in range(60):
        play.run(1)
        lowest = min(lowest, len({kept_for(each) for each in guardians(play) if each.node}))
    assert lowest == 2
    assert [each.requests["cpu"] for each in guardians(play)] == [2000, 2000]


def test_a_changed_template_is_rolled_in_place_where_both_do_not_fit() -> None:
    template = PodTemplate(pod("", 2, uid=""), shape="old")
    wanted = headroom(PerNode(1))
    play = Play(node("a", 2), replace(wanted, slot=Slot(template=template)))
    play.run()
    old = guardians(play)[0].uid
    play.put(replace(wanted, slot=Slot(template=replace(template, shape="new")), generation=2))
    play.run()
    assert slots(play) == ["a@a"]
    assert guardians(play)[0].uid != old


def test_a_broken_spec_keeps_what_stands_also_after_a_restart() -> None:
    play = Play(node("a", 4), wanted := headroom(Replicas(2)))
    play.run()
    play.put(replace(wanted, problems=(Problem("spec.size", "makes no sense"),), generation=2))
    play.run()
    play.restart()
    play.run()
    assert len(slots(play)) == 2
    ready = play.toy.headrooms["Headroom/default/burst"].status.conditions[0]
    assert (ready.status, ready.reason) == ("False", "InvalidSpec")


def test_a_headroom_that_is_gone_leaves_nothing() -> None:
    play = Play(node("a", 4), wanted := headroom(Replicas(2)))
    play.run()
    play.toy.remove(wanted)
    play.run()
    assert guardians(play) == []


def test_a_window_opens_and_ends_by_itself() -> None:
    office = Window("30 12 * * *", timedelta(minutes=10))
    play = Play(node("a", 4), headroom(Replicas(2), schedule=(office,)))
    play.run(60 * 29)
    assert slots(play) == []
    play.run(62)
    assert len(slots(play)) == 2
    play.run(60 * 10)
    assert slots(play) == []
    told = [tell.reason for tell in play.toy.told]
    assert (told.count("WindowStarted"), told.count("WindowEnded")) == (1, 1)


def test_slots_are_renewed_at_each_start_without_a_bare_moment() -> None:
    hourly = Window("0 * * * *", timedelta(minutes=90))
    wanted = headroom(Replicas(3), schedule=(hourly,), refill="Always")
    play = Play(node("a", 9), wanted)
    play.run(60)
    for each in guardians(play):  # The toy has no clock of its own.
        play.put(replace(each, created=NOON))
    play.run(60 * 57)
    assert creates(play) == 3
    play.run(60 * 5)
    assert creates(play) == 6
    assert len(slots(play)) == 3


def test_a_guardian_that_never_lasts_is_made_ever_less_often() -> None:
    play = Play(node("a", 4), headroom(Replicas(1)))
    for _ in range(120):
        play.run(1)
        for each in guardians(play):
            play.toy.remove(each)
    assert creates(play) < 12
    ready = play.toy.headrooms["Headroom/default/burst"].status.conditions[0]
    assert "taken away" in ready.message


def test_a_restart_finds_everything_as_it_is_and_writes_nothing() -> None:
    play = Play(node("a", 4), node("b", 4), headroom(PerNode(1)))
    play.run()
    done = len(play.done)
    play.restart()
    play.run()
    assert [type(action) for action in play.done[done:]] == []


def test_what_is_paused_is_neither_made_nor_given_back() -> None:
    play = Play(node("a", 4), wanted := headroom(Replicas(2)))
    play.run()
    play.put(replace(wanted, size=Replicas(1), paused=True, generation=2))
    play.run()
    assert len(slots(play)) == 2
    play.toy.remove(guardians(play)[0])
    play.run()
    assert len(slots(play)) == 1
    assert not any(isinstance(action, DeletePod) for action in play.done)


def test_a_node_that_flaps_is_held_ever_less_often_and_in_the_end_again() -> None:
    play = Play(node("a", 2), node("b", 2), headroom(PerNode(1)))
    play.run()
    for second in range(60):
        play.put(node("a", 2, unschedulable=second % 2 == 0))
        play.run(1)
    assert creates(play) < 10
    play.put(node("a", 2))
    play.run(120)
    assert slots(play) == ["a@a", "b@b"]
