"""SlotSets from their JSON, as far as we need them: whose they are. `wire.overheads` makes them."""

from __future__ import annotations

from msgspec import Raw

from headroom.core.holds import PodTemplate
from headroom.core.objects import Key, Pod
from headroom.core.standing.headrooms import Workload, WorkloadRef
from headroom.core.standing.slotsets import SLOT_SET
from headroom.wire.errors import DecodeError
from headroom.wire.objects.metadata import owners_of
from headroom.wire.objects.podjson import JsonObject, Metadata
from headroom.wire.objects.reader import Reader, about


class _Object(JsonObject):
    metadata: Metadata | None = None


_read = Reader(_Object)


def decode_slot_set(data: bytes | Raw) -> Workload:
    """Read a SlotSet; DecodeError names the object and the path of what is wrong."""
    try:
        metadata = _read(data).metadata or Metadata()
        owners = owners_of(metadata)
    except DecodeError as error:
        raise about(SLOT_SET[1], data, error) from error
    namespace = metadata.namespace or ""
    return Workload(
        ref=WorkloadRef(*SLOT_SET, metadata.name or ""),
        namespace=namespace,
        replicas=0,
        template=PodTemplate(Pod(Key(namespace, ""))),
        uid=metadata.uid or "",
        version=metadata.resource_version or "",
        controller=next((each.uid for each in owners if each.controller), ""),
    )
