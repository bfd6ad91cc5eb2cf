"""What an API server's answer to a write means; the real one's answers are in the contract."""

from __future__ import annotations

import json

import pytest

from headroom.core.actions import (
    Denied,
    Done,
    Gone,
    Invalid,
    Outcome,
    Stale,
    Taken,
    Unavailable,
)
from headroom.kube.answers import Answer
from headroom.kube.errors import CannotReach, RequestRefused
from headroom.kube.outcomes import outcome_of, outcome_of_trouble, repeatable
from headroom.wire.kinds import PODS
from headroom.wire.writes import APPLY_PATCH, JSON_PATCH, MERGE_PATCH, Write

CREATE = Write("create", PODS, "shop", "", {})
BIND = Write("create", PODS, "shop", "web-0", {}, "binding")
DELETE = Write("delete", PODS, "shop", "web-0", {})
MERGE = Write("patch", PODS, "shop", "web-0", {}, "status", MERGE_PATCH, guarded=True)
TESTED = Write("patch", PODS, "shop", "web-0", [], content_type=JSON_PATCH, guarded=True)
LOOSE = Write("patch", PODS, "shop", "web-0", {}, content_type=APPLY_PATCH)


def answer(status: int, reason: str = "", cause: dict[str, str] | None = None) -> Answer:
    body = {"message": "as told", "reason": reason, "code": status}
    details = {"details": {"causes": [cause]}} if cause else {}
    return Answer(status, json.dumps(body | details).encode())


@pytest.mark.parametrize(
    ("write", "told", "outcome"),
    [
        (CREATE, Answer(201, b'{"metadata": {"uid": "u"}}'), Done("u")),
        (BIND, Answer(201, b'{"status": "Success"}'), Done()),
        (DELETE, Answer(200, b"{}"), Done()),
        (DELETE, answer(404), Gone("as told")),
        (CREATE, answer(409, "AlreadyExists"), Taken("as told")),
        (CREATE, answer(409, "Conflict"), Unavailable("as told")),
        (BIND, answer(409, "Conflict"), Stale("as told")),
        (DELETE, answer(409, "Conflict"), Stale("as told")),
        (MERGE, answer(412), Stale("as told")),
        (TESTED, answer(422, "Invalid"), Stale("as told")),
        (TESTED, answer(422, "Invalid", {"field": "status.phase"}), Invalid("as told")),
        (MERGE, answer(422, "Invalid", {"field": "metadata.uid"}), Stale("as told")),
        (MERGE, answer(422, "Invalid", {"field": "status"}), Invalid("as told")),
        (LOOSE, answer(422, "Invalid"), Invalid("as told")),
        (CREATE, answer(400), Invalid("as told")),
        (CREATE, answer(403, "Forbidden"), Denied("as told")),
        (CREATE, answer(403, "Forbidden", {"reason": "NamespaceTerminating"}), Gone("as told")),
        (CREATE, answer(401), Unavailable("as told")),
        (CREATE, Answer(429, b"{}", 7.0), Unavailable("HTTP 429", 7.0)),
        (CREATE, answer(500), Unavailable("HTTP 500: as told")),
        (CREATE, Answer(502, b"<html>\nbad gateway"), Unavailable("HTTP 502: <html>")),
    ],
)
def test_an_answer_has_its_outcome(write: Write, told: Answer, outcome: Outcome) -> None:
    assert outcome_of(write, told) == outcome


def test_no_answer_means_that_nobody_knows() -> None:
    assert outcome_of_trouble(CannotReach("x: cannot connect")) == Unavailable("x: cannot connect")
    assert outcome_of_trouble(RequestRefused(503, "busy", retry_after=4)) == Unavailable("busy", 4)


def test_only_what_says_the_same_twice_is_repeated() -> None:
    assert [repeatable(write) for write in (DELETE, MERGE, LOOSE)] == [True, True, True]
    assert [repeatable(write) for write in (CREATE, BIND, TESTED)] == [False, False, False]
