"""A hold's status and the events about its changes, calculated from plain facts.

Events are derived from the difference between the current status and the new one. So each is
recorded once, and only the object itself has to remember what was recorded.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from headroom.core.actions import Tell
from headroom.core.conditions import conditions_of, ready_in, state_words
from headroom.core.holds import Hold, HoldStatus, OwnerUse
from headroom.core.objects import Key, Parent, Pod
from headroom.core.resources import EMPTY, Resources

ENDED = ("Succeeded", "Failed")
_WARNINGS = {
    "InvalidSpec": "InvalidSpec",
    "Unschedulable": "Unschedulable",
    "GuardianRefused": "Unschedulable",
    "QuotaExceeded": "QuotaExceeded",
    "PartiallyHeld": "PartiallyHeld",
}
"""The event for each reason to warn of."""


@dataclass(frozen=True, slots=True)
class Facts:
    """The facts of a hold: its phase, the reason (one word and one sentence), and its numbers.

    `room` is what it has where that is less than its template asks for.
    """

    hold: Hold
    phase: str
    reason: str
    message: str = ""
    node: str = ""
    used: Resources = EMPTY
    degraded: bool = False
    room: Resources | None = None

    @property
    def allocatable(self) -> Resources:
        """What the hold has, its owners' shares included; nothing where it has no node."""
        wanted = self.hold.template.pod.requests if self.node else EMPTY
        return wanted if self.room is None else wanted.at_most(self.room)


def status_of(facts: Facts, now: datetime, owners: tuple[OwnerUse, ...] = ()) -> HoldStatus:
    """Build the status from the facts; conditions that do not change keep their times."""
    hold = facts.hold
    degraded = facts.degraded or facts.reason == "InvalidSpec"
    ready, progressing = facts.phase == "Available", facts.phase == "Pending" and not degraded
    before = hold.status.conditions
    if facts.phase in ENDED and hold.status.phase not in ENDED:
        # The time of Ready is that of the end, also if it never was ready.
        before = tuple(condition for condition in before if condition.type != "Ready")
    remarks = () if facts.phase in ENDED else map(str, hold.remarks)
    message = "; ".join(part for part in (facts.message, *remarks) if part)
    words = state_words(ready, progressing, degraded, facts.reason, message)
    return HoldStatus(
        phase=facts.phase,
        node=facts.node,
        allocatable=facts.allocatable,
        allocated=facts.used,
        owners=owners,
        conditions=conditions_of(words, before, hold.generation, now),
        observed_generation=hold.generation,
    )


def ended_at(hold: Hold) -> datetime | None:
    """When a hold ended, as its object says; None while it has not, or does not say."""
    ready = ready_in(hold.status.conditions)
    return ready.since if ready is not None and hold.terminal else None


def tell_object(
    parent: Parent, reason: str, message: str, now: datetime, warn: bool = False
) -> Tell:
    """An event about a hold, a headroom or a quota."""
    about, level = Key(parent.namespace, parent.name), "Warning" if warn else "Normal"
    return Tell(parent.api_version, parent.kind, about, parent.uid, level, reason, message, now)


def tell_pod(pod: Pod, reason: str, message: str, now: datetime, warn: bool = False) -> Tell:
    level = "Warning" if warn else "Normal"
    return Tell("v1", "Pod", pod.key, pod.uid, level, reason, message, now)


def status_events(
    hold: Hold, status: HoldStatus, owners: Mapping[str, Pod], now: datetime
) -> tuple[Tell, ...]:
    """The events about the change of a hold's status to `status`; `owners` by uid."""
    before = hold.status
    tells = list(_phase_events(hold, status, now))
    had = {use.uid for use in before.owners}
    for use in status.owners:
        if use.uid in had:
            continue
        who = Key(use.namespace, use.name)
        tells.append(
            tell_object(hold.parent, "Claimed", f"given to pod {who} on {status.node}", now)
        )
        if use.uid in owners:
            message = f"runs in the room of {hold.parent.title} on {status.node}"
            tells.append(tell_pod(owners[use.uid], "Claimed", message, now))
    has = {use.uid for use in status.owners}
    for use in before.owners:
        if use.uid not in has and status.phase == "Available":
            message = f"pod {use.namespace}/{use.name} gave its share back"
            tells.append(tell_object(hold.parent, "Returned", message, now))
    return tuple(tells)


def _phase_events(hold: Hold, status: HoldStatus, now: datetime) -> tuple[Tell, ...]:
    before, ready = hold.status, ready_in(status.conditions)
    reason, message = (ready.reason, ready.message) if ready is not None else ("", "")
    was = ready_in(before.conditions)
    if reason == (was.reason if was is not None else "") and before.phase == status.phase:
        return ()
    if reason in _WARNINGS:
        return (tell_object(hold.parent, _WARNINGS[reason], message, now, warn=True),)
    if reason == "Expired":
        return (tell_object(hold.parent, "Expired", message, now),)
    if status.phase == "Available" and before.phase != "Available":
        return (tell_object(hold.parent, "Held", f"room held on {status.node}", now),)
    if status.phase == "Pending" and before.phase == "Available":
        message = f"the guardian on {before.node} was lost; holding again"
        return (tell_object(hold.parent, "Replaced", message, now, warn=True),)
    return ()
