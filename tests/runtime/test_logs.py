"""A machine reads JSON, a person reads prose."""

from __future__ import annotations

import io
import json
import re

import pytest

from headroom.core.objects import Key
from headroom.runtime.logs import LONGEST_VALUE, LogEvent, configure, get_logger


def test_a_pipe_gets_one_json_object_a_line() -> None:
    stream = io.StringIO()
    configure("info", stream=stream)
    get_logger(replica="a").info(LogEvent.SLOT_HELD, hold=Key("ml", "nightly"), node="n1", took=0.2)
    line = json.loads(stream.getvalue())
    assert line.pop("ts").endswith("Z")
    assert line == {
        "replica": "a",
        "hold": "ml/nightly",
        "node": "n1",
        "took": 0.2,
        "event": "slot_held",
        "level": "info",
    }


def test_prose_names_the_event_and_its_facts() -> None:
    stream = io.StringIO()
    configure("info", form="prose", stream=stream)
    get_logger().info(LogEvent.CLAIMED, owner=Key("ml", "train-0"))
    assert "claimed" in stream.getvalue()
    assert "owner=ml/train-0" in stream.getvalue()


def test_what_is_below_the_level_is_not_written() -> None:
    stream = io.StringIO()
    configure("warning", stream=stream)
    get_logger().info(LogEvent.PLAN)
    assert stream.getvalue() == ""


@pytest.mark.parametrize("form", ["prose", "json"])
def test_nothing_that_others_wrote_controls_the_terminal(form: str) -> None:
    stream = io.StringIO()
    configure("info", form=form, stream=stream)
    hostile = "a\x1b[31m\x07\u202e\x9b\x7f"
    try:
        raise ValueError(hostile)
    except ValueError as error:
        get_logger(pod=hostile).info(
            LogEvent.BUG, names=[hostile], facts={hostile: hostile}, error=error, exc_info=True
        )
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", stream.getvalue())
    if form == "json":
        assert json.loads(stream.getvalue())["names"] == [hostile]


def test_a_value_without_end_is_cut() -> None:
    stream = io.StringIO()
    configure("info", stream=stream)
    get_logger().info(LogEvent.SYNCED, why="x" * 1_000_000)
    assert len(json.loads(stream.getvalue())["why"]) == LONGEST_VALUE
