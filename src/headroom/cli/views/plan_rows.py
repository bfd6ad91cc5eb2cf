"""A plan for people and programs: one sentence for each object, nodes, slots without room."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from headroom.cli.amounts import cells, headings, in_play
from headroom.cli.output import columns, first_rows
from headroom.cli.views.plan_result import Planned, SlotPlace
from headroom.core.names import API_VERSION
from headroom.core.resources import EMPTY, Resources

NODE_HEADINGS = ("OBJECT", "NODE", "SLOTS", "NEW")
MOST_ROWS = 50


def plan_prose(found: Sequence[Planned]) -> str:
    """The whole plan for people."""
    parts = ["\n".join(line for each in found for line in _told(each))]
    resources = in_play(_requests(place) for each in found for place in each.places)
    rows = [row for each in found for row in _node_rows(each, resources)]
    if rows:
        parts.append(first_rows((*NODE_HEADINGS, *headings(resources)), rows, MOST_ROWS))
    short = [row for each in found for row in _unplaced_rows(each)]
    if short:
        parts.append(columns(("OBJECT", "SLOTS", "FINDS NO ROOM BECAUSE"), short))
    return "\n\n".join(parts)


def _told(each: Planned) -> list[str]:
    if each.refused:
        return [f"{each.subject} would promise nothing: {each.refused}."]
    stands = sum(1 for place in each.places if place.stands)
    counts = (
        (stands, "are held already"),
        (len(each.places) - stands - len(each.unplaced), "would be held"),
        (len(each.unplaced), "would find no room"),
        (len(each.leaving), "would be given back"),
    )
    told = ", ".join(f"{count} {words}" for count, words in counts if count)
    wished = f"{each.subject}: {len(each.places)} slots wanted"
    return [f"{wished}; {told}." if told else f"{wished}.", *(f"  {note}" for note in each.notes)]


def _node_rows(each: Planned, resources: Sequence[str]) -> list[tuple[str, ...]]:
    on: dict[str, list[SlotPlace]] = {}
    for place in each.places:
        if place.node:
            on.setdefault(place.node, []).append(place)
    return [
        (
            each.subject,
            node,
            str(len(here)),
            str(sum(1 for place in here if not place.stands)),
            *cells(sum(map(_requests, here), EMPTY), resources),
        )
        for node, here in sorted(on.items())
    ]


def _requests(place: SlotPlace) -> Resources:
    return place.hold.template.pod.requests


def _unplaced_rows(each: Planned) -> list[tuple[str, ...]]:
    """Slots without room, one line for each reason."""
    reasons: dict[str, list[str]] = {}
    for place in each.unplaced:
        reasons.setdefault(place.why, []).append(place.slot)
    return [(each.subject, _names(slots), why) for why, slots in reasons.items()]


def _names(slots: Sequence[str]) -> str:
    named = ", ".join(slot for slot in slots[:3] if slot)
    return f"{named} and {len(slots) - 3} more" if len(slots) > 3 else named


def plan_document(found: Sequence[Planned]) -> dict[str, Any]:
    """The whole plan for programs."""
    return {
        "apiVersion": API_VERSION,
        "kind": "Plan",
        "fits": all(each.fits for each in found),
        "items": [
            {
                "subject": each.subject,
                "fits": each.fits,
                "refused": each.refused,
                "notes": list(each.notes),
                "leaving": list(each.leaving),
                "slots": [
                    {
                        "slot": place.slot,
                        "node": place.node,
                        "stands": place.stands,
                        "why": place.why,
                        "requests": dict(sorted(_requests(place).items())),
                    }
                    for place in each.places
                ],
            }
            for each in found
        ],
    }
