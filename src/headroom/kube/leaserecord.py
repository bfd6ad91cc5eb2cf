"""A Lease object as a value, and its JSON; `lease` decides what to write and when."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Self

import msgspec

from headroom.core.objects import Key
from headroom.kube.answers import Answer, refusal
from headroom.kube.errors import RequestRefused
from headroom.wire.errors import UNREADABLE_JSON
from headroom.wire.kinds import LEASES
from headroom.wire.times import format_micro_time


@dataclass(frozen=True, slots=True)
class Record:
    """Who holds a lease and for how long; `version` is empty if it does not exist yet."""

    holder: str
    duration: float
    acquired: str = ""
    renewed: str = ""
    transitions: int = 0
    version: str = ""

    @classmethod
    def of(cls, holder: str, duration: float, previous: Record | None) -> Self:
        """The record with which a holder takes or renews a lease."""
        now = format_micro_time(datetime.now(UTC))
        record = cls(holder, duration, acquired=now, renewed=now)
        if previous is None:
            return record
        if previous.holder == holder:
            record = replace(record, acquired=previous.acquired, transitions=previous.transitions)
        else:
            record = replace(record, transitions=previous.transitions + 1)
        return replace(record, version=previous.version)

    def released(self, duration: float) -> Record:
        """The record with which its holder releases the lease."""
        now = format_micro_time(datetime.now(UTC))
        return replace(self, holder="", duration=duration, renewed=now)


class _LeaseMetadata(msgspec.Struct, rename="camel", omit_defaults=True):
    name: str = ""
    namespace: str = ""
    resource_version: str = ""


class _LeaseSpec(msgspec.Struct, rename="camel", omit_defaults=True):
    holder_identity: str | None = None
    lease_duration_seconds: int | None = None
    acquire_time: str | None = None
    renew_time: str | None = None
    lease_transitions: int | None = None


class _Lease(msgspec.Struct, rename="camel"):
    metadata: _LeaseMetadata
    spec: _LeaseSpec = msgspec.field(default_factory=_LeaseSpec)
    api_version: str = LEASES.api_version
    kind: str = LEASES.kind


class _Leases(msgspec.Struct):
    items: list[_Lease]


_DECODER = msgspec.json.Decoder(_Lease)
_LIST_DECODER = msgspec.json.Decoder(_Leases)


def read_record(answer: Answer, what: str) -> Record | None:
    """Parse a Lease from an answer; None if there is none."""
    if answer.status == 404:
        return None
    if not answer.ok:
        raise refusal(answer, what)
    try:
        lease = _DECODER.decode(answer.body)
    except UNREADABLE_JSON as error:
        raise RequestRefused(502, f"cannot {what}: {error}") from error
    return _record(lease)


def read_records(body: bytes, what: str) -> list[tuple[Key, Record]]:
    """Parse a list of Leases, each with its name."""
    try:
        found = _LIST_DECODER.decode(body)
    except UNREADABLE_JSON as error:
        raise RequestRefused(502, f"cannot {what}: {error}") from error
    return [
        (Key(lease.metadata.namespace, lease.metadata.name), _record(lease))
        for lease in found.items
    ]


def _record(lease: _Lease) -> Record:
    spec = lease.spec
    return Record(
        holder=spec.holder_identity or "",
        duration=float(spec.lease_duration_seconds or 1),
        acquired=spec.acquire_time or "",
        renewed=spec.renew_time or "",
        transitions=spec.lease_transitions or 0,
        version=lease.metadata.resource_version,
    )


def write_record(record: Record, key: Key) -> bytes:
    """The JSON to create or replace a Lease."""
    spec = _LeaseSpec(
        holder_identity=record.holder or None,
        lease_duration_seconds=math.ceil(record.duration),
        acquire_time=record.acquired,
        renew_time=record.renewed,
        lease_transitions=record.transitions,
    )
    return msgspec.json.encode(
        _Lease(_LeaseMetadata(key.name, key.namespace, record.version), spec)
    )
