"""Which slots a headroom wishes for, as Holds, and what keeps it from wishing for more.

Everything is worked out anew from what is true now, so a slot that was lost is simply wished for
again, under its own name: its index, or its node. The engine compares the wish with the guardians
that stand. `windows` says beforehand whether the headroom is on, `eligibility` which nodes count.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from headroom.core.eligibility import Exclusion, Rule, eligible, sorted_out
from headroom.core.headrooms import (
    NEVER,
    NO_LIMITS,
    Headroom,
    Limits,
    Percent,
    PerNode,
    Replicas,
    Size,
    Workload,
)
from headroom.core.holds import Hold, PodTemplate
from headroom.core.objects import Node, Pod
from headroom.core.requests import ContainerNeed, PodNeed, nonzero_requests
from headroom.core.resources import CPU, MEMORY, PODS, Resources
from headroom.core.windows import ActiveWindow

GRACE = timedelta(seconds=40)
_WITHOUT_WISHES = (CPU, MEMORY)


@dataclass(frozen=True, slots=True)
class Sight:
    """What a wish depends on besides its headroom.

    `standing` are the slots that are there now, `spent` those that were claimed; both by name.
    """

    window: ActiveWindow | None
    nodes: Collection[Node] = ()
    workload: Workload | None = None
    standing: frozenset[str] = frozenset()
    spent: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Note:
    """Why a wish is smaller than one might think: a word for a condition, and a sentence."""

    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class Wish:
    """The slots to hold; `asked` is how many there would be without limits."""

    slots: tuple[Hold, ...] = ()
    asked: int = 0
    notes: tuple[Note, ...] = ()
    excluded: tuple[Exclusion, ...] = ()
    look_again: datetime | None = None


def wish(headroom: Headroom, sight: Sight, now: datetime, grace: timedelta = GRACE) -> Wish:
    """Work out which slots should stand; the same each time for the same sight."""
    if headroom.deleted is not None:
        return Wish()
    if headroom.problems:
        return _nothing("InvalidSpec", "; ".join(map(str, headroom.problems)))
    template = _template(headroom, sight.workload)
    if isinstance(template, Note):
        return Wish(notes=(template,))
    if headroom.paused:
        return _paused(headroom, template, sight)
    if sight.window is None:
        return _nothing("OutsideSchedule", "no window of spec.schedule is open")
    size = sight.window.size
    if isinstance(size, PerNode):
        return _on_nodes(headroom, _PerNode(size, template, grace), sight, now)
    asked = _count(size, sight.workload)
    if asked is None:
        return _nothing("InvalidSpec", "spec.size: this size is not served yet")
    slots = [_slot(headroom, template, index) for index in _indexes(headroom, asked, sight)]
    kept, notes = _limited(slots, headroom.limits)
    return Wish(kept, len(slots), notes)


def surplus(headroom: Headroom, wished: Wish, sight: Sight) -> tuple[str, ...]:
    """Name the standing slots to give back, the highest first; while paused, none."""
    if headroom.paused and headroom.deleted is None:
        return ()
    wanted = {hold.slot for hold in wished.slots}
    return tuple(sorted(sight.standing - wanted - sight.spent, key=_height, reverse=True))


def _height(slot: str) -> tuple[int, str]:
    """Sort indexes as numbers; the order of nodes only has to be the same each time."""
    return len(slot), slot


def _nothing(reason: str, message: str) -> Wish:
    return Wish(notes=(Note(reason, message),))


def _template(headroom: Headroom, workload: Workload | None) -> PodTemplate | Note:
    if headroom.slot.template is not None:
        return headroom.slot.template
    source = headroom.slot.source
    if workload is None or workload.ref != source:
        return Note("WorkloadMissing", f"spec.slot.from: there is no {source} in this namespace")
    if workload.problems:
        told = "; ".join(map(str, workload.problems))
        return Note("WorkloadUnusable", f"spec.slot.from: {source}: {told}")
    return workload.template


def _count(size: Size, workload: Workload | None) -> int | None:
    match size:
        case Replicas(count):
            return count
        case Percent(percent):
            replicas = workload.replicas if workload is not None else 0
            return -(-replicas * percent // 100)
        case _:
            return None


def _indexes(headroom: Headroom, asked: int, sight: Sight) -> Iterator[str]:
    """The lowest indexes; where nothing is refilled, claimed slots count and are left alone."""
    spent = sight.spent if headroom.refill == NEVER else frozenset()
    left = max(0, asked - len(spent))
    free = (name for name in map(str, range(asked + len(spent))) if name not in spent)
    for _, name in zip(range(left), free, strict=False):
        yield name


def _slot(headroom: Headroom, template: PodTemplate, name: str) -> Hold:
    """One slot as a hold of its own; when it is renewed is up to the headroom, so it has no ttl."""
    return Hold(
        parent=headroom.parent,
        template=template,
        owners=headroom.owners,
        slot=name,
        created=headroom.created,
        ttl=None,
        deleted=headroom.deleted,
        generation=headroom.generation,
        version=headroom.version,
    )


@dataclass(frozen=True, slots=True)
class _PerNode:
    """How slots of a size per node are made, and for how long a node may not be ready."""

    size: PerNode
    template: PodTemplate
    grace: timedelta

    def names(self, node: Node) -> list[str]:
        """The first slot is called like its node, so it stays when there are to be more."""
        more = (f"{node.name}/{number}" for number in range(1, self.size.slots))
        return [node.name, *more]

    def pinned(self, node: Node) -> PodTemplate | None:
        """The slot's shape on this node; None where its part of the node comes to nothing."""
        if self.size.percent is None:
            return replace(self.template, node=node.name)
        pod = _part(self.template.pod, node, self.size.percent)
        return replace(self.template, pod=pod, node=node.name) if pod.requests else None

    def graceful(self, node: Node, sight: Sight, now: datetime) -> datetime | None:
        """Until when a node that keeps a slot is let be, though it is not ready just now."""
        since = node.unready_since
        if since is None or node.deleted is not None or now >= since + self.grace:
            return None
        stands = any(name in sight.standing for name in self.names(node))
        sound = eligible(replace(node, ready=True), self.template.pod) is None
        return since + self.grace if stands and sound else None


