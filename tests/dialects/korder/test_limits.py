"""Whether one more fits under a quota: exact sums, four scopes, shares, durations and windows."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from fractions import Fraction

import pytest

from headroom.core.objects import LabelSelector, Parent, Requirement
from headroom.core.quotas.quota import Demand
from headroom.core.resources import EMPTY, Resources
from headroom.dialects.korder.rules.hours import parse_hours
from headroom.dialects.korder.rules.limits import (
    Ceiling,
    Exceeded,
    QuotaBounds,
    QuotaShare,
    Scope,
    TimeWindow,
    applies,
    bounds,
    exceeded,
    next_look,
    spelled,
    surpassed,
    taken,
)
from headroom.dialects.korder.rules.quota import KorderQuota
from tests.builders import Amount, resources

NIGHT = datetime(2027, 1, 4, 3, tzinfo=UTC)
DAY = datetime(2027, 1, 4, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
TEAM = LabelSelector((Requirement("team", "In", ("a",)),))
OFFICE = TimeWindow("office", parse_hours("0 9-17 * * *"), Fraction("0.5"))


def _in(namespace: str) -> Parent:
    return Parent("core.korder.dev/v1alpha1", "Ticket", namespace, "t")


def quota(longest: timedelta | None = None, **amounts: int) -> KorderQuota:
    """A quota for everything; `cpu=10` is reserved.cpu, in cores."""
    hard = {name: most for name, most in amounts.items() if name in ("orders", "tickets")}
    if "cpu" in amounts:
        hard["reserved.cpu"] = amounts["cpu"] * 1000
    return KorderQuota(
        Parent("core.korder.dev/v1alpha1", "Quota", "", "team"), hard=Ceiling(hard, longest)
    )


def ticket(
    cpu: Amount = 0, duration: timedelta | None = HOUR, more: dict[str, Amount] | None = None
) -> Demand:
    return Demand(_in("shop"), {}, resources(cpu, **(more or {})), duration)


def told(
    of: KorderQuota, demand: Demand, used: Resources = EMPTY, now: datetime = NIGHT
) -> str | None:
    found = exceeded("team", bounds(of, now), demand, used, used)
    return None if found is None else str(found)


def test_requests_are_counted_in_thousandths_and_not_in_cores() -> None:
    assert 3 * taken(ticket("100m"))["reserved.cpu"] == 300


def test_a_ticket_counts_itself_and_everything_that_it_keeps() -> None:
    gpu = ticket(2, more={"nvidia.com/gpu": 1, "ephemeral-storage": 5})
    assert taken(gpu) == Resources(
        {
            "tickets": 1,
            "reserved.cpu": 2000,
            "reserved.nvidia.com/gpu": 1,
            "reserved.ephemeral-storage": 5,
        }
    )


def test_the_sixth_of_two_cores_does_not_fit_under_ten() -> None:
    used = EMPTY
    for _ in range(5):
        assert told(quota(cpu=10), ticket(2), used) is None
        used = used + taken(ticket(2))
    assert told(quota(cpu=10), ticket(2), used) == (
        "Quota team: spec.hard[reserved.cpu]: used 10, wanted 2 more, at most 10"
    )


def test_a_limit_may_be_used_up_to_the_last_thousandth() -> None:
    used = taken(ticket("9999m"))
    assert told(quota(cpu=10), ticket("1m"), used) is None
    assert told(quota(cpu=10), ticket("2m"), used) is not None


def test_what_has_no_limit_is_free() -> None:
    assert told(quota(cpu=1), ticket(1, more={"memory": "1000Ti"})) is None


def test_a_limit_of_zero_lets_nothing_in() -> None:
    assert told(quota(tickets=0), ticket()) == (
        "Quota team: spec.hard[tickets]: used 0, wanted 1 more, at most 0"
    )


def test_orders_and_tickets_are_counted_apart() -> None:
    order = Demand(_in("shop"))
    assert told(quota(orders=1, tickets=0), order) is None
    assert told(quota(orders=1), order, taken(order)) is not None
    assert told(quota(orders=0), ticket()) is None


def test_a_ticket_that_lasts_too_long_is_refused_for_itself() -> None:
    one_day = quota(longest=timedelta(hours=24))
    assert told(one_day, ticket(duration=timedelta(hours=24))) is None
    assert told(one_day, ticket(duration=timedelta(hours=25))) == (
        "Quota team: spec.hard[max-duration]: wanted 25h, at most 24h"
    )
    assert told(one_day, ticket(duration=None)) == (
        "Quota team: spec.hard[max-duration]: wanted without end, at most 24h"
    )
    assert told(one_day, Demand(_in("shop"))) is None


def test_a_namespace_has_its_share_and_no_more() -> None:
    share = QuotaShare("shop", Ceiling({"reserved.cpu": 4000}, timedelta(hours=2)))
    shared = replace(
        quota(cpu=10), shares=(share, QuotaShare("mill", Ceiling({"reserved.cpu": 0})))
    )
    assert told(shared, ticket(4)) is None
    assert told(shared, ticket(5)) == (
        "Quota team: spec.allocation[shop].limits[reserved.cpu]: used 0, wanted 5 more, at most 4"
    )
    too_long = told(shared, ticket(1, duration=timedelta(hours=3)))
    assert too_long is not None
    assert "spec.allocation[shop].limits[max-duration]" in too_long


def test_a_share_counts_its_own_namespace_only() -> None:
    shared = replace(quota(cpu=10), shares=(QuotaShare("shop", Ceiling({"reserved.cpu": 4000})),))
    everywhere, here = taken(ticket(8)), taken(ticket(1))
    assert exceeded("team", bounds(shared, NIGHT), ticket(2), everywhere, here) is None
    assert exceeded("team", bounds(shared, NIGHT), ticket(3), everywhere, here) == Exceeded(
        "team", "spec.hard", "reserved.cpu", 8000, 3000, 10000
    )


@pytest.mark.parametrize(
    ("scope", "namespace", "labels", "namespace_labels", "counts"),
    [
        (Scope("Cluster"), "shop", {}, {}, True),
        (Scope("NamespaceList", ("shop", "shop")), "shop", {}, {}, True),
        (Scope("NamespaceList", ("shop",)), "mill", {}, {}, False),
        (Scope("NamespaceSelector", selector=TEAM), "shop", {}, {"team": "a"}, True),
        (Scope("NamespaceSelector", selector=TEAM), "shop", {"team": "a"}, {}, False),
        (Scope("ObjectSelector", selector=TEAM), "shop", {"team": "a"}, {}, True),
        (Scope("ObjectSelector", selector=TEAM), "shop", {}, {"team": "a"}, False),
        (Scope("Galaxy"), "shop", {}, {}, False),
    ],
)
def test_each_scope_counts_what_it_names(
    scope: Scope,
    namespace: str,
    labels: dict[str, str],
    namespace_labels: dict[str, str],
    counts: bool,
) -> None:
    assert applies(scope, Demand(_in(namespace), labels), namespace_labels) is counts


def test_a_window_scales_what_may_be_reserved_while_it_is_open() -> None:
    scaled = replace(quota(cpu=10), windows=(OFFICE,))
    assert told(scaled, ticket(6), now=NIGHT) is None
    assert told(scaled, ticket(6), now=DAY) == (
        "Quota team: spec.hard[reserved.cpu]: used 0, wanted 6 more, at most 5"
    )
    assert (bounds(scaled, DAY).window, bounds(scaled, NIGHT).window) == ("office", "")


def test_a_window_scales_neither_counts_nor_durations() -> None:
    plain = quota(orders=4, tickets=7, longest=HOUR)
    scaled = bounds(replace(plain, windows=(OFFICE,)), DAY)
    assert scaled.hard == plain.hard


def test_scaled_limits_are_whole_and_rounded_down() -> None:
    gpus = replace(quota(), hard=Ceiling({"reserved.nvidia.com/gpu": 3}))
    third = TimeWindow("third", parse_hours("* * * * *"), Fraction("0.7"))
    assert bounds(replace(gpus, windows=(third,)), DAY).hard.amounts == {
        "reserved.nvidia.com/gpu": 2
    }


def test_shares_are_scaled_too() -> None:
    share = QuotaShare("shop", Ceiling({"reserved.cpu": 4000, "tickets": 3}))
    scaled = bounds(replace(quota(cpu=10), shares=(share,), windows=(OFFICE,)), DAY)
    assert scaled.shares[0].ceiling.amounts == {"reserved.cpu": 2000, "tickets": 3}


def test_of_several_open_windows_the_first_in_the_list_counts() -> None:
    noon = TimeWindow("noon", parse_hours("0 12 * * *"), Fraction(3))
    assert bounds(replace(quota(cpu=10), windows=(noon, OFFICE)), DAY).window == "noon"
    assert bounds(replace(quota(cpu=10), windows=(OFFICE, noon)), DAY).window == "office"


def test_the_next_look_is_at_the_next_turn_of_a_window() -> None:
    assert next_look(quota(cpu=1), DAY) is None
    closes = datetime(2027, 1, 4, 18, tzinfo=UTC)
    assert next_look(replace(quota(cpu=1), windows=(OFFICE,)), DAY) == closes


def test_what_is_over_its_limit_is_found_in_order() -> None:
    limits = QuotaBounds(
        Ceiling({"tickets": 1, "orders": 5}), (QuotaShare("shop", Ceiling({"orders": 1})),)
    )
    used = Resources({"tickets": 2, "orders": 3})
    assert list(surpassed(limits, used, {"shop": used})) == [
        ("spec.hard", "tickets", 2, 1),
        ("spec.allocation[shop].limits", "orders", 3, 1),
    ]


@pytest.mark.parametrize(
    ("name", "number", "text"),
    [
        ("reserved.cpu", 1500, "1500m"),
        ("reserved.memory", 2**31, "2Gi"),
        ("reserved.nvidia.com/gpu", 3, "3"),
        ("tickets", 100, "100"),
        ("max-duration", 18060, "5h1m"),
    ],
)
def test_numbers_are_told_as_people_write_them(name: str, number: int, text: str) -> None:
    assert spelled(name, number) == text
