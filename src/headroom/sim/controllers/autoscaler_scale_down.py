"""Remove machines that are empty, or whose pods fit elsewhere.

A node must have been unneeded for `scaleDownAfter`. If its pods then fit nowhere else, it waits for
another change in the cluster and for the same time again. A node that is removed is tainted, its
pods are evicted as their budgets allow, and its object is deleted when they are gone. Empty nodes
are removed together, others one at a time. `autoscaler_rules` has the rules, `autoscaler_fleet` the
machines.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from headroom.core.objects import Pod
from headroom.core.resources import Resources
from headroom.sim.api.decoder import pod_of
from headroom.sim.api.values import Json, Ref, dig, ref_of, uid_of
from headroom.sim.controllers.autoscaler_cache import AutoscalerCache
from headroom.sim.controllers.autoscaler_fleet import Fleet
from headroom.sim.controllers.autoscaler_rules import is_protected, keeps_node, must_move
from headroom.sim.controllers.base import Controller
from headroom.sim.errors import ApiError
from headroom.sim.pools import Autoscaling

_ASK_AGAIN = 5.0
_HAIR = 1e-6  # A sum of times may differ from the clock by less than its resolution.
_GIVE_UP_AFTER = 120.0
_REFUSED_FOR_NOW = 429


@dataclass(frozen=True, slots=True)
class ScaleDownCandidate:
    """A machine that may be removed once its pods have moved, and how much of it is used."""

    node: str
    movers: tuple[Pod, ...]
    used: int


class ScaleDown:
    """Finds unneeded nodes and removes them."""

    def __init__(
        self, controller: Controller, cache: AutoscalerCache, fleet: Fleet, autoscaling: Autoscaling
    ) -> None:
        self._controller = controller
        self._cache = cache
        self._fleet = fleet
        self._behaviour = autoscaling.manner
        self._patience = autoscaling.scale_down_after
        self._stage = controller.stage
        self._since: dict[str, float] = {}
        self._stuck: dict[str, int] = {}
        self._changes = 0
        self._candidates: dict[str, ScaleDownCandidate] = {}
        self._unjudged = dict.fromkeys(fleet.machines())

    def changed(self) -> None:
        """The cluster changed: pods that had no other place before may have one now."""
        self._changes += 1

    def look_again(self, node: str) -> None:
        """A node, or a pod on it, has changed: check it again."""
        self._candidates.pop(node, None)
        self._unjudged[node] = None

    def look_again_everywhere(self) -> None:
        self._candidates.clear()
        self._unjudged = dict.fromkeys(self._fleet.machines())

    def review(self) -> float | None:
        """Start to remove nodes that are due; return when the next one is due, or None."""
        now = self._stage.loop.now
        reached = now + _HAIR
        can_spare = self._fleet.sparing()
        self._judge_changed(can_spare)
        found = [each for name, each in self._candidates.items() if can_spare(name)]
        waiting = [each for each in found if self._stuck.get(each.node) != self._changes]
        self._since = {each.node: self._since.get(each.node, now) for each in waiting}
        due = [each for each in waiting if reached >= self._since[each.node] + self._patience]
        for candidate in sorted(due, key=lambda each: (bool(each.movers), each.used, each.node)):
            if self._fleet.may_leave(candidate.node) and self._can_go(candidate):
                self._fleet.leaves(candidate.node)
                self._controller.enqueue(Ref("Node", "", candidate.node), after=0)
        later = [since + self._patience for since in self._since.values()]
        return min((moment for moment in later if moment > reached), default=None)

    def _judge_changed(self, can_spare: Callable[[str], bool]) -> None:
        """Check the machines that have changed; skip those that stay for another reason."""
        if not self._fleet.may_spare():
            return
        changed, self._unjudged = self._unjudged, {}
        for name in changed:
            if can_spare(name):
                candidate = self._judge(name)
                if candidate is not None:
                    self._candidates[name] = candidate
            elif self._fleet.has(name):
                self._unjudged[name] = None

    def _can_go(self, candidate: ScaleDownCandidate) -> bool:
        """Whether a machine is empty, or its pods fit elsewhere."""
        if not candidate.movers:
            return True
        if self._fleet.is_emptying():
            return False  # Its pods may need the room of that node; check later.
        node = self._cache.nodes[candidate.node]
        if self._cache.standing().could_leave(node, candidate.movers):
            return True
        self._stuck[candidate.node] = self._changes
        del self._since[candidate.node]
        return False

    def _judge(self, name: str) -> ScaleDownCandidate | None:
        """What the removal of a machine requires; None if a pod keeps it."""
        obj = self._controller.store.get(Ref("Node", "", name))
        if obj is None or is_protected(obj, self._behaviour):
            return None
        refs = self._stage.pods.refs_on_node(name)
        used = _used(self._cache.nodes[name].allocatable, self._cache.requested(name))
        moving = self._moving(refs)
        if self._behaviour.busy is not None and used >= self._behaviour.busy and any(moving):
            return None  # Most machines: one pod that would have to move is enough.
        movers = list(self._moving(refs))
        for ref, _ in movers:
            pod = self._controller.store.get(ref)
            budgets = self._controller.store.list("PodDisruptionBudget", ref.namespace)
            if pod is not None and keeps_node(pod, budgets, self._behaviour):
                return None
        return ScaleDownCandidate(name, tuple(value for _, value in movers), used)

    def _moving(self, refs: Iterable[Ref]) -> Iterator[tuple[Ref, Pod]]:
        """The pods that have to be placed elsewhere before their machine can be removed."""
        pods = self._cache.pods
        for ref in refs:
            if must_move(pods[ref], self._behaviour):
                yield ref, pods[ref]

    async def give_back(self, name: str) -> None:
        """Empty a node and delete it; a node that cannot be emptied in time stays."""
        server, ref = self._stage.server, Ref("Node", "", name)
        node = self._controller.store.get(ref)
        if node is None:
            return
        self._taint(node, present=True)
        if await self._emptied(name):
            words = "node removed by the autoscaler: nobody needs it"
            self._controller.recorder.record(node, "Normal", "ScaleDown", words)
            server.delete(ref)
        else:
            words = "node stays: its pods could not be evicted in time"
            self._controller.recorder.record(node, "Warning", "ScaleDownFailed", words)
            current = self._controller.store.get(ref)
            if current is not None:
                self._taint(current, present=False)
        self._since.pop(name, None)
        self._stuck.pop(name, None)
        self._fleet.stays(name)

    async def _emptied(self, name: str) -> bool:
        loop = self._stage.loop
        end = loop.now + _GIVE_UP_AFTER
        while True:
            on_it = self._stage.pods.on_node(name)
            left = [pod for pod in on_it if must_move(pod_of(pod), self._behaviour)]
            if not left:
                return True
            if loop.now >= end:
                return False
            going = [pod for pod in left if not dig(pod, "metadata", "deletionTimestamp")]
            for pod in going:
                self._evict(pod)
            await asyncio.sleep(_ASK_AGAIN if going else 1.0)

    def _evict(self, pod: Json) -> None:
        try:
            self._stage.server.evict(ref_of(pod), uid=uid_of(pod))
        except ApiError as error:
            if error.code != _REFUSED_FOR_NOW:
                return  # It was deleted before.

    def _taint(self, node: Json, *, present: bool) -> None:
        taint = {"key": self._behaviour.taint, "effect": "NoSchedule"}
        others = [each for each in dig(node, "spec", "taints") or () if each["key"] != taint["key"]]
        taints = [*others, taint] if present else others
        self._stage.server.merge_patch(ref_of(node), {"spec": {"taints": taints or None}})


def _used(offered: Resources, requested: Mapping[str, int]) -> int:
    """The requested share of a node in thousandths, of the scarcest resource."""
    parts = (
        requested.get(name, 0) * 1000 // amount for name, amount in offered.items() if amount > 0
    )
    return max(parts, default=0)
