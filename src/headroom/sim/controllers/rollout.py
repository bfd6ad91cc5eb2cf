"""The calculations of a rollout: pure, from the current state to the next size of each ReplicaSet.

A step never has more pods than desired plus maxSurge, and removes old pods only while at least
desired minus maxUnavailable are available.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil, floor

from headroom.sim.api.values import Json, dig


@dataclass(frozen=True, slots=True)
class Shares:
    """One ReplicaSet: the pods wanted by its spec, and existing and available by its status."""

    wanted: int
    present: int
    available: int


@dataclass(frozen=True, slots=True)
class RolloutLimits:
    """The limits of a Deployment's strategy."""

    desired: int
    surge: int = 0
    unavailable: int = 0
    recreate: bool = False

    @property
    def least_available(self) -> int:
        return max(0, self.desired - self.unavailable)


def limits_of(deployment: Json) -> RolloutLimits:
    """Read a Deployment's strategy, with the defaults of Kubernetes."""
    asked = dig(deployment, "spec", "replicas")
    desired = 1 if asked is None else int(asked)
    if dig(deployment, "spec", "strategy", "type") == "Recreate":
        return RolloutLimits(desired, recreate=True, unavailable=desired)
    rolling = dig(deployment, "spec", "strategy", "rollingUpdate") or {}
    surge = amount_of(rolling.get("maxSurge", "25%"), desired, up=True)
    unavailable = amount_of(rolling.get("maxUnavailable", "25%"), desired, up=False)
    if surge == 0 and unavailable == 0:
        unavailable = 1
    return RolloutLimits(desired, surge, unavailable)


def amount_of(value: int | str, whole: int, *, up: bool = True) -> int:
    """A number, or a share that is rounded up or down."""
    text = str(value)
    if not text.endswith("%"):
        return int(text)
    share = int(text[:-1]) * whole / 100
    return ceil(share) if up else floor(share)


def next_step(newest: str, shares: Mapping[str, Shares], limits: RolloutLimits) -> dict[str, int]:
    """The sizes that should change now; empty if the rollout waits or is complete."""
    old = {name: each for name, each in shares.items() if name != newest}
    new = shares[newest]
    if limits.recreate:
        stopping = {name: 0 for name, each in old.items() if each.wanted}
        if stopping or any(each.present for each in old.values()):
            return stopping
        return {newest: limits.desired} if new.wanted != limits.desired else {}
    total = sum(each.wanted for each in shares.values())
    changes: dict[str, int] = {}
    grown = min(limits.desired, new.wanted + max(0, limits.desired + limits.surge - total))
    if new.wanted > limits.desired or grown > new.wanted:
        changes[newest] = min(grown, limits.desired)
    changes.update(_shrunk(old, new, total, limits))
    return changes


def _shrunk(
    old: Mapping[str, Shares], new: Shares, total: int, limits: RolloutLimits
) -> dict[str, int]:
    """Remove old pods: first those that never became available, then as many as allowed."""
    missing_new = new.wanted - new.available
    spare = total - limits.least_available - missing_new
    sizes = {name: each.wanted for name, each in old.items()}
    for name, each in old.items():
        broken = min(max(0, spare), max(0, sizes[name] - each.available))
        sizes[name] -= broken
        spare -= broken
    available = new.available + sum(min(sizes[name], each.available) for name, each in old.items())
    spare = min(spare, available - limits.least_available)
    for name in old:
        gone = min(max(0, spare), sizes[name])
        sizes[name] -= gone
        spare -= gone
    return {name: size for name, size in sizes.items() if size != old[name].wanted}
