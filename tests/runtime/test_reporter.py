"""What the driver does is told: a handover that stopped says at which write, and why."""

from __future__ import annotations

import io
import json

from headroom.core.actions import DeletePod, Done, Outcome, Stale
from headroom.core.objects import Key
from headroom.core.plan import Sequence, Work
from headroom.core.subjects import pod_subject
from headroom.runtime.http import Health
from headroom.runtime.logs import configure
from headroom.runtime.metrics import Metrics
from headroom.runtime.reporter import LiveReport

HANDOVER = Sequence(Work.DOOR1, (pod_subject(Key("ml", "train-0")),), ())


def reported(failed: tuple[tuple[DeletePod, Outcome], ...]) -> dict[str, object]:
    stream = io.StringIO()
    configure("info", stream=stream)
    LiveReport(Metrics("1"), Health(), lambda: None).finished(HANDOVER, failed, 0.25)
    told: dict[str, object] = json.loads(stream.getvalue())
    return told


def test_a_handover_that_was_completed_is_a_claim() -> None:
    assert reported(())["event"] == "claimed"


def test_a_handover_that_stopped_names_the_write_and_the_answer() -> None:
    write = DeletePod(Key("ml", "guardian-7"), "u1")
    told = reported(((write, Stale("the uid is another one")),))
    assert told["event"] == "handover_failed"
    assert told["why"] == ["DeletePod ml/guardian-7: Stale: the uid is another one"]


def test_a_handover_that_many_writes_stopped_names_a_few() -> None:
    write = DeletePod(Key("ml", "guardian-7"), "u1")
    assert len(str(reported(((write, Done()),) * 500)["why"])) < 200


def test_a_write_that_succeeded_is_a_line_at_the_level_debug_alone() -> None:
    lines = {}
    for level in ("info", "debug"):
        stream = io.StringIO()
        configure(level, stream=stream)
        report = LiveReport(Metrics("1"), Health(), lambda: None)
        report.acted(DeletePod(Key("ml", "guardian-7"), "u1"), Done())
        lines[level] = stream.getvalue()
    configure("info")
    assert lines["info"] == ""
    told = json.loads(lines["debug"])
    assert (told["event"], told["action"], told["about"]) == (
        "action",
        "DeletePod",
        "ml/guardian-7",
    )
