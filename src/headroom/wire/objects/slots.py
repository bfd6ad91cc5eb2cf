"""The shape of a Headroom's slots from its JSON: a template of its own, or a workload to copy.

A slot's template has the scheduling fields of a pod and no containers, because nobody needs to make
any up. It is written out as a pod template here, read as any other (`templates`), and what is wrong
with it is told with the path that its author knows.
"""

from __future__ import annotations

import msgspec
from msgspec import Raw

from headroom.core.headrooms.headrooms import NODE_CHUNK, POD_CHUNK, Slot, WorkloadRef
from headroom.core.holds import PodTemplate
from headroom.wire.objects.findings import Findings
from headroom.wire.objects.growth.autoshapes import auto_of
from headroom.wire.objects.podjson import JsonObject
from headroom.wire.objects.reader import ABSENT, Reader, spelling
from headroom.wire.objects.templates import template_of

API_VERSIONS = {
    "DaemonSet": "apps/v1",
    "Deployment": "apps/v1",
    "Job": "batch/v1",
    "ReplicaSet": "apps/v1",
    "StatefulSet": "apps/v1",
}
_TEMPLATE = "spec.slot.template"
_ASKS_NOTHING = "spec.template.spec.containers"
# Where a problem of the written-out template is in the one that was given; the first that fits.
_PLACES = (
    ("spec.template.spec.containers[0].resources", f"{_TEMPLATE}.resources"),
    (_ASKS_NOTHING, f"{_TEMPLATE}.resources"),
    ("spec.template.spec", _TEMPLATE),
)


class _Slot(JsonObject):
    template: Raw = ABSENT
    chunk: Raw = ABSENT
    source: Raw = msgspec.field(default=ABSENT, name="from")
    auto: Raw = ABSENT


class _SlotTemplate(JsonObject):
    resources: Raw = ABSENT
    node_selector: Raw = ABSENT
    tolerations: Raw = ABSENT
    affinity: Raw = ABSENT
    topology_spread_constraints: Raw = ABSENT
    scheduler_name: Raw = ABSENT


class _Source(JsonObject):
    api_version: str | None = None
    kind: str | None = None
    name: str | None = None


_read_slot = Reader(_Slot)
_read_template = Reader(_SlotTemplate)
_read_source = Reader(_Source)


def slot_of(raw: Raw, namespace: str, findings: Findings, may_ask_nothing: bool) -> Slot:
    """Read `spec.slot`, taking down what is wrong.

    Where the size says how much to keep, a template may ask for nothing.
    """
    slot = findings.read(_read_slot, raw, "spec.slot")
    if slot is None:
        if not spelling(raw):
            findings.add("spec.slot", "is missing: it defines the room to hold")
        return Slot()
    parts = {"template": slot.template, "from": slot.source, "auto": slot.auto}
    given = [name for name, part in parts.items() if spelling(part)]
    if len(given) != 1:
        told = f"has {' and '.join(given)}" if given else "is empty"
        findings.add("spec.slot", f"{told}; exactly one of {', '.join(parts)} is needed")
        return Slot()
    chunk = findings.word(slot.chunk, "spec.slot.chunk", (POD_CHUNK, NODE_CHUNK))
    if given == ["auto"]:
        return Slot(auto=auto_of(slot.auto, findings), chunk=chunk)
    if given == ["from"]:
        return Slot(source=_source(slot.source, findings), chunk=chunk)
    template = _template(slot.template, namespace, findings, may_ask_nothing)
    return Slot(template=template, chunk=chunk)


def _template(
    raw: Raw, namespace: str, findings: Findings, may_ask_nothing: bool
) -> PodTemplate | None:
    given = findings.read(_read_template, raw, _TEMPLATE)
    if given is None:
        return None
    parts = {
        "nodeSelector": given.node_selector,
        "tolerations": given.tolerations,
        "affinity": given.affinity,
        "topologySpreadConstraints": given.topology_spread_constraints,
        "schedulerName": given.scheduler_name,
    }
    container = {"name": "slot", **_present({"resources": given.resources})}
    written = msgspec.json.encode({"spec": {"containers": [container], **_present(parts)}})
    found = Findings()
    template = template_of(Raw(written), namespace, found)
    for problem in found.problems:
        if not (may_ask_nothing and problem.path == _ASKS_NOTHING):
            findings.add(_place(problem.path), problem.message)
    return template


def _present(parts: dict[str, Raw]) -> dict[str, Raw]:
    return {name: raw for name, raw in parts.items() if spelling(raw)}


def _place(path: str) -> str:
    for written, given in _PLACES:
        if path.startswith(written):
            return given + path.removeprefix(written)
    return _TEMPLATE


def _source(raw: Raw, findings: Findings) -> WorkloadRef | None:
    path = "spec.slot.from"
    source = findings.read(_read_source, raw, path)
    if source is None:
        return None
    kind, version = source.kind or "", source.api_version or ""
    if not source.name:
        findings.add(f"{path}.name", "is missing")
    if kind not in API_VERSIONS:
        findings.add(f"{path}.kind", f"{kind!r} is not one of {', '.join(sorted(API_VERSIONS))}")
    elif version != API_VERSIONS[kind]:
        findings.add(f"{path}.apiVersion", f"a {kind} is of {API_VERSIONS[kind]}, not {version!r}")
    return WorkloadRef(version, kind, source.name or "")
