"""The pod template of a Reservation: the shape of its guardian, and remarks about it.

Koordinator's schema accepts any JSON here and reads what it can; ignored fields become remarks.
Labels of the Reservation override those of its template, as in Koordinator.
"""

from __future__ import annotations

from typing import NamedTuple

import msgspec
from msgspec import Raw

from headroom.core.holds import PodTemplate, Problem
from headroom.core.names import DEFAULT_SCHEDULER_NAME
from headroom.core.names import SCHEDULER_NAME as OWN_SCHEDULER_NAME
from headroom.dialects.koordinator.names import (
    DEFAULT_NAMESPACE,
    NEVER_ON_GUARDIANS,
    SCHEDULER_NAME,
)
from headroom.wire.kinds import Json
from headroom.wire.objects.findings import Findings
from headroom.wire.objects.intern import Interned
from headroom.wire.objects.reader import spelling
from headroom.wire.objects.templates import template_of
from headroom.wire.schema.notation import kubernetes
from headroom.wire.schema.validation import validate

_PATH = "spec.template"
_SERVED = (SCHEDULER_NAME, OWN_SCHEDULER_NAME)


class _Prepared(NamedTuple):
    """A template in the form that our own decoder accepts."""

    text: bytes
    namespace: str
    scheduler: str
    remarks: tuple[Problem, ...] = ()


def read_template(template: Raw, labels: Raw, findings: Findings, remarks: Findings) -> PodTemplate:
    """Decode `spec.template` with the labels of its Reservation."""
    prepared = _templates((spelling(template), spelling(labels)))
    read = template_of(Raw(prepared.text), prepared.namespace, findings)
    if prepared.scheduler not in _SERVED:
        findings.add(
            f"{_PATH}.spec.schedulerName",
            f"is {prepared.scheduler}, which keeps no reservations; set {SCHEDULER_NAME}",
        )
    told = frozenset(findings.problems)
    for remark in prepared.remarks:
        if remark not in told:  # A reason why it cannot be held is reported once.
            remarks.add(remark.path, remark.message)
    return read


def _prepare(spelled: tuple[bytes, bytes]) -> _Prepared:
    text, labels = spelled
    template = _object(text)
    if template is None:
        return _Prepared(text, DEFAULT_NAMESPACE, SCHEDULER_NAME)
    metadata, spec = _part(template, "metadata"), _part(template, "spec")
    scheduler = spec.pop("schedulerName", None) or DEFAULT_SCHEDULER_NAME
    for name, own in (("labels", _object(labels) or {}), ("annotations", {})):
        merged = {**_part(metadata, name), **own}
        metadata[name] = {
            key: value for key, value in merged.items() if key not in NEVER_ON_GUARDIANS
        }
    remade = {**template, "metadata": metadata, "spec": spec}
    namespace = metadata.get("namespace") or DEFAULT_NAMESPACE
    return _Prepared(
        msgspec.json.encode(remade),
        namespace if isinstance(namespace, str) else DEFAULT_NAMESPACE,
        scheduler if isinstance(scheduler, str) else SCHEDULER_NAME,
        tuple(_oddities(template)),
    )


def _oddities(template: Json) -> list[Problem]:
    """What Koordinator ignores: unknown fields and values of a wrong type."""
    found = validate(template, "PodTemplateSpec", kubernetes())
    return [
        Problem(f"{_PATH}.{problem.path}", problem.message)
        for problem in found
        if problem.message != "missing"
    ]


def _object(text: bytes) -> Json | None:
    try:
        read = msgspec.json.decode(text) if text else None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return read if isinstance(read, dict) else None


def _part(whole: Json, name: str) -> Json:
    """A copy of a part that is an object, otherwise an empty one."""
    part = whole.get(name)
    return dict(part) if isinstance(part, dict) else {}


_templates: Interned[tuple[bytes, bytes], _Prepared] = Interned(_prepare, limit=512)
