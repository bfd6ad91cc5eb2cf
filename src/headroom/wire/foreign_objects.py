"""The requests that are alike for the objects of every dialect: statuses, finalizers, deletion.

A dialect says how a status of each of its kinds is encoded. What is its own, such as annotations on
claims, it renders itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from headroom.core import actions
from headroom.core.objects import Parent
from headroom.wire.kinds import Json, Resource
from headroom.wire.objectpatches import changed, deletion, whole_status
from headroom.wire.writes import Write

Encode = Callable[[Any, Parent], Json]
Render = Callable[[actions.Action], Write | None]


def is_of(parent: Parent | None, *kinds: Resource) -> bool:
    """Whether an object is of one of these kinds."""
    return parent is not None and any(
        (each.api_version, each.kind) == (parent.api_version, parent.kind) for each in kinds
    )


def object_writes(statuses: Mapping[Resource, Encode]) -> Render:
    """Render what is written about objects of these kinds, whose statuses are encoded like this."""

    def render(action: actions.Action) -> Write | None:
        if not isinstance(action, _About):
            return None
        parent = action.parent
        resource = next((each for each in statuses if is_of(parent, each)), None)
        if resource is None:
            return None
        match action:
            case actions.DeleteObject():
                return deletion(resource, parent)
            case actions.SetFinalizers(version=version, finalizers=finalizers):
                path = "/metadata/finalizers"
                change: Json = {"op": "add", "path": path, "value": list(finalizers)}
                return changed(resource, parent, [change], version=version)
            case _:
                status = statuses[resource](action.status, parent)
                return whole_status(resource, parent, status)

    return render


_About = (
    actions.WriteHoldStatus
    | actions.WriteHeadroomStatus
    | actions.WriteQuotaStatus
    | actions.DeleteObject
    | actions.SetFinalizers
)
