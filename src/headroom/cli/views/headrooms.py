"""Explain a headroom: how many slots it wants, which it has, which are missing, and why.

The wanted slots, the windows and the rules for nodes come from the functions of the operator. The
reason why a slot waits comes from the scheduler of its guardian.
"""

from __future__ import annotations

from collections.abc import Sequence

from headroom.cli.amounts import told
from headroom.cli.source import World
from headroom.cli.views.answers import Explanation, Fact, NodeAnswer, SlotAnswer
from headroom.cli.views.doors import without_door
from headroom.cli.views.offline_ledger import (
    IS_ONE_RUNNING,
    SEE_NODES,
    UNSEEN,
    ledger_of,
    node_answers,
)
from headroom.cli.views.promises import promise_told
from headroom.cli.views.rooms import rooms
from headroom.cli.views.schedules import moment_told, windows_told
from headroom.cli.views.shapes import shapes_told
from headroom.cli.views.slots import NOT_YET, SlotView, State, slots_of
from headroom.cli.views.wishes import claimed_slots, decided, wish_of, workload_of
from headroom.core.conditions import ready_in
from headroom.core.headrooms.eligibility import Exclusion, summary
from headroom.core.headrooms.headrooms import NODE_CHUNK, PREEMPT, Headroom
from headroom.core.headrooms.wanted_slots import WantedSlots
from headroom.core.headrooms.windows import next_start
from headroom.core.holds import PREEMPTIBLE
from headroom.core.policy import Policy
from headroom.core.sizes.kind import slots_told
from headroom.engine.cron import calendar

NOT_SERVED = ("InvalidSpec", "WorkloadMissing", "WorkloadUnusable")


def explain_headroom(
    world: World, headroom: Headroom, policy: Policy, node: str = ""
) -> Explanation:
    """Explain a headroom; if a node is named, only for this node."""
    subject = f"{headroom.parent.kind.lower()} {headroom.key}"
    if "nodes" in world.unseen:
        return _by_its_status(world, headroom, subject)
    wished = wish_of(world, headroom)
    slots = slots_of(world, headroom)
    nodes = _nodes(world, headroom, wished, slots, policy)
    if node:
        return _on_one_node(subject, node, slots, nodes)
    return Explanation(
        subject,
        f"{subject} {_standing(headroom, wished, slots)}.",
        (*_facts(world, headroom, wished), *_doors(world, headroom, policy)),
        slots=tuple(_slot_answer(view) for view in slots),
        nodes=nodes,
        next_step=_step(wished, slots),
        by_node=headroom.size.by_node and world.sees_room,
    )


def _by_its_status(world: World, headroom: Headroom, subject: str) -> Explanation:
    """Explain it from its own status, for users who cannot list the nodes."""
    status = headroom.status
    ready = ready_in(status.conditions)
    if ready is None:
        told = "has no status yet"
    else:
        told = f"has {status.held} of {slots_told(status.desired)}, according to its status"
        told += f": {ready.message.rstrip('.')}" if ready.message else ""
    size = headroom.size.words(headroom, workload_of(world, headroom))
    return Explanation(
        subject,
        f"{subject} {told}; {UNSEEN}.",
        (
            Fact("size", size),
            *(Fact("schedule", each) for each in windows_told(headroom, world.now)),
        ),
        slots=tuple(_slot_answer(view) for view in slots_of(world, headroom)),
        next_step=IS_ONE_RUNNING if ready is None else "",
    )


def _standing(headroom: Headroom, wished: WantedSlots, slots: Sequence[SlotView]) -> str:
    reasons = {note.reason: note.message for note in wished.notes}
    for reason in NOT_SERVED:
        if reason in reasons:
            return f"promises nothing: {reasons[reason]}"
    if headroom.deleted is not None:
        return "is being deleted and gives its room back"
    if "OutsideSchedule" in reasons:
        return f"is off: {reasons['OutsideSchedule']}{_leaving(slots)}"
    held = sum(1 for view in slots if view.state is State.HELD)
    wishes = f"wants {slots_told(len(wished.slots))} and has {held}"
    if headroom.paused:
        return f"is paused and keeps the {slots_told(held)} that it has"
    if not wished.slots:
        return f"wants no slot{_leaving(slots)}"
    return f"{wishes}{_short(slots)}{_leaving(slots)}"


def _short(slots: Sequence[SlotView]) -> str:
    words = (
        (State.HANDOVER, "handed over just now"),
        (State.WAITING, "waiting for room"),
        (State.MISSING, "missing"),
    )
    counts = [(sum(1 for view in slots if view.state is state), text) for state, text in words]
    told = ", ".join(f"{count} {text}" for count, text in counts if count)
    return f": {told}" if told else ""


def _leaving(slots: Sequence[SlotView]) -> str:
    count = sum(1 for view in slots if view.state is State.LEAVING)
    return f"; {slots_told(count)} more to be given back" if count else ""


