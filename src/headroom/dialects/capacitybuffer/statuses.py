"""A buffer's status, both ways: what is written reads back as it was meant."""

from __future__ import annotations

from dataclasses import replace

from headroom.core.actions import Action, WriteHeadroomStatus
from headroom.core.headrooms.headrooms import HeadroomStatus
from headroom.core.sizes.buffer import ACTIVE
from headroom.dialects.capacitybuffer.names import BUFFERS
from headroom.wire.objectpatches import whole_status
from headroom.wire.objects.codec import NUMBER, Codec, Json, Part
from headroom.wire.objects.podjson import JsonObject
from headroom.wire.objects.statuses import CONDITIONS
from headroom.wire.writes import Write


class _TemplateRef(JsonObject):
    name: str | None = None


_TEMPLATE = Part(_TemplateRef, "", lambda ref: ref.name or "", lambda name: {"name": name})
_STATUS = Codec(
    HeadroomStatus,
    desired=NUMBER.named("replicas").always,
    conditions=CONDITIONS.always,
    template=_TEMPLATE.named("podTemplateRef"),
    template_generation=NUMBER.named("podTemplateGeneration"),
)


def render(action: Action) -> Write | None:
    """Turn the status of a buffer into its request; None for any other action."""
    if not isinstance(action, WriteHeadroomStatus) or action.parent.kind != BUFFERS.kind:
        return None
    return whole_status(BUFFERS, action.parent, status_json(action.status))


def status_json(status: HeadroomStatus) -> Json:
    """Spell a status; which template it speaks of is left out where it speaks of none."""
    told = status if status.template else replace(status, template_generation=0)
    return {**_STATUS.write(told), "provisioningStrategy": ACTIVE}


def status_of(text: bytes) -> HeadroomStatus:
    """Read a status; empty for what is absent or makes no sense."""
    status = _STATUS.read(text)
    generation = max((each.generation for each in status.conditions), default=0)
    return replace(status, observed_generation=generation)
