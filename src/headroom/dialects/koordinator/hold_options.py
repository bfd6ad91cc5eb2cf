"""Options of a hold in Koordinator's labels and annotations.

Each annotation contains JSON. An invalid annotation is a problem of the object: it could change how
much is held, or who gets how much, and a guess could hold the wrong room.
"""

from __future__ import annotations

from dataclasses import replace

from msgspec import Raw

from headroom.core.holds import PodTemplate, Terms
from headroom.core.resources import PODS, Resources
from headroom.core.selection import integer
from headroom.dialects.koordinator.names import ANNOTATIONS, GROUP
from headroom.wire.objects.findings import Findings
from headroom.wire.objects.metadata import AnnotationReader, labels_of
from headroom.wire.objects.podjson import JsonObject, Metadata
from headroom.wire.objects.reader import ABSENT, Reader

ORDER = f"{GROUP}/reservation-order"  # labels
PRE_ALLOCATION_REQUIRED = f"{GROUP}/pre-allocation-required"
RESTRICTED_OPTIONS = f"{GROUP}/reservation-restricted-options"  # annotations
RESIZE = f"{GROUP}/reservation-resize-allocatable"
INNER_RESERVED = "node.koordinator.sh/reservation"


class _ResourceNames(JsonObject):
    resources: list[str] | None = None


_annotations = AnnotationReader(ANNOTATIONS)
_read_names = Reader(_ResourceNames)


def terms_of(metadata: Metadata, findings: Findings, remarks: Findings) -> Terms:
    """Read an object's labels and annotations."""
    labels, annotations = labels_of(metadata), _annotations(metadata)
    options = annotations.get(RESTRICTED_OPTIONS)
    named = findings.read(_read_names, _raw(options), _path(RESTRICTED_OPTIONS))
    most = _amounts(metadata, RESIZE, Findings()).get(PODS)
    return Terms(
        order=_order(labels.get(ORDER, ""), remarks),
        counted=tuple(named.resources or ()) if named is not None else (),
        withheld=_amounts(metadata, INNER_RESERVED, findings),
        most_owners=most or None,
        needs_candidate=labels.get(PRE_ALLOCATION_REQUIRED) == "true",
    )


def resized(template: PodTemplate, metadata: Metadata, findings: Findings) -> PodTemplate:
    """The template with the amounts that an annotation sets in place of its own.

    A number of pods is a limit on owners, not something that a guardian could keep.
    """
    amounts = _amounts(metadata, RESIZE, findings)
    if not amounts:
        return template
    requests = Resources({**template.pod.requests, **amounts, PODS: 0})
    return replace(template, pod=replace(template.pod, requests=requests))


def _amounts(metadata: Metadata, key: str, findings: Findings) -> Resources:
    read = findings.fields(_raw(_annotations(metadata).get(key)), _path(key))
    return Resources(read.amounts("resources") or {})


def _order(text: str, remarks: Findings) -> int:
    if not text:
        return 0
    order = integer(text)
    if order is None:
        remarks.add(f"metadata.labels[{ORDER}]", f"{text!r} is not an integer: it has no order")
    return order or 0


def _raw(text: str | None) -> Raw:
    return ABSENT if not text else Raw(text.encode(errors="replace"))


def _path(key: str) -> str:
    return f"metadata.annotations[{key}]"
