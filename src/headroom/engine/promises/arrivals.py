"""Owners of headrooms that arrive, and how long they wait for a node.

Every owner counts, whether it gets a slot, free room, or a new machine. It has arrived when only
our gate keeps it from being scheduled, and has started when it has a node. The arrival time of an
owner that existed before the operator started is unknown.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from headroom.core.findings.doors import may_lack_door, reached, rule_keys
from headroom.core.headrooms.headrooms import Headroom
from headroom.core.index_entries import By, Entry
from headroom.core.names import CLAIM_GATE
from headroom.core.objects import Pod
from headroom.core.owners import EVERYWHERE, has_right, pod_keys
from headroom.engine.indexes import Index


@dataclass(slots=True)
class Waiting:
    """An owner that has come and has no node."""

    since: datetime
    wholes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Came:
    """An owner came to these headrooms, or has got its node after so many seconds."""

    wholes: tuple[str, ...] = ()
    waited: float | None = None
    waited_for: tuple[str, ...] = ()


NOBODY = Came()


class Arrivals:
    """Headrooms by the keys of their rules, and owners that wait."""

    def __init__(self, across_namespaces: bool) -> None:
        self._across = across_namespaces
        self._headrooms: dict[str, Headroom] = {}
        self._rules: Index[str] = Index()  # of headrooms
        self._kept_back: Index[str] = Index()  # of owners that others keep back, by uid
        self.waiting: dict[str, Waiting] = {}  # by uid

    def want(self, headroom: Headroom) -> None:
        """A headroom is as given."""
        whole, keys = headroom.parent.whole, tuple(rule_keys(headroom))
        self._headrooms[whole] = headroom
        places = ((here, key) for here in reached(headroom, self._across) for key in keys)
        self._rules.put(whole, tuple(Entry(By.OWNER_RULE, place) for place in places))

    def forget(self, whole: str) -> None:
        """A headroom is gone; owners that are kept back wait for it no more."""
        self._headrooms.pop(whole, None)
        self._rules.put(whole)
        for uid in tuple(self._kept_back.of(By.KEPT_BACK, whole)):
            others = (each for each in self._kept_back.entries(uid) if each.value != whole)
            self._kept_back.put(uid, tuple(others))

    def gated_for(self, whole: str) -> int:
        """How many owners of a headroom are kept back by others."""
        return len(self._kept_back.of(By.KEPT_BACK, whole))

    def see(self, before: Pod | None, pod: Pod, now: datetime, began: datetime | None) -> Came:
        """Take a pod as it was and as it now is; `began` is when we first might act."""
        known = self.waiting.get(pod.uid)
        if pod.node or pod.finished:
            self._ungate(pod.uid)
            if known is None:
                fresh = before is None and began is not None and _since(pod, now) >= began
                return Came(self._for(pod), 0.0) if fresh and not pod.finished else NOBODY
            del self.waiting[pod.uid]
            waited = (now - known.since).total_seconds()
            return Came((), waited if pod.node else None, known.wholes)
        if known is not None or not self._headrooms:
            return NOBODY
        if kept_back(pod):
            self.gate(pod)
            return NOBODY
        wholes = self._ungate(pod.uid) or (self._for(pod) if _is_new(before, pod) else ())
        if not wholes or began is None:
            return NOBODY
        self.waiting[pod.uid] = Waiting(now, wholes)
        return Came(wholes)

    def lose(self, uid: str) -> tuple[str, ...]:
        """A pod is gone; name the headrooms that it waited for."""
        self._ungate(uid)
        known = self.waiting.pop(uid, None)
        return known.wholes if known is not None else ()

    def gate(self, pod: Pod) -> None:
        """Somebody else keeps a pod from being scheduled: it is an owner that will come."""
        if not pod.node and not self._kept_back.entries(pod.uid):
            entries = (Entry(By.KEPT_BACK, whole) for whole in self._for(pod))
            self._kept_back.put(pod.uid, tuple(entries))

    def _ungate(self, uid: str) -> tuple[str, ...]:
        lost, _ = self._kept_back.put(uid)
        return tuple(str(each.value) for each in lost)

    def _for(self, pod: Pod) -> tuple[str, ...]:
        """The headrooms that a pod is an owner of."""
        if not self._headrooms or not may_lack_door(pod):
            return ()
        places = ((here, key) for key in pod_keys(pod) for here in (pod.key.namespace, EVERYWHERE))
        found = {whole: None for place in places for whole in self._rules.of(By.OWNER_RULE, place)}
        return tuple(each for each in found if has_right(self._headrooms[each], pod, self._across))


def kept_back(pod: Pod) -> bool:
    """Whether somebody else's gate is on a pod that has no node."""
    return not pod.node and any(gate != CLAIM_GATE for gate in pod.gates)


def _is_new(before: Pod | None, pod: Pod) -> bool:
    return before is None or before.uid != pod.uid or bool(before.gates) > bool(pod.gates)


def _since(pod: Pod, now: datetime) -> datetime:
    return min(pod.created, now) if pod.created is not None else now
