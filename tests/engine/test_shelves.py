"""Shelves: the holds that could concern a pod, oldest first, each once."""

from __future__ import annotations

from datetime import timedelta

from headroom.core.holds import Hold, ObjectMatch, OwnerRule
from headroom.core.objects import Pod
from headroom.engine.shelves import Shelves
from tests.builders import NOON, hold, owned_by, pod, selector

WEB = pod("p", labels={"app": "web", "tier": "front"})


def shelves(*holds: Hold, across: bool = False) -> Shelves:
    filled = Shelves(across)
    for each in holds:
        filled.put(each)
    return filled


def names(filled: Shelves, whose: Pod = WEB) -> list[str]:
    return [parent.rsplit("/", 1)[1] for parent in filled.for_pod(whose)]


def test_the_oldest_comes_first_then_the_first_by_name() -> None:
    old = hold("z", created=NOON - timedelta(days=1))
    assert names(shelves(hold("b"), hold("a"), old)) == ["z", "a", "b"]


def test_holds_for_others_are_not_looked_at() -> None:
    assert names(shelves(hold("mine"), hold("theirs", owners="api"))) == ["mine"]


def test_a_hold_that_two_rules_lead_to_comes_once() -> None:
    both = hold("h", owners=(owned_by(app="web"), owned_by(tier="front")))
    assert names(shelves(both, hold("i"))) == ["h", "i"]


def test_a_hold_for_anybody_concerns_everybody() -> None:
    anybody = hold("h", owners=(OwnerRule(selector=selector()),))
    assert names(shelves(anybody), pod("q")) == ["h"]


def test_a_hold_for_one_pod_is_found_by_its_name() -> None:
    one = hold("h", owners=(OwnerRule(object=ObjectMatch(name="q")),))
    assert names(shelves(one), pod("q")) == ["h"]
    assert names(shelves(one), WEB) == []


def test_another_namespace_has_shelves_of_its_own() -> None:
    there = hold("h", namespace="there")
    assert names(shelves(there)) == []
    assert names(shelves(there, across=True)) == ["h"]


def test_what_was_taken_is_gone_from_every_shelf() -> None:
    both = hold("h", owners=(owned_by(app="web"), owned_by(tier="front")))
    filled = shelves(both)
    filled.take("Hold/default/h")
    filled.take("Hold/default/h")
    assert names(filled) == []
    assert "Hold/default/h" not in filled


def test_a_hold_whose_rules_change_moves() -> None:
    filled = shelves(hold("h", owners="api"))
    assert filled.put(hold("h", owners="web"))
    assert names(filled) == ["h"]
    assert names(filled, pod("q", labels={"app": "api"})) == []


def test_putting_again_changes_nothing_and_says_so() -> None:
    filled = shelves(hold("h"))
    assert not filled.put(hold("h"))
    assert names(filled) == ["h"]
