"""A handover that the API server forbids is undone: its room is held again, and nobody waits."""

from __future__ import annotations

import pytest

from headroom.core.actions import (
    Action,
    CreateGuardian,
    DeletePod,
    Denied,
    Disclaim,
    Invalid,
    Outcome,
    Tell,
    Ungate,
)
from headroom.core.names import CLAIM_GATE, CLAIMED_ANNOTATION
from headroom.core.objects import Key
from headroom.core.policy import Policy
from headroom.core.sizes.replicas import Replicas
from tests.builders import hold, node, pod
from tests.core.headroom_builder import headroom
from tests.engine.play import Answer, Play

FORBIDDEN: list[type[Action]] = [DeletePod, Ungate]
NO = Denied("pods is forbidden: not in this namespace")


def forbids(kind: type[Action]) -> Answer:
    """Forbid one kind of write in one namespace."""

    def answer(action: Action) -> Outcome | None:
        inside = isinstance(action, DeletePod | Ungate) and action.key.namespace == "default"
        return NO if inside and isinstance(action, kind) else None

    return answer


def refused_world(forbidden: type[Action]) -> Play:
    """An owner at the gate of a namespace in which one kind of write is forbidden."""
    play = Play(node("a", cpu=4), node("b", cpu=4), hold("h", cpu=2, memory=0))
    play.run()
    assert play.hold("h").status.phase == "Available"

    play.answer = forbids(forbidden)
    play.put(pod("owner", cpu=2, labels={"app": "web"}, gates=(CLAIM_GATE,)))
    play.run(60)
    return play


def between_two_tries(play: Play) -> None:
    """Let time go on until no handover of the owner is under way."""
    for _ in range(100):
        if not play.pod("owner").nominated:
            return
        play.run(0.1)
    raise AssertionError("the owner stays nominated")


@pytest.mark.parametrize("forbidden", FORBIDDEN)
def test_a_handover_that_is_forbidden_holds_up_no_other_namespace(forbidden: type[Action]) -> None:
    play = refused_world(forbidden)
    play.put(hold("next", namespace="other", cpu=2, memory=0))
    play.run(10)
    assert play.toy.holds["Hold/other/next"].status.phase == "Available"


@pytest.mark.parametrize("forbidden", FORBIDDEN)
def test_the_room_of_a_forbidden_handover_is_held_and_promised_to_nobody(
    forbidden: type[Action],
) -> None:
    play = refused_world(forbidden)
    (guardian,) = play.ours("guardian")
    owner = play.pod("owner")
    assert guardian.node
    assert (owner.node, owner.nominated) == ("", "")
    assert CLAIMED_ANNOTATION not in owner.annotations


@pytest.mark.parametrize("forbidden", FORBIDDEN)
def test_the_owner_gets_its_hold_when_the_right_is_back(forbidden: type[Action]) -> None:
    play = refused_world(forbidden)
    (guardian,) = play.ours("guardian")
    play.answer = None
    play.run(180)
    owner = play.pod("owner")
    assert owner.node == guardian.node
    assert owner.annotations[CLAIMED_ANNOTATION] == "Hold/default/h"
    assert play.hold("h").status.phase == "Succeeded"
    assert Key("default", guardian.key.name) not in play.toy.pods


@pytest.mark.parametrize("forbidden", FORBIDDEN)
def test_owners_of_other_namespaces_on_the_same_node_get_their_holds(
    forbidden: type[Action],
) -> None:
    play = Play(node("a", cpu=4), node("b", cpu=4))
    for namespace in ("default", "other"):
        play.put(hold("h", namespace=namespace, cpu=2, memory=0))
    play.run()
    assert [guardian.node for guardian in play.ours("guardian")] == ["a", "a"]
    play.answer = forbids(forbidden)
    for namespace in ("default", "other"):
        play.put(
            pod(
                "owner",
                namespace=namespace,
                uid=f"owner-in-{namespace}",
                cpu=2,
                labels={"app": "web"},
                gates=(CLAIM_GATE,),
            )
        )
    play.run(30)
    assert play.toy.pods[Key("other", "owner")].node == "a"
    assert play.toy.holds["Hold/other/h"].status.phase == "Succeeded"
    assert not play.pod("owner").node
    assert [guardian.key.namespace for guardian in play.ours("guardian")] == ["default"]


def test_the_nomination_goes_when_the_guardian_has_stood_for_a_moment() -> None:
    """Cycles of kube-scheduler that began before the guardian was there do not see it."""
    play = refused_world(Ungate)
    forbidden, times = forbids(Ungate), []

    def answer(action: Action) -> Outcome | None:
        if isinstance(action, CreateGuardian | Disclaim):
            times.append((type(action), play.now))
        return forbidden(action)

    play.answer = answer
    play.run(60)
    assert times
    made = [when for kind, when in times if kind is CreateGuardian]
    gone = [when for kind, when in times if kind is Disclaim]
    linger = play.engine.ledger.policy.latch_linger
    assert all(after - before >= linger for before, after in zip(made, gone, strict=True))
    bound = [action for action in play.done if isinstance(action, CreateGuardian)][1:]
    assert all(action.bound and action.node == "a" for action in bound)


