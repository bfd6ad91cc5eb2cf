"""Holds from their JSON: never an exception for what a person wrote, always a Problem with a path.

The fields are declared in `wire.schema.own`; `templates` and `owners` read the two that a schema
cannot judge. One bad object stops nobody and says all that is wrong with it at once. Only an object
that the API server itself could not have made (no JSON, broken metadata) is a DecodeError.
"""

from __future__ import annotations

from headroom.core.holds import Hold, Terms
from headroom.core.objects import Taint
from headroom.wire.kinds import HOLDS
from headroom.wire.objects.findings import Findings
from headroom.wire.objects.metadata import labels_of, life_of, parent_of
from headroom.wire.objects.owners import owner_rules
from headroom.wire.objects.podjson import CustomObject, Metadata
from headroom.wire.objects.reader import Decoder, spelling
from headroom.wire.objects.statuses import HOLD_STATUS
from headroom.wire.objects.templates import template_of
from headroom.wire.objects.values import SpecReader
from headroom.wire.schema.own import known

NATIVE_TERMS = Terms(takes_several=True)


def taint(key: str, effect: str, value: str = "", **_: object) -> Taint:
    """A taint of a hold; its other fields are not used."""
    return Taint(key, value, effect)


_read_spec = SpecReader("HoldSpec", known, {"HoldTaint": taint}, apart=("template", "owners"))


def _hold(hold: CustomObject) -> Hold:
    metadata = hold.metadata or Metadata()
    findings, remarks = Findings(), Findings()
    spec = findings.fields(hold.spec, "spec")
    template = template_of(spec.raw("template"), metadata.namespace or "", findings)
    owners = owner_rules(spec.raw("owners"), findings, remarks)
    if not spec.has("owners"):
        spec.add("owners", "is missing: no pod could claim this; add at least one rule")
    given = {name: value for name, value in _read_spec(spec).items() if name != "expected_pods"}
    return Hold(
        parent=parent_of(hold, HOLDS),
        template=template,
        owners=owners,
        **life_of(metadata),
        labels=labels_of(metadata),
        terms=NATIVE_TERMS,
        remarks=remarks.problems,
        status=HOLD_STATUS.read(spelling(hold.status)),
        problems=findings.problems,
        **given,
    )


# What is wrong with the spec of a hold is in `problems`.
decode_hold = Decoder(HOLDS.kind, CustomObject, _hold)
hold_from = decode_hold.plain
