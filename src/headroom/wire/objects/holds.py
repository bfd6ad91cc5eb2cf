"""Holds from their JSON: never an exception for what a person wrote, always a Problem with a path.

Each field of the spec is read on its own (`findings`), so one bad object stops nobody and says all
that is wrong with it at once. Only an object that the API server itself could not have made (no
JSON, broken metadata) is a DecodeError.
"""

from __future__ import annotations

from datetime import timedelta

from msgspec import Raw

from headroom.core.holds import Hold, Terms
from headroom.core.objects import Taint
from headroom.wire.kinds import HOLDS
from headroom.wire.objects.findings import Findings
from headroom.wire.objects.metadata import labels_of, parent_of
from headroom.wire.objects.owners import owner_rules
from headroom.wire.objects.podjson import CustomObject, JsonObject, Metadata, TaintJson
from headroom.wire.objects.reader import ABSENT, Decoder, Reader, spelling
from headroom.wire.objects.statuses import HOLD_STATUS
from headroom.wire.objects.templates import template_of
from headroom.wire.times import bounded

DEFAULT_TTL = timedelta(hours=24)
NATIVE_TERMS = Terms(takes_several=True)
_POLICIES = ("", "Aligned", "Restricted")
_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")


class _HoldSpec(JsonObject):
    template: Raw = ABSENT
    owners: Raw = ABSENT
    ttl: Raw = ABSENT
    expires: Raw = ABSENT
    allocate_once: Raw = ABSENT
    allocate_policy: Raw = ABSENT
    pre_allocation: Raw = ABSENT
    unschedulable: Raw = ABSENT
    taints: Raw = ABSENT


_read_spec = Reader(_HoldSpec)
_read_duration: Reader[str | int] = Reader(str | int)  # type: ignore[arg-type]  # a union is no type
_read_taints = Reader(list[TaintJson])


def _hold(hold: CustomObject) -> Hold:
    metadata = hold.metadata or Metadata()
    findings, remarks = Findings(), Findings()
    namespace = metadata.namespace or ""
    spec = findings.read(_read_spec, hold.spec, "spec") or _HoldSpec()
    template = template_of(spec.template, namespace, findings)
    owners = owner_rules(spec.owners, findings, remarks)
    if not spelling(spec.owners):
        findings.add("spec.owners", "is missing: no pod could claim this; add at least one rule")
    return Hold(
        parent=parent_of(hold, HOLDS),
        template=template,
        owners=owners,
        created=bounded(metadata.creation_timestamp),
        ttl=_ttl(spec.ttl, findings),
        expires=findings.time(spec.expires, "spec.expires"),
        allocate_once=findings.flag(spec.allocate_once, "spec.allocateOnce") is not False,
        allocate_policy=allocate_policy_of(spec.allocate_policy, findings),
        pre_allocation=bool(findings.flag(spec.pre_allocation, "spec.preAllocation")),
        unschedulable=bool(findings.flag(spec.unschedulable, "spec.unschedulable")),
        taints=_taints(spec.taints, findings),
        deleted=bounded(metadata.deletion_timestamp),
        generation=metadata.generation or 1,
        version=metadata.resource_version or "",
        labels=labels_of(metadata),
        terms=NATIVE_TERMS,
        remarks=remarks.problems,
        status=HOLD_STATUS.read(spelling(hold.status)),
        problems=findings.problems,
    )


def _ttl(raw: Raw, findings: Findings) -> timedelta:
    ttl = findings.duration(raw, "spec.ttl", "must not be negative; 0 means for ever")
    return DEFAULT_TTL if ttl is None else ttl


def allocate_policy_of(raw: Raw, findings: Findings) -> str:
    """Read `spec.allocatePolicy` of a hold, or of a Reservation; empty is no policy."""
    policy = findings.text(raw, "spec.allocatePolicy") or ""
    if policy not in _POLICIES:
        findings.add("spec.allocatePolicy", f"{policy!r} is neither Aligned nor Restricted")
        return ""
    return policy


def _taints(raw: Raw, findings: Findings) -> tuple[Taint, ...]:
    taints = []
    for index, each in enumerate(findings.read(_read_taints, raw, "spec.taints") or ()):
        path = f"spec.taints[{index}]"
        if not each.key:
            findings.add(f"{path}.key", "is missing")
        if each.effect not in _EFFECTS:
            findings.add(f"{path}.effect", f"{each.effect!r} is not one of {', '.join(_EFFECTS)}")
        taints.append(Taint(each.key or "", each.value or "", each.effect or ""))
    return tuple(taints)


# What is wrong with the spec of a hold is in `problems`.
decode_hold = Decoder(HOLDS.kind, CustomObject, _hold)
hold_from = decode_hold.plain
