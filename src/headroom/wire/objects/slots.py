"""The shape of a Headroom's slots: what the fields of `spec.slot` become.

A slot's template has the scheduling fields of a pod and no containers, because nobody needs to make
any up. It is written out as a pod template here, read as any other (`templates`), and what is wrong
with it is told with the path that its author knows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import msgspec
from msgspec import Raw

from headroom.core.headrooms.headrooms import POD_CHUNK, USUAL_KINDS, Auto, Slot, WorkloadRef
from headroom.core.holds import PodTemplate
from headroom.core.objects import LabelSelector, Requirement
from headroom.core.selection import equal_labels
from headroom.core.selector_validation import selector_refusal
from headroom.wire.objects.findings import Fields, Findings
from headroom.wire.objects.templates import template_of
from headroom.wire.objects.values import Makers
from headroom.wire.schema.own import known

API_VERSIONS = {
    "DaemonSet": "apps/v1",
    "Deployment": "apps/v1",
    "Job": "batch/v1",
    "ReplicaSet": "apps/v1",
    "StatefulSet": "apps/v1",
}
# Of the written-out template: where it is, and what is told where it asks for nothing.
_WRITTEN = "spec.template.spec"
_CONTAINERS = f"{_WRITTEN}.containers"


@dataclass(frozen=True, slots=True)
class WrittenSlot:
    """`spec.slot` as it is written: one of the first three is there."""

    template: Mapping[str, Any] | None = None
    from_: WorkloadRef | None = None
    auto: Auto | None = None
    chunk: str = POD_CHUNK


def slot_of(
    written: WrittenSlot, namespace: str, findings: Findings, may_ask_nothing: bool
) -> Slot:
    """The shape of a slot, taking down what is wrong with its template.

    Where the size says how much to keep, a template may ask for nothing.
    """
    template = None
    if written.template is not None:
        names = [name for name in known().types["SlotTemplate"] if written.template.get(name)]
        fields = {name: written.template[name] for name in names}
        container = {"name": "slot", "resources": fields.pop("resources", {})}
        shape = {"containers": [container], **fields}
        place = Fields(findings, "spec.slot.template", None)
        template = template_in(place, shape, namespace, may_ask_nothing)
    return Slot(template, written.from_, written.auto, written.chunk)


def template_in(
    given: Fields, spec: Mapping[str, object], namespace: str, may_ask_nothing: bool = False
) -> PodTemplate:
    """Read a pod spec that was written out of the fields of a part which has no containers.

    A problem is told with the path that it has in the part.
    """
    found = Findings()
    template = template_of(Raw(msgspec.json.encode({"spec": spec})), namespace, found)
    for problem in found.problems:
        if not (may_ask_nothing and problem.path == _CONTAINERS):
            given.findings.add(_place(problem.path, given), problem.message)
    return template


def _place(path: str, given: Fields) -> str:
    """Where a problem of the written-out template is in the part; the first that fits."""
    for written, place in (
        (f"{_CONTAINERS}[0].resources", given.at("resources")),
        (_CONTAINERS, given.at("resources")),
        (_WRITTEN, given.path),
    ):
        if path.startswith(written):
            return place + path.removeprefix(written)
    return given.path


def _auto(top: int, scope: Auto | None = None) -> Auto:
    return replace(scope or Auto(), top=top)


def _scope(
    namespace_selector: LabelSelector | None = None,
    label_selector: LabelSelector | None = None,
    kinds: tuple[str, ...] = USUAL_KINDS,
) -> Auto:
    return Auto(
        kinds=tuple(dict.fromkeys(kinds)), namespaces=namespace_selector, selector=label_selector
    )


def _selector(
    match_labels: tuple[tuple[str, str], ...] = (), match_expressions: tuple[Requirement, ...] = ()
) -> LabelSelector:
    selector = LabelSelector(equal_labels(match_labels) + match_expressions)
    refusal = selector_refusal(selector)
    if refusal is not None:
        raise ValueError(refusal)
    return selector


MAKERS: Makers = {
    "HeadroomSlot": WrittenSlot,
    "SlotSource": WorkloadRef,
    "SlotAuto": _auto,
    "AutoScope": _scope,
    "LabelSelector": _selector,
    "LabelSelectorRequirement": Requirement,
}
