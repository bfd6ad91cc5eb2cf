"""What a refused write means, for both clusters: the API server's refusal as an Outcome of core.

The rules were checked against a real API server (tests/contract). A 409 on creation means that
the name is taken; any other 409, and a 422 on a write that names its object by uid or by a JSON
patch test, means that the object is not what we thought.
"""

from __future__ import annotations

from dataclasses import dataclass

from headroom.core.actions import Denied, Gone, Invalid, Outcome, Stale, Taken, Unavailable
from headroom.wire.writes import JSON_PATCH, Write

RETRY_SECONDS = 1.0
NAMESPACE_ENDS = "NamespaceTerminating"


@dataclass(frozen=True, slots=True)
class StatusRefusal:
    """A metav1.Status that says no; `causes` are reason and field of each cause."""

    code: int
    message: str
    reason: str = ""
    causes: tuple[tuple[str, str], ...] = ()
    retry_after: float = 0.0


def outcome_of(write: Write, refusal: StatusRefusal) -> Outcome:
    """Say what a refusal means for the write."""
    message, wait = refusal.message, refusal.retry_after or RETRY_SECONDS
    match refusal.code:
        case 404:
            return Gone(message)
        case 409 if write.verb == "create" and not write.subresource:
            # Without AlreadyExists it is a quota that changed under the request: nothing was made,
            # and no watch will tell.
            taken = refusal.reason == "AlreadyExists"
            return Taken(message) if taken else Unavailable(message, RETRY_SECONDS)
        case 409 | 412:
            return Stale(message)
        case 403:
            ends = any(reason == NAMESPACE_ENDS for reason, _ in refusal.causes)
            return Gone(message) if ends else Denied(message)
        case 422 if write.guarded and _is_another_object(write, refusal):
            return Stale(message)
        case 401 | 408 | 429:
            return Unavailable(message, wait)
        case code if code >= 500:
            return Unavailable(f"HTTP {code}: {message}", wait)
        case _:
            return Invalid(message)


def _is_another_object(write: Write, refusal: StatusRefusal) -> bool:
    """A failed JSON patch test has no causes; a wrong uid is a cause of its own."""
    if write.content_type == JSON_PATCH and not refusal.causes:
        return True
    return any(field == "metadata.uid" for _, field in refusal.causes)
