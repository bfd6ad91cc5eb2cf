"""How much the limits of namespaces leave for guardians that a plan would create."""

from __future__ import annotations

from headroom.cli.source import World
from headroom.core.holds import Hold
from headroom.core.objects import Key
from headroom.core.quotas.namespaces import (
    NO_LIMITS,
    LimitsError,
    NamespaceLimits,
    misread,
    refusal,
    written,
)
from headroom.engine.limits.usage import UsageBook


class LimitRoom:
    """Limits in the annotations of namespaces, and what is used or planned there.

    `default` is for namespaces without the annotation, from the operator's flag.
    """

    def __init__(self, world: World, default: NamespaceLimits = NO_LIMITS) -> None:
        self._default = default
        self._written = {each.name: each.limits for each in world.namespaces}
        self._usage = UsageBook()
        for pod in world.pods:
            self._usage.see_pod(pod)

    def give_back(self, guardian: Key) -> None:
        """Count a guardian as deleted."""
        self._usage.lose_pod(guardian)

    def take(self, hold: Hold) -> str:
        """Count a new guardian in its namespace; return the limit that refuses it, or empty."""
        home, name = hold.home, str(hold.parent)
        limits = written(self._written.get(home, ""), self._default)
        if isinstance(limits, LimitsError):
            return misread(home, limits)
        refused = refusal(limits, hold, self._usage.without(home, name))
        if refused is None:
            self._usage.allow(home, name, hold.template.pod.requests)
        return refused or ""
