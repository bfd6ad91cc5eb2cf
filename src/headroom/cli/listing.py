"""Holds, guardians and claims as rows of a table, each row beside the object it shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from headroom.cli.amounts import shown
from headroom.cli.source import World
from headroom.core.claims import claim_of, expiry, is_claimant
from headroom.core.holds import Hold
from headroom.core.names import CLAIMED_ANNOTATION, PARENT_ANNOTATION, ROLE_GUARDIAN, ROLE_LABEL
from headroom.core.objects import Key, Pod
from headroom.core.resources import CPU, MEMORY, Resources
from headroom.wire.kinds import HOLDS, PODS

OWNERS_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Row:
    item: Mapping[str, Any]
    cells: list[str]


@dataclass(frozen=True, slots=True)
class Table:
    headings: tuple[str, ...]
    rows: list[Row]


def holds(world: World) -> Table:
    """Every hold with how it stands."""
    raw = {_key(item): item for item in world.of(HOLDS)}
    rows = [
        Row(
            raw[hold.key],
            [
                hold.key.namespace,
                hold.key.name,
                hold.status.phase or "Pending",
                hold.status.node,
                *_amounts(hold.template.pod.requests),
                _owners(hold),
                _remaining(expiry(hold), world.now) if not hold.terminal else "",
                _why(hold),
            ],
        )
        for hold in sorted(world.holds, key=lambda hold: hold.key)
    ]
    headings = ("NAMESPACE", "NAME", "PHASE", "NODE", "CPU", "MEMORY", "OWNER", "EXPIRES", "REASON")
    return Table(headings, rows)


def guardians(world: World) -> Table:
    """Every pod that keeps room, and for what."""
    headings = ("NAMESPACE", "NAME", "FOR", "NODE", "CPU", "MEMORY", "PHASE")
    chosen = [pod for pod in world.pods if pod.labels.get(ROLE_LABEL) == ROLE_GUARDIAN]
    return Table(headings, _pod_rows(world, chosen, PARENT_ANNOTATION))


def claims(world: World) -> Table:
    """Every pod that got a hold, and which; an annotation that anyone may write proves nothing."""
    headings = ("NAMESPACE", "NAME", "CLAIMED", "NODE", "CPU", "MEMORY", "PHASE")
    there = {str(hold.parent): hold for hold in world.holds}
    chosen = [
        pod
        for pod in world.pods
        if (claim := claim_of(pod)) is not None
        and (claim[0] not in there or is_claimant(there[claim[0]], pod, across_namespaces=True))
    ]
    return Table(headings, _pod_rows(world, chosen, CLAIMED_ANNOTATION))


def _pod_rows(world: World, pods: list[Pod], annotation: str) -> list[Row]:
    raw = {_key(item): item for item in world.of(PODS)}
    return [
        Row(
            raw[pod.key],
            [
                pod.key.namespace,
                pod.key.name,
                pod.annotations.get(annotation, ""),
                pod.node,
                *_amounts(pod.requests),
                pod.phase,
            ],
        )
        for pod in sorted(pods, key=lambda pod: pod.key)
    ]


def _key(item: Mapping[str, Any]) -> Key:
    metadata = item.get("metadata") or {}
    return Key(str(metadata.get("namespace", "")), str(metadata.get("name", "")))


def _amounts(requests: Resources) -> list[str]:
    return [shown(name, requests[name]) if requests[name] else "" for name in (CPU, MEMORY)]


def _owners(hold: Hold) -> str:
    names = [use.name for use in hold.status.owners]
    more = len(names) - OWNERS_SHOWN
    return ", ".join(names[:OWNERS_SHOWN]) + (f" +{more}" if more > 0 else "")


def _why(hold: Hold) -> str:
    """The reason of a hold that is not simply available."""
    ready = next((item for item in hold.status.conditions if item.type == "Ready"), None)
    if ready is None or ready.reason == hold.status.phase:
        return ""
    return ready.reason


def _remaining(end: datetime | None, now: datetime) -> str:
    """How long it still has, in its largest unit, as kubectl writes ages."""
    if end is None:
        return "never"
    left = end - now
    if left <= timedelta(0):
        return "now"
    seconds = int(left.total_seconds())
    for unit, length in (("d", 86400), ("h", 3600), ("m", 60)):
        if seconds >= 2 * length:
            return f"{seconds // length}{unit}"
    return f"{seconds}s"
