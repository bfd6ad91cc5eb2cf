"""Check whether a quota is the reason for missing slots, with the operator's own functions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from headroom.cli.source import World
from headroom.cli.views.observed import observed
from headroom.core.derived_names import object_of
from headroom.core.headrooms.headrooms import Headroom
from headroom.core.holds import Hold
from headroom.core.policy import Policy
from headroom.core.subjects import headroom_subject
from headroom.engine import quotas
from headroom.engine.ledger import Ledger
from headroom.ports import Thing


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
    things: list[Thing] = [*world.namespaces, *world.quotas, *world.holds, *world.headrooms]
    ledger = observed(world, things, Policy())
    ledger.began = True
    quotas.begin(ledger, world.now)
    return ledger
