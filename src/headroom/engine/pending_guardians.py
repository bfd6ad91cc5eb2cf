"""Guardians that wait for room, kept out of the way of owners that come through the gate.

kube-scheduler counts a nominated owner only against pods that are not more important. A guardian is
more important: if it waits in the queue, it would take the room that another guardian has just
released for its owner. So before that room is released, guardians that could take it are deleted,
and none is created until the owner has its node. Owners come first; new guardians can wait a
moment. Door 2 does not need this: a latch is as important as a guardian.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from headroom.core.index_entries import By, Entry
from headroom.core.latches import kept_for
from headroom.core.objects import Placement, Pod
from headroom.core.resources import Resources
from headroom.core.subjects import Awaited, Change, Subject

if TYPE_CHECKING:
    from headroom.engine.ledger import Ledger

ANYWHERE = ""

Fits = Callable[[Pod], bool]


def expect(ledger: Ledger, subject: Subject, node: str) -> None:
    """Create no guardian for a node: its room will soon be free for an owner."""
    ledger.work.put(subject, (Entry(By.EXPECTED, node),))


def expect_no_more(ledger: Ledger, subject: Subject) -> None:
    """The owners have arrived, or will not."""
    for by, node, _ in ledger.work.put(subject)[0]:
        if by is By.EXPECTED:
            left(ledger, str(node))


def left(ledger: Ledger, node: str) -> None:
    """One owner less is on its way to a node."""
    for pin in (node, ANYWHERE):
        if may_make(ledger, pin):
            ledger.agenda.wake(Awaited(Change.ARRIVALS, pin))


def may_make(ledger: Ledger, pin: str) -> bool:
    """Whether a guardian may be created now: no owner is on its way to a node that it may get."""
    arriving, expected = ledger.index.all(By.ARRIVING), ledger.work.all(By.EXPECTED)
    if pin:
        return pin not in arriving and pin not in expected
    return not (arriving or expected)


def in_flight(ledger: Ledger) -> int:
    """How many guardians are being created, of all holds."""
    return sum(map(len, ledger.work.all(By.CREATING_GUARDIAN).values()))


def being_made(ledger: Ledger, whole: str) -> frozenset[str]:
    """The slots of a headroom, as holds, whose guardian is being created and not observed yet."""
    making = (
        each.identity for holds in ledger.work.all(By.CREATING_GUARDIAN).values() for each in holds
    )
    return frozenset(hold for hold in making if hold.startswith(f"{whole}#"))


def unplaced_guardians(ledger: Ledger) -> Iterator[Pod]:
    """The guardians that wait for a node."""
    return (
        ledger.pods[key] for keys in ledger.index.all(By.UNPLACED_GUARDIAN).values() for key in keys
    )


def slots_without_node(ledger: Ledger, whole: str) -> frozenset[str]:
    """The slots of a headroom, as holds, whose guardian waits for a node or will wait for one."""
    waiting = map(kept_for, unplaced_guardians(ledger))
    found = frozenset(hold for hold in waiting if hold.startswith(f"{whole}#"))
    return found | being_made(ledger, whole)


def blocks(ledger: Ledger, node: str) -> bool:
    """Whether a guardian is being created, and not observed yet, that could get this node."""
    making = ledger.work.all(By.CREATING_GUARDIAN)
    return node in making or ANYWHERE in making


def rivals(ledger: Ledger, node: str, priority: int, fits: Fits) -> list[Pod]:
    """Guardians that wait for room and could take the room of an owner on this node.

    `fits` says whether one would find room there; those of one shape are asked about once.
    """
    known: dict[tuple[Resources, Placement], bool] = {}
    found: list[Pod] = []
    waiting = ledger.index.all(By.UNPLACED_GUARDIAN)
    for key in (*waiting.get(node, ()), *waiting.get(ANYWHERE, ())):
        pod = ledger.pods[key]
        shape = (pod.requests, pod.placement)
        if pod.priority > priority and shape not in known:
            known[shape] = fits(pod)
        if pod.priority > priority and known[shape]:
            found.append(pod)
    return found