@pytest.mark.parametrize("forbidden", FORBIDDEN)
def test_an_operator_that_takes_over_in_the_middle_comes_to_the_same_end(
    forbidden: type[Action],
) -> None:
    play = refused_world(forbidden)
    play.answer = lambda action: NO if isinstance(action, forbidden | Disclaim) else None
    play.run(30)
    play.restart()
    play.answer = None
    play.run(180)
    assert play.pod("owner").annotations[CLAIMED_ANNOTATION] == "Hold/default/h"
    assert play.pod("owner").node
    assert play.ours("guardian") == []


@pytest.mark.parametrize("no", [NO, Invalid("a policy denied the request")])
def test_what_an_admission_policy_says_counts_as_much_as_a_missing_right(no: Outcome) -> None:
    play = Play(node("a", cpu=4), hold("h", cpu=2, memory=0))
    play.run()
    play.answer = lambda action: no if isinstance(action, Ungate) else None
    play.put(pod("owner", cpu=2, labels={"app": "web"}, gates=(CLAIM_GATE,)))
    play.run(30)
    between_two_tries(play)
    assert [each.node for each in play.ours("guardian")] == ["a"]


def test_the_owner_is_told_in_the_words_of_the_api_server() -> None:
    play = refused_world(Ungate)
    tells = [action for action in play.done if isinstance(action, Tell)]
    told = [tell.message for tell in tells if tell.reason == "HandoverForbidden"]
    assert any("cannot be handed over" in message and NO.message in message for message in told)


@pytest.mark.parametrize("forbidden", FORBIDDEN)
def test_a_reusable_hold_is_handed_over_when_the_right_is_back_and_tried_with_pauses(
    forbidden: type[Action],
) -> None:
    play = Play(node("a", cpu=4), hold("h", cpu=2, memory=0, allocate_once=False))
    play.run()
    tries = 0

    def answer(action: Action) -> Outcome | None:
        nonlocal tries
        tries += isinstance(action, forbidden)
        return NO if isinstance(action, forbidden) else None

    play.answer = answer
    play.put(pod("owner", cpu=1, labels={"app": "web"}, gates=(CLAIM_GATE,)))
    play.run(60)
    assert tries <= 40
    play.answer = None
    play.run(60)
    assert play.pod("owner").node == "a"
    assert [guardian.requests["cpu"] for guardian in play.ours("guardian")] == [1000]


@pytest.mark.parametrize("asked", [1, 2, 3])
@pytest.mark.parametrize("forbidden", FORBIDDEN)
def test_a_reusable_hold_is_held_again_as_large_as_it_was(
    forbidden: type[Action], asked: int
) -> None:
    """Whether its owner takes a part of it, all of it, or free room of the node as well."""
    things = (node("a", cpu=4), node("b", cpu=4))
    play = Play(*things, policy=Policy(namespace="headroom-system"))
    play.put(hold("h", cpu=2, memory=0, allocate_once=False))
    play.run()
    play.answer = forbids(forbidden)
    play.put(pod("owner", cpu=asked, labels={"app": "web"}, gates=(CLAIM_GATE,)))
    play.run(30)
    play.put(hold("next", namespace="other", cpu=4, memory=0))
    play.run(30)
    assert play.toy.holds["Hold/other/next"].status.phase == "Available"
    between_two_tries(play)
    kept = [each for each in play.ours("guardian") if each.key.namespace == "default"]
    assert [(each.node, each.requests["cpu"]) for each in kept] == [("a", 2000)]
    assert CLAIMED_ANNOTATION not in play.pod("owner").annotations
    assert play.ours("latch") == []


def test_owners_that_came_before_keep_their_part_of_a_reusable_hold() -> None:
    play = Play(node("a", cpu=4), hold("h", cpu=3, memory=0, allocate_once=False))
    play.put(pod("first", cpu=1, labels={"app": "web"}, gates=(CLAIM_GATE,)))
    play.run()
    assert [each.requests["cpu"] for each in play.ours("guardian")] == [2000]
    play.answer = forbids(Ungate)
    play.put(pod("second", cpu=1, labels={"app": "web"}, gates=(CLAIM_GATE,)))
    play.run(64)
    assert [each.requests["cpu"] for each in play.ours("guardian")] == [2000]
    play.answer = None
    play.run(60)
    assert play.pod("second").node == "a"
    assert [each.requests["cpu"] for each in play.ours("guardian")] == [1000]


def test_an_owner_that_needs_free_room_as_well_is_tried_again_with_pauses() -> None:
    play = refused_world(Ungate)
    play.put(hold("small", namespace="other", cpu=1, memory=0))
    play.run(1)
    tries: list[int] = []

    def answer(action: Action) -> Outcome | None:
        if isinstance(action, Ungate) and action.key.name == "large":
            tries.append(1)
        return NO if isinstance(action, Ungate) else None

    play.answer = answer
    play.put(
        pod("large", namespace="other", cpu=2, labels={"app": "web"}, gates=(CLAIM_GATE,)),
    )
    play.run(60)
    assert 5 <= len(tries) <= 20


@pytest.mark.parametrize("forbidden", FORBIDDEN)
def test_a_slot_that_its_owner_uses_in_part_stays_held(forbidden: type[Action]) -> None:
    play = Play(node("a", cpu=4), headroom(Replicas(1), cpu=2))
    play.run()
    play.answer = forbids(forbidden)
    play.put(pod("owner", cpu=1, labels={"app": "web"}, gates=(CLAIM_GATE,)))
    play.run(60)
    assert [(each.node, each.requests["cpu"]) for each in play.ours("guardian")] == [("a", 2000)]
    play.answer = None
    play.run(180)
    assert play.pod("owner").node == "a"
    assert play.ours("latch") == []
