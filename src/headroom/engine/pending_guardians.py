"""Guardians that wait for room, kept out of the way of owners that come through the gate.

kube-scheduler counts a nominated owner only against pods that are not more important. A guardian is
more important: if it waits in the queue, it would take the room that another guardian has just
released for its owner. So before that room is released, guardians that could take it are deleted,
and none is created until the owner has its node. Owners come first; new guardians can wait a
moment. Door 2 does not need this: a latch is as important as a guardian.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from headroom.core.index_entries import By
from headroom.core.latches import kept_for
from headroom.core.objects import Key, Placement, Pod
from headroom.core.resources import Resources
from headroom.core.subjects import Awaited, Change
from headroom.engine.agenda import Agenda
from headroom.engine.fences.book import PutBack, Returning
from headroom.engine.indexes import Index, drop

ANYWHERE = ""

Fits = Callable[[Pod], bool]


class Contention:
    """Who is on the way to which node, and which guardians could be in the way there."""

    def __init__(self, agenda: Agenda, index: Index[Key]) -> None:
        self._agenda = agenda
        self._index = index
        self.returning = Returning()
        self.put_back = PutBack()
        self._expected: dict[str, dict[str, None]] = {}  # node → handovers and others on their way
        self._making: dict[str, dict[str, None]] = {}  # the only node → holds that get a guardian

    def expect(self, node: str, who: str) -> None:
        """Room was made on a node for somebody else, who is on the way."""
        self._expected.setdefault(node, {})[who] = None

    def arrived(self, node: str, who: str) -> None:
        """They have come, or will not."""
        drop(self._expected, node, who)
        self.left(node)

    def left(self, node: str) -> None:
        """One less is on the way to a node."""
        if self.may_make(node):
            self._agenda.wake(Awaited(Change.ARRIVALS, node))
        if self.may_make(ANYWHERE):
            self._agenda.wake(Awaited(Change.ARRIVALS, ANYWHERE))

    def may_make(self, pin: str) -> bool:
        """Whether a guardian may be made now: no owner is on its way to where it may go."""
        arriving = self._index.all(By.ARRIVING)
        if pin:
            return pin not in arriving and pin not in self._expected
        return not arriving and not self._expected

    def making(self, hold: str, pin: str) -> None:
        self._making.setdefault(pin, {})[hold] = None

    def made(self, hold: str, pin: str) -> None:
        drop(self._making, pin, hold)

    def in_flight(self) -> int:
        """How many guardians are being made, of whomever."""
        return sum(map(len, self._making.values()))

    def being_made(self, whole: str) -> frozenset[str]:
        """The slots of a headroom, as holds, whose guardian is being made and not known yet."""
        making = (hold for holds in self._making.values() for hold in holds)
        return frozenset(hold for hold in making if hold.startswith(f"{whole}#"))

    def seeking(self, pods: dict[Key, Pod]) -> Iterator[Pod]:
        """The guardians that wait for a node."""
        return (pods[key] for keys in self._index.all(By.SEEKING).values() for key in keys)

    def seekers(self, whole: str, pods: dict[Key, Pod]) -> frozenset[str]:
        """The slots of a headroom, as holds, whose guardian waits for a node or is about to."""
        waiting = map(kept_for, self.seeking(pods))
        found = frozenset(hold for hold in waiting if hold.startswith(f"{whole}#"))
        return found | self.being_made(whole)

    def blocks(self, node: str) -> bool:
        """Whether a guardian is being made that could land on a node, and is not known yet."""
        return node in self._making or ANYWHERE in self._making

    def rivals(self, node: str, pods: dict[Key, Pod], priority: int, fits: Fits) -> list[Pod]:
        """Guardians that wait for room and could take an owner's on this node.

        `fits` says whether one would find room there; those of one shape are asked about once.
        """
        known: dict[tuple[Resources, Placement], bool] = {}
        found: list[Pod] = []
        seeking = self._index.all(By.SEEKING)
        for key in (*seeking.get(node, ()), *seeking.get(ANYWHERE, ())):
            pod = pods[key]
            shape = (pod.requests, pod.placement)
            if pod.priority > priority and shape not in known:
                known[shape] = fits(pod)
            if pod.priority > priority and known[shape]:
                found.append(pod)
        return found
