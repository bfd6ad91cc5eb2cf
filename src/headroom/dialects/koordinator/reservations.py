"""Decode Reservations as holds.

An object that cannot be decoded reports this in its own status and affects no other: each field is
decoded separately. Errors that Koordinator ignores silently are reported: as a problem if the room
cannot be held, otherwise as a remark on a hold that is kept. `hold_options` decodes labels and
annotations.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from headroom.core.amounts import format_span
from headroom.core.hold_state.allocate_policy_groups import on_its_side
from headroom.core.holds import Hold, PodTemplate
from headroom.core.objects import Parent, Taint
from headroom.dialects.koordinator.hold_options import resized, terms_of
from headroom.dialects.koordinator.names import GUARDIAN_NAMESPACE, RESERVATIONS
from headroom.dialects.koordinator.statuses import status_of
from headroom.dialects.koordinator.templates import read_template
from headroom.wire.durations import parse_duration
from headroom.wire.objects.findings import Fields, Findings
from headroom.wire.objects.holds import allocate_policy_of
from headroom.wire.objects.metadata import labels_of
from headroom.wire.objects.owners import owner_rules
from headroom.wire.objects.podjson import CustomObject, JsonObject, Metadata, TaintJson
from headroom.wire.objects.reader import Decoder, Reader, spelling
from headroom.wire.times import bounded, format_time

DEFAULT_TTL = timedelta(hours=24)
RESTRICTED = "Restricted"
CLUSTER = "Cluster"
HARD = "DoNotSchedule"
_OBEYED_EFFECTS = ("NoSchedule", "NoExecute")


class _PreAllocation(JsonObject):
    mode: str | None = None
    enable_multiple: bool | None = None


_read_pre_allocation = Reader(_PreAllocation)
_read_taints = Reader(list[TaintJson])


def _hold(thing: CustomObject) -> Hold:
    metadata = thing.metadata or Metadata()
    findings, remarks = Findings(), Findings()
    spec = findings.fields(thing.spec, "spec")
    template = read_template(spec.raw("template"), metadata.labels, findings, remarks)
    owners = owner_rules(spec.raw("owners"), findings, remarks)
    if not spec.has("owners"):
        spec.add("owners", "is missing: no pod could use this; add at least one owner")
    once = spec.flag("allocateOnce") is not False
    created, generation = bounded(metadata.creation_timestamp), metadata.generation or 1
    ttl, expires = _ttl(spec), spec.time("expires")
    _remark_on_end(ttl, expires, created, remarks)
    policy = allocate_policy_of(spec)
    succeeds = _pre_allocation(spec, policy)
    several, marked = _candidates(spec, succeeds)
    hold = Hold(
        parent=Parent(
            RESERVATIONS.api_version,
            RESERVATIONS.kind,
            namespace="",
            name=metadata.name or "",
            uid=metadata.uid or "",
        ),
        template=resized(template, metadata, findings),
        owners=owners,
        created=created,
        ttl=ttl,
        expires=expires,
        allocate_once=once,
        allocate_policy=policy,
        pre_allocation=succeeds,
        unschedulable=bool(spec.flag("unschedulable")),
        taints=_taints(spec, remarks),
        lodging=_guardian_namespace(template),
        deleted=bounded(metadata.deletion_timestamp),
        generation=generation,
        version=metadata.resource_version or "",
        labels=labels_of(metadata),
        terms=replace(
            terms_of(metadata, findings, remarks),
            takes_several=several,
            takes_marked=marked,
            binds_all=False,
            tells_all=True,
            ends_with_node=True,
        ),
        status=status_of(spelling(thing.status), created, generation),
        problems=findings.problems,
        remarks=remarks.problems,
    )
    return on_its_side(hold)


def _guardian_namespace(template: PodTemplate) -> str:
    """The namespace of the guardian: a separate one, because a Reservation uses no quota.

    A required spread constraint counts only pods of the guardian's own namespace, so such a
    guardian lives in the namespace of the template.
    """
    rules = template.pod.placement.spread
    return "" if any(each.when_unsatisfiable == HARD for each in rules) else GUARDIAN_NAMESPACE


def _ttl(spec: Fields) -> timedelta:
    """The ttl; a negative one means that the reservation has ended at its creation."""
    ttl = spec.findings.parse(parse_duration, spec.text("ttl"), spec.at("ttl"))
    return DEFAULT_TTL if ttl is None else ttl


def _remark_on_end(
    ttl: timedelta, expires: datetime | None, created: datetime | None, remarks: Findings
) -> None:
    if expires is None:
        return
    if not ttl:
        remarks.add("spec.expires", "has no effect beside ttl 0, which means never")
    elif created is not None and created + ttl < expires:
        ends = format_time(created + ttl)
        remarks.add("spec.expires", f"is after the end of ttl {format_span(ttl)}: ends {ends}")


def _pre_allocation(spec: Fields, policy: str) -> bool:
    if not spec.flag("preAllocation"):
        return False
    if policy != RESTRICTED:
        spec.add("preAllocation", "is supported with allocatePolicy Restricted only")
    return True


def _candidates(spec: Fields, succeeds: bool) -> tuple[bool, bool]:
    """Whether it may replace several pods, and whether it may replace marked pods."""
    policy = spec.read(_read_pre_allocation, "preAllocationPolicy")
    if policy is None:
        return False, False
    if policy.mode not in (None, "", "Default", CLUSTER):
        message = f"{policy.mode!r} is neither Default nor {CLUSTER}"
        spec.add("preAllocationPolicy.mode", message)
    return bool(policy.enable_multiple), succeeds and policy.mode == CLUSTER


def _taints(spec: Fields, remarks: Findings) -> tuple[Taint, ...]:
    taints = []
    for index, each in enumerate(spec.read(_read_taints, "taints") or ()):
        path = f"spec.taints[{index}]"
        if each.effect not in _OBEYED_EFFECTS:
            obeyed = " and ".join(_OBEYED_EFFECTS)
            remarks.add(f"{path}.effect", f"{each.effect!r} has no effect; use {obeyed} do")
        taints.append(Taint(each.key or "", each.value or "", each.effect or ""))
    return tuple(taints)


# Errors in the spec of a Reservation are in `problems`.
decode_reservation = Decoder(RESERVATIONS.kind, CustomObject, _hold)
