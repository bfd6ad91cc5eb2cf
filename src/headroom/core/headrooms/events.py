"""Events about a headroom: each change once, with a reason and a message.

As with holds, they are derived from the difference between the old and the new status.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from headroom.core.actions import Tell
from headroom.core.conditions import ready_in
from headroom.core.headrooms.headrooms import Headroom, HeadroomStatus
from headroom.core.headrooms.windows import ActiveWindow
from headroom.core.objects import Condition, Pod
from headroom.core.statuses import tell_object, tell_pod

_WARNINGS = {
    "InvalidSpec": "InvalidSpec",
    "WorkloadMissing": "InvalidSpec",
    "WorkloadUnusable": "InvalidSpec",
    "NothingToHold": "Unschedulable",
    "CannotFollow": "CannotFollow",
    "Unschedulable": "Unschedulable",
    "QuotaExceeded": "QuotaExceeded",
    "LimitReached": "LimitReached",
}
_FAR = timedelta(days=3650)  # Of a schedule that only renews and never ends.


def claim_events(headroom: Headroom, owner: Pod, now: datetime) -> tuple[Tell, Tell]:
    """The events about an owner that got a slot, on the owner and on the headroom."""
    where = f"on {owner.node}"
    given = tell_object(headroom.parent, "Claimed", f"given to pod {owner.key} {where}", now)
    runs = f"runs in the room of {headroom.parent} {where}"
    return given, tell_pod(owner, "Claimed", runs, now)


def status_events(headroom: Headroom, after: HeadroomStatus, now: datetime) -> Iterator[Tell]:
    """The events about the change of a headroom's status."""
    before = headroom.status
    was, is_now = ready_in(before.conditions), ready_in(after.conditions)
    if is_now is None:
        return
    if was is not None and _word(was) == _word(is_now) and (before.held or not after.held):
        return
    event = _WARNINGS.get(is_now.reason)
    if event is not None:
        yield tell_object(headroom.parent, event, is_now.message, now, warn=True)
    elif is_now.status == "True" and after.desired:
        yield tell_object(headroom.parent, "Held", is_now.message, now)
    elif was is not None and was.status == "True" and after.held < before.held:
        yield tell_object(headroom.parent, "PartiallyHeld", is_now.message, now, warn=True)


def window_events(
    headroom: Headroom, before: ActiveWindow | None, after: ActiveWindow | None, now: datetime
) -> Iterator[Tell]:
    """The events about a window that has opened or ended."""
    if after is not None and after.started_at is not None:
        if before is None or before.started_at != after.started_at:
            ends = after.ends_at if after.ends_at and after.ends_at - now < _FAR else None
            until = ends.isoformat() if ends else "the next start"
            yield tell_object(headroom.parent, "WindowStarted", f"open until {until}", now)
    elif before is not None and after is None:
        yield tell_object(headroom.parent, "WindowEnded", "no window of spec.schedule is open", now)


def _word(condition: Condition) -> tuple[str, str]:
    return condition.status, condition.reason
