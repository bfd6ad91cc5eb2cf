"""Detect another controller that already serves a dialect's objects in this cluster.

Two controllers of the same objects undo each other's work, so an operator with a dialect does not
start beside the original system. That system is detected by a Lease that is held and renewed; its
namespace is unknown. This module also detects Karpenter, by its kinds.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from urllib.parse import quote

from headroom.kube.client import Client
from headroom.kube.errors import KubeError
from headroom.kube.leaserecord import Record, read_records
from headroom.wire.dialect import Dialect, Rival
from headroom.wire.kind_codecs import KindCodecs
from headroom.wire.kinds import LEASES
from headroom.wire.times import parse_time

KARPENTER = "karpenter.sh"


class ControllerConflict(KubeError):
    """Another controller serves these objects; starting beside it would do harm."""


async def check_rivals(client: Client, codecs: KindCodecs, now: datetime) -> None:
    """Raise ControllerConflict if the original controller of an enabled dialect runs."""
    for dialect in codecs.dialects:
        for rival in dialect.rivals:
            await _check(client, dialect, rival, now)


async def _check(client: Client, dialect: Dialect, rival: Rival, now: datetime) -> None:
    found = await at_work(client, rival, now)
    if found:
        raise ControllerConflict(
            found,
            f"stop it, or run without --dialect {dialect.name}: "
            "two that serve the same objects undo each other's work",
        )


async def at_work(client: Client, rival: Rival, now: datetime) -> str:
    """Say by whom a Lease is held and renewed; empty if it is not."""
    path = f"{LEASES.path()}?fieldSelector={quote(f'metadata.name={rival.lease}')}"
    body = await client.get(path, f"look for {rival.who}")
    for key, record in read_records(body, f"look for {rival.who}"):
        if key.name == rival.lease and is_fresh(record, now):
            return f"{rival.who} is at work here: Lease {key} is held by {record.holder}"
    return ""


def is_fresh(record: Record, now: datetime) -> bool:
    """Whether the lease has a holder that has renewed it in time."""
    if not record.holder or not record.renewed:
        return False
    try:
        renewed = parse_time(record.renewed)
    except ValueError:
        return True  # Held, and the time is unknown: do not start.
    return now < renewed + timedelta(seconds=record.duration)


async def has_karpenter(client: Client) -> bool:
    """Whether Karpenter's kinds are served here; every user may check this."""
    try:
        answer = await client.send("GET", f"/apis/{KARPENTER}", repeatable=True)
    except KubeError:
        return False  # The next request reports the error.
    return answer.ok
