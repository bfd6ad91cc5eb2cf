"""Decode our one Headroom with the meaning of the proposal: labels of guardians, known demand.

Every other Headroom is decoded as usual. An annotation of it selects one of the two classes that
the operator itself writes there, and no other: an annotation must not give access to a
PriorityClass.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec
from msgspec import Raw

from headroom.core.headrooms.headrooms import ON_PRIORITY, Headroom, Slot
from headroom.core.holds import PodTemplate, Problem
from headroom.core.names import PREEMPTIBLE_CLASS
from headroom.core.objects import Pod
from headroom.dialects.proactive import names
from headroom.wire.kinds import HEADROOMS
from headroom.wire.objects.codec import TEXT, TEXT_MAP, Codec
from headroom.wire.objects.headrooms import decode_headroom

CLASSES = (names.PRIORITY_CLASS, PREEMPTIBLE_CLASS)  # both are below every ordinary pod


_MARKS = Codec[Any](
    dict,
    name=TEXT.named("metadata.name"),
    labels=TEXT_MAP.named("metadata.labels"),
    notes=TEXT_MAP.named("metadata.annotations"),
).decoder(HEADROOMS.kind)


def decode(data: bytes | Raw) -> Headroom:
    """Decode a headroom; that of the flags gets the name and label of placeholders."""
    headroom = decode_headroom(data)
    marks = _MARKS(data)
    labelled = marks["labels"].get(names.PLACEHOLDER_LABEL) == names.PLACEHOLDER
    if marks["name"] != names.OBJECT_NAME or not labelled:
        return headroom
    notes = marks["notes"]
    wanted = notes.get(names.CLASS_ANNOTATION, names.PRIORITY_CLASS)
    wanted = wanted if wanted in CLASSES else names.PRIORITY_CLASS
    template = headroom.slot.template
    if template is not None:
        marked = _marked(template, wanted)
        headroom = replace(headroom, slot=Slot(template=marked, chunk=headroom.slot.chunk))
    headroom = replace(headroom, size=headroom.size.looking_ahead())
    remark = notes.get(names.REMARK_ANNOTATION)
    if not remark:
        return headroom
    return replace(headroom, remarks=(*headroom.remarks, Problem(ON_PRIORITY, remark)))


def marked_placeholder(pod: Pod) -> Pod:
    """The pod, marked if it is a placeholder of the proposal, whoever created it.

    A pod of ordinary priority is an ordinary pod, whatever its label.
    """
    if pod.labels.get(names.PLACEHOLDER_LABEL) != names.PLACEHOLDER or pod.priority >= 0:
        return pod
    return replace(pod, placeholder=True)


def _marked(template: PodTemplate, priority_class: str) -> PodTemplate:
    """The template whose guardians have the label, annotation and class of the proposal."""
    raw = msgspec.json.decode(template.raw)
    raw["metadata"] = {"annotations": {names.POD_ANNOTATION: "true"}}
    return replace(
        template,
        raw=msgspec.json.encode(raw).decode(),
        shape=f"{template.shape} {priority_class}",
        labels=((names.PLACEHOLDER_LABEL, names.PLACEHOLDER),),
        priority_class=priority_class,
    )
