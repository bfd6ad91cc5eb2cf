"""Build the conditions of a status from the new facts and the present conditions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime

from headroom.core.objects import Condition

Words = tuple[str, str, str, str]  # type, status, reason and message


def conditions_of(
    words: Iterable[Words], before: Iterable[Condition], generation: int, now: datetime
) -> tuple[Condition, ...]:
    """Build conditions; a condition keeps its time as long as its status does not change."""
    known = {condition.type: condition for condition in before}
    return tuple(
        Condition(kind, status, reason, message, _since(known.get(kind), status, now), generation)
        for kind, status, reason, message in words
    )


def state_words(
    ready: bool, progressing: bool, degraded: bool, reason: str, message: str
) -> Iterator[Words]:
    """The three conditions that holds and headrooms have, for one reason."""
    states = (("Ready", ready), ("Progressing", progressing), ("Degraded", degraded))
    return ((kind, "True" if holds else "False", reason, message) for kind, holds in states)


def ready_in(conditions: Iterable[Condition]) -> Condition | None:
    """The condition Ready, if it is there."""
    return next((each for each in conditions if each.type == "Ready"), None)


def _since(before: Condition | None, status: str, now: datetime) -> datetime:
    if before is not None and before.status == status and before.since is not None:
        return before.since
    return now.replace(microsecond=0)  # The API has whole seconds.
