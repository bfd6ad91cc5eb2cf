"""Vectors of resources: absent is zero, and sums are exact."""

from __future__ import annotations

import pytest

from headroom.core.resources import EMPTY, Resources
from tests.builders import resources


def test_what_is_absent_counts_as_zero() -> None:
    assert resources(cpu=1)["memory"] == 0
    assert EMPTY["cpu"] == 0


def test_a_name_with_zero_is_the_same_as_no_name() -> None:
    assert Resources({"cpu": 0}) == EMPTY
    assert hash(Resources({"cpu": 0})) == hash(EMPTY)
    assert "cpu" not in Resources({"cpu": 0})


def test_adding_and_taking_away_go_name_by_name() -> None:
    total = resources(1, "1Gi") + resources("500m") + resources(pods=1)
    assert total == resources("1500m", "1Gi", pods=1)
    assert total - resources("500m", "1Gi") == resources(1, pods=1)


def test_so_many_of_a_kind_ask_for_as_many_times_as_much() -> None:
    assert resources(2, "1Gi", pods=1) * 3 == resources(6, "3Gi", pods=3)
    assert resources(2) * 0 == EMPTY


def test_a_difference_may_be_negative_but_a_rest_may_not() -> None:
    assert (resources(1) - resources(2))["cpu"] == -1000
    assert resources(1).minus(resources(2, "1Gi")) == EMPTY


def test_the_largest_of_two_is_taken_by_name() -> None:
    assert resources(2, "1Gi").largest(resources(1, "2Gi")) == resources(2, "2Gi")


def test_at_most_what_another_has_is_taken_by_name_and_what_it_lacks_is_left_out() -> None:
    asked, room = resources(2, "1Gi", pods=1), resources(1, "2Gi")
    assert asked.at_most(room) == resources(1, "1Gi")
    assert EMPTY.at_most(room) == EMPTY
    assert asked.at_most(EMPTY) == EMPTY


def test_only_the_named_resources_are_kept() -> None:
    assert resources(2, "1Gi").only(frozenset({"cpu"})) == resources(2)


def test_one_resource_can_be_left_out() -> None:
    assert resources(2, "1Gi", pods=1).without("pods") == resources(2, "1Gi")
    assert resources(2).without("pods") == resources(2)


@pytest.mark.parametrize(
    ("asked", "fits"),
    [(EMPTY, True), (resources(2), True), (resources(3), False), (resources(1, 1), False)],
)
def test_what_fits_is_at_most_the_room_in_every_name(asked: Resources, fits: bool) -> None:
    assert asked.fits_in(resources(2)) is fits


def test_a_request_of_nothing_fits_where_nothing_is_free() -> None:
    assert Resources({"cpu": 0}).fits_in(resources(1) - resources(2))


def test_a_vector_shows_its_amounts_in_order() -> None:
    assert repr(Resources({"memory": 2, "cpu": 1})) == "Resources(cpu=1, memory=2)"
