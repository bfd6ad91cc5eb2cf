"""Headrooms from their JSON: never an exception for what a person wrote, always a Problem.

The fields are declared in `wire.schema.headrooms`: what they become is said here, in `sizes` and in
`slots`. Whether a cron expression ever fires is asked later, of somebody with a calendar
(`core.windows.judged`).
"""

from __future__ import annotations

from dataclasses import replace

from headroom.core.amounts import format_amount
from headroom.core.headrooms.headrooms import PREEMPT, Headroom, Limits, Window
from headroom.core.holds import LOCKED
from headroom.core.sizes.replicas import NOTHING
from headroom.wire.kinds import HEADROOMS
from headroom.wire.objects import sizes, slots
from headroom.wire.objects.findings import Findings
from headroom.wire.objects.metadata import life_of, parent_of
from headroom.wire.objects.owners import owner_rules
from headroom.wire.objects.podjson import CustomObject, Metadata
from headroom.wire.objects.reader import Decoder, spelling
from headroom.wire.objects.statuses import HEADROOM_STATUS
from headroom.wire.objects.values import Makers, SpecReader
from headroom.wire.schema.own import known

_MAKERS: Makers = {
    "HeadroomLimits": Limits,
    "HeadroomWindow": Window,
    **sizes.MAKERS,
    **slots.MAKERS,
}
_read_spec = SpecReader("HeadroomSpec", known, _MAKERS, apart=("owners",))


def _headroom(headroom: CustomObject) -> Headroom:
    metadata = headroom.metadata or Metadata()
    findings, remarks = Findings(), Findings()
    spec = findings.fields(headroom.spec, "spec")
    given = {"size": NOTHING, "slot": slots.WrittenSlot(), **_read_spec(spec)}
    may_ask_nothing = given["size"].in_parts
    slot = slots.slot_of(given.pop("slot"), metadata.namespace or "", findings, may_ask_nothing)
    read = Headroom(
        parent=parent_of(headroom, HEADROOMS),
        slot=slot,
        owners=owner_rules(spec.raw("owners"), findings, remarks),
        owners_given=spec.has("owners"),
        **life_of(metadata),
        status=HEADROOM_STATUS.read(spelling(headroom.status)),
        **given,
    )
    if not findings.problems:
        _check_together(read, findings)
    return replace(read, problems=findings.problems, remarks=remarks.problems)


def _check_together(headroom: Headroom, findings: Findings) -> None:
    """Take down what is wrong only between the parts, and what no API server can judge."""
    if headroom.reclaim == PREEMPT and not (headroom.size.by_node and headroom.mode == LOCKED):
        findings.add("spec.reclaim", "Preempt goes with size.perNode and mode Locked only")
    template = headroom.slot.template
    if template is None or headroom.size.in_parts:
        return
    requests = template.pod.requests
    for name, most in headroom.limits.resources:
        if most < requests[name]:
            told = f"{format_amount(name, most)} is smaller than one slot, which asks for"
            findings.add(
                f"spec.limits.resources.{name}", f"{told} {format_amount(name, requests[name])}"
            )


# What is wrong with the spec of a headroom is in `problems`.
decode_headroom = Decoder(HEADROOMS.kind, CustomObject, _headroom)
headroom_from = decode_headroom.plain
