"""Log lines: an object and a namespace may cause so many, and a summary tells of the rest."""

from __future__ import annotations

import io
import json

import pytest

from headroom.core.actions import CreateGuardian, Denied
from headroom.core.resources import EMPTY
from headroom.runtime.http import Health
from headroom.runtime.loglimits import MOST_TRACKED, NAMESPACE_LINES, OBJECT_LINES, LogLimits
from headroom.runtime.logs import LogEvent, configure, get_logger, tell_suppressed
from headroom.runtime.metrics import Metrics
from headroom.runtime.reporter import LiveReport
from tests.builders import hold


class Hand:
    """A clock that is moved by hand."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def lines(stream: io.StringIO) -> list[dict[str, object]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def logging() -> tuple[io.StringIO, LogLimits, Hand]:
    stream, hand = io.StringIO(), Hand()
    limits = configure("info", stream=stream)
    limits.clock = hand
    return stream, limits, hand


def refuse(about: str, times: int = 1) -> None:
    for _ in range(times):
        get_logger().error(LogEvent.DENIED, about=about, why="exceeded quota")


def test_one_object_writes_its_lines_and_then_a_summary_says_how_many_more() -> None:
    stream, limits, hand = logging()
    refuse("Hold/loud/h", OBJECT_LINES[0] + 7)
    assert len(lines(stream)) == OBJECT_LINES[0]
    tell_suppressed(limits)
    told = lines(stream)[-1]
    assert (told["event"], told["lines"], told["where"]) == ("suppressed", "denied", "loud")
    assert told["more"] == 7
    tell_suppressed(limits)
    assert len(lines(stream)) == OBJECT_LINES[0] + 1  # Said once.
    hand.now = 1 / OBJECT_LINES[1]
    refuse("Hold/loud/h")
    assert lines(stream)[-1]["event"] == "denied"


def test_one_namespace_writes_its_lines_and_does_not_use_up_anothers() -> None:
    stream, limits, _ = logging()
    for n in range(NAMESPACE_LINES[0] + 50):
        refuse(f"Hold/loud/h{n}")
    assert len(lines(stream)) == NAMESPACE_LINES[0]
    refuse("Hold/calm/h")
    assert lines(stream)[-1]["about"] == "Hold/calm/h"
    assert limits.summaries() == [("denied", "loud", 50)]


def test_a_line_that_names_only_a_namespace_counts_like_one_object() -> None:
    stream, limits, _ = logging()
    for _ in range(OBJECT_LINES[0] + 5):
        get_logger().warning("review_unreadable", namespace="loud", problem="odd")
    assert len(lines(stream)) == OBJECT_LINES[0]
    assert limits.summaries() == [("review_unreadable", "loud", 5)]


def test_what_a_person_must_see_and_what_names_no_object_is_never_dropped() -> None:
    stream, _, _ = logging()
    for _ in range(3 * NAMESPACE_LINES[0]):
        get_logger().error(LogEvent.BUG, owner="loud/p")
        get_logger().info(LogEvent.SYNCED)
    assert len(lines(stream)) == 6 * NAMESPACE_LINES[0]


def test_the_memory_of_the_limits_is_bounded() -> None:
    _, limits, _ = logging()
    for n in range(MOST_TRACKED + 100):
        refuse(f"Hold/ns-{n}/h")
    assert len(limits._objects) == len(limits._namespaces) == MOST_TRACKED


@pytest.mark.parametrize(
    "about", ["Hold/loud/h#3", "loud/p", "pod loud/p", "hold Hold/loud/h", "Hold/loud/h: Held"]
)
def test_every_way_to_name_an_object_finds_its_namespace(about: str) -> None:
    _, limits, _ = logging()
    refuse(about, OBJECT_LINES[0] + 1)
    assert limits.summaries() == [("denied", "loud", 1)]


def test_a_handover_counts_for_its_hold() -> None:
    stream, limits, _ = logging()
    for n in range(OBJECT_LINES[0] + 2):
        about = ("node a", f"pod loud/p{n}", "hold Hold/loud/h")
        get_logger().warning(LogEvent.HANDOVER_FAILED, about=about)
    assert len(lines(stream)) == OBJECT_LINES[0]
    assert limits.summaries() == [("handover_failed", "loud", 2)]


def test_a_guardian_that_is_refused_counts_for_its_parent() -> None:
    stream, limits, _ = logging()
    chronicle = LiveReport(Metrics("1"), Health(), lambda: None)
    for n in range(OBJECT_LINES[0] + 5):
        action = CreateGuardian(f"h-{n}", hold("h"), EMPTY)
        chronicle.acted(action, Denied("exceeded quota"))
    assert {line["about"] for line in lines(stream)} == {"Hold/default/h"}
    assert limits.summaries() == [("denied", "default", 5)]
