"""Guardians that wait for room, kept out of the way of owners that come through the gate.

kube-scheduler counts a nominated owner only against pods that are not more important. A guardian is
more important: if it waits in the queue, it would take the room that another guardian has just
released for its owner. So before that room is released, guardians that could take it are deleted,
and none is created until the owner has its node. Owners come first; new guardians can wait a
moment. Door 2 does not need this: a latch is as important as a guardian.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime

from headroom.core.claims import claim_of
from headroom.core.latches import kept_for
from headroom.core.names import (
    DEFAULT_SCHEDULER_NAME,
    PARENT_ANNOTATION,
    ROLE_GUARDIAN,
    ROLE_LABEL,
)
from headroom.core.objects import Key, Placement, Pod
from headroom.core.resources import Resources
from headroom.core.selection import only_node
from headroom.core.subjects import Awaited, Change, Subject, kept_hold_subject
from headroom.engine.agenda import Agenda
from headroom.engine.doors.released import ReleasedOwners
from headroom.engine.doors.signs import SchedulerSigns
from headroom.engine.fences.book import FenceBook, PutBack, Returning
from headroom.engine.headrooms.headcount import Headcount
from headroom.engine.indexes import drop

ANYWHERE = ""

Fits = Callable[[Pod], bool]


class Contention:
    """Who is on the way to which node, and which guardians could be in the way there."""

    def __init__(self, agenda: Agenda) -> None:
        self._agenda = agenda
        self.headcount = Headcount(agenda)
        self.fences = FenceBook()
        self.returning = Returning()
        self.put_back = PutBack()
        self.released = ReleasedOwners(agenda)
        self.signs = SchedulerSigns()
        self._arriving: dict[str, dict[str, None]] = {}  # node → owners and handovers on their way
        self._seeking: dict[str, dict[Key, None]] = {}  # the only node it may go to → guardians
        self._making: dict[str, dict[str, None]] = {}  # the same → holds whose guardian is made now

    def add(self, pod: Pod) -> None:
        """A pod is as given."""
        self.headcount.add(pod)
        self.released.add(pod)
        self.fences.add(pod)
        node = _arrives_at(pod)
        if node:
            self._arriving.setdefault(node, {})[str(pod.key)] = None
        elif _seeks(pod):
            self._seeking.setdefault(only_node(pod.placement), {})[pod.key] = None

    def remove(self, pod: Pod) -> None:
        """A pod is no longer as given."""
        self.headcount.remove(pod)
        self.released.remove(pod)
        self.fences.remove(pod)
        node = _arrives_at(pod)
        if node:
            self._left(node, str(pod.key))
        elif _seeks(pod):
            drop(self._seeking, only_node(pod.placement), pod.key)

    def begin(self, node: str) -> None:
        """A handover through the gate begins on a node."""
        self._arriving.setdefault(node, {})["handover"] = None

    def end(self, node: str) -> None:
        """It has ended; the owners themselves may still be on their way."""
        self._left(node, "handover")

    def expect(self, node: str, who: str) -> None:
        """Room was made on a node for somebody else, who is on the way."""
        self._arriving.setdefault(node, {})[who] = None

    def arrived(self, node: str, who: str) -> None:
        """They have come, or will not."""
        self._left(node, who)

    def may_make(self, pin: str) -> bool:
        """Whether a guardian may be made now: no owner is on its way to where it may go."""
        return pin not in self._arriving if pin else not self._arriving

    def wait(self, subject: Subject, pin: str) -> None:
        """Look at a hold when its guardian may be made."""
        self._agenda.wait(subject, on=Awaited(Change.ARRIVALS, pin))

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

    def seekers(self, whole: str, pods: dict[Key, Pod]) -> frozenset[str]:
        """The slots of a headroom, as holds, whose guardian waits for a node or is about to."""
        waiting = (kept_for(pods[key]) for keys in self._seeking.values() for key in keys)
        found = frozenset(hold for hold in waiting if hold.startswith(f"{whole}#"))
        return found | self.being_made(whole)

    def goes_first(
        self, owner: Pod, wholes: Iterable[str], pods: dict[Key, Pod], now: datetime
    ) -> None:
        """Have guardians that wait for room not be before an owner that goes on without them."""
        for whole in self.released.note(owner, wholes, now):
            for pod in (pods[key] for keys in self._seeking.values() for key in keys):
                if pod.annotations.get(PARENT_ANNOTATION) == whole:
                    self._agenda.touch(kept_hold_subject(kept_for(pod)))

    def blocks(self, node: str) -> bool:
        """Whether a guardian is being made that could land on a node, and is not known yet."""
        return node in self._making or ANYWHERE in self._making

    def rivals(self, node: str, pods: dict[Key, Pod], priority: int, fits: Fits) -> list[Pod]:
        """Guardians that wait for room and could take an owner's on this node.

        `fits` says whether one would find room there; those of one shape are asked about once.
        """
        known: dict[tuple[Resources, Placement], bool] = {}
        found: list[Pod] = []
        for key in (*self._seeking.get(node, ()), *self._seeking.get(ANYWHERE, ())):
            pod = pods[key]
            shape = (pod.requests, pod.placement)
            if pod.priority > priority and shape not in known:
                known[shape] = fits(pod)
            if pod.priority > priority and known[shape]:
                found.append(pod)
        return found

    def _left(self, node: str, who: str) -> None:
        drop(self._arriving, node, who)
        if node not in self._arriving:
            self._agenda.wake(Awaited(Change.ARRIVALS, node))
        if not self._arriving:
            self._agenda.wake(Awaited(Change.ARRIVALS, ANYWHERE))


def _arrives_at(pod: Pod) -> str:
    """The node to which an owner of kube-scheduler's is on its way with a claim."""
    if pod.node or pod.finished or ROLE_LABEL in pod.labels or claim_of(pod) is None:
        return ""
    return pod.nominated if pod.scheduler == DEFAULT_SCHEDULER_NAME else ""


def _seeks(pod: Pod) -> bool:
    guardian = pod.labels.get(ROLE_LABEL) == ROLE_GUARDIAN
    waits = not pod.node and not pod.gates and not pod.finished and pod.deleted is None
    return guardian and waits
