"""Decide whether a hold or a headroom can be served: which ones wait, and which wait in vain.

There are three answers, derived from its status. *Invalid*: the spec is invalid, names a missing
object, or is forbidden by a quota; time alone changes nothing. *Short*: no node has the room, or
its guardians are refused. This is in vain only if it never was complete and no node is on its way,
because a slot that an owner took, or that was lost with its node, was held as promised. Everything
else is good or in progress: a closed window, a start in the future, a pause, its own limit, a
guardian that is about to be placed, pods whose end is awaited.
"""

from __future__ import annotations

from dataclasses import dataclass

from headroom.core.headrooms.headrooms import Headroom
from headroom.core.headrooms.readiness import DEGRADING
from headroom.core.holds import Hold, Problem
from headroom.core.quotas.refusals import QUOTA_EXCEEDED

INVALID_SPEC = "InvalidSpec"
INVALID = (*DEGRADING, QUOTA_EXCEEDED)
SHORT = ("Unschedulable", "GuardianRefused")
_SOURCE = "spec.slot.from"
_PATHS = {"WorkloadMissing": _SOURCE, "WorkloadUnusable": _SOURCE, "NothingToHold": "spec.size"}


@dataclass(frozen=True, slots=True)
class Unserved:
    """Why an object is not served; `path` is the field to blame, where one is known."""

    reason: str
    message: str
    path: str = ""
    short: bool = False


def unserved(thing: Hold | Headroom) -> Unserved | None:
    """Say why an object is not served as its status stands, or None when it is or will be."""
    if thing.deleted is not None or (isinstance(thing, Hold) and thing.terminal):
        return None
    if thing.problems:
        return Unserved(INVALID_SPEC, _told(thing.problems), thing.problems[0].path)
    conditions = {each.type: each for each in thing.status.conditions}
    own = thing.size.unserved(conditions) if isinstance(thing, Headroom) else None
    if own is not None:
        return own
    ready = conditions.get("Ready")
    if ready is None or ready.status == "True":
        return None
    if ready.reason in INVALID:
        return Unserved(ready.reason, ready.message, blamed_for(ready.reason))
    if ready.reason in SHORT:
        return Unserved(ready.reason, ready.message, short=True)
    return None


def blamed_for(reason: str) -> str:
    """The field that a reason is about; empty where it is about the whole object."""
    return _PATHS.get(reason, "")


def was_whole(thing: Hold | Headroom) -> bool:
    """Whether all that an object asks for stands, or was given to its owner."""
    conditions = {each.type: each for each in thing.status.conditions}
    if isinstance(thing, Hold):
        return thing.status.phase in ("Available", "Succeeded")
    told = conditions.get(thing.size.whole) or conditions.get("Ready")
    return told is not None and told.status == "True" and thing.status.desired > 0


def _told(problems: tuple[Problem, ...]) -> str:
    return "; ".join(map(str, problems))
