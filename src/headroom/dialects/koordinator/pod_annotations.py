"""Koordinator's labels and annotations on other objects: on pods, and on our Holds.

They are read only while the dialect is enabled. On a pod they restrict the holds that it may get,
or describe the pod itself; on a Hold they are options. None of them gives a pod room that the owner
rules do not give.
"""

from __future__ import annotations

from dataclasses import replace

from msgspec import Raw

from headroom.core.holds import Hold
from headroom.core.names import NAMESPACE_LABEL
from headroom.core.objects import NO_WISH, Pod
from headroom.core.selection import integer
from headroom.dialects.koordinator import names
from headroom.dialects.koordinator.hold_options import resized, terms_of
from headroom.dialects.koordinator.reservation_affinity import wish_of
from headroom.wire.objects.findings import Findings
from headroom.wire.objects.holds import decode_hold
from headroom.wire.objects.podjson import JsonObject, Metadata
from headroom.wire.objects.reader import Reader


class _AnnotatedHold(JsonObject):
    metadata: Metadata | None = None


_read = Reader(_AnnotatedHold)


def with_koordinator_annotations(pod: Pod) -> Pod:
    """The pod with the meaning of Koordinator's labels and annotations."""
    labels = pod.labels
    if pod.key.namespace == names.GUARDIAN_NAMESPACE:  # Only the operator creates pods there.
        return replace(pod, on_behalf_of=labels.get(NAMESPACE_LABEL, ""))
    wish = wish_of(labels, pod.annotations)
    spared = labels.get(names.SPARED) == "true"
    marked = labels.get(names.PRE_ALLOCATABLE) == "true"
    if wish is NO_WISH and not spared and not marked:
        return pod
    turn = integer(pod.annotations.get(names.PRE_ALLOCATABLE_PRIORITY, "")) or 0
    return replace(pod, wish=wish, spared=spared, pre_allocatable=turn if marked else None)


def decode_annotated_hold(data: bytes | Raw) -> Hold:
    """Decode one of our Holds together with Koordinator's labels and annotations on it."""
    hold = decode_hold(data)
    metadata = _read(data).metadata or Metadata()
    findings, remarks = Findings(), Findings()
    terms = terms_of(metadata, findings, remarks)
    return replace(
        hold,
        template=resized(hold.template, metadata, findings),
        terms=replace(terms, takes_several=hold.terms.takes_several),
        remarks=(*hold.remarks, *remarks.problems),
        problems=(*hold.problems, *findings.problems),
    )
