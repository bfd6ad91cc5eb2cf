"""Choosing between holds: what a pod's wish rules out, and how well it fits what is left."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from headroom.core.hold_order import affinity_refusal, fullness
from headroom.core.holds import Hold, Terms
from headroom.core.objects import NodeTerm, Pod, Toleration, Wish
from headroom.core.resources import EMPTY
from tests.builders import hold, need, pod, resources, taint, tolerating

SECRET = taint("team", "a")
CLOSED = Toleration("node.kubernetes.io/unschedulable", "Exists", effect="NoSchedule")
MINE = Toleration("team", "Equal", "a", "NoSchedule")


def wanting(**wish: Any) -> Pod:
    return pod("p", cpu=2, wish=Wish(needs_hold=True, **wish))


def lenient(**parts: Any) -> Hold:
    """A hold whose taints concern only pods that speak of holds, as Koordinator has it."""
    return hold("r", terms=Terms(binds_all=False), **parts)


def test_a_pod_without_a_wish_refuses_no_hold() -> None:
    assert affinity_refusal(pod("p"), hold("r")) is None


def test_only_the_hold_that_is_named_will_do() -> None:
    asking = wanting(name="r")
    assert affinity_refusal(asking, hold("r")) is None
    assert affinity_refusal(asking, hold("other")) == "the pod asks for r"


def test_a_named_hold_is_had_in_spite_of_taints_and_of_being_closed() -> None:
    asking = wanting(name="r", selector=(("pool", "b"),))
    assert affinity_refusal(asking, hold("r", unschedulable=True, taints=(SECRET,))) is None


def test_a_named_hold_must_still_match_exactly() -> None:
    asking = wanting(name="r", exact=("cpu",))
    why = "the pod wants exactly its 2 cpu, the hold has 4"
    assert affinity_refusal(asking, hold("r", cpu=4)) == why


def test_the_labels_of_the_hold_are_selected_by() -> None:
    asking = wanting(selector=(("pool", "a"),))
    assert affinity_refusal(asking, hold("r", labels={"pool": "a"})) is None
    why = "the pod wants a hold with the label pool=a"
    assert affinity_refusal(asking, hold("r", labels={"pool": "b"})) == why


def test_the_nodes_labels_count_where_the_hold_says_nothing_else() -> None:
    asking = wanting(selector=(("zone", "z1"),))
    around = {"zone": "z1"}
    assert affinity_refusal(asking, hold("r"), around) is None
    assert affinity_refusal(asking, hold("r", labels={"zone": "z2"}), around) is not None


def test_one_of_the_terms_must_hold() -> None:
    asking = wanting(terms=(NodeTerm((need("usable", "In", "true"),)),))
    assert affinity_refusal(asking, hold("r", labels={"usable": "true"})) is None
    why = "its labels do not match the pod's reservation affinity"
    assert affinity_refusal(asking, hold("r", labels={"usable": "false"})) == why


def test_a_field_in_a_term_means_the_name_of_the_hold() -> None:
    asking = wanting(terms=(NodeTerm(fields=(need("metadata.name", "In", "r"),)),))
    assert affinity_refusal(asking, hold("r")) is None
    assert affinity_refusal(asking, hold("other")) is not None


def test_terms_that_are_there_but_empty_want_no_hold_at_all() -> None:
    assert affinity_refusal(wanting(terms=()), hold("r")) is not None


def test_selector_and_terms_must_both_hold() -> None:
    asking = wanting(selector=(("a", "1"),), terms=(NodeTerm((need("b", "Exists"),)),))
    assert affinity_refusal(asking, hold("r", labels={"a": "1"})) is not None
    assert affinity_refusal(asking, hold("r", labels={"a": "1", "b": ""})) is None


def test_a_closed_hold_opens_for_the_wish_that_tolerates_it() -> None:
    closed = hold("r", unschedulable=True)
    why = "it takes no new owners (spec.unschedulable)"
    assert affinity_refusal(pod("p"), closed) == why
    assert affinity_refusal(wanting(), closed) == why
    assert affinity_refusal(wanting(tolerations=(CLOSED,)), closed) is None


def test_taints_want_the_tolerations_of_the_wish_not_those_of_the_pod() -> None:
    tainted = hold("r", taints=(SECRET,))
    why = "the pod does not tolerate its taint {team: a}"
    deaf = replace(wanting(), placement=tolerating(MINE))
    assert affinity_refusal(deaf, tainted) == why
    assert affinity_refusal(wanting(tolerations=(MINE,)), tainted) is None


def test_a_pod_that_says_nothing_of_holds_needs_tolerations_of_its_own() -> None:
    tainted = hold("r", taints=(SECRET,))
    assert affinity_refusal(pod("p"), tainted) is not None
    assert affinity_refusal(pod("p", placement=tolerating(MINE)), tainted) is None


def test_where_taints_do_not_bind_all_such_a_pod_passes_them() -> None:
    assert affinity_refusal(pod("p"), lenient(taints=(SECRET,))) is None
    assert affinity_refusal(wanting(), lenient(taints=(SECRET,))) is not None


def test_a_taint_that_only_prefers_keeps_nobody_out() -> None:
    soft = hold("r", taints=(taint("team", "a", "PreferNoSchedule"),))
    assert affinity_refusal(wanting(), soft) is None


@pytest.mark.parametrize(
    ("exact", "cpu", "memory", "matched"),
    [
        (("cpu",), 2, "9Gi", True),
        (("cpu", "memory"), 2, "9Gi", False),
        (("cpu", "memory"), 2, "1Gi", True),
        (("example.com/gpu", "cpu"), 3, "1Gi", False),
        (("example.com/gpu", "cpu"), 2, "1Gi", True),
    ],
)
def test_an_exact_match_compares_every_resource_that_is_named(
    exact: tuple[str, ...], cpu: int, memory: str, matched: bool
) -> None:
    """Koordinator stops at the first one that neither side has, and calls it a match."""
    asking = pod("p", cpu=2, memory="1Gi", wish=Wish(exact=exact))
    assert (affinity_refusal(asking, hold("r", cpu, memory)) is None) is matched


def test_a_pod_that_shuns_holds_gets_none() -> None:
    why = "the pod uses no holds (label reservation-ignored)"
    assert affinity_refusal(pod("p", wish=Wish(avoids_holds=True)), hold("r")) == why


def test_a_wish_that_cannot_be_read_gets_none_and_is_told_why() -> None:
    assert affinity_refusal(pod("p", wish=Wish(problem="is no JSON")), hold("r")) == "is no JSON"


@pytest.mark.parametrize(
    ("room", "used", "score"),
    [
        (resources(2, "4Gi"), EMPTY, 100),
        (resources(4, "8Gi"), EMPTY, 50),
        (resources(2, "4Gi"), resources(2, "3Gi"), 0),
        (resources(4), EMPTY, 50),
        (EMPTY, EMPTY, 0),
    ],
)
def test_the_fuller_a_pod_makes_a_hold_the_better_it_fits(room: Any, used: Any, score: int) -> None:
    assert fullness(resources(2, "4Gi"), room, used) == score


def test_a_pod_that_asks_for_nothing_fits_nowhere_best() -> None:
    assert fullness(EMPTY, resources(2, "4Gi"), resources(1)) == 0
