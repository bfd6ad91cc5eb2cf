"""Our one Headroom as the proposal means it: its guardians' marks, and what it looks ahead to.

Every other Headroom is read as ever.
"""

from __future__ import annotations

from dataclasses import replace

import msgspec
from msgspec import Raw

from headroom.core.holds import PodTemplate, Problem
from headroom.core.names import PLACEHOLDER, PLACEHOLDER_LABEL
from headroom.core.standing.headrooms import Headroom, Slot, Utilization
from headroom.dialects.proactive.names import (
    CLASS_ANNOTATION,
    POD_ANNOTATION,
    PRIORITY_CLASS,
    REMARK_ANNOTATION,
)
from headroom.wire.objects.headrooms import decode_headroom
from headroom.wire.objects.podjson import JsonObject
from headroom.wire.objects.reader import Reader


class _Metadata(JsonObject):
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None


class _Object(JsonObject):
    metadata: _Metadata | None = None


_read = Reader(_Object)


def decode(data: bytes | Raw) -> Headroom:
    """Read a headroom; one that carries the placeholders' label stands for the flags."""
    headroom = decode_headroom(data)
    metadata = _read(data).metadata or _Metadata()
    if (metadata.labels or {}).get(PLACEHOLDER_LABEL) != PLACEHOLDER:
        return headroom
    notes = metadata.annotations or {}
    template = headroom.slot.template
    if template is not None:
        marked = _marked(template, notes.get(CLASS_ANNOTATION, PRIORITY_CLASS))
        headroom = replace(headroom, slot=Slot(template=marked, chunk=headroom.slot.chunk))
    if isinstance(headroom.size, Utilization):
        headroom = replace(headroom, size=replace(headroom.size, ahead=True))
    remark = notes.get(REMARK_ANNOTATION)
    return replace(headroom, remarks=(Problem("priority", remark),)) if remark else headroom


def _marked(template: PodTemplate, priority_class: str) -> PodTemplate:
    """The template whose guardians carry the proposal's label, annotation and class."""
    raw = msgspec.json.decode(template.raw)
    raw["metadata"] = {"annotations": {POD_ANNOTATION: "true"}}
    return replace(
        template,
        raw=msgspec.json.encode(raw).decode(),
        shape=f"{template.shape} {priority_class}",
        labels=((PLACEHOLDER_LABEL, PLACEHOLDER),),
        priority_class=priority_class,
    )
