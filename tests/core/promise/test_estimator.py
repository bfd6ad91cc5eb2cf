"""The size that a promise needs, learnt from arrivals."""

from __future__ import annotations

from collections import deque
from math import pi, sin

from headroom.core.promise.stock import (
    KNOWN,
    LEARNT,
    LEAST,
    MOST,
    MOST_CALLS,
    MOST_SLOTS,
    STARTING,
    StockBounds,
    called_for,
    stock,
)
from tests.core.promise.arrivals import DAY, HOUR, MINUTE, scattered, serve, steady


def test_a_promise_is_kept_within_a_day_of_starting_from_nothing() -> None:
    served = serve(stock(0.99), scattered(lambda _: 0.05), DAY / 2)
    assert served.ratio >= 0.98
    assert max(served.sizes) < 40


def test_the_size_follows_a_demand_that_rises_and_falls_with_the_day() -> None:
    demand = scattered(lambda now: 0.05 * (1 - sin(2 * pi * now / DAY)) + 0.001)
    learnt = stock(0.99)
    serve(learnt, demand, DAY)
    again = serve(learnt, demand, 2 * DAY, start=DAY)
    hour = int(HOUR / 10)
    quiet, busy = again.sizes[6 * hour], again.sizes[18 * hour]
    assert again.ratio >= 0.985
    assert busy > 2 * quiet > 0


def test_a_higher_promise_costs_more_slots() -> None:
    means = []
    for ratio in (0.9, 0.99, 0.999):
        learnt = stock(ratio)
        demand = scattered(lambda _: 0.05)
        sizes = serve(learnt, demand, DAY / 2).sizes[2000:]
        means.append(sum(sizes) / len(sizes))
    assert means[0] < means[1] < means[2]


def test_a_peak_at_the_same_minute_of_each_hour_is_met() -> None:
    def demand(now: float) -> int:
        return 10 if now % HOUR == 30 * MINUTE else 0

    learnt = stock(0.99)
    serve(learnt, demand, DAY)
    again = serve(learnt, demand, 1.5 * DAY, start=DAY)
    assert again.ratio >= 0.95


def test_growth_counts_at_once_and_a_size_is_given_back_only_after_the_release_time() -> None:
    learnt = stock(0.99)
    bounds = StockBounds(release_after=600.0)
    serve(learnt, steady(30.0), 6 * HOUR, bounds=bounds)
    before = learnt.size(6 * HOUR, 90.0, bounds).slots
    learnt.observe(6 * HOUR + 10, 40, 40, 90.0)
    learnt.observe(6 * HOUR + 20, 0, 0, 90.0)
    high = learnt.size(6 * HOUR + 20, 90.0, bounds).slots
    assert high > before
    after = serve(learnt, steady(30.0), 8 * HOUR, bounds=bounds, start=6 * HOUR + 20)
    assert min(after.sizes[:59]) >= high
    assert after.sizes[-1] < high


def test_before_anything_came_there_is_one_slot_so_that_the_lead_time_is_measured() -> None:
    sized = stock(0.99).size(0.0, 90.0)
    assert (sized.slots, sized.term) == (1, STARTING)


def test_what_is_known_to_come_counts_where_it_is_more_than_what_was_learnt() -> None:
    learnt = stock(0.99)
    serve(learnt, steady(60.0), 3 * HOUR)
    assert learnt.size(3 * HOUR, 90.0).term == LEARNT
    sized = learnt.size(3 * HOUR, 90.0, StockBounds(known=50))
    assert (sized.slots, sized.term) == (50, KNOWN)


def test_bounds_are_kept_and_told() -> None:
    learnt = stock(0.99)
    serve(learnt, steady(10.0), 3 * HOUR)
    high = learnt.size(3 * HOUR, 90.0, StockBounds(most=2))
    assert (high.slots, high.term) == (2, MOST)
    assert "max allows 2 of " in learnt.words(high, 90.0)
    low = learnt.size(3 * HOUR, 90.0, StockBounds(least=500))
    assert (low.slots, low.term) == (500, LEAST)


def test_the_same_history_gives_the_same_sizes() -> None:
    first = serve(stock(0.99), scattered(lambda _: 0.03), 6 * HOUR)
    second = serve(stock(0.99), scattered(lambda _: 0.03), 6 * HOUR)
    assert first.sizes == second.sizes


def test_time_that_nobody_watched_is_not_taken_for_silence() -> None:
    watched, resumed = stock(0.99), stock(0.99)
    for each in (watched, resumed):
        serve(each, steady(20.0), 6 * HOUR)
    before = resumed.size(6 * HOUR, 90.0).slots
    watched.observe(12 * HOUR, 0, 0, 90.0)
    resumed.learner.resume(12 * HOUR)
    assert resumed.size(12 * HOUR, 90.0).slots == before
    assert watched.size(12 * HOUR, 90.0).slots < before


def test_pods_that_are_announced_count_up_to_what_a_headroom_may_have() -> None:
    sized = stock(0.99).size(0.0, 60.0, StockBounds(known=2**40))
    assert (sized.slots, sized.asked) == (MOST_SLOTS, MOST_SLOTS)


def test_a_size_that_was_called_for_before_the_clock_was_set_back_is_given_back() -> None:
    own = stock(0.99)
    own.trail = called_for(own.trail, 1e9, 50, keep=100.0)
    own.trail = called_for(own.trail, 1000.0, 1, keep=100.0)
    own.trail = called_for(own.trail, 1050.0, 1, keep=100.0)
    assert own.trail[0][1] == 50
    own.trail = called_for(own.trail, 1101.0, 1, keep=100.0)
    assert own.trail[0][1] == 1


def test_of_many_falling_sizes_none_is_given_back_before_its_time() -> None:
    own, exact = stock(0.99), deque[tuple[float, int]]()
    for second in range(3000):
        slots = 5000 - second
        exact.append((float(second), slots))
        own.trail = called_for(own.trail, float(second), slots, keep=1000.0)
        while exact[0][0] <= second - 1000.0:
            exact.popleft()
        assert len(own.trail) <= MOST_CALLS
        assert exact[0][1] <= own.trail[0][1] <= exact[0][1] + 8
