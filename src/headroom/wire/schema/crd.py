"""What a CustomResourceDefinition has around its schema, for our kinds and those of dialects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from headroom.wire.installed_kinds import DEFINITIONS, LABELS
from headroom.wire.kinds import Json, Resource
from headroom.wire.schema.notation import Catalogue
from headroom.wire.schema.structural import structural

OUR_LABELS: Json = {"labels": LABELS}


def column(name: str, path: str, type: str = "string", priority: int = 0) -> Json:
    """One printer column; with a priority, only the wide table shows it."""
    shown: Json = {"name": name, "type": type, "jsonPath": path}
    return {**shown, "priority": priority} if priority else shown


AGE = column("Age", ".metadata.creationTimestamp", "date")


def crd_version(
    resource: Resource, catalogue: Catalogue, description: str = "", **parts: Any
) -> Json:
    """One version of a kind; its fields are those of the catalogue's type of the same name."""
    schema = structural(resource.kind, catalogue)
    # The API server knows the metadata itself and allows no more here.
    schema["properties"]["metadata"] = {"type": "object"}
    described = {"description": description, **schema} if description else schema
    return {
        "name": resource.version,
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": described},
        **parts,
    }


def crd(resource: Resource, versions: Sequence[Json], metadata: Json, **names: Any) -> Json:
    """The definition of a kind; `names` are its short names and categories, if it has any."""
    spec = {
        "group": resource.group,
        "scope": "Namespaced" if resource.namespaced else "Cluster",
        "names": {
            "kind": resource.kind,
            "listKind": f"{resource.kind}List",
            "plural": resource.plural,
            "singular": resource.kind.lower(),
            **names,
        },
        "versions": list(versions),
    }
    return DEFINITIONS.new({"name": str(resource), **metadata}, spec=spec)
