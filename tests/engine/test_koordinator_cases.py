"""Cases of Koordinator's unit tests that are about nodes and binding, played with our engine.

A node of 32 CPU and 32Gi, unless said otherwise; owners come by the name of our scheduler.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from headroom.core.actions import Action, Bind, Outcome, Unavailable
from headroom.core.claims import claim_of
from headroom.core.holds import Hold
from headroom.core.names import CLAIMED_ANNOTATION, CLAIMED_UID_ANNOTATION, SCHEDULER_NAME
from headroom.core.objects import NodeTerm, Placement, Pod, Wish
from headroom.core.resources import CPU
from tests.builders import hold, need, node, pod, resources, to_nodes
from tests.engine.play import Play

BIG = node("a", cpu=32, memory="32Gi")
NEEDY = Wish(needs_hold=True)


def owner(name: str = "p", cpu: int = 1, **parts: Any) -> Pod:
    return pod(name, cpu, 0, labels={"app": "web"}, scheduler=SCHEDULER_NAME, **parts)


def reserved(name: str = "r", cpu: int = 6, **parts: Any) -> Hold:
    return hold(name, cpu, 0, **{"allocate_policy": "Aligned", **parts})


def played(*things: Any, after: tuple[Pod, ...] = ()) -> Play:
    play = Play(*things)
    play.run()
    play.put(*after)
    play.run()
    return play


@pytest.mark.parametrize(("others", "node_of_owner"), [(24, "a"), (26, "")])
def test_an_aligned_owner_takes_what_it_lacks_from_the_node_if_it_is_there(
    others: int, node_of_owner: str
) -> None:
    """With 30 CPU in use 8 are to be had of 6 reserved and 2 free; with 32 they are not."""
    crowd = pod("crowd", others, 0, node="a")
    play = played(BIG, crowd, reserved(), after=(owner(cpu=8, wish=NEEDY),))
    assert play.pod("p").node == node_of_owner
    told = play.pod("p").unschedulable_message
    assert ("Insufficient cpu" in told) is (not node_of_owner)


def test_a_stranger_finds_what_koordinator_restores_by_hand() -> None:
    """12 CPU of pods, 12 reserved of which an owner has 4, 8 reserved: 32 in use, 24 for owners."""
    play = played(
        node("a", cpu=64, memory="64Gi"),
        pod("crowd", 12, "24Gi", node="a"),
        hold("unmatched", 12, "24Gi", owners="other", allocate_once=False),
        hold("matched", 8, "16Gi"),
        after=(pod("user", 4, "8Gi", labels={"app": "other"}, scheduler=SCHEDULER_NAME),),
    )
    used = sum((each.requests for each in play.toy.pods.values() if each.node), resources())
    assert used == resources(32, "64Gi")
    (kept,) = (each for each in play.ours("guardian") if each.owners[0].name == "matched")
    assert used - kept.requests == resources(24, "48Gi")


def test_two_reservations_that_are_both_too_small_are_both_named() -> None:
    small = [reserved(name, 2, allocate_policy="Restricted") for name in ("r1", "r2")]
    play = played(BIG, *small, after=(owner(cpu=3, wish=NEEDY),))
    told = "".join(tell.message for tell in play.toy.told if tell.kind == "Pod")
    for name in ("r1", "r2"):
        assert f"Hold/default/{name}: Insufficient cpu: requested 3, used 0, capacity 2" in told
    assert play.pod("p").node == ""


ELSEWHERE = to_nodes(NodeTerm((need("kubernetes.io/hostname", "In", "b"),)))
BY_FIELD = to_nodes(NodeTerm(fields=(need("metadata.name", "In", "b"),)))
NOWHERE = to_nodes(
    NodeTerm(
        (
            need("kubernetes.io/hostname", "In", "a"),
            need("kubernetes.io/hostname", "In", "b"),
        )
    )
)


@pytest.mark.parametrize(("placement", "where"), [(ELSEWHERE, "b"), (BY_FIELD, "b"), (NOWHERE, "")])
def test_a_reservation_on_a_node_that_the_pod_may_not_go_to_is_not_for_it(
    placement: Placement, where: str
) -> None:
    play = Play(node("a"), reserved(cpu=1))
    play.run()
    play.put(node("b"), owner(placement=placement))
    play.run()
    assert (play.pod("p").node, claim_of(play.pod("p"))) == (where, None)
    assert play.hold("r").status.phase == "Available"


def test_a_bind_that_took_effect_though_its_answer_was_lost_keeps_its_claim() -> None:
    play = Play(node("a"), reserved(cpu=1))
    play.run()
    lost: list[Action] = []

    def silent(action: Action) -> Outcome | None:
        if not isinstance(action, Bind) or lost:
            return None
        lost.append(action)
        play.toy.perform(action)
        return Unavailable("timed out")

    play.answer = silent
    play.put(owner())
    play.run(60)
    assert lost
    assert (play.pod("p").node, claim_of(play.pod("p"))) == ("a", ("Hold/default/r", "uid-of-r"))
    assert play.hold("r").status.phase == "Succeeded"


def test_after_an_owner_whose_bind_failed_and_that_is_gone_the_next_gets_it() -> None:
    play = Play(node("a", cpu=1), reserved(cpu=1))
    play.run()
    play.answer = lambda action: Unavailable("no") if isinstance(action, Bind) else None
    play.put(owner("first"))
    play.run(2)
    play.answer = None
    play.toy.remove(play.pod("first"))
    play.put(owner("second"))
    play.run(60)
    assert play.pod("second").node == "a"
    assert [use.name for use in play.hold("r").status.owners] == ["second"]


def test_a_claim_that_moves_to_another_reservation_is_counted_there() -> None:
    many = [reserved(name, 2, allocate_once=False) for name in ("r1", "r2")]
    play = played(node("a"), *many, after=(owner(wish=Wish(needs_hold=True, name="r1")),))
    assert play.hold("r1").status.allocated[CPU] == resources(1)[CPU]
    moved = {CLAIMED_ANNOTATION: "Hold/default/r2", CLAIMED_UID_ANNOTATION: "uid-of-r2"}
    play.put(replace(play.pod("p"), annotations=moved))
    play.run()
    owners = {name: [use.name for use in play.hold(name).status.owners] for name in ("r1", "r2")}
    assert owners == {"r1": [], "r2": ["p"]}
    play.toy.remove(play.pod("p"))
    play.run()
    assert play.hold("r2").status.owners == ()
