"""Apply `spec.limits` and the operator's own limit to the wanted slots, with a note that says so.

The operator's limit protects all tenants: a count is cut to it before slots are created.

Slots of one shape are counted by arithmetic, without creating them: there may be a hundred
thousand.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from headroom.core.headrooms.headrooms import NO_LIMITS, Limits
from headroom.core.headrooms.slot_batch import BatchLimits, guarded_first
from headroom.core.holds import PodTemplate

MOST_SLOTS = 100_000
Shaped = tuple[PodTemplate, str]  # a slot that is to be: its shape and its name


@dataclass(frozen=True, slots=True)
class Note:
    """Why fewer slots are wanted than expected: a word for a condition, and a sentence."""

    reason: str
    message: str


def allowed(template: PodTemplate, limits: Limits, asked: int) -> tuple[int, str]:
    """How many slots of one shape the limits allow, and the limit that is met first, if any."""
    requests = template.pod.requests
    bounds = [
        (most // requests[name], f"resources.{name}")
        for name, most in limits.resources
        if requests[name] > 0
    ]
    bounds += [
        (most, name)
        for name, most in (("slots", limits.slots), ("pods", limits.pods))
        if most is not None
    ]
    count, name = min(bounds, key=lambda bound: bound[0], default=(asked, ""))
    return (count, name) if count < asked else (asked, "")


def reached(
    slots: Sequence[Shaped], limits: Limits, standing: frozenset[str], batch: BatchLimits
) -> tuple[list[int], tuple[Note, ...], int]:
    """The places of those slots that the limits and the batch leave; why; how many come later."""
    count, notes = _limited([template for template, _ in slots], limits)
    chosen, later = guarded_first([name for _, name in slots[:count]], standing, batch)
    return chosen, notes, later


def _limited(slots: Sequence[PodTemplate], limits: Limits) -> tuple[int, tuple[Note, ...]]:
    """How many of the first slots there are up to the limit that is met first, and which it is."""
    if limits == NO_LIMITS:
        return len(slots), ()
    used: dict[str, int] = {}
    nodes: set[str] = set()
    for count, template in enumerate(slots):
        if template.node:
            nodes.add(template.node)
        for name, most in limits.resources:
            used[name] = used.get(name, 0) + template.pod.requests[name]
            if used[name] > most:
                return count, (limit_note(f"resources.{name}", count, len(slots)),)
        for name, most_of, reached in (
            ("slots", limits.slots, count + 1),
            ("pods", limits.pods, count + 1),
            ("nodes", limits.nodes, len(nodes)),
        ):
            if most_of is not None and reached > most_of:
                return count, (limit_note(name, count, len(slots)),)
    return len(slots), ()


def limit_note(limit: str, count: int, asked: int) -> Note:
    """Say which limit allows how many slots."""
    return Note("LimitReached", f"spec.limits.{limit} allows {count} of {asked} slots")


def cut_to(most: int, asked: int) -> tuple[Note, ...]:
    """The note that the operator creates at most so many slots of one headroom."""
    if asked <= most:
        return ()
    return (Note("LimitReached", f"{operators_limit(most)} allows {most} of {asked} slots"),)


def operators_limit(most: int) -> str:
    """The operator's limit in words."""
    return f"the operator's limit for one headroom (--most-slots {most})"
