"""Pod templates from their JSON: the shape of a slot, and what the API server would refuse in it.

The schema of a hold cannot judge all of a template, and a guardian made from a bad one would be
refused each time; so it is judged here, once per spelling, and told with its path.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from msgspec import Raw, structs

from headroom.core.holds import PodTemplate, Problem
from headroom.core.objects import Key, Placement, Pod
from headroom.core.selector_validation import (
    label_key_refusal,
    label_value_refusal,
    node_term_refusal,
    toleration_refusal,
)
from headroom.wire.errors import DecodeError
from headroom.wire.objects.findings import Findings
from headroom.wire.objects.intern import Interned
from headroom.wire.objects.podjson import PodObject, PodSpec
from headroom.wire.objects.pods import pod_of
from headroom.wire.objects.reader import Reader, spelling
from headroom.wire.objects.shapes import shape_text

_PATH = "spec.template"
_AFFINITY = f"{_PATH}.spec.affinity.nodeAffinity"
_REQUIRED = f"{_AFFINITY}.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"
_PREFERRED = f"{_AFFINITY}.preferredDuringSchedulingIgnoredDuringExecution"

_read_template = Reader(PodObject)


@dataclass(frozen=True, slots=True)
class _ReadTemplate:
    template: PodTemplate
    problems: tuple[Problem, ...] = ()


def template_of(raw: Raw, namespace: str, findings: Findings) -> PodTemplate:
    """Read `spec.template` of an object in a namespace, taking down what is wrong."""
    read = _templates((namespace, spelling(raw)))
    findings.extend(read.problems)
    return read.template


def _read(spelled: tuple[str, bytes]) -> _ReadTemplate:
    namespace, text = spelled
    nothing = PodTemplate(Pod(Key(namespace, "")))
    findings = Findings()
    if not text:
        findings.add(_PATH, "is missing: it defines the room to hold")
        return _ReadTemplate(nothing, findings.problems)
    try:
        shape = _read_template(text)
        spec = shape.spec or PodSpec()
        pod = pod_of(PodObject(shape.metadata, structs.replace(spec, node_name=None)))
    except DecodeError as error:
        findings.note(error, _PATH)
        return _ReadTemplate(nothing, findings.problems)
    if not pod.requests:
        findings.add(
            f"{_PATH}.spec.containers",
            "are empty, so there is nothing to hold; set resources.requests",
        )
    for path, refusal in _refusals(pod):
        if refusal is not None:
            findings.add(path, refusal)
    slot = replace(pod, key=Key(namespace, ""), uid="", version="", owners=())
    template = PodTemplate(slot, text.decode(), spec.node_name or "", shape_text(text))
    return _ReadTemplate(template, findings.problems)


_templates: Interned[tuple[str, bytes], _ReadTemplate] = Interned(_read, limit=128)


def _refusals(pod: Pod) -> Iterator[tuple[str, str | None]]:
    """Every part that the API server would judge in a guardian, with what it would say."""
    for key, value in pod.labels.items():
        refusal = label_key_refusal(key) or label_value_refusal(value)
        yield f"{_PATH}.metadata.labels", refusal
    yield from _placement_refusals(pod.placement)


def _placement_refusals(placement: Placement) -> Iterator[tuple[str, str | None]]:
    for key, value in placement.node_selector:
        refusal = label_key_refusal(key) or label_value_refusal(value)
        yield f"{_PATH}.spec.nodeSelector", refusal
    for index, toleration in enumerate(placement.tolerations):
        yield f"{_PATH}.spec.tolerations[{index}]", toleration_refusal(toleration)
    for index, term in enumerate(placement.node_affinity.required or ()):
        yield f"{_REQUIRED}[{index}]", node_term_refusal(term)
    for index, preferred in enumerate(placement.node_affinity.preferred):
        yield f"{_PREFERRED}[{index}].preference", node_term_refusal(preferred.term)
