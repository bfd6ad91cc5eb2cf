"""Perform a write on the embedded API server and return its outcome.

The `Write` values are those that `kube` sends over HTTP, and the same answers become the same
Outcomes. The caller injects faults.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from headroom.core.actions import Done, Outcome
from headroom.sim.api.server import ApiServer
from headroom.sim.api.values import Json, Ref, dig, uid_of
from headroom.sim.errors import ApiError, bad_request
from headroom.wire.outcomes import StatusRefusal, outcome_of
from headroom.wire.writes import APPLY_PATCH, STRATEGIC_PATCH, Write


def carry_out(server: ApiServer, write: Write) -> Outcome:
    """Perform one write; a refusal is an Outcome."""
    try:
        return Done(_send(server, write))
    except ApiError as error:
        return outcome_of(write, _refusal(error))


def _refusal(error: ApiError) -> StatusRefusal:
    causes = ((error.cause, error.field),) if error.cause or error.field else ()
    return StatusRefusal(error.code, error.message, error.reason, causes)


def _send(server: ApiServer, write: Write) -> str:
    """Perform a write; returns the uid of a created object."""
    ref = Ref(write.resource.kind, write.namespace, write.name)
    match write.verb:
        case "create" if write.subresource == "binding":
            server.bind(ref, _object(write))
        case "create" if write.subresource == "eviction":
            options = dig(_object(write), "deleteOptions") or {}
            uid = str(dig(options, "preconditions", "uid") or "")
            server.evict(ref, options.get("gracePeriodSeconds"), uid)
        case "create":
            return uid_of(server.create(_placed(write)))
        case "delete":
            body = _object(write)
            uid = str(dig(body, "preconditions", "uid") or "")
            version = str(dig(body, "preconditions", "resourceVersion") or "")
            server.delete(ref, dig(body, "gracePeriodSeconds"), uid, version)
        case "patch":
            _patch(server, ref, write)
    return ""


def _patch(server: ApiServer, ref: Ref, write: Write) -> None:
    if write.content_type == APPLY_PATCH:
        server.apply(_placed(write), owned=True)
    elif isinstance(write.body, Mapping):
        strategic = write.content_type == STRATEGIC_PATCH
        server.merge_patch(ref, write.body, write.subresource, strategic)
    else:
        server.json_patch(ref, write.body, write.subresource)


def _object(write: Write) -> Json:
    if not isinstance(write.body, Mapping):
        raise bad_request("the body of this request cannot be a list")
    return write.body


def _placed(write: Write) -> Json:
    """The object with the namespace of its URL."""
    body = _object(write)
    meta: dict[str, Any] = {**(body.get("metadata") or {})}
    if write.resource.namespaced:
        meta["namespace"] = write.namespace
    return {**body, "metadata": meta}
