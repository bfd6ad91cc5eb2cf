"""ClaimIndex objects from their JSON: what the operator lets admission know of a namespace.

The operator only writes them (`wire.render`); who reads them is whoever puts the gate on pods: the
admission policy inside a real API server, or the webhook.
"""

from __future__ import annotations

from headroom.core.claim_gate import ClaimIndex
from headroom.wire.objects.podjson import JsonObject
from headroom.wire.objects.reader import Decoder, Time


class _ClaimIndexSpec(JsonObject):
    fresh_until: Time
    keys: dict[str, bool] | None = None
    priority_at_least: int | None = None


class _ClaimIndex(JsonObject):
    spec: _ClaimIndexSpec


def _index(read: _ClaimIndex) -> ClaimIndex:
    spec = read.spec
    return ClaimIndex(frozenset(spec.keys or ()), spec.fresh_until, spec.priority_at_least)


decode_index = Decoder("ClaimIndex", _ClaimIndex, _index)
