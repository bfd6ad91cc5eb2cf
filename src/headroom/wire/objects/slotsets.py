"""SlotSets from their JSON, as far as we need them: whose they are. `wire.overheads` makes them."""

from __future__ import annotations

from headroom.core.headrooms.headrooms import Workload, WorkloadRef
from headroom.core.headrooms.slotsets import SLOT_SET
from headroom.core.holds import PodTemplate
from headroom.core.objects import Key, Pod
from headroom.wire.objects.metadata import owners_of
from headroom.wire.objects.podjson import JsonObject, Metadata
from headroom.wire.objects.reader import Decoder


class _SlotSetObject(JsonObject):
    metadata: Metadata | None = None


def _workload(read: _SlotSetObject) -> Workload:
    metadata = read.metadata or Metadata()
    namespace = metadata.namespace or ""
    return Workload(
        ref=WorkloadRef(*SLOT_SET, metadata.name or ""),
        namespace=namespace,
        replicas=0,
        template=PodTemplate(Pod(Key(namespace, ""))),
        uid=metadata.uid or "",
        version=metadata.resource_version or "",
        controller=next((each.uid for each in owners_of(metadata) if each.controller), ""),
    )


decode_slot_set = Decoder(SLOT_SET[1], _SlotSetObject, _workload)
