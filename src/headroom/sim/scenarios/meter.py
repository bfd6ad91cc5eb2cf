"""The numbers of a run: waiting times of pods, held room, claims, and the cost of nodes.

It listens to the store like the journal. A pod waits from its creation to its binding. Guardians,
latches and fences do not count, nor do pods that had a node when they were created. A claim is an
owner that was bound with the name of its hold; a miss is a pod that used one of our doors and was
bound without a hold. Prices are per node and hour.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from headroom.core.names import (
    CLAIM_GATE,
    CLAIMED_ANNOTATION,
    ROLE_GUARDIAN,
    ROLE_LABEL,
)
from headroom.core.objects import Pod
from headroom.core.resources import CPU, EPHEMERAL_STORAGE, MEMORY, Resources
from headroom.sim.api.decoder import changed_pod
from headroom.sim.api.store import STATUS, ObjectChange, Store, Verb
from headroom.sim.api.values import dig
from headroom.sim.loop import SimClock
from headroom.sim.pools import POOL_LABEL
from headroom.sim.scenarios.ownership import OwnerRules, workload_of
from headroom.sim.scenarios.slots import slots_at_the_end
from headroom.sim.scenarios.waits import End, Stay, by_workload, end_of, summed

HOUR = 3600.0
NO_POOL = "no pool"
_GIB = 2**30


class Meter:
    """Counts and sums during a run."""

    def __init__(
        self,
        store: Store,
        clock: SimClock,
        prices: Mapping[str, float],
        across_namespaces: bool = False,
    ) -> None:
        self._store = store
        self._schedulers = store.registry.codecs.schedulers
        self._clock = clock
        self._prices = prices
        self._rules = OwnerRules(store, across_namespaces)
        self._records: dict[str, Stay] = {}
        self._at_door: set[str] = set()
        self._claims = 0
        self._misses = 0
        self._guardians: dict[str, tuple[float, Resources]] = {}
        self._lost: dict[str, End] = {}
        self._held: dict[str, float] = defaultdict(float)
        self._slot_hours = 0.0
        self._held_counts: list[tuple[float, float]] = []
        self._nodes: dict[str, tuple[float, str]] = {}
        self._cost: dict[str, float] = defaultdict(float)
        store.listen("Pod", self._on_pod)
        store.listen("Node", self._on_node)

    @property
    def stays(self) -> list[Stay]:
        """Every pod, in order of creation."""
        return list(self._records.values())

    @property
    def now(self) -> float:
        return self._clock.elapsed()

    def held_over_time(self) -> tuple[tuple[float, float], ...]:
        """How many slots were held, at each change and now."""
        return (*self._held_counts, (self.now, float(len(self._guardians))))

    def summary(self) -> dict[str, Any]:
        """All numbers at the current time."""
        now, records = self._clock.elapsed(), self._records.values()
        everybody = summed(records, now)
        costs = self._costs()
        return {
            "pods": {**everybody, "bound": everybody["started"]},
            "owners": summed((record for record in records if record.owner), now),
            "others": summed((record for record in records if not record.owner), now),
            "workloads": {name: summed(some, now) for name, some in by_workload(records).items()},
            "slots": self._slots(),
            "held": self._held_so_far(),
            "claims": self._claims,
            "misses": self._misses,
            "cost": round(sum(costs.values()), 4),
            "cost_by_pool": {pool: round(costs[pool], 4) for pool in sorted(costs)},
        }

    def _on_pod(self, change: ObjectChange) -> None:
        value = changed_pod(change)
        role = value.labels.get(ROLE_LABEL)
        if role is None:
            self._follow(change, value)
        elif role == ROLE_GUARDIAN:
            uid, end = value.uid, end_of(change.obj)
            if end in (End.EVICTED, End.PREEMPTED):
                self._lost[uid] = end
            if change.verb is Verb.DELETED or value.finished:
                self._end_guardian(uid)
            elif value.node and uid not in self._guardians:
                self._guardians[uid] = (self._clock.elapsed(), value.requests)
                self._note_count()

    def _follow(self, change: ObjectChange, value: Pod) -> None:
        pod, uid, bound = change.obj, value.uid, bool(value.node)
        if change.verb is Verb.ADDED:
            if bound:
                return
            workload = workload_of(self._store, pod)
            created, is_owner = self._clock.elapsed(), self._rules.match(value)
            self._records[uid] = Stay(workload, created, is_owner, end=end_of(pod))
            if CLAIM_GATE in value.gates or value.scheduler in self._schedulers:
                self._at_door.add(uid)  # It came through a door of ours.
        found = self._records.get(uid)
        if found is None:
            return
        if change.parts & STATUS:
            found.end = end_of(pod)
        gone = change.verb is Verb.DELETED or value.finished
        if found.until is None and (bound or gone):
            found.until, found.started = self._clock.elapsed(), bound
            found.owner = found.owner or self._rules.match(value)
            if bound:
                self._count_claim(value)

    def _count_claim(self, pod: Pod) -> None:
        if pod.annotations.get(CLAIMED_ANNOTATION):
            self._claims += 1
        elif pod.uid in self._at_door:
            self._misses += 1

    def _slots(self) -> dict[str, Any]:
        lost = list(self._lost.values())
        ends = {end.value: lost.count(end) for end in (End.EVICTED, End.PREEMPTED)}
        found = slots_at_the_end(self._store)
        return {"wished": found["wished"], "held": found["held"], **ends, **found}

    def _end_guardian(self, uid: str) -> None:
        if uid in self._guardians:
            self._slot_hours += self._add_hours(uid, self._held)
            del self._guardians[uid]
            self._note_count()

    def _note_count(self) -> None:
        """Record how many slots are held; of several changes at the same time the last counts."""
        now, count = self._clock.elapsed(), float(len(self._guardians))
        if self._held_counts and self._held_counts[-1][0] == now:
            self._held_counts.pop()
        self._held_counts.append((now, count))

    def _add_hours(self, uid: str, totals: dict[str, float]) -> float:
        since, requests = self._guardians[uid]
        hours = (self._clock.elapsed() - since) / HOUR
        for resource in requests:
            totals[resource] += requests[resource] * hours
        return hours

    def _held_so_far(self) -> dict[str, Any]:
        totals = defaultdict(float, self._held)
        slot_hours = self._slot_hours
        for uid in self._guardians:
            slot_hours += self._add_hours(uid, totals)
        if not any(totals.values()) and not self._guardians:
            return {}
        others = sorted(name for name in totals if name not in (CPU, MEMORY))
        return {
            "slots": len(self._guardians),
            "slot_hours": round(slot_hours, 4),
            "cpu_core_hours": round(totals[CPU] / 1000, 4),
            "memory_gib_hours": round(totals[MEMORY] / _GIB, 4),
            "resource_hours": {name: _in_units(name, totals[name]) for name in others},
        }

    def _on_node(self, change: ObjectChange) -> None:
        name = change.ref.name
        if change.verb is Verb.ADDED:
            pool = str(dig(change.obj, "metadata", "labels", POOL_LABEL) or NO_POOL)
            self._nodes[name] = (self._clock.elapsed(), pool)
        elif change.verb is Verb.DELETED and name in self._nodes:
            pool = self._nodes[name][1]
            self._cost[pool] += self._price_so_far(name)
            del self._nodes[name]

    def _costs(self) -> dict[str, float]:
        """The cost of each pool so far; pools without a price are left out."""
        costs = defaultdict(float, self._cost)
        for name, (_, pool) in self._nodes.items():
            costs[pool] += self._price_so_far(name)
        return {pool: cost for pool, cost in costs.items() if self._prices.get(pool)}

    def _price_so_far(self, name: str) -> float:
        since, pool = self._nodes[name]
        return self._prices.get(pool, 0.0) * (self._clock.elapsed() - since) / HOUR


def _in_units(resource: str, amount: float) -> float:
    """Devices are counted in pieces, amounts in bytes in GiB."""
    in_bytes = resource == EPHEMERAL_STORAGE or resource.startswith("hugepages-")
    return round(amount / _GIB if in_bytes else amount, 4)
