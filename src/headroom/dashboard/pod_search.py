"""Search all pods by a part of their name. Pure, in portions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from heapq import nsmallest
from typing import Any

from headroom.core.objects import Key, Pod
from headroom.dashboard.document import VisibleScope
from headroom.dashboard.rows import pod_row

MOST_FOUND = 100


class Finding:
    """Searches for a text in `namespace/name`, ignoring case; the first matches are kept."""

    def __init__(self, text: str, scope: VisibleScope) -> None:
        self._text = text.casefold()
        self._scope = scope
        self._first: list[Key] = []
        self._count = 0

    def look(self, keys: Iterable[Key]) -> None:
        """Search some more pods."""
        text, sees = self._text, self._scope.sees_pods
        found = [
            key
            for key in keys
            if text in f"{key.namespace}/{key.name}".casefold() and sees(key.namespace)
        ]
        self._count += len(found)
        # Only the first by name are kept: a whole cluster is never sorted at once.
        self._first = nsmallest(MOST_FOUND, (*self._first, *found))

    def result(self, pods_by_key: Mapping[Key, Pod]) -> dict[str, Any]:
        """The rows of the first pods by name, and how many more match."""
        pods = [pod for key in self._first if (pod := pods_by_key.get(key)) is not None]
        rows = [{**pod_row(pod), "node": pod.node if self._scope.nodes else ""} for pod in pods]
        return {"pods": rows, "more": self._count - len(self._first)}
