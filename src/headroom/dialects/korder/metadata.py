"""What the metadata of an Order or a Ticket says, beyond what every object's does."""

from __future__ import annotations

from msgspec import Raw

from headroom.core.objects import Parent
from headroom.dialects.korder.kinds import API_VERSION
from headroom.wire.kinds import Resource
from headroom.wire.objects.podjson import JsonObject, Metadata
from headroom.wire.objects.reader import ABSENT


class KorderMetadata(Metadata):
    finalizers: list[str] | None = None


class KorderObject(JsonObject):
    metadata: KorderMetadata | None = None
    spec: Raw = ABSENT
    status: Raw = ABSENT


def parent_of(resource: Resource, metadata: Metadata) -> Parent:
    """The object itself, as what asks for a guardian."""
    return Parent(
        api_version=API_VERSION,
        kind=resource.kind,
        namespace=metadata.namespace or "",
        name=metadata.name or "",
        uid=metadata.uid or "",
    )
