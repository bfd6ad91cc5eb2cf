"""Indexes of pods by node, and of pods without a controller, updated by the store.

Several actors need the pods of a node; none of them should have to read all pods.
"""

from __future__ import annotations

from collections.abc import Iterable

from headroom.sim.api.store import COMING, GOING, META, SPEC, ObjectChange, Store, Verb
from headroom.sim.api.values import Json, Ref, controller_of


class PodIndex:
    """Finds pods in time that does not grow with the cluster."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._on_node: dict[str, dict[Ref, None]] = {}
        self._strays: dict[str, dict[Ref, None]] = {}
        store.listen("Pod", self._on_pod, COMING | GOING | META | SPEC)

    def on_node(self, node: str) -> list[Json]:
        """The pods bound to a node, in the order in which they were bound."""
        return self._found(self._on_node.get(node, {}))

    def refs_on_node(self, node: str) -> Iterable[Ref]:
        """The pods bound to a node, by reference."""
        return self._on_node.get(node, ())

    def without_controller(self, namespace: str) -> list[Json]:
        """The pods of a namespace that have no controller."""
        return self._found(self._strays.get(namespace, {}))

    def _found(self, refs: dict[Ref, None]) -> list[Json]:
        return [pod for pod in map(self._store.get, refs) if pod is not None]

    def _on_pod(self, change: ObjectChange) -> None:
        ref, gone = change.ref, change.verb is Verb.DELETED
        node = str((change.obj.get("spec") or {}).get("nodeName") or "")
        if node:
            _keep(self._on_node, node, ref, not gone)
        if gone or change.parts & (COMING | META):
            stray = not gone and controller_of(change.obj) is None
            _keep(self._strays, ref.namespace, ref, stray)


def _keep(index: dict[str, dict[Ref, None]], key: str, ref: Ref, wanted: bool) -> None:
    if wanted:
        index.setdefault(key, {})[ref] = None
        return
    found = index.get(key)
    if found is not None:
        found.pop(ref, None)
        if not found:
            del index[key]
