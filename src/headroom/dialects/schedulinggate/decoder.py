"""Decode our one Headroom with the meaning of the driver: owners of every namespace, its labels.

An administrator sets labels on this object that every guardian should have; labels that the driver,
we or the API server would refuse are left out. Every other Headroom is decoded as usual.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from msgspec import Raw

from headroom.core.headrooms.headrooms import Headroom
from headroom.core.names import GROUP
from headroom.core.selector_validation import label_key_refusal, label_value_refusal
from headroom.dialects.schedulinggate.names import DRIVER, GATE, USUAL, Names
from headroom.wire.kinds import HEADROOMS
from headroom.wire.objects.codec import TEXT_MAP, Codec

_RESERVED = (f"{DRIVER}/", f"{GROUP}/", "app.kubernetes.io/")


_LABELS = Codec[Mapping[str, str]](lambda labels: labels, labels=TEXT_MAP.named("metadata.labels"))
_read_labels = _LABELS.decoder(HEADROOMS.kind)


def with_driver_names(headroom: Headroom, data: bytes | Raw, names: Names = USUAL) -> Headroom:
    """The headroom, with the driver's names and labels if it follows the driver's gate."""
    rule, template = headroom.size.follows, headroom.slot.template
    at_home = headroom.parent.namespace == names.namespace
    if not at_home or rule is None or rule.gate != GATE:
        return headroom
    followed = replace(rule, everywhere=True, marks=names.marks)
    if template is None:
        return replace(headroom, size=followed)
    labels = wanted_labels(_read_labels(data))
    slot = replace(headroom.slot, template=replace(template, labels=labels))
    return replace(headroom, size=followed, slot=slot)


def wanted_labels(labels: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """The labels that guardians may have."""
    return tuple(
        (key, value)
        for key, value in sorted(labels.items())
        if not key.startswith(_RESERVED)
        and label_key_refusal(key) is None
        and label_value_refusal(value) is None
    )
