"""What each namespace uses: observed guardians, and those that we are about to create.

A hold counts once, however many guardians it has at a moment, with the largest known amount.
"""

from __future__ import annotations

from typing import NamedTuple

from headroom.core.latches import kept_for
from headroom.core.names import ROLE_GUARDIAN, ROLE_LABEL
from headroom.core.objects import Key, Pod
from headroom.core.quotas.namespaces import Usage
from headroom.core.resources import EMPTY, Resources

_Reason = Key | None  # a guardian, or None: it was allowed


class _Guardian(NamedTuple):
    hold: str
    uid: str
    namespace: str  # that it is charged to


class UsageBook:
    """Slots and resources in use, by namespace."""

    def __init__(self) -> None:
        self._why: dict[tuple[str, str], dict[_Reason, Resources]] = {}
        self._total: dict[str, Usage] = {}
        self._guardians: dict[Key, _Guardian] = {}

    def of(self, namespace: str) -> Usage:
        return self._total.get(namespace, Usage())

    def without(self, namespace: str, hold: str) -> Usage:
        """What others than a hold have in use."""
        total, own = self.of(namespace), self._why.get((namespace, hold))
        if own is None:
            return total
        return Usage(total.slots - 1, total.resources.minus(_largest(own)))

    def see_pod(self, pod: Pod) -> bool:
        """A pod is there; True if less is in use than before."""
        alive = pod.deleted is None and not pod.finished
        if not alive or pod.labels.get(ROLE_LABEL) != ROLE_GUARDIAN:
            return self.lose_pod(pod.key, pod.uid)
        hold = kept_for(pod)
        seen = _Guardian(hold, pod.uid, pod.rules_namespace)
        if self._guardians.get(pod.key) != seen:
            self.lose_pod(pod.key)
        self._guardians[pod.key] = seen
        self._set(seen.namespace, hold, pod.key, pod.requests)
        return False

    def lose_pod(self, key: Key, uid: str = "") -> bool:
        """A pod is gone, whatever its uid if none is given; True if less is in use than before."""
        known = self._guardians.get(key)
        if known is None or uid not in ("", known.uid):
            return False
        del self._guardians[key]
        return self._set(known.namespace, known.hold, key, None)

    def namespace_of(self, key: Key) -> str:
        """The namespace that a guardian is charged to; its own for one that is not known."""
        known = self._guardians.get(key)
        return key.namespace if known is None else known.namespace

    def allow(self, namespace: str, hold: str, requests: Resources) -> None:
        """A hold may have its room, and counts from now on."""
        self._set(namespace, hold, None, requests)

    def release(self, namespace: str, hold: str) -> bool:
        """A hold needs no room any more; True if less is in use than before."""
        return self._set(namespace, hold, None, None)

    def _set(self, namespace: str, hold: str, reason: _Reason, requests: Resources | None) -> bool:
        why = self._why.get((namespace, hold), {})
        before, known = _largest(why), bool(why)
        if requests is None:
            if reason not in why:
                return False
            del why[reason]
        elif why.get(reason) == requests:
            return False
        else:
            why[reason] = requests
        if why:
            self._why[namespace, hold] = why
        else:
            del self._why[namespace, hold]
        total = self.of(namespace)
        slots = total.slots + bool(why) - known
        resources = (total.resources + _largest(why)).minus(before)
        self._total[namespace] = Usage(slots, resources)
        if not slots:
            del self._total[namespace]
        return requests is None


def _largest(why: dict[_Reason, Resources]) -> Resources:
    largest = EMPTY
    for each in why.values():
        largest = largest.largest(each)
    return largest
