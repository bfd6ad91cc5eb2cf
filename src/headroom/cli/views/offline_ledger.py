"""Run the operator's own decision functions over objects that were read once.

`explain` uses the functions that the operator decides with, over a ledger that is filled here. Its
answers are therefore the operator's answers.
"""

from __future__ import annotations

from headroom.cli.source import World
from headroom.cli.views.answers import NodeAnswer
from headroom.cli.views.observed import observed
from headroom.cli.views.rooms import rooms
from headroom.cli.views.wishes import wish_of
from headroom.core.objects import Pod
from headroom.core.policy import Policy
from headroom.engine.freeze import unfit
from headroom.engine.ledger import Ledger
from headroom.ports import Thing

IS_ONE_RUNNING = "is an operator running? kubectl get lease -A | grep headroom-operator"
UNSEEN = "your permissions do not show what is free on nodes"
SEE_NODES = "headroom get nodes  shows what is used, held and free"


def ledger_of(world: World, policy: Policy) -> Ledger:
    """A ledger with everything that was read, as the operator would have it; headrooms as slots."""
    slots = [
        hold
        for each in world.headrooms
        if each.slot_objects is None
        for hold in wish_of(world, each).slots
    ]
    things: list[Thing] = [*world.namespaces, *world.nodes, *world.holds, *slots, *world.pods]
    return observed(world, things, policy)


def node_answers(world: World, ledger: Ledger, pod: Pod) -> tuple[NodeAnswer, ...]:
    """The answer of every node to a pod of this shape, by name; empty if it cannot be known."""
    if not world.sees_room:
        return ()
    return tuple(
        NodeAnswer(room, unfit(ledger, pod, room.node, frozenset()) or "")
        for room in rooms(world.nodes, world.pods)
    )
