"""The index of holds: those that could concern a pod, the best first, each once."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from headroom.core.holds import Hold, ObjectMatch, OwnerRule, Terms
from headroom.core.objects import Parent, Pod, Wish
from headroom.engine.hold_index import HoldIndex
from tests.builders import NOON, hold, owned_by, pod, resources, selector

WEB = pod("p", labels={"app": "web", "tier": "front"})


def hold_index(*holds: Hold, across: bool = False) -> HoldIndex:
    filled = HoldIndex(across)
    for each in holds:
        filled.add(each)
    return filled


def names(filled: HoldIndex, whose: Pod = WEB) -> list[str]:
    return [parent.rsplit("/", 1)[1] for parent in filled.for_pod(whose)]


def test_the_oldest_comes_first_then_the_first_by_name() -> None:
    old = hold("z", created=NOON - timedelta(days=1))
    assert names(hold_index(hold("b"), hold("a"), old)) == ["z", "a", "b"]


def test_holds_for_others_are_not_looked_at() -> None:
    assert names(hold_index(hold("mine"), hold("theirs", owners="api"))) == ["mine"]


def test_a_hold_that_two_rules_lead_to_comes_once() -> None:
    both = hold("h", owners=(owned_by(app="web"), owned_by(tier="front")))
    assert names(hold_index(both, hold("i"))) == ["h", "i"]


def test_a_hold_for_anybody_concerns_everybody() -> None:
    anybody = hold("h", owners=(OwnerRule(selector=selector()),))
    assert names(hold_index(anybody), pod("q")) == ["h"]


def test_a_hold_for_one_pod_is_found_by_its_name() -> None:
    one = hold("h", owners=(OwnerRule(object=ObjectMatch(name="q")),))
    assert names(hold_index(one), pod("q")) == ["h"]
    assert names(hold_index(one), WEB) == []


def test_another_namespace_has_entries_of_its_own() -> None:
    there = hold("h", namespace="there")
    named = hold("i", namespace="there", owners=(OwnerRule(object=ObjectMatch(namespace="*")),))
    assert names(hold_index(there, named)) == []
    assert names(hold_index(there, named, across=True)) == ["i"]


def test_what_was_removed_is_gone_from_every_entry() -> None:
    both = hold("h", owners=(owned_by(app="web"), owned_by(tier="front")))
    filled = hold_index(both)
    filled.remove("Hold/default/h")
    filled.remove("Hold/default/h")
    assert names(filled) == []
    assert "Hold/default/h" not in filled


def test_a_hold_whose_rules_change_moves() -> None:
    filled = hold_index(hold("h", owners="api"))
    assert filled.add(hold("h", owners="web"))
    assert names(filled) == ["h"]
    assert names(filled, pod("q", labels={"app": "api"})) == []


def test_adding_again_changes_nothing_and_says_so() -> None:
    filled = hold_index(hold("h"))
    assert not filled.add(hold("h"))
    assert names(filled) == ["h"]


def asking(cpu: int = 0, memory: str = "0") -> Pod:
    return pod("p", cpu, memory, labels={"app": "web"})


def test_the_smaller_hold_that_is_large_enough_comes_first() -> None:
    filled = hold_index(hold("large", 4, "8Gi"), hold("small", 2, "4Gi"))
    assert names(filled, asking(2, "4Gi")) == ["small", "large"]


def test_a_hold_already_in_use_comes_before_an_equal_one_that_is_whole() -> None:
    filled = HoldIndex(False)
    filled.add(hold("a", 4, 0), resources(4))
    filled.add(hold("b", 4, 0), resources(2))
    assert names(filled, asking(1)) == ["b", "a"]


def test_a_given_order_comes_before_everything_else() -> None:
    ordered = hold("large", 4, "8Gi", terms=Terms(order=123456))
    assert names(hold_index(hold("small", 2, "4Gi"), ordered), asking(2, "4Gi")) == [
        "large",
        "small",
    ]


def test_the_lowest_order_comes_first_and_may_be_negative() -> None:
    holds = [hold(f"h{order}", terms=Terms(order=order)) for order in (7, 0, -3, 2)]
    assert names(hold_index(*holds), asking(1)) == ["h-3", "h2", "h7", "h0"]


def test_holds_that_fit_equally_well_come_by_age_whatever_their_shape() -> None:
    first = hold("z", 8, "8Gi", created=NOON - timedelta(days=1))
    filled = hold_index(hold("b", 4, "4Gi"), first, hold("a", 4, "4Gi"))
    assert names(filled, pod("p", labels={"app": "web"})) == ["z", "a", "b"]


def test_a_hold_that_is_asked_for_by_name_is_the_only_one() -> None:
    named = replace(WEB, wish=Wish(needs_hold=True, name="b"))
    assert names(hold_index(hold("a"), hold("b"), hold("c")), named) == ["b"]


def without_namespace(*owners: OwnerRule, home: str = "default") -> Hold:
    made = hold("r", owners=owners, namespace=home)
    return replace(made, parent=Parent("x/v1", "Reservation", "", "r", "uid-of-r"))


def test_a_hold_without_a_namespace_is_found_where_its_guardian_is() -> None:
    filled = hold_index(without_namespace(owned_by(app="web")))
    assert names(filled) == ["r"]
    assert names(filled, pod("p", labels={"app": "web"}, namespace="there")) == []


def test_and_in_each_namespace_that_a_rule_names() -> None:
    filled = hold_index(without_namespace(OwnerRule(object=ObjectMatch("p", "there"))))
    assert names(filled, pod("p", namespace="there")) == ["r"]
    assert names(filled, pod("p", namespace="elsewhere")) == []


def test_words_that_change_are_news_though_the_place_is_the_same() -> None:
    filled = hold_index(hold("h"))
    assert filled.add(hold("h", generation=2))
    assert filled.add(hold("h", generation=2, labels={"a": "b"}))
