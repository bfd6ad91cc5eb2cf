"""Values for holds with a limited time, and for objects that represent one slot each.

`holds` and `headrooms` contain them where a dialect needs them; a native object has none of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Protocol

from headroom.core.objects import Key, Parent, Pod, no_labels

if TYPE_CHECKING:
    from headroom.core.hold_state.view import HoldDecision, HoldView
    from headroom.core.holds import Hold
    from headroom.core.plan import Sequence
    from headroom.core.policy import Policy


class Tenure(Protocol):
    """How long a hold lasts once it stands, and the life of its object; a dialect has the rules."""

    @property
    def duration(self) -> timedelta | None:
        """How long it lasts, None: until it is claimed."""

    def endless(self) -> Tenure:
        """The same, until it is claimed."""

    def ends_at(self, hold: Hold) -> datetime | None:
        """When the hold's time is over; None while it is not known."""

    def decide(self, view: HoldView, now: datetime, policy: Policy) -> HoldDecision:
        """What the hold needs, with what its object asks for beyond it."""

    def left_over(self, hold: Hold, pods: Mapping[Key, Pod]) -> Pod | None:
        """A guardian that another controller made for the object, and that has to go first."""

    def dismissed(self, hold: Hold, guardians: tuple[Pod, ...]) -> Sequence:
        """Delete the hold's object, and its guardians with it."""


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
