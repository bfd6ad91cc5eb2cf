"""What must be remembered about one hold between two decisions: one frozen record.

The engine keeps a record for each hold and drops it with the hold. The functions here take a record
and return the next one; none of them changes anything.

Guardians that do not last are created again after a growing pause. Something in the cluster deletes
them as soon as they are bound (a kubelet, a taint, an admission controller). To create them again
at once would be an endless loop.

Guardians that give way to owners at the gate are created again after a pause, too. A guardian that
waits for room is deleted before another one gives its room to an owner (see `pending_guardians`).
Created again at once, it would have to go again for the next owner: each owner of a stream would
cost as many writes as guardians wait. The pause doubles each time that a guardian has to go, and
ends when the hold has its room.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from headroom.core.fast_dataclass import dataclass, replace
from headroom.core.holds import HoldStatus
from headroom.core.objects import Pod
from headroom.core.quotas.refusals import LIMIT_REACHED
from headroom.core.resources import Resources
from headroom.core.subjects import Awaited
from headroom.core.waits.backoff import backoff

SHORT_LIFE = timedelta(seconds=10)  # A guardian that is gone sooner did not last.
LONGEST_LOSS_PAUSE = timedelta(minutes=2)
FIRST_WAY_PAUSE = timedelta(milliseconds=500)
LONGEST_WAY_PAUSE = timedelta(seconds=8)


@dataclass(frozen=True, slots=True)
class SlotState:
    """What a headroom knows of one of its slots; `limited`: a limit is what is wrong with it."""

    phase: str
    trouble: str | None = None
    limited: bool = False


def state_of(status: HoldStatus) -> SlotState:
    """The state of a slot with this status; its trouble in words, None when there is none."""
    degraded = next((each for each in status.conditions if each.type == "Degraded"), None)
    if degraded is None or degraded.status != "True":
        return SlotState(status.phase)
    limited = any(each.reason == LIMIT_REACHED for each in status.conditions)
    return SlotState(status.phase, degraded.message or degraded.reason, limited)


@dataclass(frozen=True, slots=True)
class Permit:
    """The limits of a namespace allow a hold a guardian of this shape; it counts from then on."""

    namespace: str
    shape: str
    requests: Resources


@dataclass(frozen=True, slots=True)
class HoldMemory:
    """What is known of a hold beyond what its object and its pods show."""

    node: str = ""  # where its guardian was last seen, or where it waits
    trouble: str = ""  # why the last try to create a guardian failed
    made: str = ""  # uid of the last guardian that we created
    made_at: datetime | None = None  # when, by our clock
    expected: bool = False  # that guardian should exist: we have not deleted it
    losses: int = 0  # guardians in a row that did not last
    lost_until: datetime | None = None  # not before then the next one is created
    gave_way: int = 0  # how often its guardian had to go for an owner of another hold
    gave_way_until: datetime | None = None  # the end of the pause, once it has begun
    preempted_on: str = ""  # the node on which somebody else ended its guardian
    overbooked_since: datetime | None = None  # since when pods on its node request too much
    renewing: bool = False  # it is one of the slots of its headroom that are renewed now
    reclaims: bool = False  # others use its room, and are to give way
    returns_on: tuple[str, ...] = ()  # nodes with owners of it, or where it may get room back
    owed_since: datetime | None = None  # since when room is free that it is about to get back
    over_since: datetime | None = None  # its time is over, and another slot may have its room
    state: SlotState | None = None  # as its headroom knows it, if it is a slot
    permit: Permit | None = None  # None: the limits have not been asked, or refused it
    waits: tuple[Awaited, ...] = ()  # what it waits for as long as it is decided so


NOTHING = HoldMemory()


def remembering(memory: HoldMemory, **changes: Any) -> HoldMemory:
    """The record with these parts; the same one where nothing is different."""
    changed = {name: each for name, each in changes.items() if getattr(memory, name) != each}
    return replace(memory, **changed) if changed else memory


def guardian_made(memory: HoldMemory, uid: str, now: datetime) -> HoldMemory:
    """The API server accepted a guardian."""
    return replace(memory, trouble="", made=uid, made_at=now, expected=True)


def guardian_deleted(memory: HoldMemory, gives_way: bool) -> HoldMemory:
    """We delete the guardian ourselves, `gives_way`: for an owner of another hold."""
    if not gives_way:
        return replace(memory, expected=False)
    times = memory.gave_way + 1
    return replace(memory, expected=False, gave_way=times, gave_way_until=None)


def guardian_missing(
    memory: HoldMemory, guardians: tuple[Pod, ...], first_pause: timedelta, now: datetime
) -> HoldMemory:
    """There is no guardian, and no owner has its room: one that we created may have been lost.

    A first loss is made good at once: somebody may have deleted the pod by hand.
    """
    if not memory.expected or memory.made_at is None:
        return memory
    if now - memory.made_at >= SHORT_LIFE:
        return replace(memory, expected=False, losses=0)
    losses = memory.losses + 1
    if losses == 1:
        return replace(memory, expected=False, losses=losses)
    until = now + backoff(first_pause, losses - 2, LONGEST_LOSS_PAUSE)
    why = why_lost(guardians)
    return replace(memory, expected=False, losses=losses, lost_until=until, trouble=why)


def why_lost(guardians: tuple[Pod, ...]) -> str:
    """Say why a hold has lost its guardian."""
    ended = next((pod for pod in guardians if pod.finished), None)
    if ended is None:
        return "its guardian was taken away soon after it was made; tried again, ever less often"
    reason = ended.reason or ended.phase
    return f"its guardian on {ended.node} ended at once ({reason}); tried again, ever less often"


def way_pause(memory: HoldMemory, now: datetime) -> HoldMemory:
    """A hold whose guardian gave way wants the next one: its pause begins, if it has not."""
    if not memory.gave_way or memory.gave_way_until is not None:
        return memory
    pause = backoff(FIRST_WAY_PAUSE, memory.gave_way - 1, LONGEST_WAY_PAUSE)
    return replace(memory, gave_way_until=now + pause)


def by_our_clock(memory: HoldMemory, guardian: Pod) -> Pod:
    """A guardian that we created ourselves is as old as we know it to be.

    An API server whose clock is behind ours stamps it with a moment before the start that it was
    created for, and it would be renewed for ever.
    """
    made = memory.made_at
    if made is None or memory.made != guardian.uid or guardian.created is None:
        return guardian
    if guardian.created >= made.replace(microsecond=0):
        return guardian
    return replace(guardian, created=made)
