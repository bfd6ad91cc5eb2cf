"""Decode our one Headroom with the meaning of the proposal: labels of guardians, known demand.

Every other Headroom is decoded as usual. An annotation of it selects one of the two classes that
the operator itself writes there, and no other: an annotation must not give access to a
PriorityClass.
"""

from __future__ import annotations

from dataclasses import replace

import msgspec
from msgspec import Raw

from headroom.core.headrooms.headrooms import ON_PRIORITY, Headroom, Slot
from headroom.core.holds import PodTemplate, Problem
from headroom.core.names import PREEMPTIBLE_CLASS
from headroom.core.objects import Pod
from headroom.dialects.proactive.names import (
    CLASS_ANNOTATION,
    OBJECT_NAME,
    PLACEHOLDER,
    PLACEHOLDER_LABEL,
    POD_ANNOTATION,
    PRIORITY_CLASS,
    REMARK_ANNOTATION,
)
from headroom.wire.objects.headrooms import decode_headroom
from headroom.wire.objects.podjson import JsonObject
from headroom.wire.objects.reader import Reader

CLASSES = (PRIORITY_CLASS, PREEMPTIBLE_CLASS)  # both are below every ordinary pod


class _MarkedMetadata(JsonObject):
    name: str | None = None
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None


class _MarkedObject(JsonObject):
    metadata: _MarkedMetadata | None = None


_read = Reader(_MarkedObject)


def decode(data: bytes | Raw) -> Headroom:
    """Decode a headroom; that of the flags gets the name and label of placeholders."""
    headroom = decode_headroom(data)
    metadata = _read(data).metadata or _MarkedMetadata()
    labelled = (metadata.labels or {}).get(PLACEHOLDER_LABEL) == PLACEHOLDER
    if metadata.name != OBJECT_NAME or not labelled:
        return headroom
    notes = metadata.annotations or {}
    wanted = notes.get(CLASS_ANNOTATION, PRIORITY_CLASS)
    wanted = wanted if wanted in CLASSES else PRIORITY_CLASS
    template = headroom.slot.template
    if template is not None:
        marked = _marked(template, wanted)
        headroom = replace(headroom, slot=Slot(template=marked, chunk=headroom.slot.chunk))
    headroom = replace(headroom, size=headroom.size.looking_ahead())
    remark = notes.get(REMARK_ANNOTATION)
    if not remark:
        return headroom
    return replace(headroom, remarks=(*headroom.remarks, Problem(ON_PRIORITY, remark)))


def marked_placeholder(pod: Pod) -> Pod:
    """The pod, marked if it is a placeholder of the proposal, whoever created it.

    A pod of ordinary priority is an ordinary pod, whatever its label.
    """
    if pod.labels.get(PLACEHOLDER_LABEL) != PLACEHOLDER or pod.priority >= 0:
        return pod
    return replace(pod, placeholder=True)


def _marked(template: PodTemplate, priority_class: str) -> PodTemplate:
    """The template whose guardians have the label, annotation and class of the proposal."""
    raw = msgspec.json.decode(template.raw)
    raw["metadata"] = {"annotations": {POD_ANNOTATION: "true"}}
    return replace(
        template,
        raw=msgspec.json.encode(raw).decode(),
        shape=f"{template.shape} {priority_class}",
        labels=((PLACEHOLDER_LABEL, PLACEHOLDER),),
        priority_class=priority_class,
    )
