"""The shape of a Headroom's slots from its JSON: a template, a workload to copy, or `auto`.

A slot's template has the scheduling fields of a pod and no containers, because nobody needs to make
any up. It is written out as a pod template here, read as any other (`templates`), and what is wrong
with it is told with the path that its author knows.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
from msgspec import Raw

from headroom.core.headrooms.headrooms import (
    AUTO_KINDS,
    MOST_SHAPES,
    NODE_CHUNK,
    POD_CHUNK,
    USUAL_KINDS,
    USUAL_TOP,
    Auto,
    Slot,
    WorkloadRef,
)
from headroom.core.holds import PodTemplate
from headroom.core.objects import LabelSelector
from headroom.core.selector_validation import selector_refusal
from headroom.wire.objects.findings import Fields, Findings
from headroom.wire.objects.podjson import JsonObject
from headroom.wire.objects.reader import Reader
from headroom.wire.objects.selectors import Selector, optional_selector
from headroom.wire.objects.templates import template_of

API_VERSIONS = {
    "DaemonSet": "apps/v1",
    "Deployment": "apps/v1",
    "Job": "batch/v1",
    "ReplicaSet": "apps/v1",
    "StatefulSet": "apps/v1",
}
_SLOT_FIELDS = (
    "nodeSelector",
    "tolerations",
    "affinity",
    "topologySpreadConstraints",
    "schedulerName",
)
# Of the written-out template: where it is, and what is told where it asks for nothing.
_WRITTEN = "spec.template.spec"
_CONTAINERS = f"{_WRITTEN}.containers"


class _Source(JsonObject):
    api_version: str | None = None
    kind: str | None = None
    name: str | None = None


_read_source = Reader(_Source)


def slot_of(spec: Fields, namespace: str, may_ask_nothing: bool) -> Slot:
    """Read `spec.slot`, taking down what is wrong.

    Where the size says how much to keep, a template may ask for nothing.
    """
    slot = spec.part("slot")
    if not slot.given:
        if not spec.has("slot"):
            spec.add("slot", "is missing: it defines the room to hold")
        return Slot()
    parts = ("template", "from", "auto")
    given = [*slot.present(parts)]
    if len(given) != 1:
        told = f"has {' and '.join(given)}" if given else "is empty"
        spec.add("slot", f"{told}; exactly one of {', '.join(parts)} is needed")
        return Slot()
    chunk = slot.word("chunk", (POD_CHUNK, NODE_CHUNK))
    if given == ["auto"]:
        return Slot(auto=auto_of(slot.part("auto")), chunk=chunk)
    if given == ["from"]:
        return Slot(source=_source(slot), chunk=chunk)
    template = slot.part("template")
    if not template.given:
        return Slot(chunk=chunk)
    container = {"name": "slot", **template.present(("resources",))}
    shape = {"containers": [container], **template.present(_SLOT_FIELDS)}
    return Slot(template=template_in(template, shape, namespace, may_ask_nothing), chunk=chunk)


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


def _source(slot: Fields) -> WorkloadRef | None:
    source = slot.read(_read_source, "from")
    if source is None:
        return None
    kind, version = source.kind or "", source.api_version or ""
    if not source.name:
        slot.add("from.name", "is missing")
    if kind not in API_VERSIONS:
        slot.add("from.kind", f"{kind!r} is not one of {', '.join(sorted(API_VERSIONS))}")
    elif version != API_VERSIONS[kind]:
        slot.add("from.apiVersion", f"a {kind} is of {API_VERSIONS[kind]}, not {version!r}")
    return WorkloadRef(version, kind, source.name or "")


_read_selector = Reader(Selector)
_read_kinds = Reader(list[str])


def auto_of(auto: Fields) -> Auto | None:
    """Read `spec.slot.auto`, taking down what is wrong."""
    if not auto.given:
        return None
    scope = auto.part("scope")
    top = auto.number("top", 1, MOST_SHAPES)
    return Auto(
        top=USUAL_TOP if top is None else top,
        kinds=_kinds(scope),
        namespaces=_selector(scope, "namespaceSelector"),
        selector=_selector(scope, "labelSelector"),
    )


def _kinds(scope: Fields) -> tuple[str, ...]:
    named = scope.read(_read_kinds, "kinds")
    if named is None:
        return USUAL_KINDS
    if not named:
        scope.add("kinds", f"is empty; name some of {', '.join(AUTO_KINDS)}, or leave it out")
    for index, kind in enumerate(named):
        if kind not in AUTO_KINDS:
            scope.add(f"kinds[{index}]", f"{kind!r} is not one of {', '.join(AUTO_KINDS)}")
    return tuple(dict.fromkeys(named))


def _selector(scope: Fields, name: str) -> LabelSelector | None:
    selector = optional_selector(scope.read(_read_selector, name))
    refusal = selector_refusal(selector) if selector and selector.requirements else None
    if refusal is not None:
        scope.add(name, refusal)
    return selector
