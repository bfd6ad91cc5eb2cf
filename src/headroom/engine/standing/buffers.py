"""What the ResourceQuotas of a namespace leave to its buffers, one after the other.

Admission charges our placeholders as it charges any pod, so what they use is taken out of what is
used. Older buffers come first. The arithmetic is `core.demand.quotaroom`'s.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from headroom.core.demand.quotaroom import Allowance, charges, in_turn
from headroom.core.holds import PodTemplate
from headroom.core.names import PREEMPTIBLE_CLASS
from headroom.core.resources import EMPTY, PODS, Resources
from headroom.core.standing.dependencies import On
from headroom.core.standing.headrooms import Headroom
from headroom.core.standing.limiting import Note
from headroom.core.standing.sized import Room, replicas_of
from headroom.core.standing.sizing import template_for
from headroom.core.waits.stabilization import Stabilization
from headroom.engine.ledger import Ledger
from headroom.engine.standing.quotarooms import SETTLED, QuotaRooms
from headroom.engine.standing.rolls import guarded

_LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)


class BufferRooms:
    """The answers of late, by buffer."""

    def __init__(self, ledger: Ledger, rooms: QuotaRooms) -> None:
        self._ledger = ledger
        self._rooms = rooms
        self._answers: Stabilization[str, Allowance] = Stabilization(SETTLED)

    def forget(self, whole: str) -> None:
        """A headroom changed or went."""
        self._answers.forget(whole)

    def siblings(self, namespace: str) -> tuple[str, ...]:
        """The buffers that share a namespace's quotas."""
        return self._ledger.slots.depending((On.SHARED_QUOTAS, namespace))

    def room(self, headroom: Headroom, now: datetime) -> Room | None:
        """How many chunks the quotas let a buffer have; None where there is nothing to ask.

        What a quota says is used and what we know of our own pods come by different ways. So an
        answer is asked for again a moment later, and what stands is given up only if it lasts.
        """
        whole, answer = headroom.parent.whole, self._allowance(headroom)
        if answer is None:
            self._answers.forget(whole)
            return None
        sure_at = self._answers.tell(whole, answer, now)
        if now >= sure_at:
            return Room(answer)
        standing = len(guarded(self._ledger, headroom))
        return Room(replace(answer, count=max(answer.count, standing)), sure_at)

    def _allowance(self, headroom: Headroom) -> Allowance | None:
        namespace = headroom.parent.namespace
        quotas = self._rooms.quotas(namespace)
        if not quotas or not headroom.size.shares_quotas:
            return None
        wants, charging, names = [], [], []
        for each in sorted(map(self._headroom, self.siblings(namespace)), key=_age):
            wanted, template = self._wanted(each)
            if template is not None:
                wants.append((wanted, template.pod.requests))
                charging.append(
                    [one for one in quotas if charges(one, template.pod, PREEMPTIBLE_CLASS)]
                )
                names.append(each.parent.whole)
        if headroom.parent.whole not in names:
            return None
        answers = in_turn(wants, charging, self._ours(namespace))
        return answers[names.index(headroom.parent.whole)]

    def _headroom(self, whole: str) -> Headroom:
        return self._ledger.slots.headrooms[whole]

    def _wanted(self, headroom: Headroom) -> tuple[int, PodTemplate | None]:
        source, size = headroom.slot.source, headroom.size
        if source is None or headroom.problems:
            return 0, None
        key = (headroom.parent.namespace, source)
        workload = self._ledger.slots.workloads.get(key)
        template = template_for(headroom, workload)
        if isinstance(template, Note):
            return 0, None
        wanted = size.quota_share(template.pod.requests, replicas_of(workload))
        return (0, None) if wanted is None else (wanted, template)

    def _ours(self, namespace: str) -> Resources:
        """What the placeholders of a namespace's buffers are charged for."""
        used, ledger = EMPTY, self._ledger
        for whole in self.siblings(namespace):
            parent = self._headroom(whole).parent
            for slot in ledger.slots.of.get(whole, ()):
                hold = ledger.holds[str(replace(parent, slot=slot))]
                for guardian in ledger.guardians_of(hold):
                    used += Resources({**guardian.requests, PODS: 1})
        return used


def _age(headroom: Headroom) -> tuple[datetime, str]:
    return headroom.created or _LONG_AGO, headroom.parent.name
