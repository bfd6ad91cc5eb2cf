"""The numbers of a run: how long pods waited, what was held, who claimed, what the nodes cost.

Listens to the store like the journal. Waits run from a pod's creation to its binding; guardians
and latches do not count. A claim is an owner bound with its hold's name on it; a miss is a pod that
came through one of our doors and was bound without. Prices are per node and hour.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil
from typing import Any

from headroom.core.names import (
    CLAIM_GATE,
    CLAIMED_ANNOTATION,
    ROLE_GUARDIAN,
    ROLE_LABEL,
)
from headroom.core.resources import CPU, MEMORY, Resources
from headroom.sim.api.decoding import pod_of
from headroom.sim.api.pods import FINISHED
from headroom.sim.api.store import Change, Store, Verb
from headroom.sim.api.values import Json, dig, uid_of
from headroom.sim.loop import SimClock
from headroom.sim.pools import POOL_LABEL

HOUR = 3600.0
_GIB = 2**30


class Meter:
    """Counts and adds up through a run."""

    def __init__(self, store: Store, clock: SimClock, prices: Mapping[str, float]) -> None:
        self._schedulers = store.registry.speech.schedulers
        self._clock = clock
        self._prices = prices
        self._created: dict[str, float] = {}
        self._bound: set[str] = set()
        self._waits: list[float] = []
        self._at_door: set[str] = set()
        self._claims = 0
        self._misses = 0
        self._guardians: dict[str, tuple[float, Resources]] = {}
        self._held = {CPU: 0.0, MEMORY: 0.0}
        self._nodes: dict[str, tuple[float, float]] = {}
        self._cost = 0.0
        store.listen("Pod", self._on_pod)
        store.listen("Node", self._on_node)

    def summary(self) -> dict[str, Any]:
        """All numbers as of now."""
        waits = sorted(self._waits)
        return {
            "pods": {
                "created": len(self._created),
                "bound": len(waits),
                "p50_wait_s": _quantile(waits, 0.50),
                "p99_wait_s": _quantile(waits, 0.99),
            },
            "held": self._held_so_far(),
            "claims": self._claims,
            "misses": self._misses,
            "cost": round(self._cost + sum(map(self._price_so_far, self._nodes)), 4),
        }

    def _on_pod(self, change: Change) -> None:
        pod, uid = change.obj, uid_of(change.obj)
        role = dig(pod, "metadata", "labels", ROLE_LABEL)
        bound = bool(dig(pod, "spec", "nodeName"))
        if role is None:
            self._follow(pod, uid, bound, change.verb)
        elif role == ROLE_GUARDIAN:
            ended = change.verb is Verb.DELETED or dig(pod, "status", "phase") in FINISHED
            if ended:
                self._end_guardian(uid)
            elif bound and uid not in self._guardians:
                self._guardians[uid] = (self._clock.elapsed(), pod_of(pod).requests)

    def _follow(self, pod: Json, uid: str, bound: bool, verb: Verb) -> None:
        now = self._clock.elapsed()
        if verb is Verb.ADDED:
            self._created[uid] = now
            if self._came_through_our_door(pod):
                self._at_door.add(uid)
        if bound and uid not in self._bound:
            self._bound.add(uid)
            self._waits.append(now - self._created.get(uid, now))
            if dig(pod, "metadata", "annotations", CLAIMED_ANNOTATION):
                self._claims += 1
            elif uid in self._at_door:
                self._misses += 1

    def _came_through_our_door(self, pod: Json) -> bool:
        gates = [gate.get("name") for gate in dig(pod, "spec", "schedulingGates") or ()]
        return CLAIM_GATE in gates or dig(pod, "spec", "schedulerName") in self._schedulers

    def _end_guardian(self, uid: str) -> None:
        if uid in self._guardians:
            since, requests = self._guardians.pop(uid)
            hours = (self._clock.elapsed() - since) / HOUR
            for resource in self._held:
                self._held[resource] += requests[resource] * hours

    def _held_so_far(self) -> dict[str, Any]:
        totals = dict(self._held)
        for since, requests in self._guardians.values():
            hours = (self._clock.elapsed() - since) / HOUR
            for resource in totals:
                totals[resource] += requests[resource] * hours
        if not any(totals.values()) and not self._guardians:
            return {}
        return {
            "slots": len(self._guardians),
            "cpu_core_hours": round(totals[CPU] / 1000, 4),
            "memory_gib_hours": round(totals[MEMORY] / _GIB, 4),
        }

    def _on_node(self, change: Change) -> None:
        name = change.ref.name
        if change.verb is Verb.ADDED:
            pool = str(dig(change.obj, "metadata", "labels", POOL_LABEL) or "")
            self._nodes[name] = (self._clock.elapsed(), self._prices.get(pool, 0.0))
        elif change.verb is Verb.DELETED:
            self._cost += self._price_so_far(name)
            self._nodes.pop(name, None)

    def _price_so_far(self, name: str) -> float:
        since, price = self._nodes.get(name, (0.0, 0.0))
        return price * (self._clock.elapsed() - since) / HOUR


def _quantile(ordered: Sequence[float], share: float) -> float | None:
    """The smallest value that at least this share does not exceed; None of nothing."""
    if not ordered:
        return None
    return round(ordered[max(0, ceil(share * len(ordered)) - 1)], 3)
