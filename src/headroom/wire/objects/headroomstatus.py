"""A Headroom's status from its JSON.

A status that makes no sense counts as none: it is ours, and is then written anew.
"""

from __future__ import annotations

from headroom.core.standing.headrooms import HeadroomStatus
from headroom.wire.errors import DecodeError
from headroom.wire.objects.growth.autoshapes import AutoJson, autostatus_of
from headroom.wire.objects.holdstatus import ConditionJson, condition_of
from headroom.wire.objects.podjson import JsonObject
from headroom.wire.objects.promises import PromiseJson, promise_of
from headroom.wire.objects.reader import Reader, Time
from headroom.wire.times import bounded


class _Status(JsonObject):
    desired: int | None = None
    held: int | None = None
    pending: int | None = None
    claimed: int | None = None
    hits: int | None = None
    misses: int | None = None
    next_start: Time | None = None
    selector: str | None = None
    spent: list[str] | None = None
    promise: PromiseJson | None = None
    auto: AutoJson | None = None
    conditions: list[ConditionJson] | None = None
    observed_generation: int | None = None


_read_status = Reader(_Status)


def status_of(text: bytes) -> HeadroomStatus:
    """Read a status; empty for what is absent or unreadable."""
    try:
        return _status(_read_status(text)) if text else HeadroomStatus()
    except DecodeError:
        return HeadroomStatus()


def _status(status: _Status) -> HeadroomStatus:
    return HeadroomStatus(
        desired=status.desired or 0,
        held=status.held or 0,
        pending=status.pending or 0,
        claimed=status.claimed or 0,
        hits=status.hits or 0,
        misses=status.misses or 0,
        next_start=bounded(status.next_start),
        selector=status.selector or "",
        spent=tuple(status.spent or ()),
        promise=promise_of(status.promise) if status.promise is not None else None,
        auto=autostatus_of(status.auto) if status.auto is not None else None,
        conditions=tuple(condition_of(each) for each in status.conditions or ()),
        observed_generation=status.observed_generation or 0,
    )