def _on_nodes(headroom: Headroom, shape: _PerNode, sight: Sight, now: datetime) -> Wish:
    nodes, excluded = sorted_out(sight.nodes, shape.template.pod)
    blinking = _blinking(shape, excluded, sight, now)
    spent = sight.spent if headroom.refill == NEVER else frozenset()
    slots: list[Hold] = []
    empty: list[str] = []
    for node in sorted((*nodes, *(node for node, _ in blinking)), key=lambda node: node.name):
        template = shape.pinned(node)
        if template is None:
            empty.append(node.name)
            continue
        names = [name for name in shape.names(node) if name not in spent]
        slots += [_slot(headroom, template, name) for name in names]
    kept, notes = _limited(slots, headroom.limits)
    if empty:
        message = f"{shape.size.percent} % of {', '.join(empty)} comes to nothing"
        notes = (*notes, Note("NothingToHold", message))
    kept_on = {node.name for node, _ in blinking}
    return Wish(
        kept,
        len(slots),
        notes,
        tuple(each for each in excluded if each.node not in kept_on),
        min((until for _, until in blinking), default=None),
    )


def _blinking(
    shape: _PerNode, excluded: Sequence[Exclusion], sight: Sight, now: datetime
) -> list[tuple[Node, datetime]]:
    """Nodes in their grace period, each with its end."""
    unready = {each.node for each in excluded if each.rule is Rule.READY}
    return [
        (node, until)
        for node in sight.nodes
        if node.name in unready and (until := shape.graceful(node, sight, now)) is not None
    ]


def _part(pod: Pod, node: Node, percent: int) -> Pod:
    """The slot with a part of the node's allocatable: of what it asks for, or cpu and memory."""
    names = [name for name in pod.requests if name != PODS] or _WITHOUT_WISHES
    requests = Resources({name: node.allocatable[name] * percent // 100 for name in names})
    need = PodNeed(containers=(ContainerNeed(requests=requests),))
    return replace(pod, requests=requests, nonzero_requests=nonzero_requests(need))


def _paused(headroom: Headroom, template: PodTemplate, sight: Sight) -> Wish:
    """Wish for just what stands: nothing new, and nothing given back."""
    standing = sorted(sight.standing, key=_height)
    shapes: dict[str, PodTemplate | None] = dict.fromkeys(standing, template)
    if isinstance(headroom.size, PerNode):
        made = _PerNode(headroom.size, template, timedelta())
        shapes = {name: made.pinned(node) for node in sight.nodes for name in made.names(node)}
    found = ((name, shapes.get(name)) for name in standing)
    slots = tuple(_slot(headroom, shape, name) for name, shape in found if shape is not None)
    note = Note("Paused", "spec.paused: nothing is held anew and nothing is given back")
    return Wish(slots, len(slots), (note,))


def _limited(slots: Sequence[Hold], limits: Limits) -> tuple[tuple[Hold, ...], tuple[Note, ...]]:
    """Keep the first slots up to the limit that is met first, and say which that was."""
    if limits == NO_LIMITS:
        return tuple(slots), ()
    used: dict[str, int] = {}
    nodes: set[str] = set()
    for count, hold in enumerate(slots):
        if hold.template.node:
            nodes.add(hold.template.node)
        for name, most in limits.resources:
            used[name] = used.get(name, 0) + hold.template.pod.requests[name]
            if used[name] > most:
                return _cut(slots, count, f"resources.{name}")
        for name, most_of, reached in (
            ("slots", limits.slots, count + 1),
            ("pods", limits.pods, count + 1),
            ("nodes", limits.nodes, len(nodes)),
        ):
            if most_of is not None and reached > most_of:
                return _cut(slots, count, name)
    return tuple(slots), ()


def _cut(
    slots: Sequence[Hold], count: int, limit: str
) -> tuple[tuple[Hold, ...], tuple[Note, ...]]:
    message = f"spec.limits.{limit} allows {count} of {len(slots)} slots"
    return tuple(slots[:count]), (Note("LimitReached", message),)
