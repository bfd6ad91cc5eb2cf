"""Owners of headrooms that arrive, and how long they wait for a node.

Every owner counts, whether it gets a slot, free room, or a new machine. It has arrived when only
our gate keeps it from being scheduled, and has started when it has a node. The arrival time of an
owner that existed before the operator started is unknown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from headroom.core.findings.doors import may_lack_door, reached, rule_keys
from headroom.core.headrooms.headrooms import Headroom
from headroom.core.names import CLAIM_GATE
from headroom.core.objects import Pod
from headroom.core.owners import EVERYWHERE, has_right, pod_keys
from headroom.engine.indexes import drop


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
        self._index: dict[tuple[str, str], dict[str, None]] = {}
        self.waiting: dict[str, Waiting] = {}  # by uid
        self.gated_for: Counter[str] = Counter()  # owners that others keep back, by headroom
        self._gated: dict[str, tuple[str, ...]] = {}  # the same, by uid

    def want(self, headroom: Headroom) -> None:
        """A headroom is as given."""
        whole = headroom.parent.whole
        old = self._headrooms.get(whole)
        if old is not None and old.owners == headroom.owners:
            self._headrooms[whole] = headroom
            return
        self._unindex(whole)
        self._headrooms[whole] = headroom
        for place in self._places(headroom):
            self._index.setdefault(place, {})[whole] = None

    def forget(self, whole: str) -> None:
        """A headroom is gone; owners that are kept back wait for it no more."""
        self._unindex(whole)
        if self.gated_for.pop(whole, 0):
            for uid, wholes in list(self._gated.items()):
                self._gated[uid] = tuple(each for each in wholes if each != whole)

    def _unindex(self, whole: str) -> None:
        old = self._headrooms.pop(whole, None)
        if old is not None:
            for place in self._places(old):
                drop(self._index, place, whole)

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
        if known is not None or not self._index:
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
        if pod.uid not in self._gated and not pod.node and (wholes := self._for(pod)):
            self._gated[pod.uid] = wholes
            self.gated_for.update(wholes)

    def _ungate(self, uid: str) -> tuple[str, ...]:
        wholes = self._gated.pop(uid, ())
        self.gated_for.subtract(wholes)
        for whole in wholes:
            if self.gated_for[whole] <= 0:  # Else it would remember every headroom there ever was.
                del self.gated_for[whole]
        return wholes

    def _for(self, pod: Pod) -> tuple[str, ...]:
        """The headrooms that a pod is an owner of."""
        if not self._index or not may_lack_door(pod):
            return ()
        places = (pod.key.namespace, EVERYWHERE)
        found = {
            whole: None
            for key in pod_keys(pod)
            for place in places
            for whole in self._index.get((place, key), ())
        }
        return tuple(each for each in found if has_right(self._headrooms[each], pod, self._across))

    def _places(self, headroom: Headroom) -> Iterator[tuple[str, str]]:
        for namespace in reached(headroom, self._across):
            for key in rule_keys(headroom):
                yield namespace, key


def kept_back(pod: Pod) -> bool:
    """Whether somebody else's gate is on a pod that has no node."""
    return not pod.node and any(gate != CLAIM_GATE for gate in pod.gates)


def _is_new(before: Pod | None, pod: Pod) -> bool:
    return before is None or before.uid != pod.uid or bool(before.gates) > bool(pod.gates)


def _since(pod: Pod, now: datetime) -> datetime:
    return min(pod.created, now) if pod.created is not None else now
