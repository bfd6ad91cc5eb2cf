"""The slots of a headroom: which it wants, which guardian keeps each, and its state.

Only guardians show that a slot is held, so its state is calculated from the pods and from the slots
that the operator would want. For `get slots`, `explain` and `plan`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from headroom.cli.source import World
from headroom.cli.views.wishes import claimants_of, guardians_of, members_of, wish_of
from headroom.core.conditions import ready_in
from headroom.core.derived_names import guardian_names
from headroom.core.headrooms.headrooms import Headroom
from headroom.core.headrooms.slot_objects import changes
from headroom.core.holds import Hold
from headroom.core.objects import Key, Pod

SILENT = "its scheduler has not reported anything yet"
NOT_YET = "it has no guardian yet"
# Sentences in a condition's message that are no problem: how many are held, excluded nodes.
USUAL = re.compile(r"\d+ of \d+ (slots held|nodes left out: .*)")


class State(StrEnum):
    """The state of a slot, as tables show it."""

    HELD = "held"
    WAITING = "waiting"
    MISSING = "missing"
    HANDOVER = "handover"
    LEAVING = "leaving"
    CLAIMED = "claimed"
    OVER = "over"


@dataclass(frozen=True, slots=True)
class SlotView:
    """One slot; `hold` is None if it exists but is no longer wanted.

    If slots are objects of their own, `hold` is that object.
    """

    headroom: Headroom
    name: str
    state: State
    hold: Hold | None = None
    guardian: Pod | None = None
    why: str = ""

    @property
    def node(self) -> str:
        """Its node, or the node where it should be."""
        if self.guardian is not None and self.guardian.node:
            return self.guardian.node
        return (self.hold.status.node or self.hold.template.node) if self.hold is not None else ""


def slots_of(world: World, headroom: Headroom) -> tuple[SlotView, ...]:
    """Every slot that is wanted or exists, in the order of the wanted slots."""
    if headroom.slot_objects is not None:
        return _member_views(world, headroom)
    guardians, owners = guardians_of(world, headroom), claimants_of(world, headroom)
    if "nodes" in world.unseen:  # The wanted slots depend on nodes: only existing ones are known.
        return tuple(_stands(headroom, name, pod) for name, pod in sorted(guardians.items()))
    wished = wish_of(world, headroom)
    views = [
        _view(headroom, hold, guardians.get(hold.slot), owners.get(hold.slot))
        for hold in wished.slots
    ]
    state, why = State.LEAVING, "no longer wanted"
    if wished.frozen:  # Which slots are wanted is not known now, so the operator deletes none.
        state, why = State.HELD, f"kept for now: {'; '.join(n.message for n in wished.notes)}"
    others = {**owners, **guardians}.keys() - {hold.slot for hold in wished.slots}
    for name in sorted(others):
        if name in owners:  # The operator gives no slot back whose owner is on its way.
            said = (State.HANDOVER, f"pod {owners[name].key} is to have it")
        else:
            said = (state, why)
        views.append(SlotView(headroom, name, said[0], None, guardians.get(name), said[1]))
    return tuple(views)


def _stands(headroom: Headroom, name: str, guardian: Pod, hold: Hold | None = None) -> SlotView:
    """A slot with a guardian, which has its node or waits for one."""
    if guardian.node:
        return SlotView(headroom, name, State.HELD, hold, guardian)
    said = guardian.unschedulable_message or SILENT
    return SlotView(headroom, name, State.WAITING, hold, guardian, said)


def _member_views(world: World, headroom: Headroom) -> tuple[SlotView, ...]:
    """The objects of slots, then those that will be created."""
    members, wished = members_of(world, headroom), wish_of(world, headroom)
    pods = {pod.key: pod for pod in world.pods}
    due = changes(headroom, wished, members, ())
    open_now = wished.slots or not any(note.reason == "OutsideSchedule" for note in wished.notes)
    leaving = {hold.parent for hold in due.dismiss} if open_now and not wished.frozen else set()
    views = [
        _member_view(headroom, slot, hold, _guardian_of(hold, pods))
        for slot, hold in sorted(members.items(), key=lambda item: (len(item[0]), item[0]))
    ]
    views = [
        replace(view, state=State.LEAVING, why="no longer wanted")
        if view.hold is not None and view.hold.parent in leaving
        else view
        for view in views
    ]
    return (*views, *(_missing(headroom, slot, wished) for slot, wished in due.make))


def _guardian_of(hold: Hold, pods: Mapping[Key, Pod]) -> Pod | None:
    """The guardian of a hold; during a renewal there are two, and one has a node."""
    places = dict.fromkeys((hold.guardian_namespace, hold.home))
    found = (pods.get(Key(place, name)) for place in places for name in guardian_names(hold))
    healthy = [pod for pod in found if pod and pod.deleted is None and not pod.finished]
    return max(healthy, key=lambda pod: bool(pod.node), default=None)


def _member_view(headroom: Headroom, slot: str, hold: Hold, guardian: Pod | None) -> SlotView:
    status = hold.status
    if status.phase == "Succeeded":
        names = ", ".join(use.name for use in status.owners)
        return SlotView(headroom, slot, State.CLAIMED, hold, None, names and f"pod {names} has it")
    if status.phase == "Failed":
        return SlotView(headroom, slot, State.OVER, hold, None, _ready_message(hold))
    if guardian is None:
        why = _ready_message(hold) or NOT_YET
        return SlotView(headroom, slot, State.MISSING, hold, None, why)
    return _stands(headroom, slot, guardian, hold)


def _ready_message(hold: Hold) -> str:
    ready = ready_in(hold.status.conditions)
    return (ready.message or ready.reason) if ready is not None else ""


def _view(headroom: Headroom, hold: Hold, guardian: Pod | None, owner: Pod | None) -> SlotView:
    if owner is not None:
        why = f"pod {owner.key} will get it"
        return SlotView(headroom, hold.slot, State.HANDOVER, hold, guardian, why)
    if guardian is None:
        return _missing(headroom, hold.slot, hold)
    return _stands(headroom, hold.slot, guardian, hold)


def _missing(headroom: Headroom, slot: str, wished: Hold) -> SlotView:
    why = _why_missing(headroom, wished.slot)
    return SlotView(headroom, slot, State.MISSING, wished, why=why)


def _why_missing(headroom: Headroom, slot: str) -> str:
    """The headroom's condition about a slot: only its sentences about problems."""
    degraded = next((each for each in headroom.status.conditions if each.type == "Degraded"), None)
    if degraded is None or degraded.status != "True":
        return NOT_YET
    told = [part for part in degraded.message.split("; ") if not USUAL.fullmatch(part)]
    own = [part.removeprefix(f"slot {slot}: ") for part in told if part.startswith(f"slot {slot}:")]
    return "; ".join(own or told) or degraded.reason
