"""Whether the limits of its namespace allow a hold a guardian, when it would be created.

A hold that was allowed a guardian keeps its permit for this shape until it is gone or over, so that
no two holds use the same room. Guardians that exist are never asked about.
"""

from __future__ import annotations

from collections.abc import Callable

from headroom.core.derived_names import shape_of
from headroom.core.hold_state.memory import Permit
from headroom.core.hold_state.view import HoldView
from headroom.core.holds import Hold
from headroom.core.quotas.namespaces import (
    LimitsError,
    NamespaceLimits,
    Usage,
    misread,
    refusal,
)
from headroom.core.renewal import has_shape_of


def beyond_limit(
    hold: Hold, permit: Permit | None, limits: NamespaceLimits | LimitsError, others: Usage
) -> str:
    """The limit that forbids a guardian of this shape, as text; empty if none does."""
    if permit is not None and permit.shape == shape_of(hold):
        return ""  # Its guardian of this shape is on its way.
    if isinstance(limits, LimitsError):
        return misread(hold.home, limits)
    return refusal(limits, hold, others) or ""


def permit_of(hold: Hold) -> Permit:
    return Permit(hold.home, shape_of(hold), hold.template.pod.requests)


def has_room(view: HoldView) -> bool:
    """Whether guardians or owners have the room of a hold already, whatever the limits are."""
    return bool(view.guardians or view.claimants)


def limited(view: HoldView, limit: Callable[[], str]) -> tuple[str, Permit | None]:
    """The limit that forbids a hold its guardian, if any, and the permit that it has from then on.

    `limit` says which one forbids it; it is not asked about guardians that are there.
    """
    hold = view.hold
    if wants_no_room(hold):
        return "", None
    stands = has_room(view) and all(has_shape_of(hold, each) for each in view.guardians)
    why = "" if stands else limit()
    return why, view.memory.permit if why else permit_of(hold)


def wants_no_room(hold: Hold) -> bool:
    """Whether a hold wants no room any more."""
    return hold.terminal or bool(hold.problems) or hold.deleted is not None
