"""What `spec.limits` and the operator's own limit leave of a wish, and the note that says so.

The operator's is there for everybody's sake: a count is cut to it before anything is made of it.

Slots of one shape are counted by arithmetic, without making them: there may be a hundred thousand.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from headroom.core.holds import Hold, PodTemplate
from headroom.core.standing.headrooms import NO_LIMITS, Limits

MOST_SLOTS = 100_000


@dataclass(frozen=True, slots=True)
class Note:
    """Why a wish is smaller than one might think: a word for a condition, and a sentence."""

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


def limited(slots: Sequence[Hold], limits: Limits) -> tuple[tuple[Hold, ...], tuple[Note, ...]]:
    """Keep the first slots up to the limit that is met first, and say which that was."""
    if limits == NO_LIMITS:
        return tuple(slots), ()
    used: dict[str, int] = {}
    nodes: set[str] = set()
    for count, hold in enumerate(slots):
        if hold.template.node:
            nodes.add(hold.template.node)
        for name, most in limits.resources:
            used[name] = used.get(name, 0) + hold.template.pod.requests[name]
            if used[name] > most:
                return _cut(slots, count, f"resources.{name}")
        for name, most_of, reached in (
            ("slots", limits.slots, count + 1),
            ("pods", limits.pods, count + 1),
            ("nodes", limits.nodes, len(nodes)),
        ):
            if most_of is not None and reached > most_of:
                return _cut(slots, count, name)
    return tuple(slots), ()


def _cut(
    slots: Sequence[Hold], count: int, limit: str
) -> tuple[tuple[Hold, ...], tuple[Note, ...]]:
    return tuple(slots[:count]), (limit_note(limit, count, len(slots)),)


def limit_note(limit: str, count: int, asked: int) -> Note:
    """Say which limit allows how many slots."""
    return Note("LimitReached", f"spec.limits.{limit} allows {count} of {asked} slots")


def cut_to(most: int, asked: int) -> tuple[Note, ...]:
    """Say that the operator makes no more slots of one headroom than so many."""
    if asked <= most:
        return ()
    return (Note("LimitReached", f"{operators_limit(most)} allows {most} of {asked} slots"),)


def operators_limit(most: int) -> str:
    """The operator's limit in words."""
    return f"the operator's limit for one headroom (--most-slots {most})"
