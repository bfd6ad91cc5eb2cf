"""Assumptions: our own writes count until they are seen, and never much longer."""

from __future__ import annotations

from dataclasses import replace

from headroom.core.claims import claim_of
from headroom.core.names import CLAIM_GATE
from headroom.core.objects import Pod
from headroom.engine.assumptions import ENDED_FOR, LIFETIME, MOST_ENDED, Assumed, Assumptions
from tests.builders import NOON, hold, pod

PARENT = hold("h").parent


def noted(*changes: Assumed) -> Assumptions:
    assumptions = Assumptions()
    for change in changes:
        assumptions.note("uid-of-p", NOON, change)
    return assumptions


def known(assumptions: Assumptions, seen: Pod) -> Pod:
    found = assumptions.over(seen, NOON)
    assert found is not None
    return found


def test_nothing_is_assumed_of_other_pods() -> None:
    other = pod("other")
    assert noted(Assumed(NOON + LIFETIME, gone=True)).over(other, NOON) is other


def test_what_we_wrote_is_laid_over_what_is_seen() -> None:
    seen = pod("p", gates=("example.com/other", CLAIM_GATE))
    changes = Assumed(NOON + LIFETIME, nominated="a", claimed=PARENT, without_gate=CLAIM_GATE)
    found = known(noted(changes), seen)
    assert found.nominated == "a"
    assert found.gates == ("example.com/other",)
    assert claim_of(found) == ("Hold/default/h", "uid-of-h")


def test_what_was_assumed_first_stays_when_more_is_assumed() -> None:
    first = Assumed(NOON + LIFETIME, nominated="a", claimed=PARENT)
    second = Assumed(NOON + LIFETIME, node="a")
    found = known(noted(first, second), pod("p"))
    assert (found.node, claim_of(found)) == ("a", ("Hold/default/h", "uid-of-h"))


def test_a_bound_pod_needs_no_nomination() -> None:
    assumptions = noted(Assumed(NOON + LIFETIME, nominated="a"))
    assert known(assumptions, pod("p", node="a")).nominated == ""


def test_a_claim_that_we_took_back_is_not_seen_again() -> None:
    given = noted(Assumed(NOON + LIFETIME, claimed=PARENT))
    claimed = known(given, pod("p"))
    assert claim_of(known(noted(Assumed(NOON + LIFETIME, claimed="")), claimed)) is None


def test_a_deleted_pod_is_not_believed_to_be_there() -> None:
    assert noted(Assumed(NOON + LIFETIME, gone=True)).over(pod("p"), NOON) is None


def test_an_assumption_ends_when_it_is_seen_to_be_true() -> None:
    assumptions = noted(Assumed(NOON + LIFETIME, nominated="a"))
    known(assumptions, pod("p", nominated="a"))
    later = pod("p", nominated="")
    assert assumptions.over(later, NOON) is later


def test_an_assumption_that_is_never_seen_ends_by_itself() -> None:
    seen = pod("p")
    assumptions = noted(Assumed(NOON + LIFETIME, node="a"))
    assert assumptions.over(seen, NOON + LIFETIME) is seen


def test_a_namesake_is_another_pod() -> None:
    assumptions = noted(Assumed(NOON + LIFETIME, gone=True))
    namesake = replace(pod("p"), uid="another")
    assert assumptions.over(namesake, NOON) is namesake


def test_ends_are_remembered_for_longer_than_an_answer_takes_and_no_longer() -> None:
    assumptions = Assumptions()
    assumptions.ended("before-all", NOON - ENDED_FOR - LIFETIME)
    assumptions.ended("first", NOON)
    assumptions.ended("second", NOON + ENDED_FOR)
    assert [assumptions.has_ended(uid) for uid in ("before-all", "first", "second")] == [
        False,
        True,
        True,
    ]
    assumptions.ended("third", NOON + ENDED_FOR + LIFETIME)
    assert [assumptions.has_ended(uid) for uid in ("first", "second")] == [False, True]


def test_of_ends_that_come_together_so_many_are_remembered() -> None:
    assumptions = Assumptions()
    for number in range(MOST_ENDED + 1):
        assumptions.ended(f"uid-{number}", NOON)
    assert not assumptions.has_ended("uid-0")
    assert assumptions.has_ended("uid-1")


def test_a_clock_that_is_set_back_makes_no_end_forgotten_early() -> None:
    assumptions = Assumptions()
    assumptions.ended("first", NOON)
    assumptions.ended("second", NOON - 10 * ENDED_FOR)
    assert assumptions.has_ended("first")
