"""Plan what would be held where if these objects were applied; nothing is written.

The slots are those that the operator would want. Each guardian is placed where kube-scheduler would
place it, one after the other, so that two never use the same room. Existing guardians stay. A slot
whose shape changes gets a new guardian before the old one is deleted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from headroom.cli.source import World
from headroom.cli.views.doors import without_door
from headroom.cli.views.offline_ledger import ledger_of
from headroom.cli.views.quotaroom import QuotaRoom
from headroom.cli.views.quotas import quota_refusal
from headroom.cli.views.shapes import shapes_told
from headroom.cli.views.slots import State, slots_of
from headroom.cli.views.wishes import decided
from headroom.core.findings.doors import OWNERS_WITHOUT_DOOR
from headroom.core.findings.unserved import INVALID, INVALID_SPEC, Unserved, blamed_for
from headroom.core.headrooms.eligibility import summary
from headroom.core.headrooms.headrooms import Headroom
from headroom.core.headrooms.shapes import with_found_owners
from headroom.core.headrooms.wanted_slots import WantedSlots
from headroom.core.headrooms.windows import judged
from headroom.core.hold_state.limited import permit_of
from headroom.core.holds import Hold
from headroom.core.names import LOCKED_PRIORITY
from headroom.core.objects import Key, Pod
from headroom.core.owners import judged as judged_rules
from headroom.core.policy import Policy
from headroom.core.quotas.namespaces import NO_LIMITS, NamespaceLimits
from headroom.core.renewal import has_shape_of
from headroom.core.selection import pinned
from headroom.engine.cron import calendar
from headroom.engine.ledger import Ledger
from headroom.engine.memories import remember
from headroom.engine.namespace_limits import limit_of
from headroom.engine.observation.pods import lose_pod
from headroom.scheduling.choose import ChosenNode, choose

WANTED = (State.HELD, State.WAITING, State.MISSING, State.HANDOVER)


@dataclass(frozen=True, slots=True)
class SlotPlace:
    """The node of one slot; without a node, the reason."""

    slot: str
    hold: Hold
    node: str = ""
    why: str = ""
    stands: bool = False


@dataclass(frozen=True, slots=True)
class Planned:
    """The result for one object; `leaving` are slots that it would give up.

    `refused` says why it would get nothing, `blamed` names the field that causes it.
    """

    subject: str
    name: str = ""
    places: tuple[SlotPlace, ...] = ()
    leaving: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    refused: str = ""
    blamed: str = ""

    @property
    def unplaced(self) -> tuple[SlotPlace, ...]:
        return tuple(place for place in self.places if not place.node)

    @property
    def fits(self) -> bool:
        return not self.refused and not self.unplaced


@dataclass(frozen=True, slots=True)
class PlannedCluster:
    """What a plan changes step by step: nodes with their pods, usage of namespaces, quotas."""

    ledger: Ledger
    quotas: QuotaRoom


def planned(
    world: World, wanted: Sequence[Headroom | Hold], limits: NamespaceLimits = NO_LIMITS
) -> tuple[Planned, ...]:
    """Plan each object in the given order.

    `limits` apply to namespaces that have none of their own.
    """
    known = [_known(world, each) for each in wanted]
    there = _with(world, known)
    ledger = ledger_of(there, Policy(namespace="", namespace_limits=limits))
    table = PlannedCluster(ledger, QuotaRoom(world.resource_quotas))
    return tuple(
        _headroom(there, each, table) if isinstance(each, Headroom) else _hold(there, each, table)
        for each in known
    )


def _known(world: World, wanted: Headroom | Hold) -> Headroom | Hold:
    """The object as it would be: the new spec with the existing status."""
    if isinstance(wanted, Headroom):
        old = next((each for each in world.headrooms if each.parent == wanted.parent), None)
        if old is None:
            return wanted
        return replace(wanted, parent=old.parent, created=old.created, status=old.status)
    hold = next((each for each in world.holds if each.parent == wanted.parent), None)
    if hold is None:
        return wanted
    return replace(wanted, parent=hold.parent, created=hold.created, status=hold.status)


def _with(world: World, wanted: Sequence[Headroom | Hold]) -> World:
    parents = {each.parent for each in wanted}
    there: list[Headroom | Hold] = [*world.headrooms, *world.holds]
    things = [*(each for each in there if each.parent not in parents), *wanted]
    headrooms = tuple(each for each in things if isinstance(each, Headroom))
    holds = tuple(each for each in things if isinstance(each, Hold))
    return replace(world, headrooms=headrooms, holds=holds)


def _headroom(world: World, headroom: Headroom, table: PlannedCluster) -> Planned:
    subject = f"{headroom.parent.kind.lower()} {headroom.key}"
    memory = decided(world, headroom)
    wished = memory.wished
    name = headroom.parent.whole
    notes = [*(note.message for note in wished.notes), *shapes_told(wished.auto)]
    if (refusal := _refusal(headroom, wished)) is not None:
        return Planned(subject, name, refused=refusal.message, blamed=refusal.path)
    views = slots_of(world, headroom)
    leaving = [view for view in views if view.state is State.LEAVING]
    for view in leaving:
        if view.guardian is not None:
            lose_pod(table.ledger, view.guardian.key, view.guardian.uid, world.now)
    if headroom.size.by_node:
        notes.append(summary(wished.excluded, len(world.nodes)))
    missing = [view.hold for view in views if view.hold and view.state is State.MISSING]
    if why := quota_refusal(world, headroom, missing):
        return Planned(subject, name, refused=why)
    places = tuple(
        _place(view.name, view.hold, view.guardian, table)
        for view in views
        if view.hold is not None and view.state in WANTED
    )
    notes += _doors(world, with_found_owners(headroom, memory.shapes.chosen))
    return Planned(subject, name, places, tuple(view.name for view in leaving), tuple(notes))


def _doors(world: World, wish: Headroom | Hold) -> list[str]:
    """A note about owners without a door."""
    told = without_door(world, wish)
    return [f"{OWNERS_WITHOUT_DOOR}: {told}"] if told else []


def _refusal(headroom: Headroom, wished: WantedSlots) -> Unserved | None:
    """Why nothing would be held: the operator's message, with the field that causes it."""
    problems = judged_rules(judged(headroom, calendar), Policy().across_namespaces).problems
    if problems:
        return Unserved(INVALID_SPEC, "; ".join(map(str, problems)), problems[0].path)
    for note in wished.notes:
        if note.reason in INVALID:
            return Unserved(note.reason, note.message, blamed_for(note.reason))
    return None


