"""A learnt size beside others, on a trace of two days."""

from __future__ import annotations

from bench.promise import AS_IT_IS, Trace, left_out, line, parts, ways


def test_each_row_is_judged_and_ours_beats_a_fixed_size_on_a_peak_that_repeats() -> None:
    came = [
        (float(day * 86400 + hour * 3600 + second), 1)
        for day in range(2)
        for hour in range(24)
        for second in range(0, 120, 2)
    ]
    trace = Trace("peaks", came)
    found = {name: (name, outcome) for name, outcome in ways(trace, 90.0, 0.9)}
    assert list(found) == [
        "oracle static",
        "percent of usage",
        "hourly quantile",
        "mean and misses",
        "ours",
        "hindsight per hour",
        "ours, from nothing",
    ]
    assert found["ours"][1].idle < found["oracle static"][1].idle
    assert len(line(trace, found["ours"], 90.0, 0.9).split()) == 8


def test_parts_of_a_trace_are_judged_one_by_one_without_the_first() -> None:
    trace = Trace("steady", [(float(second), 1) for second in range(0, 86400, 60)])
    found = list(parts(trace, 90.0, 0.9, 3))
    assert [name for name, _ in found] == [
        f"{name}, part {number} of 3" for name in ("mean and misses", "ours") for number in (2, 3)
    ]
    assert all(outcome.pods == 480 for _, outcome in found)


def test_each_trace_is_told_what_the_setting_that_the_others_choose_comes_to_on_it() -> None:
    scores = {
        "one": {AS_IT_IS: -0.5, "half x": -0.6, "double x": -0.1},
        "two": {AS_IT_IS: -0.5, "half x": -0.2, "double x": -0.7},
    }
    told = list(left_out(scores))
    assert "chosen by the others: 10 % less (double x); 39 % less (as it is)" in told[0]
    assert told[0].endswith("best: 45 % less (half x)")
    assert "18 % less (half x)" in told[1]
    assert not list(left_out({"one": scores["one"]}))
