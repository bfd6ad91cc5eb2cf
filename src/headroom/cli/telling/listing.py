"""Holds, guardians and claims as rows of a table, each row beside the object it shows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from headroom.cli.amounts import cells, headings, in_play
from headroom.cli.source import World
from headroom.core.claims import claim_of, expiry, is_claimant
from headroom.core.holds import Hold
from headroom.core.latches import kept_for
from headroom.core.names import ROLE_GUARDIAN, ROLE_LABEL
from headroom.core.objects import Key, Pod
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


def holds(world: World, kind: str = HOLDS.kind) -> Table:
    """Every hold with how it stands; those of a dialect under the name of their own kind."""
    raw = {key_of(item): item for item in world.of(kind)}
    chosen = [hold for hold in world.holds if hold.parent.kind == kind]
    resources = in_play(hold.template.pod.requests for hold in chosen)
    rows = [
        Row(
            raw[hold.key],
            [
                hold.key.namespace,
                hold.key.name,
                hold.status.phase or "Pending",
                hold.status.node,
                *cells(hold.template.pod.requests, resources),
                _owners(hold),
                remaining(end_of(hold), world.now) if not hold.terminal else "",
                _why(hold),
            ],
        )
        for hold in sorted(chosen, key=lambda hold: hold.key)
    ]
    before, after = ("NAMESPACE", "NAME", "PHASE", "NODE"), ("OWNER", "EXPIRES", "REASON")
    return Table((*before, *headings(resources), *after), rows)


def end_of(hold: Hold) -> datetime | None:
    """When a hold's time is over, by its own word or by the clock that it runs on."""
    told = hold.status.chronicle
    return told.ends if told is not None else expiry(hold)


def guardians(world: World) -> Table:
    """Every pod that keeps room, and for what."""
    chosen = [pod for pod in world.pods if pod.labels.get(ROLE_LABEL) == ROLE_GUARDIAN]
    return _pod_table(world, chosen, "FOR", kept_for)


def claims(world: World) -> Table:
    """Every pod that got a hold, and which; an annotation that anyone may write proves nothing."""
    there = {str(hold.parent): hold for hold in world.holds}
    chosen = [
        pod
        for pod in world.pods
        if (claim := claim_of(pod)) is not None
        and (claim[0] not in there or is_claimant(there[claim[0]], pod, across_namespaces=True))
    ]
    return _pod_table(world, chosen, "CLAIMED", _claimed)


def _claimed(pod: Pod) -> str:
    claim = claim_of(pod)
    return claim[0] if claim is not None else ""


def _pod_table(world: World, pods: list[Pod], heading: str, named: Callable[[Pod], str]) -> Table:
    raw = {key_of(item): item for item in world.of(PODS.kind)}
    resources = in_play(pod.requests for pod in pods)
    rows = [
        Row(
            raw[pod.key],
            [
                pod.key.namespace,
                pod.key.name,
                named(pod),
                pod.node,
                *cells(pod.requests, resources),
                pod.phase,
            ],
        )
        for pod in sorted(pods, key=lambda pod: pod.key)
    ]
    return Table(("NAMESPACE", "NAME", heading, "NODE", *headings(resources), "PHASE"), rows)


def key_of(item: Mapping[str, Any]) -> Key:
    """Where an object says that it is."""
    metadata = item.get("metadata") or {}
    return Key(str(metadata.get("namespace", "")), str(metadata.get("name", "")))


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


def remaining(end: datetime | None, now: datetime) -> str:
    """How long it still has."""
    if end is None:
        return "never"
    return "now" if end <= now else span(end - now)


def span(length: timedelta) -> str:
    """A length of time in its largest unit, as kubectl writes ages."""
    seconds = int(length.total_seconds())
    for unit, size in (("d", 86400), ("h", 3600), ("m", 60)):
        if seconds >= 2 * size:
            return f"{seconds // size}{unit}"
    return f"{seconds}s"
