"""A learnt size beside others, on a trace of two days."""

from __future__ import annotations

from bench.promise import Trace, line, rows


def test_each_row_is_judged_and_ours_beats_a_fixed_size_on_a_peak_that_repeats() -> None:
    came = [
        (float(day * 86400 + hour * 3600 + second), 1)
        for day in range(2)
        for hour in range(24)
        for second in range(0, 120, 2)
    ]
    trace = Trace("peaks", came)
    found = {name: (name, outcome, begin) for name, outcome, begin in rows(trace, 90.0, 0.9)}
    assert list(found) == [
        "oracle static",
        "percent of usage",
        "hourly quantile",
        "ours",
        "hindsight per hour",
        "ours, from nothing",
    ]
    assert found["ours"][1].idle < found["oracle static"][1].idle
    assert len(line(trace, found["ours"], 90.0, 0.9).split()) == 8
