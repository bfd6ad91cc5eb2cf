"""ClaimIndex objects from their JSON: what the operator lets admission know of a namespace.

The operator only writes them (`wire.render`); who reads them is whoever puts the gate on pods: the
admission policy inside a real API server, or the webhook.
"""

from __future__ import annotations

from msgspec import Raw

from headroom.core.gating import ClaimIndex
from headroom.wire.errors import DecodeError
from headroom.wire.objects.podjson import JsonObject
from headroom.wire.objects.reader import Reader, Time, about


class _Spec(JsonObject):
    fresh_until: Time
    keys: dict[str, bool] | None = None
    priority_at_least: int | None = None


class _ClaimIndex(JsonObject):
    spec: _Spec


_read_index = Reader(_ClaimIndex)


def decode_index(data: bytes | Raw) -> ClaimIndex:
    """Read a claim index; DecodeError names the object and the path of what is wrong."""
    try:
        spec = _read_index(data).spec
    except DecodeError as error:
        raise about("ClaimIndex", data, error) from error
    return ClaimIndex(frozenset(spec.keys or ()), spec.fresh_until, spec.priority_at_least)
