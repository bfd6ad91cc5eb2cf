"""Holds, guardians and claims as rows of a table, each with its object."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

from headroom.cli.amounts import cells, headings, in_play
from headroom.cli.source import World
from headroom.cli.spans import age, remaining
from headroom.cli.views.doors import told_reason
from headroom.cli.views.tables import Table, TableRow, key_of, object_row
from headroom.core.claims import claim_of, expiry, is_claimant
from headroom.core.conditions import ready_in
from headroom.core.holds import Hold
from headroom.core.latches import kept_for
from headroom.core.names import ROLE_GUARDIAN, ROLE_LABEL
from headroom.core.objects import Pod, titled
from headroom.wire.kinds import HOLDS, PODS

OWNERS_SHOWN = 3


def holds(world: World) -> Table:
    """Every hold with its state."""
    raw = {key_of(item): item for item in world.of(HOLDS.kind)}
    chosen = [hold for hold in world.holds if hold.parent.kind == HOLDS.kind]
    resources = in_play(hold.template.pod.requests for hold in chosen)
    rows = [
        object_row(
            raw[hold.key],
            "hold",
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
            [
                "" if hold.created is None else age(hold.created, world.now),
                "once" if hold.allocate_once else "reusable",
                ready.message if (ready := ready_in(hold.status.conditions)) is not None else "",
            ],
        )
        for hold in sorted(chosen, key=lambda hold: hold.key)
    ]
    before, after = ("NAMESPACE", "NAME", "PHASE", "NODE"), ("OWNER", "EXPIRES", "REASON")
    return Table((*before, *headings(resources), *after), rows, ("AGE", "USE", "MESSAGE"))


def end_of(hold: Hold) -> datetime | None:
    """When a hold ends, by its status or by its own times."""
    told = hold.status.chronicle
    return told.ends if told is not None else expiry(hold)


def guardians(world: World) -> Table:
    """Every guardian, and its parent."""
    chosen = [pod for pod in world.pods if pod.labels.get(ROLE_LABEL) == ROLE_GUARDIAN]
    return _pod_table(world, chosen, "FOR", kept_for)


def claims(world: World) -> Table:
    """Every pod with a claim, and its hold; the annotation alone proves nothing."""
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


def _pod_table(
    world: World, pods: Sequence[Pod], heading: str, named: Callable[[Pod], str]
) -> Table:
    raw = {key_of(item): item for item in world.of(PODS.kind)}
    resources = in_play(pod.requests for pod in pods)
    rows: list[TableRow] = [
        object_row(
            raw[pod.key],
            "pod",
            [
                pod.key.namespace,
                pod.key.name,
                titled(named(pod)),
                pod.node,
                *cells(pod.requests, resources),
                pod.phase,
            ],
            [age(pod.created, world.now), str(pod.priority), pod.scheduler],
        )
        for pod in sorted(pods, key=lambda pod: pod.key)
    ]
    found = ("NAMESPACE", "NAME", heading, "NODE", *headings(resources), "PHASE")
    return Table(found, rows, ("AGE", "PRIORITY", "SCHEDULER"))


def _owners(hold: Hold) -> str:
    names = [use.name for use in hold.status.owners]
    more = len(names) - OWNERS_SHOWN
    return ", ".join(names[:OWNERS_SHOWN]) + (f" +{more}" if more > 0 else "")


def _why(hold: Hold) -> str:
    """The reason of a hold that is not simply available."""
    ready = ready_in(hold.status.conditions)
    if ready is None or ready.reason == hold.status.phase:
        return told_reason(hold)
    return ready.reason
