"""The writes about Reservations and their owners, in Koordinator's format.

Owners have Koordinator's annotation beside ours, written in the same request as the claim: a pod
that is bound to the room of a Reservation always has it.
"""

from __future__ import annotations

import json

from headroom.core import actions
from headroom.core.objects import Parent
from headroom.dialects.koordinator.names import ALLOCATED, RESERVATIONS
from headroom.dialects.koordinator.statuses import status_json
from headroom.wire.objectpatches import annotated, deletion, whole_status
from headroom.wire.render import render as render_native
from headroom.wire.writes import Write


def render(action: actions.Action) -> Write | None:
    """The request for an action about a Reservation; None for any other action."""
    match action:
        case actions.WriteHoldStatus() if _is_reservation(action.parent):
            return _write_status(action)
        case actions.DeleteObject() if _is_reservation(action.parent):
            return deletion(RESERVATIONS, action.parent)
        case actions.Bind() | actions.Nominate() | actions.ClaimInPlace():
            claimed = action.claimed
            if claimed is None or not _is_reservation(claimed):
                return None
            return _annotated(render_native(action), claimed)
        case _:
            return None


def _is_reservation(parent: Parent) -> bool:
    return (parent.api_version, parent.kind) == (RESERVATIONS.api_version, RESERVATIONS.kind)


def _annotated(write: Write, claimed: Parent) -> Write:
    """The same write with Koordinator's annotation of the owner's Reservation."""
    value = json.dumps({"name": claimed.name, "uid": claimed.uid}, separators=(",", ":"))
    return annotated(write, {ALLOCATED: value})


def _write_status(action: actions.WriteHoldStatus) -> Write:
    return whole_status(RESERVATIONS, action.parent, status_json(action.status), action.version)
