"""Writes that change or delete exactly the object that is meant.

The request tests the uid, and also the version if the write depends on what was read. So an object
that was created again under the same name, or was changed meanwhile, is not touched.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from headroom.core.objects import Parent
from headroom.wire.kinds import Json, Resource
from headroom.wire.writes import JSON_PATCH, Write


def whole_status(resource: Resource, parent: Parent, status: Json) -> Write:
    """Put the whole status in place: a merge would keep names that are gone."""
    change = {"op": "add", "path": "/status", "value": status}
    return changed(resource, parent, [change], "status")


def changed(
    resource: Resource,
    parent: Parent,
    changes: list[Json],
    subresource: str = "",
    version: str = "",
) -> Write:
    """Change an object, if it is still the one that is meant."""
    body: list[Json] = []
    if parent.uid:
        body.append({"op": "test", "path": "/metadata/uid", "value": parent.uid})
    if version:
        # Writing the version we know makes the API server compare it with its own (409).
        body.append({"op": "replace", "path": "/metadata/resourceVersion", "value": version})
    return Write(
        "patch",
        resource,
        parent.namespace if resource.namespaced else "",
        parent.name,
        [*body, *changes],
        subresource,
        JSON_PATCH,
        guarded=bool(parent.uid),
    )


def deletion(resource: Resource, parent: Parent) -> Write:
    """Delete an object, if it is still the one that is meant."""
    namespace = parent.namespace if resource.namespaced else ""
    return Write("delete", resource, namespace, parent.name, delete_options(parent.uid))


def delete_options(uid: str, version: str = "", **more: Any) -> Json:
    """The body of a deletion; uid and version, if given, are those that the object must have."""
    given = {"uid": uid, "resourceVersion": version}
    known = {name: value for name, value in given.items() if value}
    preconditions = {"preconditions": known} if known else {}
    options = {"apiVersion": "v1", "kind": "DeleteOptions", **more}
    return {**options, "propagationPolicy": "Background", **preconditions}


def annotated(write: Write, annotations: Mapping[str, str]) -> Write:
    """The same write, which puts these annotations on its object as well."""
    if not isinstance(write.body, dict):
        return write
    metadata = write.body.get("metadata", {})
    told = {**metadata.get("annotations", {}), **annotations}
    return replace(write, body={**write.body, "metadata": {**metadata, "annotations": told}})
