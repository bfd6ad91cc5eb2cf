"""Pods that name our scheduler: onto a hold, all that go to one node together, or onto free room.

Owners that arrive together are grouped by node and share one latch. A pod that no hold is for is
placed like kube-scheduler would, but a latch stands on the room first: kube-scheduler may have a
cycle under way that does not know of us yet.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from headroom.core.actions import MarkUnschedulable
from headroom.core.claims import Offer
from headroom.core.handover import Claim, latch_free_room, latch_only, through_latch
from headroom.core.names import WAIT_ANNOTATION
from headroom.core.objects import Key, Pod
from headroom.core.plan import Sequence, hold_subject, node_subject, pod_subject
from headroom.core.statuses import tell_pod
from headroom.engine.claiming import search
from headroom.engine.ledger import Ledger
from headroom.scheduling.choose import Chosen, choose


class Placer:
    """Door 2. A claim waits here, its hold reserved, until its node and a slot are free."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._told: dict[str, str] = {}
        self._parked: dict[str, list[Claim]] = {}  # by node
        self._parked_owners: dict[Key, None] = {}
        self._under_way = 0

    def forget(self, uid: str) -> None:
        self._told.pop(uid, None)

    def finished(self) -> None:
        """A handover through a latch has ended, well or not."""
        self._under_way -= 1

    def admit(self, pod: Pod, now: datetime) -> Sequence | None:
        """Find the pod a hold or free room; say why where there is neither."""
        ledger = self._ledger
        if pod.unjudged:
            return self._tell_once(pod, _cannot_judge(pod), now)
        if pod.key in self._parked_owners or ledger.latched(pod):
            return None
        found = search(ledger, pod, now)
        if found.offer is not None:
            self._park(pod, found.offer)
            return None
        if pod.annotations.get(WAIT_ANNOTATION) == "true":
            return self._tell_once(pod, f"waits for a hold: {found.why}", now)
        patient_until = (pod.created or now) + ledger.policy.patience
        if found.on_its_way and now < patient_until:
            ledger.agenda.later(pod_subject(pod.key), patient_until)
            return None
        choice = choose(pod, ledger.state)
        if isinstance(choice, Chosen):
            ledger.stuck.pop(pod.key, None)
            return latch_free_room(pod, choice.node, ledger.policy.namespace)
        ledger.stuck[pod.key] = None
        return self._say_stuck(pod, choice.message, now)

    def _park(self, pod: Pod, offer: Offer) -> None:
        parent = str(offer.hold.parent)
        self._ledger.reserved[parent] = pod.key
        self._ledger.open.take(parent)
        self._parked_owners[pod.key] = None
        self._parked.setdefault(offer.node, []).append((pod, offer))

    def launch(self) -> Iterator[Sequence]:
        """Start what may start: one handover a node at a time, and not too many at once."""
        for node in tuple(self._parked):
            if self._under_way >= self._ledger.policy.handovers_at_once:
                return
            if self._ledger.agenda.busy(node_subject(node)):
                continue
            claims = [claim for claim in self._parked.pop(node) if self._still_good(claim)]
            within = [claim for claim in claims if _within(claim)]
            beyond = [claim for claim in claims if not _within(claim)]
            if within:
                self._under_way += 1
                yield through_latch(within, self._ledger.policy.namespace)
            for claim in beyond:
                self._under_way += 1
                yield latch_only([claim], self._ledger.policy.namespace)

    def _still_good(self, claim: Claim) -> bool:
        """Whether a parked claim is as it was; if not, both sides are decided anew."""
        pod, offer = claim
        ledger, parent = self._ledger, str(offer.hold.parent)
        ledger.reserved.pop(parent, None)
        self._parked_owners.pop(pod.key, None)
        known, hold = ledger.pods.get(pod.key), ledger.holds.get(parent)
        if known is not None and known.uid == pod.uid and ledger.door(known) == 2:
            guardian = ledger.guardian_of(hold) if hold is not None else None
            if guardian is not None and guardian.uid == offer.guardian.uid:
                return True
            ledger.agenda.touch(pod_subject(pod.key))
        if hold is not None:
            ledger.agenda.touch(hold_subject(hold.parent))
        return False

    def _tell_once(self, pod: Pod, message: str, now: datetime) -> Sequence | None:
        if self._told.get(pod.uid) == message:
            return None
        self._told[pod.uid] = message
        return Sequence("tell", (), ((tell_pod(pod, "Unschedulable", message, now, warn=True),),))

    def _say_stuck(self, pod: Pod, message: str, now: datetime) -> Sequence | None:
        """Say it where people and autoscalers look: once for each new reason."""
        if self._told.get(pod.uid) == message:
            return None
        self._told[pod.uid] = message
        mark = MarkUnschedulable(pod.key, pod.uid, message, now)
        tell = tell_pod(pod, "Unschedulable", message, now, warn=True)
        return Sequence("tell", (), ((mark, tell),))


def _cannot_judge(pod: Pod) -> str:
    what = ", ".join(pod.unjudged)
    return (
        f"our scheduler cannot judge {what}: leave spec.schedulerName out and add the scheduling "
        "gate headroom.dev/claim instead, then kube-scheduler places the pod"
    )


def _within(claim: Claim) -> bool:
    """Whether the owner needs nothing but the guardian's room."""
    return claim[0].requests.fits_in(claim[1].guardian.requests)
