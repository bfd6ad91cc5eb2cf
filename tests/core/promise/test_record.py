"""What was learnt, written down and read again."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from headroom.core.promise.lead_times import LONGEST
from headroom.core.promise.record import MOST_TEXT, OLDER, TITLE, Damaged, History, read, written
from headroom.core.promise.stock import MOST_SLOTS, called_for, stock
from tests.core.promise.arrivals import HOUR, scattered, serve


def learnt(hours: float = 6) -> History:
    history = History(stock(0.99))
    serve(history.stock, scattered(lambda _: 0.05), hours * HOUR)
    history.achieved.count(hours * HOUR, 30, 2)
    history.leads.note(88.0)
    return history


def test_a_record_that_is_read_again_gives_the_same_sizes_and_counts() -> None:
    history = learnt()
    again = read(written(history), 0.99)
    now = 6 * HOUR
    assert again.stock.size(now, 90.0).slots == history.stock.size(now, 90.0).slots
    assert again.achieved.share("day", now) == history.achieved.share("day", now)
    assert again.leads.lead() == 88.0
    assert written(again).count("\n") == written(history).count("\n")


def test_a_record_stays_small_and_is_made_of_short_words_and_numbers() -> None:
    text = written(learnt(26))
    assert text.startswith(TITLE)
    assert len(text) < MOST_TEXT / 2
    assert max(len(line.partition(":")[0]) for line in text.splitlines()) < 40


def test_with_another_ratio_what_was_learnt_counts_and_feedback_does_not() -> None:
    history = learnt()
    history.stock.learner.leaning = -1.0
    again = read(written(history), 0.999)
    assert again.stock.learner.leaning == 0.0
    assert again.stock.learner.factors.seen() == pytest.approx(
        history.stock.learner.factors.seen(), rel=1e-3
    )


def test_a_record_of_the_version_before_is_gone_on_with() -> None:
    history = learnt()
    lines = dict(line.split(":", 1) for line in written(history).splitlines()[1:])
    weights, products = lines["weights"].split(), lines["products"].split()
    squares = lines["squares"].split()
    count = len(weights)
    shorter = [" ".join(squares[row * count : (row + 1) * count - 1]) for row in range(count - 1)]
    lines |= {
        "weights": " ".join(weights[:-1]),
        "products": " ".join(products[:-1]),
        "squares": " ".join(shorter),
        "feedback": "3 4 -0.5",
    }
    again = read("\n".join((OLDER, *(f"{name}: {told}" for name, told in lines.items()))), 0.99)
    assert again.stock.learner.leaning == -0.5
    assert again.stock.learner.weighing.weights == [*map(float, weights[:-1]), 0.0]
    serve(again.stock, scattered(lambda _: 0.05), 8 * HOUR, start=6 * HOUR)
    assert again.stock.size(8 * HOUR, 90.0).slots > 1


@pytest.mark.parametrize(
    "spoil",
    [
        lambda text: "",
        lambda text: text.replace("version 2", "version 9"),
        lambda text: text.replace("version 2", "version 1"),
        lambda text: text[: len(text) // 2],
        lambda text: text.replace("mean: ", "mean: nan "),
        lambda text: text.replace("mean: ", "mean: inf "),
        lambda text: text.replace("mean: ", "mean: many "),
        lambda text: text.replace("averages: ", "averages: 1 "),
        lambda text: text + "\nno name here",
        lambda text: text.replace("\nleads: 88", ""),
        lambda text: text.replace("needed: ", "needed: 999 "),
        lambda text: text.replace("needed: ", "needed: 9999 1 "),
        lambda text: text.replace("\nat: ", "\nat: 1 "),
        lambda text: text + "x" * MOST_TEXT,
        lambda text: text.replace("seen: ", "seen: -"),
        lambda text: text.replace("pods: ", "pods: -"),
    ],
)
def test_a_damaged_record_is_refused_in_words(spoil: Callable[[str], str]) -> None:
    with pytest.raises(Damaged) as refused:
        read(spoil(written(learnt(1))), 0.99)
    assert str(refused.value)


def test_a_record_from_a_time_that_is_yet_to_come_is_gone_on_with() -> None:
    history = read(written(learnt()), 0.99)
    history.stock.learner.resume(HOUR)
    history.stock.observe(2 * HOUR, 1, 0, 90.0)
    assert history.stock.learner.at == 2 * HOUR
    assert history.stock.size(2 * HOUR, 90.0).slots >= 1


def test_numbers_beyond_all_measure_make_no_more_slots_than_a_headroom_may_have() -> None:
    text = written(learnt()).replace("averages: ", "averages: 99999999")
    history = read(text, 0.99)
    assert history.stock.size(6 * HOUR, 90.0).slots <= 100_000


def test_when_sizes_were_called_for_is_remembered_to_the_second() -> None:
    history = learnt()
    history.stock.trail.clear()
    history.stock.trail.append((1_795_123_456.25, 7))
    ((at, slots),) = read(written(history), 0.99).stock.trail
    assert at == pytest.approx(1_795_123_456.25, abs=1.0)
    assert slots == 7


def test_a_record_of_sizes_that_fell_for_long_stays_small() -> None:
    history = learnt(1)
    for second in range(20_000):
        own = history.stock
        own.trail = called_for(own.trail, float(second), 20_000 - second, keep=1e9)
    text = written(history)
    assert len(text) <= MOST_TEXT / 2
    assert read(text, 0.99).stock.trail[0][1] == 20_000


def test_lead_times_and_sizes_of_a_record_are_within_their_bounds() -> None:
    text = written(learnt()).replace("leads: 88", "leads: 1e14")
    text = re.sub("sizes: .*", "sizes: 1e14 1e14", text)
    history = read(text, 0.99)
    assert history.leads.lead() == LONGEST
    assert history.stock.size(7 * HOUR, history.leads.lead()).slots <= MOST_SLOTS
    assert history.stock.size(30 * HOUR, 90.0).slots < MOST_SLOTS
