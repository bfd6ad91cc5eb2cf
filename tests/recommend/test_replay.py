"""Arrivals of the past against policies: the shelf, the fit, and what comes out of it."""

from __future__ import annotations

from random import Random

import pytest

from headroom.core.promise.stock import stock
from headroom.recommend.base_stock import BaseStock
from headroom.recommend.policies import ByHour, FixedSizing, Promised, ShareSizing, needs_of
from headroom.recommend.policy_fit import fit
from headroom.recommend.recommendation import Sureness, choose, next_nine
from headroom.recommend.replay import replay
from headroom.recommend.study import Past, Question, Sizing, study

LEAD = 90.0
HOUR, DAY = 3600, 86400
Arrivals = list[tuple[float, int]]


def steady(days: float, gap: int, pods: int = 1) -> Arrivals:
    return [(float(second), pods) for second in range(0, int(days * DAY), gap)]


def daily(days: int, seed: int = 1) -> Arrivals:
    """Ten times as many by day as by night, by chance."""
    chance = Random(seed)
    found = []
    for second in range(0, days * DAY, 5):
        rate = 0.10 if 8 <= second % DAY // HOUR < 18 else 0.01
        pods = sum(chance.random() < rate for _ in range(5))
        if pods:
            found.append((float(second), pods))
    return found


def past(arrivals: Arrivals) -> Past:
    return Past([second for second, _ in arrivals], [pods for _, pods in arrivals])


def test_a_slot_that_is_taken_comes_back_after_the_lead_time() -> None:
    shelf = BaseStock(LEAD, held=2)
    assert shelf.take(2) == 2
    shelf.advance(89.0)
    assert (shelf.held, shelf.coming) == (0, 2)
    shelf.advance(90.0)
    assert shelf.take(1) == 1
    assert (shelf.held, shelf.coming) == (1, 1)


def test_a_pod_that_found_no_slot_takes_the_next_one_and_another_is_ordered_for_it() -> None:
    shelf = BaseStock(LEAD, held=2)
    assert shelf.take(3) == 2
    shelf.advance(10.0)
    assert shelf.take(1) == 0
    assert (shelf.held, shelf.coming, shelf.waiting) == (0, 4, 2)
    shelf.advance(90.0)
    assert (shelf.held, shelf.coming, shelf.waiting) == (1, 1, 0)
    shelf.advance(100.0)
    assert (shelf.held, shelf.coming, shelf.waiting) == (2, 0, 0)


@pytest.mark.slow
def test_a_fixed_size_serves_a_pod_when_fewer_than_that_came_in_the_lead_time_before_it() -> None:
    """The definition of base stock, counted without a shelf; `fit` finds sizes by it too."""
    chance = Random(5)
    moments = sorted({chance.randrange(DAY) for _ in range(4000)})
    arrivals = [(float(moment), chance.randint(1, 4)) for moment in moments]
    for slots in (3, 8, 15):
        hits = 0
        for now, pods in arrivals:
            before = sum(count for at, count in arrivals if now - LEAD < at < now)
            hits += min(pods, max(0, slots - before))
        outcome = replay(FixedSizing(slots), LEAD, 0.0).play(arrivals, 0.0, float(DAY))
        assert outcome.hits == hits


def test_a_smaller_size_keeps_the_orders_of_pods_that_wait() -> None:
    shelf = BaseStock(LEAD, held=1)
    shelf.take(3)
    shelf.resize(0)
    assert (shelf.held, shelf.coming, shelf.waiting) == (0, 2, 2)
    shelf.advance(90.0)
    assert (shelf.held, shelf.coming, shelf.waiting) == (0, 0, 0)


