"""Refused pods that wait, grouped by kind, with a fair share for each namespace.

Pods of the same namespace, labels and spec have the same chances on a node, so they are judged
once. If many kinds of pods wait, each check takes some of each namespace in turn. So no namespace
can prevent the pods of others from being checked, and no check takes longer because there are many.
"""

from __future__ import annotations

from itertools import islice

from headroom.core.objects import Key, Pod

MOST_JUDGED = 256
"""So many kinds of pod are judged in one look at a node."""

MOST_ALIKE = 20
"""Of pods that are all alike so many are told apart, the newest."""

Kind = tuple[object, ...]


class Waiters:
    """By namespace and kind; the order is that in which they came."""

    def __init__(self) -> None:
        self._by_namespace: dict[str, dict[Kind, dict[Key, Pod]]] = {}
        self._kinds: dict[Key, Kind] = {}
        self._turns: dict[str, int] = {}  # node → how many were passed over or judged so far

    def __bool__(self) -> bool:
        return bool(self._by_namespace)

    def add(self, pod: Pod) -> bool:
        """A pod waits, as it is now; say whether it is the first of its kind."""
        kind = _kind(pod)
        if self._kinds.get(pod.key, kind) != kind:
            self.remove(pod.key)
        self._kinds[pod.key] = kind
        kinds = self._by_namespace.setdefault(pod.key.namespace, {})
        first = kind not in kinds
        kinds.setdefault(kind, {})[pod.key] = pod
        return first

    def remove(self, key: Key) -> bool:
        """A pod waits no more; say whether it did."""
        kind = self._kinds.pop(key, None)
        if kind is None:
            return False
        kinds = self._by_namespace[key.namespace]
        del kinds[kind][key]
        if not kinds[kind]:
            del kinds[kind]
        if not kinds:
            del self._by_namespace[key.namespace]
        if not self._by_namespace:
            self._turns.clear()
        return True

    def next(self, node: str) -> tuple[list[list[Pod]], bool]:
        """Whom to judge in this look at a node, those alike together; and whether more wait."""
        if not self._by_namespace:
            return [], False
        share = max(1, MOST_JUDGED // len(self._by_namespace))
        turn, rest = self._turns.get(node, 0), False
        found: list[list[Pod]] = []
        for kinds in self._by_namespace.values():
            start = turn % len(kinds) if len(kinds) > share else 0
            rest = rest or len(kinds) > share
            chosen = (*islice(kinds.values(), start, start + share),)
            if len(kinds) > share and len(chosen) < share:
                chosen += (*islice(kinds.values(), share - len(chosen)),)
            found.extend(list(islice(reversed(alike.values()), MOST_ALIKE)) for alike in chosen)
        if rest:
            self._turns[node] = turn + share
        else:
            self._turns.pop(node, None)
        return found, rest


def _kind(pod: Pod) -> Kind:
    """All of a pod that says where it may go."""
    labels = tuple(sorted(pod.labels.items()))
    spec = (pod.requests, pod.placement, pod.priority, pod.scheduler, pod.claims, pod.reach)
    return (*spec, pod.key.namespace, labels)
