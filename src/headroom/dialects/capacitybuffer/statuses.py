"""The status of a buffer: encode and decode; a written status decodes to the same value."""

from __future__ import annotations

from dataclasses import replace

from headroom.core.actions import Action, WriteHeadroomStatus
from headroom.core.headrooms.headrooms import HeadroomStatus
from headroom.dialects.capacitybuffer.names import BUFFERS
from headroom.dialects.capacitybuffer.rules.size import ACTIVE
from headroom.wire.kinds import Json
from headroom.wire.objectpatches import whole_status
from headroom.wire.objects.codec import NUMBER, TEXT, Codec
from headroom.wire.objects.statuses import CONDITIONS
from headroom.wire.writes import Write

_STATUS = Codec(
    HeadroomStatus,
    desired=NUMBER.named("replicas").always,
    conditions=CONDITIONS.always,
    template=TEXT.named("podTemplateRef.name"),
    template_generation=NUMBER.named("podTemplateGeneration"),
)


def render(action: Action) -> Write | None:
    """The request that writes the status of a buffer; None for any other action."""
    if not isinstance(action, WriteHeadroomStatus) or action.parent.kind != BUFFERS.kind:
        return None
    return whole_status(BUFFERS, action.parent, status_json(action.status))


def status_json(status: HeadroomStatus) -> Json:
    """Encode a status; the template is left out if there is none."""
    told = status if status.template else replace(status, template_generation=0)
    return {**_STATUS.write(told), "provisioningStrategy": ACTIVE}


def status_of(text: bytes) -> HeadroomStatus:
    """Decode a status; missing or invalid parts are empty."""
    status = _STATUS.read(text)
    generation = max((each.generation for each in status.conditions), default=0)
    return replace(status, observed_generation=generation)
