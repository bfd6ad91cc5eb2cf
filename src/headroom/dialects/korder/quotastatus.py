"""The status of a Quota: decode and encode it.

A written status decodes to the same value. `max-duration` is written in seconds, so that clients
that parse every limit as a quantity can read it. An invalid status counts as none.
"""

from __future__ import annotations

from datetime import timedelta

import msgspec
from msgspec import Raw

from headroom.core.resources import EMPTY, Resources
from headroom.dialects.korder.quotalimits import ceiling_of
from headroom.dialects.korder.rules.limits import MAX_DURATION, Ceiling, QuotaStatus, spelled
from headroom.wire.kinds import Json
from headroom.wire.objects.codec import NUMBER, TEXT, Codec, Part
from headroom.wire.objects.findings import Fields, Findings
from headroom.wire.objects.statuses import CONDITIONS


def ceiling_json(ceiling: Ceiling) -> dict[str, str]:
    """Limits as quantities by name, the maximum duration in seconds."""
    written = {name: spelled(name, most) for name, most in sorted(ceiling.amounts.items())}
    if ceiling.longest is not None:
        written[MAX_DURATION] = str(ceiling.longest // timedelta(seconds=1))
    return written


def _ceiling(written: Json) -> Ceiling:
    ignored = Findings()
    status = Fields(ignored, "status", {"limits": Raw(msgspec.json.encode(written))})
    return ceiling_of(status, "limits", ignored) or Ceiling()


_STATUS = Codec(
    QuotaStatus,
    hard=Part(Json, Ceiling(), _ceiling, ceiling_json),
    used=Part(
        Json,
        EMPTY,
        lambda written: Resources(_ceiling(written).amounts),
        lambda used: {name: spelled(name, used[name]) for name in sorted(used)},
    ),
    window=TEXT.named("activeTimeWindow"),
    conditions=CONDITIONS,
    observed_generation=NUMBER,
)
status_of = _STATUS.read
status_json = _STATUS.write
