"""What became of a write: the API server's answer, or its absence, as one of core's Outcomes.

The rules were checked against a real API server (tests/contract). A 409 on creation means that
the name is taken; any other 409, and a 422 on a write that names its object by uid or by a JSON
patch test, means that the object is not what we thought.
"""

from __future__ import annotations

import msgspec

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
from headroom.kube.answers import Answer, Status
from headroom.kube.errors import KubeError, Refused
from headroom.wire.errors import UNREADABLE_JSON
from headroom.wire.writes import JSON_PATCH, Write

RETRY_SECONDS = 1.0


class _Metadata(msgspec.Struct):
    uid: str = ""


class _Created(msgspec.Struct):
    metadata: _Metadata = msgspec.field(default_factory=_Metadata)


_CREATED = msgspec.json.Decoder(_Created)


def repeatable(write: Write) -> bool:
    """Whether sending it twice does what sending it once does.

    A JSON patch is not: its own test would fail the second time and hide that it was done.
    """
    if write.verb == "create":
        return False
    return write.content_type != JSON_PATCH


def outcome_of(write: Write, answer: Answer) -> Outcome:
    """Read the answer to a write."""
    if answer.ok:
        creates = write.verb == "create" and not write.subresource
        return Done(_uid_of(answer.body) if creates else "")
    status = answer.read_status()
    match answer.status:
        case 404:
            return Gone(status.message)
        case 409:
            return _conflict(write, status)
        case 412:
            return Stale(status.message)
        case 403:
            return Gone(status.message) if _namespace_ends(status) else Denied(status.message)
        case 422 if _is_another_object(write, status):
            return Stale(status.message)
        case 401 | 408 | 429:
            return Unavailable(status.message, answer.retry_after or RETRY_SECONDS)
        case code if code >= 500:
            return Unavailable(
                f"HTTP {code}: {status.message}", answer.retry_after or RETRY_SECONDS
            )
        case _:
            return Invalid(status.message)


def outcome_of_trouble(error: KubeError) -> Outcome:
    """No answer, or none that counts: nobody knows whether it happened."""
    wait = error.retry_after if isinstance(error, Refused) else 0.0
    return Unavailable(str(error), wait or RETRY_SECONDS)


def _conflict(write: Write, status: Status) -> Outcome:
    if write.verb == "create" and not write.subresource:
        if status.reason == "AlreadyExists":
            return Taken(status.message)
        # A quota that changed under the request: nothing was made, and no watch will tell.
        return Unavailable(status.message, RETRY_SECONDS)
    return Stale(status.message)


def _is_another_object(write: Write, status: Status) -> bool:
    """A failed JSON patch test has no causes; a wrong uid is a cause of its own."""
    if not write.guarded:
        return False
    if write.content_type == JSON_PATCH and not status.causes:
        return True
    return any(cause.field == "metadata.uid" for cause in status.causes)


def _namespace_ends(status: Status) -> bool:
    return any(cause.reason == "NamespaceTerminating" for cause in status.causes)


def _uid_of(body: bytes) -> str:
    try:
        return _CREATED.decode(body).metadata.uid
    except UNREADABLE_JSON:
        return ""
