"""Check whether a quota is the reason for missing slots, with the operator's own functions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from headroom.cli.source import World
from headroom.core.headrooms.headrooms import Headroom
from headroom.core.holds import Hold
from headroom.core.subjects import headroom_subject
from headroom.core.tickets.ticket_times import object_of
from headroom.engine.agenda import Agenda
from headroom.engine.quotas import QuotaBook


def quota_refusal(world: World, headroom: Headroom, missing: Sequence[Hold]) -> str:
    """The quota that has no room for the headroom or one of its missing slots; empty: none."""
    objects = headroom.slot_objects
    if objects is None or not world.quotas:
        return ""
    book = _book(world)
    asked: list[Hold | Headroom] = [headroom]
    for hold in missing:
        parent = object_of(objects, headroom.parent, hold.slot)
        asked.append(replace(hold, parent=parent, labels=headroom.labels))
    for wanted in asked:
        refusal = book.refusal(wanted, world.now)
        if refusal is not None:
            return refusal.why
        book.answered(wanted, headroom_subject(headroom.parent), refusal)
    return ""


def _book(world: World) -> QuotaBook:
    book = QuotaBook(Agenda(), {each.name: each for each in world.namespaces})
    for quota in world.quotas:
        book.see_quota(quota)
    for headroom in world.headrooms:
        book.see_order(headroom, world.now)
    for hold in world.holds:
        book.see_ticket(hold)
    book.begin(world.now)
    return book