def _facts(world: World, headroom: Headroom, wished: WantedSlots) -> list[Fact]:
    now, window = world.now, decided(world, headroom).window
    size = window.size if window is not None else headroom.size
    facts = [Fact("size", size.words(headroom, workload_of(world, headroom)))]
    facts += [Fact("schedule", text) for text in windows_told(headroom, now)]
    if len(headroom.schedule) > 1 and (start := next_start(headroom, now, calendar)):
        facts.append(Fact("next start", moment_told(start, now, headroom.schedule[0].time_zone)))
    facts.append(Fact("shape", _shape(headroom, wished)))
    facts += [Fact("chosen", text) for text in shapes_told(wished.auto)]
    if headroom.slot.chunk == NODE_CHUNK:
        pieces = f"{len(wished.slots)} pieces, each as large as every eligible node can take"
        facts.append(Fact("chunk", f"Node: held in {pieces}"))
    if headroom.mode == PREEMPTIBLE:
        facts.append(Fact("mode", "Preemptible: anything more important preempts a slot"))
    if headroom.reclaim == PREEMPT:
        told = "Preempt: pods that have a slot's room give way, where the namespace's limits allow"
        facts.append(Fact("reclaim", told))
    facts.append(
        Fact(
            "claims",
            f"{slots_told(headroom.status.claimed)} given so far, {claimed_slots(world, headroom)} "
            f"in use now; {headroom.status.misses} owners found none; refill {headroom.refill}",
        )
    )
    facts += [Fact("promise", text) for text in promise_told(headroom)]
    facts += [Fact("limit", note.message) for note in wished.notes if note.reason == "LimitReached"]
    facts += [Fact("note", note.message) for note in wished.notes if note.reason == "NothingToHold"]
    if headroom.size.by_node:
        facts.append(Fact("nodes", summary(wished.excluded, len(world.nodes))))
    return facts


def _doors(world: World, headroom: Headroom, policy: Policy) -> list[Fact]:
    told = without_door(world, headroom, policy.across_namespaces)
    return [Fact("doors", told)] if told else []


def _shape(headroom: Headroom, wished: WantedSlots) -> str:
    source = f"like the pods of {headroom.slot.source}" if headroom.slot.source else ""
    if headroom.slot.auto is not None:
        return f"like the pods of the {headroom.slot.auto.top} workloads most likely to grow"
    sizes = list(dict.fromkeys(hold.template.pod.requests for hold in wished.slots))
    template = headroom.slot.template
    if not sizes and template is not None and template.pod.requests:
        sizes = [template.pod.requests]
    if len(sizes) > 1:
        amounts = "as each node has room, between others " + told(sizes[0])
    else:
        amounts = told(sizes[0]) if sizes else ""
    return ", ".join(part for part in (source, amounts) if part) or "unknown yet"


def _slot_answer(view: SlotView) -> SlotAnswer:
    return SlotAnswer(view.name, view.state.value, view.node, view.why)


def _nodes(
    world: World, headroom: Headroom, wished: WantedSlots, slots: Sequence[SlotView], policy: Policy
) -> tuple[NodeAnswer, ...]:
    """Per node: every node with its rule or slot; otherwise the answers to waiting slots."""
    if not world.sees_room:
        return ()
    if headroom.size.by_node:
        answers = _by_node(wished.excluded, slots)
        idle = ["eligible, but no slot is wanted here"]
        return tuple(
            NodeAnswer(room, "; ".join(answers.get(room.node, idle)))
            for room in rooms(world.nodes, world.pods)
        )
    waiting = [view for view in slots if view.state in (State.WAITING, State.MISSING)]
    if not waiting or waiting[0].hold is None:
        return ()
    return node_answers(world, ledger_of(world, policy), waiting[0].hold.template.pod)


def _by_node(excluded: Sequence[Exclusion], slots: Sequence[SlotView]) -> dict[str, list[str]]:
    answers = {each.node: [each.message] for each in excluded}
    for view in slots:
        told = f"{view.state}: {view.why}" if view.why else view.state.value
        here = answers.setdefault(view.node, [])
        if told not in here:
            here.append(told)
    return answers


def _on_one_node(
    subject: str, node: str, slots: Sequence[SlotView], nodes: Sequence[NodeAnswer]
) -> Explanation:
    here = tuple(_slot_answer(view) for view in slots if view.node == node)
    answer = next((each for each in nodes if each.room.node == node), None)
    if answer is not None:
        told = f"{subject}, node {node}: {answer.answer or 'fits'}."
        return Explanation(subject, told, slots=here, nodes=(answer,))
    told = ", ".join(f"slot {each.slot} {each.state}" for each in here) or "no slot stands there"
    return Explanation(subject, f"{subject}, node {node}: {told}.", slots=here)


def _step(wished: WantedSlots, slots: Sequence[SlotView]) -> str:
    if any(note.reason in NOT_SERVED for note in wished.notes):
        return "fix its spec"
    if any(view.state is State.MISSING and view.why == NOT_YET for view in slots):
        return IS_ONE_RUNNING
    return SEE_NODES if any(view.state is State.WAITING for view in slots) else ""
