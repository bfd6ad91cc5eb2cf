"""Headrooms with automatic shapes: collect what indicates the growth of each workload.

A choice needs a pass over all pods, so it is made once a minute, and at once if one more workload
can be chosen or a chosen workload is gone. The decision is pure: `core.headrooms.shapes`. The
creation times of pods are kept for a day, also of deleted pods: a workload that grew and shrank
will grow again.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial

from headroom.core.headrooms.candidates import Maker, candidates, maker_of
from headroom.core.headrooms.headrooms import Auto, AutoStatus, Headroom, Workload
from headroom.core.headrooms.shapes import (
    DAY,
    ChosenWorkload,
    ShapeCandidate,
    Shapes,
    dressed,
    in_scope,
    ranked,
    shape_name,
)
from headroom.core.headrooms.wanted_slots import WantedSlots
from headroom.core.objects import Pod
from headroom.engine.headrooms.expected_pods import autoscalers_of, is_part
from headroom.engine.ledger import Ledger

PAUSE = timedelta(minutes=1)
MOST_MADE = 100  # pods of one controller whose time is remembered
MOST_CONTROLLERS = 20_000


@dataclass(slots=True)
class Memory:
    """What was chosen for one headroom, and when; `had` is how many slots each shape had."""

    chosen: tuple[ChosenWorkload, ...] = ()
    seen: int = 0
    had: dict[str, int] = field(default_factory=dict)
    chosen_at: datetime | None = None


class AutoShapes:
    """Memories by headroom, and when pods were made, by namespace and uid of their controller."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._memories: dict[str, Memory] = {}
        self._made: dict[str, OrderedDict[str, deque[datetime]]] = {}
        self._makers = 0  # controllers in all namespaces

    def depend(self, old: Headroom | None, new: Headroom | None) -> None:
        """A headroom came, changed or went."""
        auto = new.slot.auto if new is not None else None
        if old is not None and (new is None or auto is None):
            self._memories.pop(old.parent.whole, None)
        if new is None or auto is None:
            if not self._memories:
                self._made.clear()
                self._makers = 0
            return
        if not self._memories:
            for pod in self._ledger.pods.values():
                self._note(pod)
        memory = self._memories.get(new.parent.whole)
        if memory is None:
            self._memories[new.parent.whole] = Memory(had=_slots(new.status.auto))
        elif old is not None and old.slot != new.slot:
            memory.chosen_at = None

    def see(self, before: Pod | None, pod: Pod) -> None:
        """A pod is as given."""
        if self._memories and (before is None or before.uid != pod.uid):
            self._note(pod)

    def workload_changed(self, workload: Workload) -> Iterator[str]:
        """Name the headrooms whose slots or choice a workload may change at once."""
        name, across = shape_name(workload), self._ledger.policy.across_namespaces
        for whole, memory in self._memories.items():
            headroom = self._ledger.slots.headrooms[whole]
            if headroom.parent.namespace != workload.namespace and not across:
                continue
            auto = headroom.slot.auto
            if any(each.name == name for each in memory.chosen):
                yield whole
            elif auto is None or len(memory.chosen) >= auto.top:
                continue
            elif self._in_scope(headroom, auto, workload):
                memory.chosen_at = None
                yield whole

    def dressed(self, headroom: Headroom) -> Headroom:
        """The headroom with the owners that follow from what is chosen, where none are named."""
        memory = self._memories.get(headroom.parent.whole)
        return dressed(headroom, memory.chosen) if memory is not None else headroom

    def shapes(self, headroom: Headroom, now: datetime) -> Shapes | None:
        """What a headroom's slots are like now; None where it says that itself."""
        memory, auto = self._memories.get(headroom.parent.whole), headroom.slot.auto
        if memory is None or auto is None or headroom.problems:
            return None
        current = tuple(self._present(memory.chosen))
        due = memory.chosen_at is None or now >= memory.chosen_at + PAUSE
        if due or len(current) < len(memory.chosen):
            evidence = self._candidates(headroom, auto)
            before = [each.name for each in memory.chosen] or list(memory.had)
            current = ranked(evidence, auto.top, before, now)
            memory.seen, memory.chosen_at = len(evidence), now
        memory.chosen = current
        again = memory.chosen_at + PAUSE if memory.chosen_at is not None else now + PAUSE
        return Shapes(current, memory.had, memory.seen, again)

    def settled(self, headroom: Headroom, now: datetime) -> Headroom:
        """The headroom with the owners of what is chosen for it now, known to everybody as such."""
        whole, slots = headroom.parent.whole, self._ledger.slots
        if headroom.slot.auto is None or headroom.paused:
            return headroom
        self.shapes(headroom, now)
        dressed = self.dressed(headroom)
        if dressed.owners != headroom.owners:
            slots.headrooms[whole] = dressed
            slots.see_promise(whole, self._ledger.pods.values())
        return dressed

    def divided(self, headroom: Headroom, wished: WantedSlots) -> None:
        """Each shape has so many slots now."""
        memory = self._memories.get(headroom.parent.whole)
        if memory is not None and wished.auto is not None:
            memory.had = _slots(wished.auto)

    def _present(self, chosen: Iterable[ChosenWorkload]) -> Iterator[ChosenWorkload]:
        """Those that are still there and of use, as their workloads now are."""
        workloads = self._ledger.slots.workloads
        for each in chosen:
            old = each.workload
            now = workloads.get((old.namespace, old.ref))
            if now is not None and now.uid == old.uid and not now.problems:
                yield replace(each, workload=now)

    def _in_scope(self, headroom: Headroom, auto: Auto, workload: Workload) -> bool:
        policy, namespace = self._ledger.policy, workload.namespace
        if namespace != headroom.parent.namespace and not (
            policy.across_namespaces and policy.serves(namespace)
        ):
            return False
        known = self._ledger.namespaces.get(namespace)
        labels = known.labels if known is not None else {}
        return not is_part(self._ledger, workload) and in_scope(headroom, auto, workload, labels)

    def _candidates(self, headroom: Headroom, auto: Auto) -> list[ShapeCandidate]:
        workloads = self._ledger.slots.workloads.values()
        found = [each for each in workloads if self._in_scope(headroom, auto, each)]
        pods, scaling = self._ledger.pods.values(), partial(autoscalers_of, self._ledger)
        return list(candidates(found, workloads, pods, self._times, scaling))

    def _times(self, maker: Maker) -> Iterable[datetime]:
        namespace, uid = maker
        made = self._made.get(namespace)
        return made.get(uid, ()) if made is not None else ()

    def _note(self, pod: Pod) -> None:
        maker = maker_of(pod)
        if maker is None or pod.created is None:
            return
        namespace, uid = maker
        made = self._made.setdefault(namespace, OrderedDict())
        times = made.get(uid)
        if times is None:
            times = made[uid] = deque(maxlen=MOST_MADE)
            self._makers += 1
        times.append(pod.created)
        while times and times[0] < pod.created - DAY:
            times.popleft()
        made.move_to_end(uid)  # The controllers that made none for longest come first.
        while next(iter(made.values()))[-1] < pod.created - DAY:
            made.popitem(last=False)
            self._makers -= 1
        if self._makers > MOST_CONTROLLERS:
            self._forget_one()

    def _forget_one(self) -> None:
        """Forget the oldest of the namespace that has most: nobody pushes out those of others."""
        most = max(self._made, key=lambda name: (len(self._made[name]), name))
        self._made[most].popitem(last=False)
        self._makers -= 1
        if not self._made[most]:
            del self._made[most]


def _slots(told: AutoStatus | None) -> dict[str, int]:
    chosen = told.chosen if told is not None else ()
    return {f"{each.kind}/{each.namespace}/{each.name}": each.slots for each in chosen}
