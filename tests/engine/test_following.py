"""Headrooms that follow gated pods, in the engine: order of writes, and what is asked how often."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from headroom.core.actions import (
    Action,
    Bind,
    CreateGuardian,
    CreateLatch,
    DeletePod,
    Denied,
    LabelPod,
    Nominate,
    Outcome,
    Tell,
    Ungate,
)
from headroom.core.demand.followers import FixedCount, Marks, PerVolume
from headroom.core.demand.volumes import Volume, VolumeClaim
from headroom.core.headrooms.headrooms import Headroom
from headroom.core.holds import PREEMPTIBLE, ControllerMatch, OwnerRule
from headroom.core.objects import Key, Pod
from headroom.core.sizes.follow import Follow, owner_label
from tests.builders import NAMESPACE, NOON, hold, node, pod
from tests.core.headroom_builder import headroom
from tests.engine.play import Play

GATE = "example.com/reserve"
DRIVER = "files.example.com"
ONE = FixedCount()
WRITES = (LabelPod, CreateGuardian, Ungate, DeletePod)
HANDOVER = (CreateLatch, Nominate, DeletePod, Bind)


def following(slots: FixedCount | PerVolume = ONE, **parts: Any) -> Headroom:
    return headroom(Follow(GATE, slots, **parts), mode=PREEMPTIBLE)


def gated(name: str = "owner", **parts: Any) -> Pod:
    return pod(name, 1, gates=parts.pop("gates", (GATE,)), created=NOON, **parts)


def writes(play: Play) -> list[str]:
    return [type(action).__name__ for action in play.done if isinstance(action, WRITES)]


def tells(play: Play, reason: str) -> list[Tell]:
    return [each for each in play.done if isinstance(each, Tell) and each.reason == reason]


def test_an_owner_is_labelled_then_gets_its_slots_and_only_then_loses_the_gate() -> None:
    play = Play(following(FixedCount(2)), gated())
    play.run(scheduling=False)
    assert sorted(writes(play)[:3]) == ["CreateGuardian", "CreateGuardian", "LabelPod"]
    assert writes(play)[3:] == ["Ungate"]


def test_nothing_is_written_twice_when_nothing_changes() -> None:
    play = Play(following(), gated())
    play.run(600, scheduling=False)
    assert len(writes(play)) == 3


def test_a_pod_without_the_gate_costs_nothing() -> None:
    play = Play(node("a"), following(), pod("plain", 1), gated("other", gates=("x.example/y",)))
    play.run(600, scheduling=False)
    assert writes(play) == []


def test_a_guardian_that_is_refused_keeps_the_gate_on_until_the_deadline() -> None:
    play = Play(following(deadline=timedelta(minutes=1)), gated())

    def answer(action: Action) -> Outcome | None:
        return Denied("quota exceeded") if isinstance(action, CreateGuardian) else None

    play.answer = answer
    play.run(50, scheduling=False)
    assert "Ungate" not in writes(play)
    play.run(20, scheduling=False)
    assert writes(play)[-1] == "Ungate"
    (told,) = tells(play, "DeadlinePassed")
    assert told.about == Key(NAMESPACE, "owner")


def test_a_refused_write_on_an_owner_is_tried_again_ever_less_often() -> None:
    play, tries = Play(following(), gated()), 0

    def answer(action: Action) -> Outcome | None:
        nonlocal tries
        tries += isinstance(action, LabelPod)
        return Denied("no") if isinstance(action, LabelPod) else None

    play.answer = answer
    play.run(60, scheduling=False)
    assert 3 < tries < 15
    play.answer = None
    play.run(120, scheduling=False)
    assert writes(play)[-1] == "Ungate"


def test_a_released_owner_that_ends_loses_its_slots_and_its_label() -> None:
    play = Play(node("a"), following(), gated())
    play.run(scheduling=False)
    (owner,) = [each for each in play.toy.pods.values() if each.key.name == "owner"]
    play.put(replace(owner, node="a", phase="Running"))
    play.run(scheduling=False)
    assert sorted(writes(play)[-2:]) == ["DeletePod", "LabelPod"]


@pytest.mark.parametrize("bound", [True, False])
def test_a_claim_that_is_bound_later_brings_its_slot(bound: bool) -> None:
    key = Key(NAMESPACE, "files")
    play = Play(
        following(PerVolume(DRIVER)),
        gated(claims=("files",)),
        VolumeClaim(key, "v", bound=bound),
        Volume("v", DRIVER, claim=key),
    )
    play.run(30, scheduling=False)
    assert ("Ungate" in writes(play)) is bound
    play.put(VolumeClaim(key, "v", bound=True))
    play.run(30, scheduling=False)
    assert writes(play)[-1] == "Ungate"


def test_what_is_missing_for_a_moment_only_is_not_told() -> None:
    play = Play(following(PerVolume(DRIVER)), gated(claims=("files",)))
    play.run(1, scheduling=False)
    key = Key(NAMESPACE, "files")
    play.put(VolumeClaim(key, "v", bound=True))
    play.put(Volume("v", DRIVER, claim=key))
    play.run(60, scheduling=False)
    assert tells(play, "CannotFollow") == []
    assert writes(play)[-1] == "Ungate"


def test_an_owner_older_than_the_deadline_still_gets_its_slots_first() -> None:
    old = gated()
    play = Play(following(), replace(old, created=NOON - timedelta(hours=1)))
    play.run(scheduling=False)
    assert sorted(writes(play)) == ["CreateGuardian", "LabelPod", "Ungate"]
    assert tells(play, "DeadlinePassed") == []


def test_many_owners_are_served_with_three_writes_each() -> None:
    play = Play(following(), *(gated(f"owner-{number:03}") for number in range(60)))
    play.run(60, scheduling=False)
    assert len(writes(play)) == 3 * 60


def test_with_its_dialect_off_a_headroom_gives_back_what_it_held_in_other_namespaces() -> None:
    marks = Marks("x.example/owner", "x.example/pod", "x.example/part", "hr-", "low")
    abroad = replace(gated(), key=Key("shop", "owner"))
    served = Play(node("a"), following(everywhere=True, marks=marks), abroad)
    served.run(scheduling=False)
    assert sorted(writes(served)) == ["CreateGuardian", "LabelPod", "Ungate"]
    plain = Play(node("a"), following(), *served.toy.pods.values())
    plain.run(scheduling=False)
    assert writes(plain) == ["DeletePod"]


def test_a_slot_moves_into_a_hold_under_a_latch_and_is_bound_with_its_claim() -> None:
    rule = OwnerRule(controller=ControllerMatch(kind="Headroom", name="burst"))
    spare = hold("spare", cpu=1, owners=(rule,))
    play = Play(node("a", cpu=2), headroom(Follow(GATE)), spare)
    play.run()
    play.put(gated())
    play.run(scheduling=False)
    play.put(replace(play.toy.pods[Key(NAMESPACE, "owner")], node="a"))
    play.run(scheduling=False)
    moved = [type(action).__name__ for action in play.done if isinstance(action, HANDOVER)]
    assert moved[:3] == ["CreateLatch", "Nominate", "DeletePod"]
    (bound,) = [action for action in play.done if isinstance(action, Bind)]
    assert (bound.node, bound.claimed) == ("a", spare.parent)


def test_a_label_with_another_value_is_put_right_before_the_gate_is_taken_off() -> None:
    of = following()
    assert isinstance(of.size, Follow)
    label = owner_label(of.parent, of.size)
    play = Play(of, gated(labels={label: "somebody"}))
    play.run(scheduling=False)
    assert play.toy.pods[Key(NAMESPACE, "owner")].labels[label] == "uid-of-owner"
    assert sorted(writes(play)) == ["CreateGuardian", "LabelPod", "Ungate"]
