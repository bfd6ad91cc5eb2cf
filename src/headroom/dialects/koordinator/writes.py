"""The writes about Reservations and their owners, in Koordinator's format.

Owners have Koordinator's annotation beside ours, written in the same request as the claim: a pod
that is bound to the room of a Reservation always has it.
"""

from __future__ import annotations

import json

from headroom.core import actions
from headroom.dialects.koordinator.names import ALLOCATED, RESERVATIONS
from headroom.dialects.koordinator.statuses import status_json
from headroom.wire.foreign_objects import is_of, object_writes
from headroom.wire.objectpatches import annotated
from headroom.wire.render import render as render_native
from headroom.wire.writes import Write

_of_objects = object_writes({RESERVATIONS: lambda status, _: status_json(status)})


def render(action: actions.Action) -> Write | None:
    """The request for an action about a Reservation; None for any other action."""
    match action:
        case actions.Bind() | actions.Nominate() | actions.ClaimInPlace():
            claimed = action.claimed
            if claimed is None or not is_of(claimed, RESERVATIONS):
                return None
            value = {"name": claimed.name, "uid": claimed.uid}
            told = {ALLOCATED: json.dumps(value, separators=(",", ":"))}
            return annotated(render_native(action), told)
    return _of_objects(action)
