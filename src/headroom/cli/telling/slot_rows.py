"""Slots of headrooms as rows of a table and as a document; there is no object for a slot."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from headroom.cli.amounts import cells, headings, in_play
from headroom.cli.telling.listing import span
from headroom.cli.telling.slots import SlotView
from headroom.core.names import API_VERSION
from headroom.core.resources import EMPTY, Resources


def slot_table(found: Sequence[SlotView], now: datetime) -> tuple[tuple[str, ...], list[list[str]]]:
    """The headings and the lines of the table."""
    resources = in_play(_requests(view) for view in found)
    before, after = ("NAMESPACE", "HEADROOM", "SLOT", "STATE", "NODE"), ("AGE", "WHY")
    lines = [_row(view, resources, now) for view in found]
    return (*before, *headings(resources), *after), lines


def _row(view: SlotView, resources: Sequence[str], now: datetime) -> list[str]:
    """One line of the table; the age is its guardian's."""
    key, guardian = view.headroom.key, view.guardian
    created = guardian.created if guardian is not None else None
    return [
        key.namespace,
        key.name,
        view.name,
        view.state.value,
        view.node,
        *cells(_requests(view), resources),
        span(now - created) if created is not None else "",
        view.why,
    ]


def slot_document(found: Sequence[SlotView]) -> dict[str, Any]:
    """The same as a document; CPU in thousandths, everything else in its own unit."""
    return {
        "apiVersion": API_VERSION,
        "kind": "SlotList",
        "items": [
            {
                "namespace": view.headroom.key.namespace,
                "headroom": view.headroom.key.name,
                "slot": view.name,
                "state": view.state.value,
                "node": view.node,
                "guardian": view.guardian.key.name if view.guardian is not None else "",
                "requests": dict(sorted(_requests(view).items())),
                "why": view.why,
            }
            for view in found
        ],
    }


def _requests(view: SlotView) -> Resources:
    if view.guardian is not None:
        return view.guardian.requests
    return view.hold.template.pod.requests if view.hold is not None else EMPTY
