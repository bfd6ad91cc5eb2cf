"""`status.promise` of a Headroom: written to JSON, and read from it.

What is written must read back equal, or the status would be written again and again.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from headroom.core.promise.achieved import Share
from headroom.core.promise.report import Price, PromiseStatus
from headroom.wire.durations import format_duration, parse_duration
from headroom.wire.objects.podjson import JsonObject

_DIGITS = 6


class ShareJson(JsonObject):
    owners: int | None = None
    misses: int | None = None


class PriceJson(JsonObject):
    ratio: float | None = None
    slots: int | None = None
    idle: float | None = None


class PromiseJson(JsonObject):
    ratio: float | None = None
    start_within: str | None = None
    last_hour: ShareJson | None = None
    last_day: ShareJson | None = None
    last_week: ShareJson | None = None
    lead_time: str | None = None
    size: int | None = None
    decided_by: str | None = None
    why: str | None = None
    next_nine: PriceJson | None = None
    record: str | None = None


def promise_json(promise: PromiseStatus) -> dict[str, Any]:
    """The JSON of a promise's report; what is empty is left out."""
    price = promise.next_nine
    told: dict[str, Any] = {
        "ratio": promise.ratio,
        "startWithin": format_duration(promise.start_within),
        "lastHour": _share_json(promise.last_hour),
        "lastDay": _share_json(promise.last_day),
        "lastWeek": _share_json(promise.last_week),
    }
    if promise.lead_time:
        told["leadTime"] = format_duration(promise.lead_time)
    if promise.size is not None:
        told["size"] = promise.size
        told["decidedBy"] = promise.decided_by
        told["why"] = promise.why
    if price is not None:
        told["nextNine"] = {"ratio": price.ratio, "slots": price.slots, "idle": price.idle}
    if promise.record:
        told["record"] = promise.record
    return told


def promise_of(read: PromiseJson) -> PromiseStatus:
    """A promise's report as it was written."""
    price = read.next_nine
    return PromiseStatus(
        ratio=read.ratio or 0.0,
        start_within=_duration(read.start_within),
        last_hour=_share(read.last_hour),
        last_day=_share(read.last_day),
        last_week=_share(read.last_week),
        lead_time=_duration(read.lead_time),
        size=read.size,
        decided_by=read.decided_by or "",
        why=read.why or "",
        next_nine=(
            Price(price.ratio or 0.0, price.slots or 0, price.idle or 0.0)
            if price is not None
            else None
        ),
        record=read.record or "",
    )


def _share_json(share: Share) -> dict[str, Any]:
    return {
        "owners": share.pods,
        "misses": share.misses,
        "ratio": round(share.ratio, _DIGITS),
    }


def _share(read: ShareJson | None) -> Share:
    return Share(read.owners or 0, read.misses or 0) if read is not None else Share()


def _duration(text: str | None) -> timedelta:
    try:
        return parse_duration(text) if text else timedelta()
    except ValueError:
        return timedelta()
