"""Who gives way to a more important owner: what victims free inside and outside a hold.

A node that is exactly full, with a hold of 6 CPU on it that is full of owners (as in Koordinator's
own tests, with the same numbers).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from headroom.core.eviction.budgets import Budget
from headroom.core.eviction.preemption import Crowd, promise, victims
from headroom.core.holds import Hold, Terms
from headroom.core.names import ROLE_LABEL
from headroom.core.objects import Key, LabelSelector, Pod, Requirement, Wish
from headroom.core.resources import EMPTY, Resources
from tests.builders import NAMESPACE, NOON, Amount, hold, pod, resources

HELD = hold("r", 7, 0).template
DEAR = 100
PREEMPTOR = 50
DATABASE = {"app": "db"}


def full(policy: str = "", **terms: Any) -> Hold:
    return hold("r", 6, 0, allocate_once=False, allocate_policy=policy, terms=Terms(**terms))


def low(name: str, cpu: Amount, memory: Amount = 0, **parts: Any) -> Pod:
    return pod(name, cpu, memory, node="a", **parts)


def dear(name: str, cpu: Amount, memory: Amount = 0) -> Pod:
    return pod(name, cpu, memory, node="a", priority=DEAR)


def ask(cpu: Amount, memory: Amount = 0, **parts: Any) -> Pod:
    return pod("p", cpu, memory, priority=PREEMPTOR, **parts)


def gone(kept: Hold, crowd: Crowd, asking: Pod, *budgets: Budget) -> list[str] | None:
    """The names of the victims, on a node that is full of this crowd and of others."""
    everybody = {each.key: each.requests for each in (*crowd.inside, *crowd.outside)}

    def fits(asked: Resources, without: frozenset[Key]) -> bool:
        freed = sum((room for key, room in everybody.items() if key in without), EMPTY)
        return asked.fits_in(freed)

    found = victims(kept, crowd, asking, fits, budgets)
    return None if found is None else [each.key.name for each in found]


def inside(*pods: Pod, outside: tuple[Pod, ...] = ()) -> Crowd:
    return Crowd(pods, outside)


@pytest.mark.parametrize("policy", ["", "Aligned"])
def test_without_restriction_victims_inside_and_outside_add_up(policy: str) -> None:
    kept = full(policy)
    assert gone(kept, inside(low("i", 4), dear("d", 2)), ask(4)) == ["i"]
    both = inside(low("i", 2), dear("d", 4), outside=(low("o", 2),))
    assert gone(kept, both, ask(4)) == ["i", "o"]
    assert gone(kept, inside(low("i", 2), dear("d", 4)), ask(4)) is None
    assert gone(kept, inside(dear("d", 6), outside=(low("o", 2),)), ask(4)) is None


def test_a_restricted_hold_is_helped_by_its_own_owners_only() -> None:
    kept = full("Restricted")
    assert gone(kept, inside(low("i", 4), dear("d", 2)), ask(4)) == ["i"]
    assert gone(kept, inside(dear("d", 6), outside=(low("o", 4),)), ask(4)) is None
    both = inside(low("i", 2), dear("d", 4), outside=(low("o", 2),))
    assert gone(kept, both, ask(4)) is None


def test_what_a_restricted_hold_does_not_reserve_comes_from_outside() -> None:
    crowd = inside(low("i", 4), dear("d", 2), outside=(low("o", 0, "2Gi"),))
    assert gone(full("Restricted"), crowd, ask(4, "2Gi")) == ["i", "o"]


def test_a_place_among_the_owners_is_freed_like_any_other_amount() -> None:
    kept = replace(full("Restricted", most_owners=2, withheld=resources(cpu=1)), template=HELD)
    crowd = inside(low("i", 1), dear("d", 1))
    free = resources(cpu=4)

    def fits(asked: Resources, without: frozenset[Key]) -> bool:
        return asked.fits_in(resources(cpu=6) if without else free)

    assert victims(kept, crowd, ask(3), fits) == (crowd.inside[0],)
    assert victims(kept, crowd, ask(6), fits) is None


def test_pods_outside_are_spared_before_owners_and_the_important_before_others() -> None:
    crowd = inside(
        low("a", 2), low("b", 2, priority=10), low("c", 2), outside=(low("o", 2), low("q", 2))
    )
    assert gone(full(), crowd, ask(2)) == ["c"]
    assert gone(full(), crowd, ask(4)) == ["a", "c"]
    assert gone(full(), crowd, ask(6)) == ["b", "a", "c"]


def test_of_equals_the_one_that_began_last_goes() -> None:
    old, new = low("z", 2, started=NOON), low("a", 2)
    assert gone(full(), inside(old, new, dear("d", 2)), ask(2)) == ["a"]


@pytest.mark.parametrize(
    "safe",
    [
        {"priority": PREEMPTOR},
        {"spared": True},
        {"labels": {ROLE_LABEL: "guardian"}},
    ],
    ids=["as important", "asks to be spared", "ours"],
)
def test_some_never_give_way(safe: dict[str, Any]) -> None:
    assert gone(full(), inside(low("i", 6, **safe)), ask(4)) is None
    assert gone(full(), inside(dear("d", 6), outside=(low("o", 4, **safe),)), ask(4)) is None


def test_who_may_not_preempt_does_not() -> None:
    assert gone(full(), inside(low("i", 6)), ask(4, preempts=False)) is None


def test_who_is_leaving_anyway_is_waited_for_and_nobody_else_goes() -> None:
    going = low("going", 4, deleted=NOON)
    assert gone(full(), inside(going, low("i", 2)), ask(4)) == []
    assert gone(full(), inside(going, low("i", 2)), ask(6)) == ["i"]


def test_with_nothing_left_for_it_in_the_hold_nobody_outside_goes() -> None:
    crowd = inside(dear("d", 6), outside=(low("o", 4),))
    assert gone(full(), crowd, ask(4)) is None
    assert gone(full(), crowd, ask(4, wish=Wish(needs_hold=True))) == ["o"]


def test_what_is_promised_is_the_hold_without_its_victims() -> None:
    victim = low("i", 4)
    offer = promise(full(), inside(victim, dear("d", 2)), (victim,), ask(3), "a")
    assert (offer.node, offer.guardian.requests) == ("a", resources(cpu=4))
    assert offer.kept == resources(cpu=1)
    assert offer.preempts


def budget(allowed: int, app: str = "db", namespace: str = NAMESPACE) -> Budget:
    """A budget for pods of an app, of which so many more may go."""
    protected = LabelSelector((Requirement("app", "In", (app,)),))
    return Budget(Key(namespace, "b"), protected, allowed)


def test_whoever_has_a_budget_is_spared_before_others_are() -> None:
    kept = full()
    crowd = inside(low("db-0", 3, labels=DATABASE), low("x-1", 3, priority=5))
    assert gone(kept, crowd, ask(3)) == ["db-0"]  # It is the less important one.
    assert gone(kept, crowd, ask(3), budget(0)) == ["x-1"]
    assert gone(kept, crowd, ask(3), budget(1)) == ["db-0"]
    assert gone(kept, crowd, ask(3), budget(0, app="web")) == ["db-0"]
    assert gone(kept, crowd, ask(3), budget(0, namespace="other")) == ["db-0"]


def test_a_budget_forbids_nothing() -> None:
    crowd = inside(low("db-0", 6, labels=DATABASE))
    assert gone(full(), crowd, ask(6), budget(0)) == ["db-0"]


def test_as_many_go_as_a_budget_allows() -> None:
    crowd = inside(
        low("db-0", 2, labels=DATABASE), low("db-1", 2, labels=DATABASE), low("x-2", 2, priority=5)
    )
    assert gone(full(), crowd, ask(4)) == ["db-0", "db-1"]
    assert gone(full(), crowd, ask(4), budget(1)) == ["x-2", "db-0"]
