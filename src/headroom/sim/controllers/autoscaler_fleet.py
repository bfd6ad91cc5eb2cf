"""The machines of the pools: which exist, which are booting, and the shape of the next one.

`autoscaler` decides when to order or remove a machine; this module knows names, counts and shapes.
A simulated machine has the DaemonSet pods that would run on it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from headroom.core.objects import Node, Placement, Pod
from headroom.sim.actor_context import ActorContext
from headroom.sim.api.decoder import node_of, pod_of
from headroom.sim.api.values import Json, dig, ref_of
from headroom.sim.controllers.autoscaler_model import Model
from headroom.sim.controllers.daemonplan import daemon_spec, eligibility
from headroom.sim.pools import POOL_LABEL, Pool


class Fleet:
    """The machines of pools that can grow, the cheapest pool first."""

    def __init__(self, stage: ActorContext, pools: Sequence[Pool], by_labels: bool = False) -> None:
        self._stage = stage
        self._by_labels = by_labels
        self._store = stage.store
        self._pools = sorted(
            (pool for pool in pools if pool.most > pool.count),
            key=lambda pool: (pool.price, pool.name),
        )
        self._here: dict[str, dict[str, None]] = {pool.name: {} for pool in self._pools}
        self._pool_of: dict[str, str] = {}
        self._next: dict[str, int] = {}  # by pool: all lower indexes are used
        self._booting: dict[str, tuple[Pool, int]] = {}
        self._leaving: set[str] = set()
        for node in self._store.list("Node"):
            self.joined(node)

    def joined(self, node: Json) -> None:
        """Add a node if it is a machine of one of the pools."""
        name = ref_of(node).name
        ordered, _ = self._booting.pop(name, (None, 0))
        pool = dig(node, "metadata", "labels", POOL_LABEL)
        if pool in self._here:
            self._here[pool][name] = None
            self._pool_of[name] = pool
        if ordered is not None and ordered.name != pool:
            self._next.pop(ordered.name, None)

    def left(self, node: str) -> None:
        pool = self._pool_of.pop(node, None)
        if pool is not None:
            del self._here[pool][node]
            self._next.pop(pool, None)
        self._leaving.discard(node)

    def machines(self) -> Iterable[str]:
        """The nodes that are machines of the pools."""
        return self._pool_of

    def has(self, node: str) -> bool:
        return node in self._pool_of

    def sparing(self) -> Callable[[str], bool]:
        """Whether a machine may be removed from its pool, and is not being removed already."""
        rich = self._rich()
        return lambda node: self._pool_of.get(node) in rich and node not in self._leaving

    def may_spare(self) -> bool:
        """Whether some pool has more machines than it always has."""
        return bool(self._rich())

    def _rich(self) -> set[str]:
        leaving = [self._pool_of.get(name) for name in self._leaving]
        return {
            pool.name
            for pool in self._pools
            if len(self._here[pool.name]) - leaving.count(pool.name) > pool.count
        }

    def may_leave(self, node: str) -> bool:
        for pool in self._pools:
            here = self._here[pool.name]
            if node in here:
                leaving = sum(1 for name in self._leaving if name in here)
                return node not in self._leaving and len(here) - leaving > pool.count
        return False

    def leaves(self, node: str) -> None:
        self._leaving.add(node)

    def stays(self, node: str) -> None:
        self._leaving.discard(node)

    def is_emptying(self) -> bool:
        return bool(self._leaving)

    def next_machines(self) -> Iterator[tuple[Pool, int, int]]:
        """For each pool that may grow: the index of the next machine, and how many there are."""
        for pool in self._pools:
            if self._size(pool) < pool.most:
                yield (pool, *self.next_of(pool))

    def next_of(self, pool: Pool) -> tuple[int, int]:
        """The index of the next machine of a pool, and how many there are."""
        index = self._next.get(pool.name, 0)
        while self._is_taken(pool, pool.node_name(index)):
            index += 1
        self._next[pool.name] = index
        return index, self._size(pool)

    def pools(self) -> list[Pool]:
        """All pools that can grow, the cheapest first."""
        return list(self._pools)

    def left_to_order(self) -> Iterator[tuple[Pool, int]]:
        """For each pool, how many more machines it may have."""
        for pool in self._pools:
            yield pool, max(0, pool.most - self._size(pool))

    def is_booting(self) -> bool:
        return bool(self._booting)

    def is_full(self) -> bool:
        """Whether no pool may grow."""
        return next(self.next_machines(), None) is None

    def order(self, pool: Pool, index: int) -> None:
        """Start a machine; it joins after its boot delay."""
        self._booting[pool.node_name(index)] = (pool, index)
        self._stage.loop.call_later(pool.boot_delay, self._stage.server.create, pool.node(index))

    def imagine_booting(self, model: Model) -> None:
        """Add the booting machines to a model."""
        for pool, index in self._booting.values():
            self.imagine(model, pool, index)

    def imagine(self, model: Model, pool: Pool, index: int) -> str:
        """Add a machine to a model, with the DaemonSet pods that would run on it."""
        node = node_of(pool.node(index))
        model.add_node(node, self.daemons(node))
        return node.name

    def imagined(self, pool: Pool, name: str) -> tuple[Node, list[Pod]]:
        """A machine of a pool under another name, and the DaemonSet pods that would run on it."""
        made = pool.node(0)
        own = {"kubernetes.io/hostname": name}
        metadata = {**made["metadata"], "name": name}
        node = node_of({**made, "metadata": {**metadata, "labels": {**metadata["labels"], **own}}})
        return node, self.daemons(node)

    def daemons(self, node: Node) -> list[Pod]:
        """The DaemonSet pods that should run on a node.

        Karpenter uses the labels that a template requires, and not the names of nodes.
        """
        found = []
        for daemon_set in self._store.list("DaemonSet"):
            ref = ref_of(daemon_set)
            template = dig(daemon_set, "spec", "template") or {}
            spec = daemon_spec(template.get("spec") or {})
            meta = {"name": f"{ref.name}-on-{node.name}", "namespace": ref.namespace}
            labels = dig(template, "metadata", "labels") or {}
            pod = pod_of({"metadata": {**meta, "labels": labels}, "spec": spec})
            if self._by_labels:
                pod = replace(pod, placement=_without_names(pod.placement))
            if eligibility(pod.placement, str(spec.get("nodeName") or ""), node).run:
                found.append(pod)
        return found

    def _is_taken(self, pool: Pool, name: str) -> bool:
        if name in self._here[pool.name]:
            return True
        return name in self._booting and self._booting[name][0] is pool

    def _size(self, pool: Pool) -> int:
        booting = sum(1 for other, _ in self._booting.values() if other is pool)
        return len(self._here[pool.name]) + booting


def _without_names(placement: Placement) -> Placement:
    terms = placement.node_affinity.required
    if terms is None:
        return placement
    plain = tuple(replace(term, fields=()) for term in terms)
    anywhere = any(term.fields and not term.labels for term in terms)
    required = None if anywhere else plain
    return replace(placement, node_affinity=replace(placement.node_affinity, required=required))
