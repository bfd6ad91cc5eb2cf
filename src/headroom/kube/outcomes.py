"""The outcome of a write: the API server's answer, or its absence, as one of core's Outcomes.

`wire.outcomes` interprets a refusal, for both clusters.
"""

from __future__ import annotations

import msgspec

from headroom.core.actions import Done, Outcome, Unavailable
from headroom.kube.answers import Answer
from headroom.kube.errors import KubeError, RequestRefused
from headroom.wire import outcomes
from headroom.wire.errors import UNREADABLE_JSON
from headroom.wire.outcomes import RETRY_SECONDS, StatusRefusal
from headroom.wire.writes import JSON_PATCH, Write


class _CreatedMetadata(msgspec.Struct):
    uid: str = ""


class _Created(msgspec.Struct):
    metadata: _CreatedMetadata = msgspec.field(default_factory=_CreatedMetadata)


_CREATED = msgspec.json.Decoder(_Created)


def repeatable(write: Write) -> bool:
    """Whether sending it twice has the same effect as sending it once.

    A JSON patch is not repeatable: its own test would fail the second time and hide the success.
    """
    if write.verb == "create":
        return False
    return write.content_type != JSON_PATCH


def outcome_of(write: Write, answer: Answer) -> Outcome:
    """Interpret the answer to a write."""
    if answer.ok:
        creates = write.verb == "create" and not write.subresource
        return Done(_uid_of(answer.body) if creates else "")
    told = answer.read_status()
    causes = tuple((cause.reason, cause.field) for cause in told.causes)
    refusal = StatusRefusal(answer.status, told.message, told.reason, causes, answer.retry_after)
    return outcomes.outcome_of(write, refusal)


def outcome_of_trouble(error: KubeError) -> Outcome:
    """No usable answer: it is unknown whether the write was executed."""
    wait = error.retry_after if isinstance(error, RequestRefused) else 0.0
    return Unavailable(str(error), wait or RETRY_SECONDS)


def _uid_of(body: bytes) -> str:
    try:
        return _CREATED.decode(body).metadata.uid
    except UNREADABLE_JSON:
        return ""
