"""Objects that were read once, in a ledger of the operator's own engine.

`wishes` decides from it what each headroom wants, `offline_ledger` answers for pods and holds.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from headroom.cli.source import World
from headroom.core.policy import Policy
from headroom.engine.engine import Engine
from headroom.engine.ledger import Ledger
from headroom.ports import Seen, Synced, Thing


def observed(world: World, things: Iterable[Thing], policy: Policy) -> Ledger:
    """The ledger of an operator that has seen these things of a world, and has decided nothing."""
    engine = Engine(replace(policy, scheduler_names=world.codecs.schedulers))
    for thing in things:
        engine.observe(Seen(thing), world.now)
    engine.observe(Synced(), world.now)
    return engine.ledger
