"""`size.perNode`: slots on every eligible node, or one slot of a part of its allocatable.

The template names the node of a slot, and guardians implement this by affinity. A node that is not
ready keeps its slots for a grace period.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import ClassVar

from headroom.core.headrooms.chunks import with_requests
from headroom.core.headrooms.eligibility import NodeRule, eligible, sorted_out
from headroom.core.headrooms.headrooms import NEVER, Headroom, Workload
from headroom.core.headrooms.size_limits import Note, Shaped, cut_to
from headroom.core.headrooms.wanted_slots import (
    NO_NODE,
    SizeView,
    WantedSlots,
    as_hold,
    height,
    used_up,
    within_reach,
)
from headroom.core.holds import Hold, PodTemplate
from headroom.core.objects import Node, Pod
from headroom.core.resources import CPU, EMPTY, MEMORY, PODS, Resources
from headroom.core.sizes.kind import Size, slots_told

_WITHOUT_WISHES = (CPU, MEMORY)


@dataclass(frozen=True, slots=True)
class PerNode(Size):
    by_node: ClassVar[bool] = True

    slots: int = 1
    percent: int | None = None

    @property
    def in_parts(self) -> bool:
        return self.percent is not None

    def wish(
        self, headroom: Headroom, template: PodTemplate, view: SizeView, now: datetime
    ) -> WantedSlots:
        nodes, excluded = sorted_out(view.nodes, template.pod)
        unready = {each.node for each in excluded if each.rule is NodeRule.READY}
        ends = (
            (n, self._grace_end(n, template, view, now)) for n in view.nodes if n.name in unready
        )
        blinking = [(node, until) for node, until in ends if until is not None]
        spent = view.spent if headroom.refill == NEVER else frozenset()
        shaped: list[Shaped] = []
        empty: list[str] = []
        asked = used = wanted = 0
        kept_on = frozenset(node.name for node, _ in blinking)
        for node in sorted((*nodes, *(node for node, _ in blinking)), key=lambda node: node.name):
            pinned = self._pinned(template, node)
            if pinned is None:
                empty.append(node.name)
                continue
            every = self._names(node)
            names = [name for name in every if name not in spent]
            asked, used = asked + len(every), used + len(every) - len(names)
            if node.name in kept_on:
                names = [name for name in names if name in view.standing]
            wanted += len(names)
            shaped += [(pinned, name) for name in names[: max(0, view.most - len(shaped))]]
        slots, notes, later = within_reach(headroom, shaped, view)
        notes = (*used_up(asked, asked - used), *cut_to(view.most, wanted), *notes)
        if not nodes and not blinking:
            notes = (Note(NO_NODE, "no node is eligible"), *notes)
        if empty:
            message = f"{self.percent} % of {', '.join(empty)} comes to nothing"
            notes = (*notes, Note("NothingToHold", message))
        return WantedSlots(
            slots,
            wanted,
            notes,
            tuple(each for each in excluded if each.node not in kept_on),
            min((until for _, until in blinking), default=None),
            later=later,
        )

    def kept(
        self, headroom: Headroom, template: PodTemplate, view: SizeView, now: datetime
    ) -> tuple[Hold, ...]:
        """Each in the shape that its node gives it; one whose node is gone is gone as well."""
        nodes = {node.name: node for node in view.nodes}
        ordered = sorted(view.standing, key=height)
        found = ((name, nodes.get(name.partition("/")[0])) for name in ordered)
        shapes = ((name, self._pinned(template, node)) for name, node in found if node is not None)
        return tuple(
            as_hold(headroom, pinned, name, view) for name, pinned in shapes if pinned is not None
        )

    def on_new_node(self, template: PodTemplate, wished: WantedSlots | None) -> Resources:
        """Of a part of each node, that of the node in the middle: the next one is not known yet."""
        if self.percent is not None:
            return _middle(wished)
        return template.pod.requests.without(PODS) * self.slots

    def _names(self, node: Node) -> list[str]:
        """The first slot is called like its node, so it stays when there are to be more."""
        return [node.name, *(f"{node.name}/{number}" for number in range(1, self.slots))]

    def _pinned(self, template: PodTemplate, node: Node) -> PodTemplate | None:
        """The slot's shape on this node; None where its part of the node comes to nothing."""
        if self.percent is None:
            return replace(template, node=node.name)
        pod = _part(template.pod, node, self.percent)
        return replace(template, pod=pod, node=node.name) if pod.requests else None

    def _grace_end(
        self, node: Node, template: PodTemplate, view: SizeView, now: datetime
    ) -> datetime | None:
        """Until when a node that keeps a slot is let be, though it is not ready just now."""
        since = node.unready_since
        if since is None or node.deleted is not None or now >= since + view.grace:
            return None
        stands = any(name in view.standing for name in self._names(node))
        sound = eligible(replace(node, ready=True), template.pod) is None
        return since + view.grace if stands and sound else None

    def words(self, headroom: Headroom, workload: Workload | None) -> str:
        if self.percent is not None:
            return f"a slot of {self.percent} % of each eligible node"
        return f"{slots_told(self.slots)} on each eligible node"


def _part(pod: Pod, node: Node, percent: int) -> Pod:
    """The slot with a part of the node's allocatable: of what it asks for, or cpu and memory."""
    names = [*pod.requests.without(PODS)] or _WITHOUT_WISHES
    requests = Resources({name: node.allocatable[name] * percent // 100 for name in names})
    return with_requests(pod, requests)


def _middle(wished: WantedSlots | None) -> Resources:
    """What the slot in the middle keeps, by size, of those that are pinned to a node."""
    slots = [hold for hold in wished.slots if hold.template.node] if wished is not None else []
    if not slots:
        return EMPTY
    ordered = sorted(slots, key=lambda hold: (_size(hold.template.pod.requests), hold.slot))
    return ordered[len(ordered) // 2].template.pod.requests.without(PODS)


def _size(requests: Resources) -> tuple[tuple[str, int], ...]:
    return tuple((name, requests[name]) for name in sorted(requests))
