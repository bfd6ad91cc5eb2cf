"""Holds from their JSON: never an exception for what a person wrote, always a Problem with a path.

Each field of the spec is read on its own (`findings`), so one bad object stops nobody and says all
that is wrong with it at once. Only an object that the API server itself could not have made (no
JSON, broken metadata) is a DecodeError.
"""

from __future__ import annotations

from datetime import timedelta

from headroom.core.holds import Hold, Terms
from headroom.core.objects import Taint
from headroom.wire.kinds import HOLDS
from headroom.wire.objects.findings import Fields, Findings
from headroom.wire.objects.metadata import labels_of, parent_of
from headroom.wire.objects.owners import owner_rules
from headroom.wire.objects.podjson import CustomObject, Metadata, TaintJson
from headroom.wire.objects.reader import Decoder, Reader, spelling
from headroom.wire.objects.statuses import HOLD_STATUS
from headroom.wire.objects.templates import template_of
from headroom.wire.times import bounded

DEFAULT_TTL = timedelta(hours=24)
NATIVE_TERMS = Terms(takes_several=True)
_POLICIES = ("", "Aligned", "Restricted")
_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_read_taints = Reader(list[TaintJson])


def _hold(hold: CustomObject) -> Hold:
    metadata = hold.metadata or Metadata()
    findings, remarks = Findings(), Findings()
    namespace = metadata.namespace or ""
    spec = findings.fields(hold.spec, "spec")
    template = template_of(spec.raw("template"), namespace, findings)
    owners = owner_rules(spec.raw("owners"), findings, remarks)
    if not spec.has("owners"):
        spec.add("owners", "is missing: no pod could claim this; add at least one rule")
    return Hold(
        parent=parent_of(hold, HOLDS),
        template=template,
        owners=owners,
        created=bounded(metadata.creation_timestamp),
        ttl=_ttl(spec),
        expires=spec.time("expires"),
        allocate_once=spec.flag("allocateOnce") is not False,
        allocate_policy=allocate_policy_of(spec),
        pre_allocation=bool(spec.flag("preAllocation")),
        unschedulable=bool(spec.flag("unschedulable")),
        taints=_taints(spec),
        deleted=bounded(metadata.deletion_timestamp),
        generation=metadata.generation or 1,
        version=metadata.resource_version or "",
        labels=labels_of(metadata),
        terms=NATIVE_TERMS,
        remarks=remarks.problems,
        status=HOLD_STATUS.read(spelling(hold.status)),
        problems=findings.problems,
    )


def _ttl(spec: Fields) -> timedelta:
    ttl = spec.duration("ttl", "must not be negative; 0 means for ever")
    return DEFAULT_TTL if ttl is None else ttl


def allocate_policy_of(spec: Fields) -> str:
    """Read `spec.allocatePolicy` of a hold, or of a Reservation; empty is no policy."""
    policy = spec.text("allocatePolicy") or ""
    if policy not in _POLICIES:
        spec.add("allocatePolicy", f"{policy!r} is neither Aligned nor Restricted")
        return ""
    return policy


def _taints(spec: Fields) -> tuple[Taint, ...]:
    taints = []
    for index, each in enumerate(spec.read(_read_taints, "taints") or ()):
        place = f"taints[{index}]"
        if not each.key:
            spec.add(f"{place}.key", "is missing")
        if each.effect not in _EFFECTS:
            spec.add(f"{place}.effect", f"{each.effect!r} is not one of {', '.join(_EFFECTS)}")
        taints.append(Taint(each.key or "", each.value or "", each.effect or ""))
    return tuple(taints)


# What is wrong with the spec of a hold is in `problems`.
decode_hold = Decoder(HOLDS.kind, CustomObject, _hold)
hold_from = decode_hold.plain
