"""Decide about a headroom: which window is open, which slots should exist, when to look again.

Two steps, both pure. `opening` comes first, because some inputs of the second step depend on the
window that is open. The engine collects these inputs (`SizeView`), stores the next memory, and acts
on it.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from headroom.core.headrooms import windows
from headroom.core.headrooms.companions import owned
from headroom.core.headrooms.events import window_events
from headroom.core.headrooms.headrooms import Headroom
from headroom.core.headrooms.memory import HeadroomMemory, Opening
from headroom.core.headrooms.shapes import slots_had
from headroom.core.headrooms.wanted_slots import SizeView, wish
from headroom.core.plan import earliest

PAUSE_PER_SLOT = timedelta(microseconds=200)
LONGEST_PAUSE = timedelta(seconds=10)
LOAD_PAUSE = timedelta(seconds=2)  # A sum over all pods is expensive.


def opening(
    headroom: Headroom, before: Opening | None, calendar: windows.Calendar, now: datetime
) -> Opening:
    """Say which window is open; `before` is the last answer, None after a start of the operator."""
    window, due = windows.active(headroom, now, calendar), headroom.status.next_start
    last = before.window if before is not None else None
    told = before is not None or (due is not None and due <= now)
    tells = tuple(window_events(headroom, last, window, now)) if told else ()
    if before is not None:
        return Opening(window, windows.has_begun(last, window), tells)
    return Opening(window, windows.has_begun_since_told(headroom, window), tells)


def decide(
    headroom: Headroom,
    memory: HeadroomMemory,
    view: SizeView,
    calendar: windows.Calendar,
    now: datetime,
) -> HeadroomMemory:
    """Decide from the inputs alone which slots are wanted, and when to decide again.

    The result is the same for the same inputs.
    """
    wished = wish(headroom, view, now)
    look_at = earliest(
        windows.next_change(headroom, now, calendar),
        windows.next_start(headroom, now, calendar),  # The status tells of the one after it.
        wished.look_again,
        view.look_again,
        *(each.needs.look_again for each in view.followed),
    )
    # Slots that are numbers are not gone through one by one.
    effort = wished.count if headroom.size.by_node else len(wished.slots)
    pause = min(PAUSE_PER_SLOT * effort, LONGEST_PAUSE)
    shapes = memory.shapes
    if wished.auto is not None:
        shapes = replace(shapes, had=slots_had(wished.auto))
    return replace(
        memory,
        wished=owned(headroom, wished, memory.slot_set, memory.daemon_set),
        look_at=look_at,
        not_before=now + (LOAD_PAUSE if headroom.size.by_load else pause),
        foresight=wished.foresight or memory.foresight,
        quotas=view.quotas,
        shapes=shapes,
        followed=view.followed,
    )
