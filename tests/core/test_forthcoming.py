"""Demand that is certain already, read from workloads."""

from __future__ import annotations

import pytest

from headroom.core.headrooms.announced_pods import job_size, missing


@pytest.mark.parametrize(
    ("completions", "parallelism", "succeeded", "size"),
    [
        (None, None, 0, 1),
        (1, 1, 0, 1),
        (10, 5, 6, 4),
        (10, 5, 2, 5),
        (1, 10, 0, 1),
        (None, 5, 2, 0),
        (None, 5, 0, 5),
        (10, 5, 10, 0),
        (10, 5, 11, 0),
    ],
)
def test_a_job_wants_what_is_left_to_do_at_once(
    completions: int | None, parallelism: int | None, succeeded: int, size: int
) -> None:
    assert job_size(parallelism, completions, succeeded) == size


def test_what_a_workload_misses_is_to_come() -> None:
    assert missing(desired=10, present=2) == 8
    assert missing(desired=10, present=10) == 0
    assert missing(desired=10, present=12) == 0


def test_pods_made_in_order_come_one_by_one() -> None:
    assert missing(desired=10, present=2, in_order=True) == 1
    assert missing(desired=2, present=2, in_order=True) == 0


def test_nobody_believes_a_workload_that_is_refused_its_pods() -> None:
    assert missing(desired=10, present=2, refused=True) == 0
