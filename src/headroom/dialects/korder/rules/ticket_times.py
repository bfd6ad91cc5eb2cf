"""When a ticket begins, ends and is deleted.

Its time starts when its guardian is first created, or at its start time if it has one, and starts
again when a renewal is due. A refused guardian does not start the time. An owner keeps its hold
while it runs, also beyond the end.

    Pending ──guardian──▶ Available ──claimed──▶ Succeeded ──its pod ends──▶ Failed ──▶ deleted
       └───────end──────────────┴──────────────────────────────────────────▶
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

from headroom.core.headrooms.slot_values import Chronicle
from headroom.core.holds import Hold
from headroom.core.objects import Pod


def activated_at(hold: Hold, guardian: Pod | None) -> datetime | None:
    """When the hold's clock began, as its status tells it; None while it has not.

    A renewal counts from when its guardian is there, so that one write tells of both.
    """
    began = _began(hold, guardian)
    fresh, created = _fresh(hold), guardian.created if guardian is not None else None
    if began is None or fresh is None or created is None or created < fresh:
        return began
    return max(began, fresh)


def ends_at(hold: Hold, guardian: Pod | None = None) -> datetime | None:
    """When the hold's time is over; None while its clock has not begun.

    One with a start ends with its window, whether or not it ever stood. A renewal that is due
    counts at once: nothing ends because its new guardian is a moment late.
    """
    if hold.tenure is None or hold.tenure.duration is None:
        return None
    began = hold.starts or _began(hold, guardian)
    if began is None:
        return None
    return max(began, _fresh(hold) or began) + hold.tenure.duration


def chronicle_of(hold: Hold, guardian: Pod | None, phase: str, now: datetime) -> Chronicle | None:
    """The moments that the status of a hold in this phase should keep; None without a tenure."""
    if hold.tenure is None:
        return None
    told = hold.status.chronicle or Chronicle()
    moment = now.replace(microsecond=0)
    over = phase in ("Succeeded", "Failed")
    return Chronicle(
        activated=told.activated if over else activated_at(hold, guardian),
        ends=told.ends if over else _shown_end(hold, guardian),
        claimed=told.claimed or (moment if phase == "Succeeded" else None),
        ended=told.ended or (moment if phase == "Failed" else None),
        guardian=guardian.key.name if guardian is not None and not over else "",
    )


def has_left(hold: Hold, claimants: Iterable[Pod]) -> bool:
    """Whether a claimed hold with a tenure has lost its pod: it has ended, or is gone."""
    return (
        hold.tenure is not None
        and hold.status.phase == "Succeeded"
        and not any(not pod.finished for pod in claimants)
    )


def cleanup_at(hold: Hold, cleanup: timedelta | None) -> datetime | None:
    """When the object of a hold whose time is over is to be deleted; None for never."""
    told = hold.status.chronicle
    if cleanup is None or hold.status.phase != "Failed":
        return None
    if told is None or told.ended is None:
        return None
    return told.ended + cleanup


def _began(hold: Hold, guardian: Pod | None) -> datetime | None:
    told = hold.status.chronicle
    if told is not None and told.activated is not None:
        return told.activated
    return (hold.starts or guardian.created) if guardian is not None else None


def _shown_end(hold: Hold, guardian: Pod | None) -> datetime | None:
    began = activated_at(hold, guardian) or hold.starts
    if began is None or hold.tenure is None or hold.tenure.duration is None:
        return None
    return began + hold.tenure.duration


def _fresh(hold: Hold) -> datetime | None:
    """The renewal that is due, in whole seconds as the API server stamps them."""
    return hold.fresh_since.replace(microsecond=0) if hold.fresh_since is not None else None
