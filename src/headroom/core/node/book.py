"""The book of a node: who has a claim on its room, by what, and whether kube-scheduler counts it.

A book is derived from pods, their annotations and the holds that they name, whenever it is needed.
`broken` is the safety rule of every handover:

- kube-scheduler counts at least what is promised on a node;
- nothing is promised twice.

What is promised to a hold on a node changes as follows:

    a guardian was bound for a while, and the hold's status says so ──▶ its and the owners' room
    an owner ends, somebody else deletes the guardian ──▶ less by this amount
    we delete the guardian or a latch ──▶ no change, so something else must be counted
    the hold ends, or is given to its only owner ──▶ nothing, or what that owner has

Something else is a latch, the nomination of the owner, or the bound owner. A pod that we bind
ourselves is not firm at once: a scheduling cycle that began earlier does not see it yet.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum
from functools import reduce

from headroom.core.allocation import used_up
from headroom.core.claims import expiry, is_claimant
from headroom.core.holds import LOCKED, Hold
from headroom.core.latches import claims_on, kept_for, parents_on
from headroom.core.names import (
    DEFAULT_SCHEDULER_NAME,
    ROLE_FENCE,
    ROLE_GUARDIAN,
    ROLE_LABEL,
    ROLE_LATCH,
)
from headroom.core.objects import Key, Pod
from headroom.core.resources import EMPTY, PODS, Resources

ONE_PLACE = Resources({PODS: 1})


class KeptBy(Enum):
    """What a claim on the room of a node rests on."""

    GUARDIAN = "guardian"
    LATCH = "latch"
    OWNER = "owner"  # bound there
    NOMINATED = "nominated owner"  # on its way there with its claim
    FENCE = "fence"
    PROMISE = "promise"  # kept until now, and to be kept on


OWNERS = (KeptBy.OWNER, KeptBy.NOMINATED)


@dataclass(frozen=True, slots=True)
class RoomClaim:
    """One claim on a node's room. A latch may be for several holds and owners.

    `amount` has the places for pods as well. `counted` says whether kube-scheduler counts it there,
    `firm` from when on every cycle of kube-scheduler does.
    """

    node: str
    holds: tuple[str, ...]
    amount: Resources
    by: KeptBy
    since: datetime
    firm: datetime
    owners: tuple[Key, ...] = ()
    counted: bool = True

    def is_firm(self, now: datetime) -> bool:
        return self.counted and now >= self.firm


@dataclass(frozen=True, slots=True)
class NodeBook:
    """All entries of one node. `full`: kube-scheduler has no place for one more pod there."""

    node: str
    entries: tuple[RoomClaim, ...]
    full: bool = False


@dataclass(frozen=True, slots=True)
class Shown:
    """Since when a pod is as it is on its node, and whether it is we who put it there.

    `owner` says that its claim has stood: it stays an owner, whatever its labels are by now.
    """

    since: datetime
    by_us: bool = False
    owner: bool = False


def room_claim(
    pod: Pod, hold: Hold | None, shown: Shown, wait: timedelta, across: bool = False
) -> RoomClaim | None:
    """What a pod has on a node; None if it has nothing to do with a hold that is there.

    `hold` is the one that it stands for or claims, `wait` how long a cycle of kube-scheduler that
    began before may still go on, `across` whether owners may be of other namespaces.
    """
    later = shown.since + wait
    firm = later if shown.by_us else shown.since
    role, requests = pod.labels.get(ROLE_LABEL), pod.requests + ONE_PLACE
    if pod.finished:
        return None
    if role == ROLE_LATCH:
        if not pod.nominated:
            return None
        owners = tuple(line.owner for line in claims_on(pod))
        node, holds, since = pod.nominated, parents_on(pod), shown.since
        return RoomClaim(node, holds, requests, KeptBy.LATCH, since, since, owners)
    if role == ROLE_FENCE and pod.node:
        return RoomClaim(pod.node, (kept_for(pod),), ONE_PLACE, KeptBy.FENCE, shown.since, later)
    if role == ROLE_GUARDIAN:
        if not pod.node or hold is None or all(each.uid != hold.parent.uid for each in pod.owners):
            return None
        return RoomClaim(pod.node, (kept_for(pod),), requests, KeptBy.GUARDIAN, shown.since, firm)
    if role or hold is None or not is_claimant(hold, pod, across, shown.owner or bool(hold.slot)):
        return None
    nominated = pod.nominated if pod.scheduler == DEFAULT_SCHEDULER_NAME else ""
    node, by = (pod.node, KeptBy.OWNER) if pod.node else (nominated, KeptBy.NOMINATED)
    share, name = used_up(hold, (pod,)) + ONE_PLACE, hold.parent.identity
    return RoomClaim(node, (name,), share, by, shown.since, firm, (pod.key,)) if node else None


@dataclass(frozen=True, slots=True)
class RoomChange:
    """The change of one claim on the room of a node, and whether the operator caused it."""

    before: RoomClaim | None
    after: RoomClaim | None
    by_us: bool = False

    @property
    def lost(self) -> Resources:
        """What is no longer promised: owners have ended, or others have deleted a guardian.

        What the operator deletes itself is still promised.
        """
        if self.before is None:
            return EMPTY
        has = self.after.amount if self.after is not None else EMPTY
        ours = self.by_us and self.before.by in (KeptBy.GUARDIAN, KeptBy.LATCH)
        return EMPTY if ours else self.before.amount.minus(has)


def promised_before(
    promised: Resources, hold: Hold, here: Collection[RoomClaim], settled: datetime, now: datetime
) -> Resources:
    """What is promised to a hold on a node, before one of its claims there (`here`) changes.

    A guardian promises nothing before it has stood for a while, since `settled`, and its hold says
    Available: a write that was decided before may still take it out of an owner's way. While
    latches or owners on their way count as well, nothing can be seen that is new.
    """
    if all(each.by in (KeptBy.GUARDIAN, KeptBy.OWNER) for each in here):
        owners = (each.amount for each in here if each.by is KeptBy.OWNER)
        told = bool(hold.slot) or hold.status.phase == "Available"
        old = (each for each in here if each.by is KeptBy.GUARDIAN and each.since <= settled)
        stand = old if told else ()
        kept = reduce(Resources.largest, (each.amount for each in stand), EMPTY)
        promised = promised.largest(sum(owners, kept))
    return promised.at_most(_most(hold, here, now))


def promised_after(
    promised: Resources, change: RoomChange, hold: Hold, here: Collection[RoomClaim], now: datetime
) -> Resources:
    """What is promised to a hold on a node after a change of a claim; `here` are those by then."""
    return promised.minus(change.lost).at_most(_most(hold, here, now))


def _most(hold: Hold, here: Iterable[RoomClaim], now: datetime) -> Resources:
    """The most that may be promised to a hold where its room is: all of it, or what it has given.

    A hold for one owner is used up by it, and what that one leaves goes back to the node. Nothing
    is promised to a Preemptible hold, nor to one that has ended.
    """
    ends = expiry(hold)
    over = hold.terminal or hold.deleted is not None or (ends is not None and ends <= now)
    early = hold.starts is not None and now < hold.starts
    if over or early or hold.problems or hold.mode != LOCKED:
        return EMPTY
    room = hold.template.pod.requests + ONE_PLACE
    used = sum((each.amount for each in here if each.by in OWNERS), EMPTY)
    if hold.status.phase == "Pending" and not used:
        return EMPTY  # It has said that it is not held, perhaps because its owner was not placed.
    return used if used and hold.allocate_once else room.largest(used)


def broken(book: NodeBook, single: frozenset[str], now: datetime) -> tuple[str, ...]:
    """The safety rule: the violations in a book, as text. `single` are holds for one owner."""
    return (*_short(book, now), *_given_twice(book, single))


def _short(book: NodeBook, now: datetime) -> Iterator[str]:
    """Promises that what kube-scheduler counts does not cover.

    Where no pod has a place, and behind a fence that is firm, nobody can take what is not counted.
    """
    fenced = any(entry.by is KeptBy.FENCE and entry.is_firm(now) for entry in book.entries)
    if book.full or fenced:
        return
    for group in _groups(book.entries):
        promised = sum((each.amount for each in group if each.by is KeptBy.PROMISE), EMPTY)
        counted = sum((each.amount for each in group if each.is_firm(now)), EMPTY)
        short = promised.minus(counted)
        lacking = {name: amount for name, amount in short.items() if amount and name != PODS}
        if lacking:
            holds = sorted(
                {name for each in group for name in each.holds if each.by is KeptBy.PROMISE}
            )
            told = ", ".join(f"{amount} {name}" for name, amount in sorted(lacking.items()))
            yield f"{', '.join(holds)}: {told} of what is promised on {book.node} is not counted"


def _given_twice(book: NodeBook, single: frozenset[str]) -> Iterator[str]:
    found: dict[str, dict[Key, None]] = {}
    for entry in book.entries:
        if entry.by is KeptBy.OWNER and entry.holds[0] in single:
            found.setdefault(entry.holds[0], {}).update(dict.fromkeys(entry.owners))
    for name, owners in found.items():
        if len(owners) > 1:
            yield f"{name}: promised twice on {book.node}: {', '.join(map(str, sorted(owners)))}"


def _groups(entries: Iterable[RoomClaim]) -> list[list[RoomClaim]]:
    """Entries that belong together: one latch for several holds keeps the room of all of them."""
    groups: list[tuple[set[str], list[RoomClaim]]] = []
    for entry in entries:
        names, members = set(entry.holds), [entry]
        apart = []
        for group in groups:
            if group[0] & names:
                names |= group[0]
                members = [*group[1], *members]
            else:
                apart.append(group)
        groups = [*apart, (names, members)]
    return [members for _, members in groups]


def promise(node: str, hold: str, amount: Resources, now: datetime) -> RoomClaim:
    """The entry of what is promised to a hold on a node."""
    return RoomClaim(node, (hold,), amount, KeptBy.PROMISE, now, now, counted=False)
