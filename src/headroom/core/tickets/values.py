"""Values for holds with a limited time, and for objects that represent one slot each.

`holds` and `headrooms` contain them where a dialect needs them (korder's Ticket and Order); a
native object has none of them. `ticket_times` uses them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from headroom.core.objects import Parent, no_labels


@dataclass(frozen=True, slots=True)
class Tenure:
    """How long a hold lasts once it stands, None: until it is claimed.

    Its object is deleted `cleanup` after its end, None: never.
    """

    duration: timedelta | None
    cleanup: timedelta | None = None


@dataclass(frozen=True, slots=True)
class Chronicle:
    """The moments of a hold with a tenure, as its status keeps them.

    `activated` is when its clock began, `ends` when it runs out; `claimed` and `ended` are when
    that happened. `guardian` is the name of the pod that keeps its room just now.
    """

    activated: datetime | None = None
    ends: datetime | None = None
    claimed: datetime | None = None
    ended: datetime | None = None
    guardian: str = ""


@dataclass(frozen=True, slots=True)
class Membership:
    """Of which headroom an object is a slot, and of which; `revision` is what it was made from."""

    of: Parent
    slot: str
    revision: str = ""


@dataclass(frozen=True, slots=True)
class SlotObjects:
    """What the objects of a headroom's slots are made from.

    `raw` is JSON with their `metadata` and `spec`; objects of the same `revision` are made alike.
    `labels` and `tenure` are what such an object will have, for quotas that look at it before.
    Where they are `permanent`, an object that nobody has claimed does not end after its duration.
    """

    api_version: str
    kind: str
    raw: str = "{}"
    revision: str = ""
    labels: Mapping[str, str] = field(default_factory=no_labels)
    tenure: Tenure | None = None
    permanent: bool = False
