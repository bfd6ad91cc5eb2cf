"""Actions about Orders, Tickets and Quotas as API requests, and korder's annotations on claims.

Each write names its object (by uid, and by version if it depends on what was read), so another
object with the same name is never changed.
"""

from __future__ import annotations

import msgspec

from headroom.core import actions
from headroom.core.derived_names import label_value
from headroom.core.names import SHAPE_ANNOTATION, SLOT_ANNOTATION
from headroom.dialects.korder import kinds
from headroom.dialects.korder.quotastatus import status_json as quota_status_json
from headroom.dialects.korder.statuses import order_status_json, ticket_status_json
from headroom.wire.foreign_objects import is_of, object_writes
from headroom.wire.guardians import owned_by
from headroom.wire.kinds import Json
from headroom.wire.objectpatches import annotated, changed
from headroom.wire.render import render as render_native
from headroom.wire.writes import Write

_of_objects = object_writes(
    {
        kinds.ORDERS: lambda status, _: order_status_json(status),
        kinds.TICKETS: lambda status, ticket: ticket_status_json(status, ticket.namespace),
        kinds.QUOTAS: lambda status, _: quota_status_json(status),
    }
)


def render(action: actions.Action) -> Write | None:
    """The request for an action about an object of korder; None for any other."""
    match action:
        case actions.CreateSlotObject() if is_of(action.of, kinds.ORDERS):
            return _renewal(action) if action.hold.parent.uid else _creation(action)
        case actions.Nominate() | actions.Bind():
            return _claim(action)
    return _of_objects(action)


def _creation(action: actions.CreateSlotObject) -> Write:
    """Create a ticket with its finalizer, which saves a write."""
    parent, of = action.hold.parent, action.of
    made = _made(action)
    metadata = {
        "name": parent.name,
        "namespace": parent.namespace,
        **made["metadata"],
        "finalizers": [kinds.TICKET_FINALIZER],
        "ownerReferences": [owned_by(of, blocks=True)],
    }
    body = kinds.TICKETS.new(metadata, spec=made["spec"])
    return Write("create", kinds.TICKETS, parent.namespace, "", body)


def _renewal(action: actions.CreateSlotObject) -> Write:
    """Write the current template of the order into an existing ticket; other annotations stay."""
    hold, made = action.hold, _made(action)
    labels = {**hold.labels, **made["metadata"]["labels"]}
    changes: list[Json] = [
        {"op": "add", "path": "/spec", "value": made["spec"]},
        {"op": "add", "path": "/metadata/labels", "value": labels},
    ]
    annotations: Json = made["metadata"]["annotations"]
    if hold.member is None or not hold.member.revision:  # created by korder itself
        changes.append({"op": "add", "path": "/metadata/annotations", "value": annotations})
    else:
        changes += [
            {"op": "add", "path": f"/metadata/annotations/{_pointer(name)}", "value": value}
            for name, value in annotations.items()
        ]
    return changed(kinds.TICKETS, hold.parent, changes, version=hold.version)


def _made(action: actions.CreateSlotObject) -> Json:
    """Labels, annotations and spec of a ticket: those of the template, and those of its slot."""
    template = msgspec.json.decode(action.objects.raw)
    node = action.hold.template.node
    pinned = bool(node) and action.slot.partition("/")[0] == node
    labels = {
        **template["metadata"]["labels"],
        kinds.ORDER_LABEL: label_value(action.of.name),
        kinds.ORDER_UID_LABEL: action.of.uid,
        **({kinds.NODE_LABEL: label_value(node)} if pinned else {}),
    }
    annotations = {
        **template["metadata"]["annotations"],
        SLOT_ANNOTATION: action.slot,
        SHAPE_ANNOTATION: action.objects.revision,
    }
    spec = {**template["spec"], **({"nodeName": node} if pinned else {})}
    return {"metadata": {"labels": labels, "annotations": annotations}, "spec": spec}


def _claim(action: actions.Nominate | actions.Bind) -> Write | None:
    """The claim of a ticket as ours is written, with korder's own annotations."""
    if action.claimed is None or not is_of(action.claimed, kinds.TICKETS):
        return None
    told = {kinds.CLAIMED_ANNOTATION: action.claimed.name, kinds.NODE_ANNOTATION: action.node}
    return annotated(render_native(action), told)


def _pointer(name: str) -> str:
    """A name as one step of a JSON pointer."""
    return name.replace("~", "~0").replace("/", "~1")
