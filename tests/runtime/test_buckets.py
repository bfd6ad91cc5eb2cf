"""Paces of many names: each has its own, and those that rest cost no memory."""

from __future__ import annotations

from headroom.runtime.buckets import Buckets


def test_each_name_has_a_pace_of_its_own() -> None:
    buckets = Buckets(at_once=2, per_second=1.0, most=10)
    assert [buckets.take("loud", 0.0) for _ in range(3)] == [True, True, False]
    assert buckets.take("calm", 0.0)
    assert buckets.take("loud", 1.0)
    assert not buckets.take("loud", 1.0)


def test_a_name_that_may_do_as_much_as_at_first_is_forgotten() -> None:
    buckets = Buckets(at_once=10, per_second=1.0, most=1000)
    for number in range(500):
        buckets.take(f"object-{number}", float(number))
    assert len(buckets) <= 2  # One that was used a second ago is full again.
    for _ in range(10):
        buckets.take("loud", 500.0)
    for number in range(9):
        buckets.take(f"other-{number}", 501.0 + number)
    assert not all(buckets.take("loud", 509.0) for _ in range(10))


def test_of_names_that_come_together_so_many_are_remembered() -> None:
    buckets = Buckets(at_once=1, per_second=0.001, most=100)
    for number in range(150):
        assert buckets.take(f"object-{number}", 0.0)
    assert len(buckets) == 100
    assert not buckets.take("object-149", 0.0)