def _hold(world: World, hold: Hold, table: PlannedCluster) -> Planned:
    subject = f"{hold.parent.kind.lower()} {hold.key}"
    name, hold = hold.parent.whole, judged_rules(hold, Policy().across_namespaces)
    if hold.problems:
        told = "; ".join(map(str, hold.problems))
        return Planned(subject, name, refused=told, blamed=hold.problems[0].path)
    guardian = ledger_of(world, Policy()).guardian_of(hold)
    places = (_place("", hold, guardian, table),)
    return Planned(subject, name, places, notes=tuple(_doors(world, hold)))


def _place(slot: str, hold: Hold, guardian: Pod | None, table: PlannedCluster) -> SlotPlace:
    """Place one slot's guardian, and count it there from now on."""
    state = table.ledger.state
    if guardian is not None and guardian.node and has_shape_of(hold, guardian):
        return SlotPlace(slot, hold, guardian.node, stands=True)
    if refused := _beyond_limit(table.ledger, hold):
        return SlotPlace(slot, hold, why=refused)
    if guardian is None and (refused := table.quotas.take(hold)):
        return SlotPlace(slot, hold, why=refused)
    pod = _supposed(slot, hold)
    choice = choose(pod, state)
    if guardian is not None:
        state.remove_pod(guardian.key)
    if not isinstance(choice, ChosenNode):
        return SlotPlace(slot, hold, why=choice.message)
    state.add_pod(pod, choice.node)
    return SlotPlace(slot, hold, choice.node)


def _beyond_limit(ledger: Ledger, hold: Hold) -> str:
    """The limit of its namespace that refuses a new guardian; without one it counts from now on."""
    refused = limit_of(ledger, hold)
    if not refused:
        known = ledger.memory[hold.parent.identity]
        remember(ledger, hold, replace(known, permit=permit_of(hold)))
    return refused


def _supposed(slot: str, hold: Hold) -> Pod:
    """The guardian that would be created, as kube-scheduler would see it."""
    pod = hold.template.pod
    key = Key(hold.home, f"supposed {hold.parent} {slot}")
    if hold.template.node:
        pod = replace(pod, placement=pinned(pod.placement, hold.template.node))
    return replace(pod, key=key, uid=str(hold.parent), priority=LOCKED_PRIORITY, nominated="")
