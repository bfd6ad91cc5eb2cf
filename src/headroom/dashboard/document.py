"""The dashboard's data format, version 1: one snapshot, then differences. Pure.

A snapshot is a JSON object. Its sections `nodes`, `labels`, `objects`, `waiting` and `timeline` map
names to rows; the other parts are values. A difference has `set` (new or changed rows, and changed
values) and `gone` (removed names). `docs/reference/dashboard.md` describes every field.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

FORMAT = 1
MAPS = ("nodes", "labels", "objects", "waiting", "timeline")
# No change by itself: if nothing changed in the cluster, nothing is sent.
UNTOLD = ("at", "revision")

Document = dict[str, Any]


def difference(old: Mapping[str, Any], new: Mapping[str, Any]) -> Document | None:
    """The difference for a page that has `old`; None if nothing changed."""
    changed: Document = {}
    gone: dict[str, list[str]] = {}
    for name in MAPS:
        before, after = old.get(name) or {}, new.get(name) or {}
        if before is after:
            continue
        rows = {
            key: row
            for key, row in after.items()
            if (was := before.get(key)) is not row and was != row
        }
        if rows:
            changed[name] = rows
        lost = [key for key in before if key not in after]
        if lost:
            gone[name] = lost
    for name, value in new.items():
        if name not in MAPS and name not in UNTOLD and old.get(name) != value:
            changed[name] = value
    if not changed and not gone:
        return None
    return {
        "format": FORMAT,
        "from": old.get("revision"),
        "revision": new.get("revision"),
        "at": new.get("at"),
        "set": changed,
        "gone": gone,
    }


@dataclass(frozen=True, slots=True)
class VisibleScope:
    """What a user may see; None for a set means all namespaces.

    `nodes` is the permission to list nodes; `pods` and `objects` are the namespaces in which pods
    and Headrooms may be listed.
    """

    nodes: bool = True
    pods: frozenset[str] | None = None
    objects: frozenset[str] | None = None

    @property
    def everything(self) -> bool:
        return self.nodes and self.pods is None and self.objects is None

    def sees_pods(self, namespace: str) -> bool:
        return self.pods is None or namespace in self.pods

    def sees_objects(self, namespace: str) -> bool:
        return self.objects is None or namespace in self.objects


EVERYTHING = VisibleScope()


def visible(document: Mapping[str, Any], scope: VisibleScope) -> Document:
    """The part of a snapshot that a user may see; sums over all namespaces need access to all."""
    if scope.everything:
        return dict(document)
    shown = dict(document)
    hidden: list[str] = []
    if not scope.nodes:
        shown["nodes"], shown["labels"] = {}, {}
        hidden.append("nodes")
    if scope.pods is not None:
        shown["waiting"] = _of(document["waiting"], scope.pods)
        shown["more_waiting"] = 0
        shown["cost"] = _part_of_cost(document["cost"], scope.pods)
        hidden.append("pods of other namespaces")
    if scope.objects is not None:
        shown["objects"] = _of(document["objects"], scope.objects)
        shown["windows"] = [
            each for each in document["windows"] if each["namespace"] in scope.objects
        ]
        hidden.append("Headrooms and Holds of other namespaces")
    if scope.pods is not None or scope.objects is not None:
        shown["timeline"] = {}
        hidden.append("the timeline")
    shown["hidden"] = hidden
    return shown


def _of(rows: Mapping[str, Any], namespaces: frozenset[str]) -> dict[str, Any]:
    return {name: row for name, row in rows.items() if row["namespace"] in namespaces}


def _part_of_cost(cost: Mapping[str, Any], namespaces: frozenset[str]) -> dict[str, Any]:
    own = {name: amount for name, amount in cost["namespaces"].items() if name in namespaces}
    return {
        **cost,
        "total": round(sum(own.values()), 6),
        "pools": {},
        "namespaces": own,
        "unpriced": 0,
    }


def namespaces_of(document: Mapping[str, Any]) -> frozenset[str]:
    """All namespaces in a snapshot."""
    found = {row["namespace"] for name in ("objects", "waiting") for row in document[name].values()}
    found |= set(document["cost"]["namespaces"])
    return frozenset(found)
