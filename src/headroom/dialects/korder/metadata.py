"""The metadata of korder's objects, with the fields that only they need."""

from __future__ import annotations

from headroom.wire.objects.podjson import CustomObject, Metadata


class KorderMetadata(Metadata):
    finalizers: list[str] | None = None


class KorderObject(CustomObject):
    metadata: KorderMetadata | None = None
