"""How much the limits of namespaces leave for guardians that a plan would create."""

from __future__ import annotations

from headroom.cli.source import World
from headroom.core.hold_state.limited import beyond_limit, permit_of
from headroom.core.hold_state.memory import Permit
from headroom.core.holds import Hold
from headroom.core.index_entries import usage_entries
from headroom.core.latches import kept_for
from headroom.core.names import ROLE_GUARDIAN, ROLE_LABEL
from headroom.core.objects import Key, Pod
from headroom.core.quotas.namespaces import NO_LIMITS, NamespaceLimits, written
from headroom.engine.indexes import Index
from headroom.engine.namespace_limits import used_by_others


class LimitRoom:
    """Limits in the annotations of namespaces, and what is used or planned there.

    `default` is for namespaces without the annotation, from the operator's flag.
    """

    def __init__(self, world: World, default: NamespaceLimits = NO_LIMITS) -> None:
        self._default = default
        self._written = {each.name: each.limits for each in world.namespaces}
        self._usage: Index[str] = Index()
        self._permits: dict[str, Permit] = {}
        self._guardians: dict[str, dict[Key, Pod]] = {}
        for pod in world.pods:
            if pod.labels.get(ROLE_LABEL) == ROLE_GUARDIAN:
                self._guardians.setdefault(kept_for(pod), {})[pod.key] = pod
        for parent in self._guardians:
            self._count(parent)

    def give_back(self, guardian: Pod) -> None:
        """Count a guardian as deleted."""
        self._guardians.get(kept_for(guardian), {}).pop(guardian.key, None)
        self._count(kept_for(guardian))

    def take(self, hold: Hold) -> str:
        """Count a new guardian in its namespace; return the limit that refuses it, or empty."""
        limits = written(self._written.get(hold.home, ""), self._default)
        others = used_by_others(self._usage, hold.home, str(hold.parent))
        refused = beyond_limit(hold, None, limits, others)
        if not refused:
            self._permits[str(hold.parent)] = permit_of(hold)
            self._count(str(hold.parent))
        return refused

    def _count(self, parent: str) -> None:
        guardians = self._guardians.get(parent, {}).values()
        self._usage.put(parent, usage_entries(self._permits.get(parent), guardians))
