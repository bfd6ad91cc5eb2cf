"""Calculate the slots that a headroom wants, as Holds, and what limits their number.

Everything is calculated from the current state, so a lost slot is simply wanted again, under its
own name: its index, or its node. The engine compares the result with the existing guardians.
`windows` says whether the headroom is on, `eligibility` which nodes count, `nodeslots` which slots
each of them has.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from headroom.core.demand.buffers import LIMITED, BufferSize, Unsized, chunks
from headroom.core.demand.following import Follow
from headroom.core.holds import Hold, PodTemplate
from headroom.core.objects import Node
from headroom.core.resources import EMPTY, Resources
from headroom.core.standing import shapes as choice
from headroom.core.standing.besides import Followed, beside_slots, first_few, troubles
from headroom.core.standing.chunks import pods_a_node, times
from headroom.core.standing.eligibility import Exclusion, Rule, sorted_out
from headroom.core.standing.headrooms import (
    ALWAYS,
    NEVER,
    NODE_CHUNK,
    PREEMPT,
    AutoStatus,
    Headroom,
    PerNode,
    Size,
    Workload,
)
from headroom.core.standing.limiting import (
    MOST_SLOTS,
    Note,
    Shaped,
    allowed,
    cut_to,
    limit_note,
    operators_limit,
    reached,
)
from headroom.core.standing.nodeslots import NodeSlots
from headroom.core.standing.reach import Indexes, Reach, within
from headroom.core.standing.sized import Learnt, Room, Sized, replicas_of
from headroom.core.standing.windows import ActiveWindow

GRACE = timedelta(seconds=40)
USED_UP, NO_NODE = "UsedUp", "NoEligibleNode"
SOURCE = "spec.slot.from: "
EVERYWHERE = Reach()
PAUSED = Note("Paused", "spec.paused: nothing is held anew and nothing is given back")


@dataclass(frozen=True, slots=True)
class Sight:
    """What a wish depends on besides its headroom.

    Slots by name: `standing` are there now; `promised` are those of them whose owner is on its way;
    `spent` were claimed and count as used up where nothing is refilled. `overhead` is what stands
    on a node anyway, for slots as large as a node. `sized` is there where the size follows the
    load of the cluster, which is not seen here; `followed` are the owners of a headroom that
    follows gated pods, `covered` those of its slots that others serve, with words. `shapes` are
    those that were chosen for it. `most` is how many slots the operator makes of one headroom.
    """

    window: ActiveWindow | None
    nodes: Collection[Node] = ()
    workload: Workload | None = None
    standing: frozenset[str] = frozenset()
    promised: frozenset[str] = frozenset()
    spent: frozenset[str] = frozenset()
    overhead: Resources = EMPTY
    sized: Sized | None = None
    learnt: Learnt | None = None
    followed: tuple[Followed, ...] = ()
    covered: tuple[tuple[str, str], ...] = ()
    room: Room | None = None
    reach: Reach = EVERYWHERE
    shapes: choice.Shapes | None = None
    most: int = MOST_SLOTS


@dataclass(frozen=True, slots=True)
class Wish:
    """The slots to hold; `asked` is how many there would be without limits.

    `later` are wished for as well, but looked after only when the others are placed.
    Slots that are promised are among them whatever the size, until their owner has them.
    Where it is `frozen` we cannot know what is wanted: nothing is made and nothing given back.
    """

    slots: tuple[Hold, ...] = ()
    asked: int = 0
    notes: tuple[Note, ...] = ()
    excluded: tuple[Exclusion, ...] = ()
    look_again: datetime | None = None
    frozen: bool = False
    later: int = 0
    by_node: bool = False
    auto: AutoStatus | None = None

    @property
    def count(self) -> int:
        """How many slots are wished for, now and later."""
        return len(self.slots) + self.later

    @property
    def effort(self) -> int:
        """How many slots it took to work this out; numbers are not gone through one by one."""
        return self.count if self.by_node else len(self.slots)


def wish(headroom: Headroom, sight: Sight, now: datetime, grace: timedelta = GRACE) -> Wish:
    """Work out which slots should stand; the same each time for the same sight."""
    if headroom.deleted is not None:
        return Wish()
    if headroom.problems:
        note = Note("InvalidSpec", "; ".join(map(str, headroom.problems)))
        return Wish(notes=(note,), frozen=True)
    if headroom.slot.auto is not None:
        return _shaped(headroom, sight)
    template = template_for(headroom, sight.workload)
    if isinstance(template, Note):
        return Wish(notes=(template,), frozen=True)
    if headroom.paused:
        slots = _remade(headroom, template, sight, sight.standing | sight.promised)
        return Wish(slots, len(slots), (PAUSED,))
    wished = _wish(headroom, template, sight, now, grace)
    others = sight.promised - {hold.slot for hold in wished.slots}
    more = _remade(headroom, template, sight, others) if others else ()
    return replace(wished, slots=wished.slots + more)


def surplus(headroom: Headroom, wished: Wish, sight: Sight) -> tuple[str, ...]:
    """Name the standing slots to give back, the highest first; while paused or frozen, none."""
    if wished.frozen or (headroom.paused and headroom.deleted is None):
        return ()
    wanted = {hold.slot for hold in wished.slots}
    return tuple(sorted(sight.standing - wanted - sight.promised, key=_height, reverse=True))


def _wish(
    headroom: Headroom, template: PodTemplate, sight: Sight, now: datetime, grace: timedelta
) -> Wish:
    if sight.window is None:
        return _nothing("OutsideSchedule", "no window of spec.schedule is open")
    size = sight.window.size
    if isinstance(size, PerNode):
        return _on_nodes(headroom, NodeSlots(size, template, grace), sight, now)
    if sight.sized is not None:
        return _foreseen(headroom, template, sight, sight.sized)
    if isinstance(size, Follow):
        return _beside_owners(headroom, size, template, sight)
    if isinstance(size, BufferSize):
        return _buffered(headroom, template, size, sight)
    learnt = sight.learnt or Learnt(_count(size, sight.workload))
    asked = learnt.count
    if headroom.slot.chunk == NODE_CHUNK:
        most = pods_a_node(template, sight.nodes, sight.overhead)
        template, asked = times(template, most), -(-asked // most)
    names = _indexes(headroom, asked, sight)
    left = len(names)
    wished = _alike(headroom, template, names.first(sight.most), sight)
    notes = (*_used_up(asked, left), *cut_to(sight.most, left), *wished.notes, *learnt.notes)
    return replace(wished, asked=left, notes=notes, look_again=learnt.look_again)


def _shaped(headroom: Headroom, sight: Sight) -> Wish:
    """Slots like the pods of the workloads that were chosen, the first of each before the second.

    While paused, what stands is left alone: its workload may be none of the chosen any more.
    """
    shapes = sight.shapes or choice.Shapes()
    if headroom.paused:
        there = len(sight.standing)
        return Wish((), there, (PAUSED,), frozen=True, later=there, auto=headroom.status.auto)
    if sight.window is None:
        return _nothing("OutsideSchedule", "no window of spec.schedule is open")
    size, chosen = sight.window.size, shapes.chosen
    learnt = sight.learnt or Learnt(_count(size, None))
    if size.of_workload:
        counts = tuple(_count(size, each.workload) for each in chosen)
    else:
        counts = choice.divided(min(learnt.count, sight.most), chosen, shapes.had)
    shaped = choice.laid_out(chosen, counts, sight.most)
    asked = sum(counts) if chosen else learnt.count
    places, notes, later = reached(shaped, headroom.limits, sight.standing, sight.reach)
    slots = tuple(_slot(headroom, *shaped[place], sight) for place in places)
    notes = (*cut_to(sight.most, asked), *notes, *learnt.notes)
    if not chosen:
        notes = (Note(choice.NONE_IN_SCOPE, choice.none_chosen(shapes)), *notes)
    again = min(filter(None, (learnt.look_again, shapes.look_again)), default=None)
    return Wish(
        slots, asked, notes, look_again=again, later=later, auto=choice.told(shapes, counts)
    )


def _alike(headroom: Headroom, template: PodTemplate, names: Indexes, sight: Sight) -> Wish:
    """Slots of one shape: as many as the limits allow, and of these the ones within reach."""
    count, limit = allowed(template, headroom.limits, len(names))
    notes = (limit_note(limit, count, len(names)),) if limit else ()
    chosen, later = within(names.first(count), sight.standing, sight.reach)
    slots = tuple(_slot(headroom, template, name, sight) for name in chosen)
    return Wish(slots, len(names), notes, later=later)


def _foreseen(headroom: Headroom, template: PodTemplate, sight: Sight, sized: Sized) -> Wish:
    shaped = [(template, name) for name in sized.names[: sight.most]]
    chosen, notes, later = reached(shaped, headroom.limits, sight.standing, sight.reach)
    slots = tuple(_slot(headroom, *shaped[place], sight) for place in chosen)
    asked, notes = max(sized.asked, len(shaped)), (*sized.notes, *notes)
    return Wish(slots, asked, notes, look_again=sized.look_again, later=later)


def _buffered(headroom: Headroom, template: PodTemplate, size: BufferSize, sight: Sight) -> Wish:
    wanted = chunks(size, template.pod.requests, replicas_of(sight.workload))
    if isinstance(wanted, Unsized):
        return Wish(notes=(Note("InvalidSpec", wanted.message),))
    count = wanted.count
    notes: tuple[Note, ...] = ()
    left = sight.room.allowance if sight.room is not None else None
    if left is not None and left.count < count:
        count = left.count
        notes = tuple(Note(LIMITED, name) for name in left.limited_by)
    if count > sight.most:
        count, notes = sight.most, (Note(LIMITED, operators_limit(sight.most)),)
    chosen, later = within(Indexes(count), sight.standing, sight.reach)
    slots = tuple(_slot(headroom, template, name, sight) for name in chosen)
    again = sight.room.look_again if sight.room is not None else None
    return Wish(slots, wanted.count, notes, look_again=again, later=later)


def _beside_owners(headroom: Headroom, size: Follow, template: PodTemplate, sight: Sight) -> Wish:
    """A claimed slot is not held again: what it was held for has come."""
    needless = sight.spent.union(name for name, _ in sight.covered)
    every = beside_slots(headroom.parent, size, template, sight.followed)
    beside = [each for each in every if each.name not in needless]
    asked, shaped = len(beside), [(each.template, each.name) for each in beside[: sight.most]]
    chosen, notes, later = reached(shaped, headroom.limits, sight.standing, sight.reach)
    slots = tuple(
        replace(
            _slot(headroom, each.template, each.name, sight),
            guardian=each.guardian,
            awaits=each.awaits,
            next_to=each.next_to,
        )
        for each in (beside[place] for place in chosen)
    )
    notes = (*cut_to(sight.most, asked), *notes)
    said = (
        Note("CannotFollow", troubles(sight.followed)),
        Note("RoomBeside", first_few(sight.covered)),
    )
    told = (note for note in said if note.message)
    return Wish(slots, asked, (*told, *notes), later=later)


def _height(slot: str) -> tuple[int, str]:
    """Sort indexes as numbers; the order of nodes only has to be the same each time."""
    return len(slot), slot


def _nothing(reason: str, message: str) -> Wish:
    return Wish(notes=(Note(reason, message),))


def template_for(headroom: Headroom, workload: Workload | None) -> PodTemplate | Note:
    """The shape of a headroom's slots: its own, or that of its workload's pods."""
    if headroom.slot.template is not None:
        return headroom.slot.template
    source = headroom.slot.source
    if workload is None or workload.ref != source:
        return Note("WorkloadMissing", f"{SOURCE}there is no {source} in this namespace")
    if workload.problems:
        told = "; ".join(map(str, workload.problems))
        return Note("WorkloadUnusable", f"{SOURCE}{source}: {told}")
    return workload.template


def _count(size: Size, workload: Workload | None) -> int:
    return size.number(workload.replicas if workload is not None else 0)


def _indexes(headroom: Headroom, asked: int, sight: Sight) -> Indexes:
    """The lowest indexes; where nothing is refilled, claimed slots count and are left alone."""
    taken = sight.spent | sight.promised if headroom.refill == NEVER else frozenset()
    return Indexes(asked - len(taken), taken)


def _used_up(asked: int, left: int) -> tuple[Note, ...]:
    """Say how many slots were used and stay so, where nothing is refilled."""
    if left >= asked:
        return ()
    return (Note(USED_UP, f"{asked - left} of {asked} slots are used up and not refilled"),)


def _slot(headroom: Headroom, template: PodTemplate, name: str, sight: Sight) -> Hold:
    """One slot as a hold of its own; when it is renewed is up to the headroom, so it has no ttl.

    Its version stays empty: a headroom's status changes often, and its slots with it would not.
    """
    renewed = sight.window.started_at if sight.window and headroom.refill == ALWAYS else None
    return Hold(
        parent=replace(headroom.parent, slot=name),
        template=template,
        owners=headroom.owners,
        mode=headroom.mode,
        created=headroom.created,
        ttl=None,
        allocate_once=headroom.slot.chunk != NODE_CHUNK,
        fresh_since=renewed,
        lifetime=headroom.slot_lifetime if headroom.refill != NEVER else None,
        reclaims=headroom.reclaim == PREEMPT and bool(template.node),
        paused=headroom.paused,
        deleted=headroom.deleted,
        generation=headroom.generation,
    )


def _on_nodes(headroom: Headroom, shape: NodeSlots, sight: Sight, now: datetime) -> Wish:
    nodes, excluded = sorted_out(sight.nodes, shape.template.pod)
    blinking = _blinking(shape, excluded, sight, now)
    spent = sight.spent if headroom.refill == NEVER else frozenset()
    shaped: list[Shaped] = []
    empty: list[str] = []
    asked = used = wanted = 0
    kept_on = frozenset(node.name for node, _ in blinking)
    for node in sorted((*nodes, *(node for node, _ in blinking)), key=lambda node: node.name):
        template = shape.pinned(node)
        if template is None:
            empty.append(node.name)
            continue
        every = shape.names(node)
        names = [name for name in every if name not in spent]
        asked, used = asked + len(every), used + len(every) - len(names)
        if node.name in kept_on:
            names = [name for name in names if name in sight.standing]
        wanted += len(names)
        shaped += [(template, name) for name in names[: max(0, sight.most - len(shaped))]]
    chosen, notes, later = reached(shaped, headroom.limits, sight.standing, sight.reach)
    notes = (*_used_up(asked, asked - used), *cut_to(sight.most, wanted), *notes)
    if not nodes and not blinking:
        notes = (Note(NO_NODE, "no node is eligible"), *notes)
    if empty:
        message = f"{shape.size.percent} % of {', '.join(empty)} comes to nothing"
        notes = (*notes, Note("NothingToHold", message))
    return Wish(
        tuple(_slot(headroom, *shaped[place], sight) for place in chosen),
        wanted,
        notes,
        tuple(each for each in excluded if each.node not in kept_on),
        min((until for _, until in blinking), default=None),
        later=later,
        by_node=True,
    )


def _blinking(
    shape: NodeSlots, excluded: Sequence[Exclusion], sight: Sight, now: datetime
) -> list[tuple[Node, datetime]]:
    """Nodes in their grace period, each with its end."""
    unready = {each.node for each in excluded if each.rule is Rule.READY}
    return [
        (node, until)
        for node in sight.nodes
        if node.name in unready and (until := shape.graceful(node, sight.standing, now)) is not None
    ]


def _remade(
    headroom: Headroom, template: PodTemplate, sight: Sight, names: frozenset[str]
) -> tuple[Hold, ...]:
    """These slots as they are; one whose node is gone is gone as well."""
    if isinstance(headroom.size, Follow):
        wished = _beside_owners(headroom, headroom.size, template, sight)
        return tuple(hold for hold in wished.slots if hold.slot in names)
    ordered = sorted(names, key=_height)
    if not isinstance(headroom.size, PerNode):
        return tuple(_slot(headroom, template, name, sight) for name in ordered)
    shape = NodeSlots(headroom.size, template, timedelta())
    nodes = {node.name: node for node in sight.nodes}
    found = ((name, nodes.get(name.partition("/")[0])) for name in ordered)
    shapes = ((name, shape.pinned(node)) for name, node in found if node is not None)
    return tuple(
        _slot(headroom, pinned, name, sight) for name, pinned in shapes if pinned is not None
    )