def test_pods_that_come_all_at_once_right_after_a_step_find_what_was_learnt_for_them() -> None:
    """A size is held a lead time after its step began, and serves the step that begins then."""
    each = [(float(second + 3), 12) for second in range(0, 4 * DAY, HOUR // 4)]
    playing = replay(Promised(stock(0.99), 30.0), 30.0, 0.0)
    playing.play(each[:96], 0.0, float(DAY))
    outcome = playing.play(each[96:], float(DAY), 4.0 * DAY)
    assert outcome.ratio >= 0.99


def test_slots_that_are_too_many_go_back_the_latest_orders_first() -> None:
    shelf = BaseStock(LEAD, held=3)
    shelf.take(2)
    shelf.resize(6)
    assert (shelf.held, shelf.coming) == (1, 5)
    shelf.resize(2)
    assert (shelf.held, shelf.coming) == (1, 1)
    shelf.resize(0)
    assert (shelf.held, shelf.coming, list(shelf.orders)) == (0, 0, [])


def test_held_time_counts_every_slot_for_as_long_as_it_is_held() -> None:
    shelf = BaseStock(LEAD, held=2)
    shelf.advance(10.0)
    shelf.take(1)
    shelf.advance(200.0)
    assert shelf.held_time == 2 * 10.0 + 1 * 90.0 + 2 * 100.0


def test_a_fixed_size_serves_all_who_come_in_a_lead_time_or_everybody_is_late() -> None:
    arrivals = steady(1, 10)  # Nine in each lead time.
    for size, ratio in ((9, 1.0), (5, 0.0)):
        outcome = replay(FixedSizing(size), LEAD, 0.0).play(arrivals, 0.0, float(DAY))
        assert outcome.ratio == pytest.approx(ratio, abs=0.001)
    assert fit(arrivals, LEAD, 600.0).fixed(0.99) == 9


def test_hours_that_were_not_looked_at_have_the_size_of_all() -> None:
    arrivals = [(float(second), 1) for second in range(0, 2 * HOUR, 30)]
    hours = fit([*arrivals, (3.5 * HOUR, 1)], LEAD, 600.0).by_hour(0.9)
    assert hours == (3, 3, 0, 1, *(3 for _ in range(20)))


def test_needs_say_which_size_suffices_for_which_part() -> None:
    needs = needs_of({1: 2, 3: -1, 5: -1})  # Two pods need 1 and 2, one needs 3 and one 4.
    assert [needs.enough(ratio) for ratio in (0.3, 0.66, 0.8, 1.0)] == [1, 2, 3, 4]
    assert needs_of({}).enough(0.99) == 0


def test_a_policy_by_the_hour_orders_a_lead_time_ahead() -> None:
    policy = ByHour([0] * 8 + [5] * 10 + [0] * 6, LEAD)
    assert policy.size(8 * HOUR - 91.0) == 0
    assert policy.size(8 * HOUR - 90.0) == 5
    assert policy.size(18.0 * HOUR) == 0


def test_a_share_follows_what_runs() -> None:
    policy = ShareSizing(20.0, 600.0)
    policy.came(0.0, 11, 0)
    assert policy.size(10.0) == 3
    assert policy.size(600.0) == 0


def test_nothing_is_decided_from_what_is_still_to_come() -> None:
    early = daily(1)
    other = [*early, *((1.0 * DAY + second, pods * 7) for second, pods in daily(1, seed=9))]
    same = [*early, *((1.0 * DAY + second, pods) for second, pods in daily(1, seed=9))]
    sizes = []
    for arrivals in (other, same):
        outcome = replay(Promised(stock(0.99), LEAD), LEAD, 0.0).play(arrivals, 0.0, 2.0 * DAY)
        seconds, slots = outcome.sizes
        sizes.append([each for each in zip(seconds, slots, strict=True) if each[0] <= DAY])
    assert sizes[0] == sizes[1]


@pytest.mark.e2e
def test_a_study_judges_only_what_it_was_not_fitted_to() -> None:
    arrivals = daily(2)
    found = study(past(arrivals), Question(0.95, LEAD, 1.0 * DAY, 600.0))
    for row in found.rows.values():
        assert row.outcome.pods == sum(pods for second, pods in arrivals if second >= DAY)
        assert 0.0 <= row.outcome.worst_day() <= row.outcome.ratio <= 1.0
    assert list(found.curve) == [0.9, 0.95, 0.99, 0.999]
    adaptive = [found.curve[promise][Sizing.ADAPTIVE].outcome for promise in found.curve]
    assert adaptive[0].idle < adaptive[2].idle < adaptive[3].idle


@pytest.mark.e2e
def test_the_policy_that_leaves_the_least_unused_is_recommended() -> None:
    found = study(past(daily(4)), Question(0.95, LEAD, 2.0 * DAY, 600.0))
    choice = choose(found)
    kept = [kind for kind in Sizing if found.rows[kind].outcome.ratio >= 0.95]
    assert choice.kept
    assert choice.kind in kept
    assert choice.kind is not Sizing.STATIC
    upcoming = next_nine(found, choice.kind)
    assert upcoming is not None
    assert upcoming[0] == 0.999


def test_a_steady_load_needs_nothing_clever() -> None:
    choice = choose(study(past(steady(0.5, 10)), Question(0.99, LEAD, 20000.0, 600.0)))
    assert choice.kind is Sizing.STATIC


def test_few_pods_and_little_time_make_a_recommendation_unsure() -> None:
    choice = choose(study(past(steady(0.1, 100)), Question(0.99, LEAD, 4000.0, 600.0)))
    assert choice.sure is Sureness.LOW
    told = " ".join(choice.why)
    assert "not even one day" in told
    assert "say little about 0.99" in told


def test_bursts_out_of_silence_are_named() -> None:
    arrivals = [(5000.0 * number, number * number) for number in range(1, 14)]
    found = study(past(arrivals), Question(0.99, LEAD, 30000.0, 600.0))
    choice = choose(found, Sizing.ADAPTIVE)
    assert not choice.kept
    assert choice.sure is Sureness.LOW
    assert "silence: no past foretells those" in " ".join(choice.why)


def test_an_outcome_without_pods_has_kept_every_promise() -> None:
    outcome = replay(FixedSizing(3), LEAD, 0.0).play([], 0.0, 100.0)
    assert (outcome.ratio, outcome.worst_day(), outcome.idle) == (1.0, 1.0, 3.0)
