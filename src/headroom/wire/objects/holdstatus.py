"""A hold's status from its JSON.

A status that makes no sense counts as none: it is ours, and is then written anew.
"""

from __future__ import annotations

from msgspec import Raw

from headroom.core.holds import HoldStatus, OwnerUse
from headroom.core.objects import Condition
from headroom.wire.amounts import amounts_of
from headroom.wire.errors import DecodeError
from headroom.wire.objects.podjson import JsonObject
from headroom.wire.objects.reader import ABSENT, Reader, Time, spelling
from headroom.wire.times import bounded


class OwnerJson(JsonObject):
    namespace: str | None = None
    name: str | None = None
    uid: str | None = None


class ConditionJson(JsonObject):
    type: str | None = None
    status: str | None = None
    reason: str | None = None
    message: str | None = None
    last_transition_time: Time | None = None
    observed_generation: int | None = None


class _Status(JsonObject):
    phase: str | None = None
    node_name: str | None = None
    allocatable: Raw = ABSENT
    allocated: Raw = ABSENT
    current_owners: list[OwnerJson] | None = None
    conditions: list[ConditionJson] | None = None
    observed_generation: int | None = None


_read_status = Reader(_Status)


def status_of(text: bytes) -> HoldStatus:
    """Read a status; empty for what is absent or unreadable."""
    try:
        return _status(_read_status(text)) if text else HoldStatus()
    except DecodeError:
        return HoldStatus()


def _status(status: _Status) -> HoldStatus:
    return HoldStatus(
        phase=status.phase or "",
        node=status.node_name or "",
        allocatable=amounts_of(spelling(status.allocatable), "status.allocatable"),
        allocated=amounts_of(spelling(status.allocated), "status.allocated"),
        owners=owners_of(status.current_owners),
        conditions=tuple(condition_of(each) for each in status.conditions or ()),
        observed_generation=status.observed_generation or 0,
    )


def owners_of(owners: list[OwnerJson] | None) -> tuple[OwnerUse, ...]:
    return tuple(
        OwnerUse(use.namespace or "", use.name or "", use.uid or "") for use in owners or ()
    )


def condition_of(condition: ConditionJson) -> Condition:
    return Condition(
        type=condition.type or "",
        status=condition.status or "",
        reason=condition.reason or "",
        message=condition.message or "",
        since=bounded(condition.last_transition_time),
        generation=condition.observed_generation or 0,
    )
