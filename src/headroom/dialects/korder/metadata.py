"""What the metadata of korder's objects says, beyond what every object's does."""

from __future__ import annotations

from headroom.wire.objects.podjson import CustomObject, Metadata


class KorderMetadata(Metadata):
    finalizers: list[str] | None = None


class KorderObject(CustomObject):
    metadata: KorderMetadata | None = None
