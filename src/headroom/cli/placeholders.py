"""Reconcile the object for the flags of the dialect `proactive` when the operator starts.

It is created or updated when the operator starts with the flag, and deleted with all its
placeholders when the operator starts without. Errors are logged and do not stop the operator.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec
import structlog

from headroom.core.actions import Done, Gone, Outcome
from headroom.dialects.proactive.names import (
    AUTOSCALER_LEASE,
    OBJECT_NAME,
    PLACEHOLDER,
    PLACEHOLDER_LABEL,
)
from headroom.dialects.proactive.objects import change_to, headroom_object, remark_on
from headroom.dialects.proactive.options import Options
from headroom.kube.client import Client
from headroom.kube.errors import KubeError
from headroom.kube.other_controllers import at_work
from headroom.kube.outcomes import outcome_of, outcome_of_trouble
from headroom.wire.dialect import Rival
from headroom.wire.kinds import HEADROOMS
from headroom.wire.writes import MERGE_PATCH, Write

AUTOSCALER = Rival(AUTOSCALER_LEASE, "Cluster Autoscaler")

log = structlog.get_logger("headroom.cli")


async def settle(client: Client, namespace: str, options: Options, now: datetime) -> None:
    """Create, update or delete the object; an old one in our own namespace is deleted."""
    home, namespace = namespace, options.namespace or namespace
    if home != namespace and await _there(client, home):
        await _send(client, Write("delete", HEADROOMS, home, OBJECT_NAME, {}))
    ours = await _there(client, namespace)
    if not options.enabled:
        if ours:
            await _send(client, Write("delete", HEADROOMS, namespace, OBJECT_NAME, {}))
        return
    autoscaler = await _autoscaler(client, now)
    if remark := remark_on(options, autoscaler):
        log.warning("placeholders_ignored", why=remark)
    if ours:
        body = change_to(options, autoscaler)
        write = Write("patch", HEADROOMS, namespace, OBJECT_NAME, body, content_type=MERGE_PATCH)
    else:
        made = headroom_object(options, namespace, autoscaler)
        write = Write("create", HEADROOMS, namespace, "", made)
    await _send(client, write)


async def _there(client: Client, namespace: str) -> bool:
    """Whether the object exists and is ours."""
    there = await client.send("GET", HEADROOMS.path(namespace, OBJECT_NAME))
    return there.ok and _is_ours(there.body)


async def _send(client: Client, write: Write) -> None:
    body = msgspec.json.encode(write.body)
    try:
        answer = await client.send(write.method, write.path, body, write.content_type)
    except KubeError as error:
        _tell(outcome_of_trouble(error))
    else:
        _tell(outcome_of(write, answer))


def _tell(outcome: Outcome) -> None:
    """Log an error; an object of the same name that is not ours is left alone."""
    if isinstance(outcome, Done | Gone):
        return
    hint = "see headroom install --dialect proactive for the rights it needs"
    log.warning("placeholders_not_settled", why=outcome.message, hint=hint)


async def _autoscaler(client: Client, now: datetime) -> str:
    """Which Cluster Autoscaler runs, as text; empty if none, or if none is visible."""
    try:
        return await at_work(client, AUTOSCALER, now)
    except KubeError as error:
        log.info("autoscaler_unknown", why=str(error))
        return ""


class _PlaceholderMetadata(msgspec.Struct):
    labels: dict[str, Any] | None = None


class _PlaceholderObject(msgspec.Struct):
    metadata: _PlaceholderMetadata


def _is_ours(body: bytes) -> bool:
    labels = msgspec.json.decode(body, type=_PlaceholderObject).metadata.labels or {}
    return labels.get(PLACEHOLDER_LABEL) == PLACEHOLDER
