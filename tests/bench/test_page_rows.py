"""What each benchmark hands in for the page, from figures that are given here."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from bench import (
    burst,
    contested,
    dashboard,
    decide,
    handover,
    large,
    page,
    promise,
    reservations,
    scale,
)
from bench.field import Spent
from bench.rows import Row


def told(found: Row) -> tuple[str, float, float | None, bool | None]:
    ratio = None if found.ratio is None else round(found.ratio, 2)
    return found.name, round(found.measured, 2), ratio, found.met


def owners(arm: str, way: str, p50: float, rate: float, writes: int = 0) -> handover.Row:
    cpu = {"operator": 2.0, "kube-apiserver": 8.0}
    counted = Counter({"create bindings": writes})
    return handover.Row(arm, way, 10, 0, 0, 0, p50, 2 * p50, rate, cpu, counted)


def test_every_part_of_the_page_is_a_benchmark_that_hands_in_rows() -> None:
    for part in page.PARTS:
        source = (page.ROOT / "bench" / f"{part.name}.py").read_text(encoding="utf-8")
        assert "add_option(parser)" in source
        assert "def page_rows(" in source


def test_handovers_are_put_beside_plain_pods_that_came_the_same_way() -> None:
    found = [
        owners("free room", "paced", 0.03, 20.0),
        owners("door 2 alone", "paced", 0.06, 20.0, writes=50),
        owners("free room", "burst", 0.03, 100.0),
        owners("door 2 alone", "burst", 0.06, 60.0, writes=20),
    ]
    assert [told(row) for row in handover.page_rows(found)] == [
        ("p50, door 2 alone, paced", 60.0, 2.0, True),
        ("writes an owner, door 2 alone, paced", 5.0, None, False),
        ("operator CPU, door 2 alone, paced", 2.0, 0.2, True),
        ("rate, door 2 alone, burst", 60.0, 0.6, True),
        ("writes an owner, door 2 alone, burst", 2.0, None, True),
        ("operator CPU, door 2 alone, burst", 2.0, 0.2, True),
    ]


def test_a_burst_is_put_beside_free_room() -> None:
    free = burst.Row("free room", sent=2, bound=[0.1, 0.2])
    slots = burst.Row("door 2 node-sized", sent=2, bound=[0.3, 0.4])
    setting = burst.Setting(2, 1, 1, ())
    found = list(burst.page_rows([free, slots], setting))
    assert [told(row) for row in found] == [
        ("p99 of a burst, door 2 node-sized", 400.0, 2.0, False)
    ]


def test_owners_that_come_together_are_put_beside_as_many_plain_pods() -> None:
    def arm(name: str, way: str, rate: float, lost: int = 0) -> reservations.Row:
        return reservations.Row(name, way, 200, 0, lost, 0.0, 0.1, 0.2, rate, {})

    found = [
        arm("plain", "burst", 100.0),
        arm("hold", "burst", 60.0, lost=1),
        arm("plain", "paced", 20.0),
        arm("hold", "paced", 19.0),
    ]
    assert [told(row) for row in reservations.page_rows(found, 1_000)] == [
        ("200 owners of a hold", 60.0, 0.6, True),
        ("200 owners of a hold, lost", 1.0, None, False),
    ]


def test_what_must_never_happen_has_a_row_each() -> None:
    tally = contested.Tally(Counter({"paced through door 1": 50}), kills=2)
    tally.faults += ["rival a was let in", "owner b is lost: gone", "node c has 11 pods"]
    found = list(contested.page_rows(tally))
    assert [told(row) for row in found] == [
        ("owners lost", 1.0, None, False),
        ("rivals let in", 1.0, None, False),
        ("other faults", 1.0, None, False),
    ]
    assert found[0].scale == "50 handovers, kube-scheduler killed 2 times"


def test_one_decision_is_the_dearest_kind_in_the_largest_cluster() -> None:
    small = {"nodes": 1_000.0, "plain": 200.0, "spread": 300.0, "promised": 250.0}
    large_one = {"nodes": 15_000.0, "plain": 400.0, "spread": 900.0, "promised": 1_200.0}
    found = list(decide.page_rows([small, large_one], 300))
    assert [told(row) for row in found] == [("one decision", 1.2, 4.0, True)]
    assert found[0].scale == "15,000 nodes, the dearest kind, median of 300 pods"


def test_what_was_worked_out_from_a_smaller_run_says_so() -> None:
    found = [
        scale.Row("plain pods", 1_000, 2_000, 2.0),
        scale.Row("more nodes", 8_000, 2_000, 4.0),
        scale.Row("a day", 100, 1_000, 2.0),
        scale.Row("a larger day", 300, 3_000, 4.0),
    ]
    rows = list(scale.page_rows(found))
    assert [told(row) for row in rows] == [
        ("a day of 100,000 pods", 100.0, 0.5, False),
        ("a month of 670,000 arrivals", 670.0, 0.5, True),
        ("20,000 nodes, 50,000 pods placed", 100.0, 2.0, False),
    ]
    assert all("worked out from" in row.scale for row in rows)
    whole = [
        *found,
        scale.Row("all of them", 20_000, 50_000, 50.0),
        scale.Row("a whole day", 1_000, 100_000, 150.0),
    ]
    day, month, placed = scale.page_rows(whole)
    assert placed.scale.startswith("20,000 nodes")
    assert (day.measured, month.measured) == (150.0, 1_005.0)
    assert day.scale.startswith("as it is")
    assert month.scale.startswith("worked out from")
    whole.append(scale.Row("a whole month", 1_000, 670_000, 700.0))
    day, month, _ = scale.page_rows(whole)
    assert (day.measured, month.measured) == (150.0, 700.0)
    assert month.scale.startswith("as it is")


@pytest.mark.slow
def test_a_promise_is_put_beside_fixed_sizes_that_know_the_future() -> None:
    came = [(float(day * 86_400 + second), 1) for day in range(4) for second in range(0, 900, 3)]
    trace = promise.Trace("google-like", came)
    found = list(promise.ways(trace, 90.0, 0.9))
    hits, idle, equal = promise.page_rows(trace, found, 90.0)
    assert (hits.yardstick_name, idle.yardstick_name) == ("oracle static", "oracle static")
    assert equal.yardstick_name == "fixed size"
    assert idle.aim is not None
    others = promise.Trace("others", came)
    assert list(promise.page_rows(others, found, 90.0))[1].aim is None


def test_the_operator_is_put_beside_a_plain_list_and_kube_scheduler() -> None:
    spent = Spent({"operator": 0.6, "kube-scheduler": 0.3}, 60.0, 30.0)
    found = large.Result(
        5_000,
        50_000,
        list_s=10.0,
        ready_s=25.0,
        memory={"operator": {"now": 300.0}, "kube-scheduler": {"now": 900.0}},
        rest={"nothing": spent},
        waits={"plain quiet": [0.1, 0.2, 0.3], "owner quiet": [0.1, 0.3, 0.5]},
    )
    assert [told(row) for row in large.page_rows(found)] == [
        ("operator start", 25.0, 2.5, True),
        ("operator memory", 300.0, 0.33, True),
        ("operator at rest, nothing", 1.0, 2.0, True),
        ("handover p50, quiet", 300.0, 1.5, True),
    ]


def test_the_dashboard_is_put_beside_no_page() -> None:
    def look(pages: int) -> dict[str, Any]:
        numbers = {"cpu_percent": 3.0 + pages, "late_p99_ms": 2.0, "messages_per_second": pages}
        return {"operator": numbers, "page": {"first_picture_ms": 500.0}}

    rows = list(dashboard.page_rows({count: look(count) for count in (0, 1, 3)}, "5,000 nodes"))
    assert [told(row)[1:] for row in rows] == [
        (6.0, 2.0, None),
        (2.0, 1.0, None),
        (0.5, None, None),
        (1.0, None, True),
    ]
