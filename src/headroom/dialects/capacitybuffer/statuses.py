"""The status of a buffer: encode and decode; a written status decodes to the same value."""

from __future__ import annotations

from dataclasses import replace

from headroom.core.headrooms.headrooms import HeadroomStatus
from headroom.dialects.capacitybuffer.rules.size import ACTIVE
from headroom.wire.kinds import Json
from headroom.wire.objects.codec import NUMBER, TEXT, Codec
from headroom.wire.objects.statuses import CONDITIONS

_STATUS = Codec(
    HeadroomStatus,
    desired=NUMBER.named("replicas").always,
    conditions=CONDITIONS.always,
    template=TEXT.named("podTemplateRef.name"),
    template_generation=NUMBER.named("podTemplateGeneration"),
)


def status_json(status: HeadroomStatus) -> Json:
    """Encode a status; the template is left out if there is none."""
    told = status if status.template else replace(status, template_generation=0)
    return {**_STATUS.write(told), "provisioningStrategy": ACTIVE}


def status_of(text: bytes) -> HeadroomStatus:
    """Decode a status; missing or invalid parts are empty."""
    status = _STATUS.read(text)
    generation = max((each.generation for each in status.conditions), default=0)
    return replace(status, observed_generation=generation)
