"""Headrooms and what concerns them except pods: their slots, workloads and counts.

This is a part of the ledger. It decides nothing; it adds headrooms to the agenda that must be
decided again.
"""

from __future__ import annotations

from collections.abc import Iterable

from headroom.core.headrooms.dependencies import Cause, causes
from headroom.core.headrooms.headrooms import Headroom, Workload, WorkloadRef
from headroom.core.holds import Hold
from headroom.core.objects import Pod
from headroom.core.subjects import headroom_subject
from headroom.engine.agenda import Agenda
from headroom.engine.indexes import drop
from headroom.engine.promises.arrivals import Arrivals
from headroom.engine.promises.book import PromiseBook


class SlotBook:
    """Headrooms by their parent's text, as are their slots and counts."""

    def __init__(self, agenda: Agenda, across_namespaces: bool = False) -> None:
        self._agenda = agenda
        self.promises = PromiseBook(agenda, Arrivals(across_namespaces))
        self.headrooms: dict[str, Headroom] = {}
        self._depending: dict[Cause, dict[str, None]] = {}
        self.workloads: dict[tuple[str, WorkloadRef], Workload] = {}
        self.of: dict[str, dict[str, None]] = {}
        self._in: dict[str, int] = {}  # how many slots there are, by namespace
        self.members: dict[str, dict[str, None]] = {}  # slots that are objects, as holds
        self.seated: dict[str, list[Pod]] = {}  # who has got a slot and is not counted yet
        self.missed: dict[str, int] = {}  # how many owners went without and are not counted yet

    def add(self, hold: Hold) -> None:
        if hold.slot and hold.slot not in self.of.get(hold.parent.whole, ()):
            self.of.setdefault(hold.parent.whole, {})[hold.slot] = None
            self._in[hold.parent.namespace] = self.within(hold.parent.namespace) + 1
        if hold.member is not None:
            self.members.setdefault(hold.member.of.whole, {})[str(hold.parent)] = None

    def remove(self, hold: Hold) -> None:
        if hold.slot in self.of.get(hold.parent.whole, ()):
            drop(self.of, hold.parent.whole, hold.slot)
            self._in[hold.parent.namespace] -= 1
            if not self._in[hold.parent.namespace]:
                del self._in[hold.parent.namespace]
        if hold.member is not None:
            drop(self.members, hold.member.of.whole, str(hold.parent))

    def depend(self, old: Headroom | None, new: Headroom | None) -> None:
        """A headroom came, changed or went."""
        if old is not None:
            for cause in causes(old):
                drop(self._depending, cause, old.parent.whole)
        if new is not None:
            for cause in causes(new):
                self._depending.setdefault(cause, {})[new.parent.whole] = None

    def depending(self, cause: Cause) -> tuple[str, ...]:
        """The headrooms that something concerns."""
        return tuple(self._depending.get(cause, ()))

    def workload_of(self, headroom: Headroom) -> Workload | None:
        """The workload that a headroom's slots are like, if there is one."""
        source = headroom.slot.source
        return self.workloads.get((headroom.parent.namespace, source)) if source else None

    def count(self, whole: str) -> int:
        """How many slots a headroom has."""
        return len(self.of.get(whole, ())) or len(self.members.get(whole, ()))

    def within(self, namespace: str) -> int:
        """How many slots the headrooms of a namespace have."""
        return self._in.get(namespace, 0)

    def note_seated(self, hold: Hold, owner: Pod) -> None:
        """Take down that a slot has found its owner, for its headroom to count."""
        headroom = self.headrooms.get(hold.group)
        if headroom is not None:
            self.seated.setdefault(hold.group, []).append(owner)
            self._agenda.touch(headroom_subject(headroom.parent))

    def note_missed(self, whole: str) -> None:
        """Take down that a pod went without, for the headroom that was for it to count."""
        headroom = self.headrooms.get(whole)
        if headroom is not None:
            self.missed[whole] = self.missed.get(whole, 0) + 1
            self._agenda.touch(headroom_subject(headroom.parent))

    def see_promise(self, whole: str, pods: Iterable[Pod]) -> None:
        """A headroom is as we now have it, or is none of ours."""
        headroom = self.headrooms.get(whole)
        if headroom is not None:
            self.promises.want(headroom, pods)

    def forget(self, whole: str) -> None:
        """A headroom is gone, with what was not counted yet."""
        self.headrooms.pop(whole, None)
        self.seated.pop(whole, None)
        self.missed.pop(whole, None)
        self.promises.forget(whole)
