"""From a headroom to the slots it wishes for: counts, names and limits."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from headroom.core.derived_names import guardian_name
from headroom.core.headrooms.headrooms import ALWAYS, NEVER, Headroom, Limits
from headroom.core.headrooms.wanted_slots import SizeView, WantedSlots, surplus, wish
from headroom.core.headrooms.windows import ActiveWindow
from headroom.core.holds import Problem
from headroom.core.promise.announced import Learnt
from headroom.core.sizes.adaptive import Adaptive
from headroom.core.sizes.percent import Percent
from headroom.core.sizes.replicas import Replicas
from tests.builders import NOON
from tests.core.headroom_builder import headroom, web


def look(made: Headroom, **parts: Any) -> SizeView:
    return SizeView(parts.pop("window", ActiveWindow(made.size)), **parts)


def wished(made: Headroom, **parts: Any) -> WantedSlots:
    return wish(made, look(made, **parts), NOON)


def names(made: Headroom, **parts: Any) -> list[str]:
    return [hold.slot for hold in wished(made, **parts).slots]


def reasons(made: WantedSlots) -> list[str]:
    return [note.reason for note in made.notes]


def test_a_fixed_number_has_slots_by_index() -> None:
    assert names(headroom(Replicas(3))) == ["0", "1", "2"]
    assert names(headroom(Replicas(0))) == []


def test_a_slot_is_a_hold_of_its_headroom_without_an_end_of_its_own() -> None:
    made = headroom(Replicas(1), cpu=2, generation=4, version="7")
    (hold,) = wished(made).slots
    assert hold.parent.whole == str(made.parent)
    assert hold.slot == "0"
    assert hold.owners == made.owners
    assert hold.template.pod.requests["cpu"] == 2000
    assert (hold.ttl, hold.expires, hold.created) == (None, None, NOON)
    assert (hold.generation, hold.version, hold.problems) == (4, "", ())


def test_every_slot_has_a_guardian_name_of_its_own_and_always_the_same() -> None:
    first = [guardian_name(hold) for hold in wished(headroom(Replicas(9))).slots]
    again = [guardian_name(hold) for hold in wished(headroom(Replicas(12))).slots]
    assert len(set(again)) == 12
    assert again[:9] == first


@pytest.mark.parametrize(
    ("replicas", "percent", "count"),
    [(10, 20, 2), (10, 25, 3), (1, 1, 1), (0, 50, 0), (7, 200, 14), (3, 0, 0)],
)
def test_a_percentage_of_the_workload_is_rounded_up(
    replicas: int, percent: int, count: int
) -> None:
    assert len(names(headroom(Percent(percent)), workload=web(replicas))) == count


def test_slots_of_a_workload_have_the_shape_of_its_pods() -> None:
    (hold,) = wished(headroom(Percent(10)), workload=web(4)).slots
    assert hold.template == web(4).template


def test_a_workload_that_is_not_there_is_told() -> None:
    made = wished(headroom(Percent(10)))
    assert made.slots == ()
    assert reasons(made) == ["WorkloadMissing"]
    assert "Deployment/web" in made.notes[0].message


def test_a_workload_whose_pods_ask_for_nothing_is_told() -> None:
    broken = web(4, problems=(Problem("spec.template.spec.containers", "ask for nothing"),))
    made = wished(headroom(Percent(10)), workload=broken)
    assert reasons(made) == ["WorkloadUnusable"]
    assert "ask for nothing" in made.notes[0].message


def test_the_size_of_the_window_counts() -> None:
    assert len(names(headroom(Replicas(3)), window=ActiveWindow(Replicas(5)))) == 5


def test_outside_its_windows_a_headroom_wishes_for_nothing() -> None:
    made = wished(headroom(Replicas(3)), window=None)
    assert (made.slots, reasons(made)) == ((), ["OutsideSchedule"])


def test_a_headroom_with_problems_promises_nothing_and_says_which() -> None:
    made = wished(headroom(problems=(Problem("spec.size", "is missing"),)))
    assert (made.slots, reasons(made)) == ((), ["InvalidSpec"])
    assert made.notes[0].message == "spec.size: is missing"


def test_a_size_that_is_learnt_is_as_large_as_was_learnt_and_looked_at_again() -> None:
    size = Adaptive(timedelta(seconds=2), 0.99)
    again = NOON + timedelta(seconds=10)
    made = wished(headroom(size), learnt=Learnt(4, look_again=again))
    assert (len(made.slots), made.look_again) == (4, again)


def test_a_headroom_that_is_being_deleted_wishes_for_nothing() -> None:
    made = headroom(deleted=NOON, paused=True)
    sight = look(made, standing=frozenset({"0"}))
    assert wish(made, sight, NOON) == WantedSlots()
    assert surplus(made, WantedSlots(), sight) == ("0",)


@pytest.mark.parametrize(
    ("limits", "count", "named"),
    [
        (Limits(slots=2), 2, "slots"),
        (Limits(pods=1), 1, "pods"),
        (Limits(resources=(("cpu", 3500),)), 3, "resources.cpu"),
        (Limits(resources=(("cpu", 3000), ("memory", 2**30))), 3, "resources.cpu"),
        (Limits(resources=(("cpu", 0),)), 0, "resources.cpu"),
        (Limits(slots=4, pods=2), 2, "pods"),
    ],
)
def test_limits_keep_the_lowest_and_say_which_was_met(
    limits: Limits, count: int, named: str
) -> None:
    made = wished(headroom(Replicas(5), limits=limits))
    assert [hold.slot for hold in made.slots] == [str(index) for index in range(count)]
    assert made.asked == 5
    assert reasons(made) == ["LimitReached"]
    assert f"spec.limits.{named} allows {count} of 5 slots" in made.notes[0].message


@pytest.mark.parametrize(
    "limits",
    [
        Limits(slots=5, pods=5, nodes=1),
        Limits(resources=(("cpu", 5000),)),
        Limits(resources=(("nvidia.com/gpu", 0),)),
    ],
)
def test_limits_that_are_just_met_are_not_told(limits: Limits) -> None:
    made = wished(headroom(Replicas(5), limits=limits))
    assert (len(made.slots), made.notes) == (5, ())


def test_scaling_down_gives_the_highest_back_first() -> None:
    made = headroom(Replicas(9))
    sight = look(made, standing=frozenset(str(index) for index in range(12)))
    assert surplus(made, wish(made, sight, NOON), sight) == ("11", "10", "9")


@pytest.mark.parametrize("refill", ["OnClaim", ALWAYS])
def test_a_claimed_slot_is_wished_for_again_under_its_own_name(refill: str) -> None:
    assert names(headroom(Replicas(3), refill=refill), spent=frozenset({"1"})) == ["0", "1", "2"]


def test_without_refill_claimed_slots_count_and_are_not_replaced() -> None:
    made = headroom(Replicas(4), refill=NEVER)
    assert names(made, spent=frozenset({"1"})) == ["0", "2", "3"]
    assert names(made, spent=frozenset({"0", "1", "2", "3"})) == []


def test_without_refill_scaling_down_counts_what_is_claimed() -> None:
    made = headroom(Replicas(3), refill=NEVER)
    sight = look(made, standing=frozenset({"0", "1", "2", "3"}), spent=frozenset({"4"}))
    result = wish(made, sight, NOON)
    assert [hold.slot for hold in result.slots] == ["0", "1"]
    assert surplus(made, result, sight) == ("3", "2")


def test_paused_keeps_what_stands_and_adds_nothing() -> None:
    made = headroom(Replicas(2), paused=True)
    sight = look(made, standing=frozenset({"0", "4"}))
    result = wish(made, sight, NOON)
    assert [hold.slot for hold in result.slots] == ["0", "4"]
    assert reasons(result) == ["Paused"]
    assert surplus(made, result, sight) == ()


def test_a_pause_outlasts_the_windows() -> None:
    made = headroom(Replicas(2), paused=True)
    assert names(made, window=None, standing=frozenset({"1"})) == ["1"]


def test_the_same_sight_gives_the_same_wish() -> None:
    made = headroom(Replicas(5), limits=Limits(slots=3), slot_lifetime=timedelta(hours=1))
    assert wished(made) == wished(made)
