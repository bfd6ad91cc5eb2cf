"""Decode Reservations as holds.

An object that cannot be decoded reports this in its own status and affects no other: each field is
decoded separately. Errors that Koordinator ignores silently are reported: as a problem if the room
cannot be held, otherwise as a remark on a hold that is kept. `hold_options` decodes labels and
annotations.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from functools import cache
from typing import NamedTuple

from headroom.core.amounts import format_span
from headroom.core.hold_state.allocate_policy_groups import with_policy_group
from headroom.core.holds import Hold, PodTemplate
from headroom.core.objects import Taint
from headroom.dialects.koordinator.hold_options import resized, terms_of
from headroom.dialects.koordinator.names import GUARDIAN_NAMESPACE, RESERVATIONS
from headroom.dialects.koordinator.schema import with_reservations
from headroom.dialects.koordinator.statuses import status_of
from headroom.dialects.koordinator.templates import read_template
from headroom.wire.durations import parse_duration
from headroom.wire.objects.findings import Findings
from headroom.wire.objects.holds import taint
from headroom.wire.objects.metadata import labels_of, life_of, parent_of
from headroom.wire.objects.owners import owner_rules
from headroom.wire.objects.podjson import CustomObject, Metadata
from headroom.wire.objects.reader import Decoder, spelling
from headroom.wire.objects.values import SpecReader
from headroom.wire.schema.notation import kubernetes
from headroom.wire.times import format_time

DEFAULT_TTL = timedelta(hours=24)
RESTRICTED = "Restricted"
CLUSTER = "Cluster"
HARD = "DoNotSchedule"
_OBEYED_EFFECTS = ("NoSchedule", "NoExecute")


class _PreAllocation(NamedTuple):
    mode: str = ""
    enable_multiple: bool = False


_read_spec = SpecReader(
    "ReservationSpec",
    cache(lambda: with_reservations(kubernetes())),
    {"ReservationPreAllocation": _PreAllocation, "ReservationTaint": taint},
    apart=("template", "owners"),
)


def _hold(thing: CustomObject) -> Hold:
    metadata = thing.metadata or Metadata()
    findings, remarks = Findings(), Findings()
    spec = findings.fields(thing.spec, "spec")
    template = read_template(spec.raw("template"), metadata.labels, findings, remarks)
    owners = owner_rules(spec.raw("owners"), findings, remarks)
    if not spec.has("owners"):
        spec.add("owners", "is missing: no pod could use this; add at least one owner")
    given = dict(_read_spec(spec))
    life = life_of(metadata)
    # A negative ttl means that the reservation has ended at its creation.
    ttl = findings.parse(parse_duration, given.pop("ttl", None), spec.at("ttl"))
    ttl = DEFAULT_TTL if ttl is None else ttl
    _remark_on_end(ttl, given.get("expires"), life["created"], remarks)
    _remark_on_taints(given.get("taints", ()), remarks)
    candidates = given.pop("pre_allocation_policy", _PreAllocation())
    succeeds = given.get("pre_allocation", False)
    if succeeds and given.get("allocate_policy") != RESTRICTED:
        spec.add("preAllocation", "is supported with allocatePolicy Restricted only")
    hold = Hold(
        parent=replace(parent_of(thing, RESERVATIONS), namespace=""),
        template=resized(template, metadata, findings),
        owners=owners,
        ttl=ttl,
        lodging=_guardian_namespace(template),
        labels=labels_of(metadata),
        terms=replace(
            terms_of(metadata, findings, remarks),
            takes_several=candidates.enable_multiple,
            takes_marked=succeeds and candidates.mode == CLUSTER,
            binds_all=False,
            tells_all=True,
            ends_with_node=True,
        ),
        status=status_of(spelling(thing.status), life["created"], life["generation"]),
        problems=findings.problems,
        remarks=remarks.problems,
        **life,
        **given,
    )
    return with_policy_group(hold)


def _guardian_namespace(template: PodTemplate) -> str:
    """The namespace of the guardian: a separate one, because a Reservation uses no quota.

    A required spread constraint counts only pods of the guardian's own namespace, so such a
    guardian lives in the namespace of the template.
    """
    rules = template.pod.placement.spread
    return "" if any(each.when_unsatisfiable == HARD for each in rules) else GUARDIAN_NAMESPACE


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


def _remark_on_taints(taints: tuple[Taint, ...], remarks: Findings) -> None:
    for index, each in enumerate(taints):
        if each.effect not in _OBEYED_EFFECTS:
            told = f"{each.effect!r} has no effect; use {' or '.join(_OBEYED_EFFECTS)}"
            remarks.add(f"spec.taints[{index}].effect", told)


# Errors in the spec of a Reservation are in `problems`.
decode_reservation = Decoder(RESERVATIONS.kind, CustomObject, _hold)
