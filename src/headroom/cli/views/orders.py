"""Explain an Order of the korder dialect, with the questions of its troubleshooting guide.

No tickets? Uneven? Slow? Each question gets one sentence, from the same wanted slots, rules and
quotas that decide. The rest is explained as for any headroom (`headrooms`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from headroom.cli.source import World
from headroom.cli.views.answers import Explanation, Fact
from headroom.cli.views.headrooms import explain_headroom
from headroom.cli.views.quotas import quota_refusal
from headroom.cli.views.schedules import moment_told
from headroom.cli.views.slots import SlotView, State, slots_of
from headroom.cli.views.wishes import wish_of
from headroom.core.headrooms.eligibility import summary
from headroom.core.headrooms.headrooms import Headroom
from headroom.core.headrooms.wanted_slots import USED_UP, WantedSlots
from headroom.core.headrooms.windows import next_start
from headroom.core.policy import Policy
from headroom.engine.cron import calendar

MOST_NODES = 5


def explain_order(world: World, order: Headroom, policy: Policy, node: str = "") -> Explanation:
    """Explain an order, and answer the usual questions about its tickets."""
    told = explain_headroom(world, order, policy, node)
    if node or "nodes" in world.unseen:
        return told
    wished, views = wish_of(world, order), slots_of(world, order)
    answers = (
        Fact("no tickets?", _made(world, order, wished, views)),
        Fact("uneven?", _even(world, order, wished, views)),
        Fact("slow?", _slow(world, views)),
    )
    return replace(told, facts=(*answers, *told.facts))


def _made(world: World, order: Headroom, wished: WantedSlots, views: Sequence[SlotView]) -> str:
    """Why expected tickets were not created."""
    reasons = {note.reason: note.message for note in wished.notes}
    missing = [view for view in views if view.state is State.MISSING]
    unmade = [view.hold for view in missing if view.hold is not None and view.hold.slot]
    for reason in ("InvalidSpec", "Paused"):
        if reason in reasons:
            return f"{reason}: {reasons[reason]}"
    if "OutsideSchedule" in reasons:
        zone = order.schedule[0].time_zone
        start = moment_told(next_start(order, world.now, calendar), world.now, zone)
        return f"outside its schedule: the next tick of {order.schedule[0].start} is {start}"
    if order.closes is not None and world.now >= order.closes:
        return "its window (startTime and duration) is over: no ticket is made any more"
    if USED_UP in reasons:
        return f"{reasons[USED_UP]}: its refresh policy is Never"
    if order.size.by_node and not wished.slots:
        return f"no node is eligible: {summary(wished.excluded, len(world.nodes))}"
    if not wished.slots:
        return "spec.replicas is 0"
    if refused := quota_refusal(world, order, unmade):
        return f"{len(unmade)} not made: {refused}"
    if unmade:
        return f"{len(unmade)} are still missing; an operator with --dialect korder creates them"
    return f"no: {len(wished.slots)} are wanted, and all were created"


def _even(world: World, order: Headroom, wished: WantedSlots, views: Sequence[SlotView]) -> str:
    """How tickets are distributed over the nodes, and whether that is right."""
    on = Counter(view.node for view in views if view.state is State.HELD)
    if order.size.by_node:
        bare = sorted({hold.slot for hold in wished.slots} - set(on))
        if not bare:
            return (
                f"no: each of {len(on)} eligible nodes has its ticket; {_left_out(world, wished)}"
            )
        names = ", ".join(bare[:MOST_NODES])
        more = f" and {len(bare) - MOST_NODES} more" if len(bare) > MOST_NODES else ""
        return f"{len(bare)} eligible nodes have none: {names}{more}; {_left_out(world, wished)}"
    if not on:
        return "no ticket has a node yet"
    spread = ", ".join(f"{name} {count}" for name, count in sorted(on.items())[:MOST_NODES])
    return (
        f"placed by kube-scheduler: {spread}; for one on each node set spec.daemonSet: true, "
        "for an even spread topologySpreadConstraints in the template"
    )


def _left_out(world: World, wished: WantedSlots) -> str:
    return summary(wished.excluded, len(world.nodes))


def _slow(world: World, views: Sequence[SlotView]) -> str:
    """Tickets whose guardian waits for room: how many, since when, and the scheduler's message."""
    waiting = [view for view in views if view.state is State.WAITING]
    if not waiting:
        return "no: no guardian waits for room"
    created = [
        view.guardian.created
        for view in waiting
        if view.guardian is not None and view.guardian.created is not None
    ]
    since = f", the oldest since {moment_told(min(created), world.now)}" if created else ""
    said, count = Counter(view.why for view in waiting).most_common(1)[0]
    return f"{len(waiting)} guardians wait for room{since}; of {count} the scheduler says: {said}"
