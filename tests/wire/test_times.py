"""Times that others wrote: any of them can be added to, compared and printed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from headroom.dialects.korder.orders import decode_order
from headroom.dialects.korder.tickets import decode_ticket
from headroom.wire.durations import parse_duration
from headroom.wire.objects.holds import decode_hold
from headroom.wire.objects.reader import to_text
from headroom.wire.times import EARLIEST, LATEST, bounded, bounded_sum, format_time, parse_time
from tests.wire.objects import hold_json

LONGEST = parse_duration("2562047h47m")  # 292 years, all that a Go duration can be
EXTREMES = [
    "0001-01-01T00:00:00Z",
    "0001-01-01T00:00:00+14:00",
    "9999-12-31T23:59:59Z",
    "9999-12-31T23:59:59-12:00",
    "9999-12-31T23:59:59.999999999Z",
]


@pytest.mark.parametrize("text", EXTREMES)
def test_any_time_can_be_counted_with(text: str) -> None:
    at = parse_time(text)
    assert EARLIEST <= at <= LATEST
    for duration in (LONGEST, -LONGEST):
        assert format_time(at + 3 * duration)


def test_a_time_of_any_zone_is_kept_in_range() -> None:
    west, east = timezone(timedelta(hours=-12)), timezone(timedelta(hours=14))
    assert bounded(datetime(9999, 12, 31, 23, tzinfo=west)) == LATEST
    assert bounded(datetime(1, 1, 1, tzinfo=east)) == EARLIEST
    assert bounded(None) is None
    usual = datetime(2027, 1, 1, 5, 30, tzinfo=timezone(timedelta(hours=5, minutes=30)))
    assert bounded(usual) == datetime(2027, 1, 1, tzinfo=UTC)


def test_a_sum_that_we_wrote_reads_back_equal() -> None:
    told = LATEST + timedelta(hours=24)
    assert bounded_sum(told) == told


@pytest.mark.parametrize("text", EXTREMES)
def test_objects_with_such_times_can_be_read(text: str) -> None:
    spec = {"startTime": text, "duration": "24h", "resources": {"requests": {"cpu": "1"}}}
    metadata = {"name": "n", "namespace": "s", "uid": "u"}
    order = {"metadata": metadata, "spec": {"template": {"spec": spec}}}
    assert decode_order(to_text("Order", order)).closes is not None
    assert decode_ticket(to_text("Ticket", {"metadata": metadata, "spec": spec})).starts is not None
    hold = decode_hold(to_text("Hold", hold_json({"expires": text})))
    assert hold.expires is not None


@pytest.mark.parametrize("text", ["9" * 10_000 + "h", "1" * 10_000, "1." + "5" * 10_000 + "h"])
def test_a_duration_of_thousands_of_digits_is_refused_in_few_words(text: str) -> None:
    with pytest.raises(ValueError, match="too long") as caught:
        parse_duration(text)
    assert len(str(caught.value)) < 300
