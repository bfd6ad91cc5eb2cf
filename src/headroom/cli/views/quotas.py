"""Check whether a quota is the reason for missing slots, with the operator's own functions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from headroom.cli.source import World
from headroom.core.headrooms.headrooms import Headroom
from headroom.core.holds import Hold
from headroom.core.subjects import headroom_subject, hold_subject
from headroom.core.tickets.ticket_times import object_of
from headroom.engine.agenda import Agenda
from headroom.engine.quotas import QuotaBook


def quota_refusal(world: World, headroom: Headroom, missing: Sequence[Hold]) -> str:
    """The quota that has no room for the headroom or one of its missing slots; empty: none."""
    objects = headroom.slot_objects
    if objects is None or not world.quotas:
        return ""
    book = _book(world)
    why = book.room_for(headroom, headroom_subject(headroom.parent), world.now)
    for hold in missing:
        if why is not None:
            break
        parent = object_of(objects, headroom.parent, hold.slot)
        wanted = replace(hold, parent=parent, labels=headroom.labels)
        why = book.room_for(wanted, hold_subject(parent), world.now)
    return why or ""


def _book(world: World) -> QuotaBook:
    book = QuotaBook(Agenda())
    for namespace in world.namespaces:
        book.see_namespace(namespace)
    for quota in world.quotas:
        book.see_quota(quota)
    for headroom in world.headrooms:
        book.see_order(headroom, world.now)
    for hold in world.holds:
        book.see_ticket(hold)
    return book
