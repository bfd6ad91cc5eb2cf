"""What keeps a guardian from being made though its slot is wished for.

A wish is worked out once in a while; between two looks real pods come, slots are renewed in another
shape, and the operator may be killed. So the limits are asked once more in the moment in which a
guardian would be made: whether it may wait for a node where the number of nodes is limited, and
whether a slot may have two guardians for a moment while it is renewed.
"""

from __future__ import annotations

from headroom.core.demand.utilization import may_wait
from headroom.core.headrooms.headrooms import Headroom
from headroom.core.hold_state.view import HoldView
from headroom.core.holds import PREEMPTIBLE, Hold
from headroom.core.index_entries import By
from headroom.core.objects import Pod
from headroom.core.resources import Resources
from headroom.core.subjects import Awaited, Change, hold_subject
from headroom.engine.headrooms.demand import Foresight
from headroom.engine.headrooms.quotarooms import QuotaRooms
from headroom.engine.ledger import Ledger
from headroom.engine.pending_guardians import being_made, in_flight, seekers
from headroom.scheduling.choose import ChosenNode, choose

LOAD = Awaited(Change.LOAD, "")
FITS_NOWHERE = "it fits on no node, and spec.limits.nodes allows no more than {} of them"


class CreationLimits:
    """Says which slots are not to have another guardian for now."""

    def __init__(self, ledger: Ledger, foresight: Foresight, rooms: QuotaRooms) -> None:
        self._ledger = ledger
        self._foresight = foresight
        self._rooms = rooms
        self._refusals: dict[str, str] = {}  # by headroom, for as long as nothing has changed

    def changed(self) -> None:
        """Pods or nodes have changed: ask again about those that found no room, and soon the rest.

        An autoscaler acts within a second on a pod without room, so these cannot wait for a look.
        """
        self._refusals.clear()
        self._ledger.agenda.wake(LOAD)

    def decided(self, whole: str) -> None:
        """A headroom was decided anew, or is gone: ask again about slots that were held up."""
        self._refusals.pop(whole, None)
        self._ledger.agenda.wake(Awaited(Change.HEADROOM_DECIDED, whole))

    def held_up(self, hold: Hold) -> str:
        """Why no guardian of this slot may wait for a node now, beyond the one that does."""
        limit = self._node_limit(hold)
        if limit is None:
            return ""
        why = self._refusals.get(hold.group, "")
        if not why and not self._may_wait(hold, limit):
            why = FITS_NOWHERE.format(limit)
        return why

    def wait(self, view: HoldView, waiting: Pod | None) -> None:
        """Look at a hold again when the answers to `held_up` and `full` may have changed."""
        hold = view.hold
        subject, limit = hold_subject(hold.parent), self._node_limit(hold)
        if limit is not None:
            if waiting is not None and waiting.unschedulable_message:
                self._ledger.agenda.wait(subject, on=LOAD)
            if view.held_up:
                self._refusals[hold.group] = view.held_up
        if view.full:
            self._ledger.agenda.wait(subject, on=Awaited(Change.GUARDIAN_GONE, hold.group))
        if view.full or limit is not None:
            self._ledger.agenda.wait(subject, on=Awaited(Change.HEADROOM_DECIDED, hold.group))

    def crowded(self, hold: Hold) -> bool:
        """Whether the limits forbid a placeholder to have a second guardian for a moment."""
        headroom = self._headroom(hold)
        if headroom is None or headroom.mode != PREEMPTIBLE:
            return False
        most, slots = self._most(headroom, hold), self._ledger.slots.count(hold.group)
        if most is not None and max(slots, self._alive(hold)) >= most:
            return True
        return self._exceeds(headroom, hold.template.pod.requests)

    def full(self, hold: Hold) -> bool:
        """Whether as many guardians as are allowed are there, though this slot has none.

        Another slot is being renewed, or one was given up and is not gone yet.
        """
        headroom = self._headroom(hold)
        most = self._most(headroom, hold) if headroom is not None else None
        if headroom is None or most is None or headroom.mode != PREEMPTIBLE:
            return False
        there = len(self._ledger.index.of(By.SLOT_GUARDIAN, hold.group))
        if there + in_flight(self._ledger) < most:
            return False
        return self._alive(hold) >= most

    def _headroom(self, hold: Hold) -> Headroom | None:
        return self._ledger.slots.headrooms.get(hold.group) if hold.slot else None

    def _node_limit(self, hold: Hold) -> int | None:
        """The limit on nodes that counts for a slot; None: none could be reached.

        Not even if all slots of its headroom waited for a node of their own.
        """
        headroom = self._headroom(hold)
        limit = headroom.limits.nodes if headroom is not None else None
        if headroom is None or limit is None or not headroom.size.by_load:
            return None
        far = limit - len(self._ledger.nodes) > 2 * self._ledger.slots.count(hold.group)
        return None if far else limit

    def _may_wait(self, hold: Hold, limit: int) -> bool:
        ledger, pod = self._ledger, hold.template.pod
        waiting = len(seekers(ledger, hold.group) - {str(hold.parent)})
        fits = isinstance(choose(pod, ledger.state), ChosenNode)
        return may_wait(self._foresight.load(pod), waiting, limit, fits)

    def _most(self, headroom: Headroom, hold: Hold) -> int | None:
        """How many guardians a headroom may have at once; None is any number."""
        limits, pods, quota = headroom.limits, headroom.limits.pods, None
        if headroom.size.by_load:
            pods = None if pods is None else max(0, pods - self._foresight.real)
            tight = self._rooms.heard(headroom, hold.template)
            quota = tight.count if tight is not None else None
        bounds = (limits.slots, pods, quota)
        return min((each for each in bounds if each is not None), default=None)

    def _alive(self, hold: Hold) -> int:
        """How many guardians a headroom has, with those that are being made for other slots."""
        making = being_made(self._ledger, hold.group) - {str(hold.parent)}
        return len(self._ledger.index.of(By.SLOT_GUARDIAN, hold.group)) + len(making)

    def _exceeds(self, headroom: Headroom, more: Resources) -> bool:
        """Whether one more guardian would be more than a limit on resources allows."""
        own, whole = headroom.size.resource_limits, headroom.parent.whole
        limits = headroom.limits.resources if own is None else own
        if not limits:
            return False
        used = self._ledger.index.total(By.SLOT_GUARDIAN, whole)
        making = len(being_made(self._ledger, whole)) + 1
        return any(used[name] + making * more[name] > most for name, most in limits if more[name])
