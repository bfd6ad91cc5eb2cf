"""Check whether a quota is the reason for missing slots, with the operator's own functions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from headroom.cli.source import World
from headroom.core.derived_names import object_of
from headroom.core.headrooms.headrooms import Headroom
from headroom.core.holds import Hold
from headroom.core.policy import Policy
from headroom.core.quotas.quota import age
from headroom.core.subjects import headroom_subject
from headroom.engine import quotas
from headroom.engine.agenda import Agenda
from headroom.engine.ledger import Ledger


def quota_refusal(world: World, headroom: Headroom, missing: Sequence[Hold]) -> str:
    """The quota that has no room for the headroom or one of its missing slots; empty: none."""
    objects = headroom.slot_objects
    if objects is None or not world.quotas:
        return ""
    ledger = _counted(world)
    asked: list[Hold | Headroom] = [headroom]
    for hold in missing:
        parent = object_of(objects, headroom.parent, hold.slot)
        asked.append(replace(hold, parent=parent, labels=headroom.labels))
    for wanted in asked:
        refusal = quotas.refusal(ledger, wanted, world.now)
        if refusal is not None:
            return refusal.why
        quotas.answered(ledger, wanted, headroom_subject(headroom.parent), refusal)
    return ""


def _counted(world: World) -> Ledger:
    """A ledger that knows the quotas, and has counted what stands: the oldest headrooms first."""
    ledger = Ledger(Policy(), Agenda())
    ledger.began = True
    ledger.namespaces.update({each.name: each for each in world.namespaces})
    for quota in world.quotas:
        quotas.see_quota(ledger, quota)
    for hold in world.holds:
        quotas.see_hold(ledger, hold)
    for headroom in sorted(world.headrooms, key=age):
        quotas.see_headroom(ledger, headroom, world.now)
    return ledger
