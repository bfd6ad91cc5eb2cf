"""The tenure of a ticket: how long it lasts, and the life of its object.

`core.hold_lifecycle` handles guardians and owners; this module handles the object itself. The
object has a finalizer while it may have a guardian, and its status stores its times. When its pod
has ended, it has ended too, and some time later it is deleted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from headroom.core import hold_lifecycle
from headroom.core.actions import Action, DeleteObject, DeletePod, SetFinalizers
from headroom.core.allocation import reported_use
from headroom.core.hold_state.view import HoldDecision, HoldView
from headroom.core.holds import Hold
from headroom.core.names import ROLE_LABEL
from headroom.core.objects import Key, Pod
from headroom.core.plan import Sequence, Work, earliest
from headroom.core.policy import Policy
from headroom.core.statuses import Facts, status_of
from headroom.core.subjects import hold_subject
from headroom.dialects.korder.rules.ticket_times import chronicle_of, cleanup_at, ends_at, has_left


@dataclass(frozen=True, slots=True)
class TicketTenure:
    """Its object is deleted `cleanup` after its end, None: never."""

    duration: timedelta | None
    cleanup: timedelta | None = None

    def endless(self) -> TicketTenure:
        return replace(self, duration=None)

    def ends_at(self, hold: Hold) -> datetime | None:
        return ends_at(hold)

    def decide(self, view: HoldView, now: datetime, policy: Policy) -> HoldDecision:
        """Say what a hold needs, with what its object asks for beyond it."""
        hold = view.hold
        if hold.deleted is not None:
            return HoldDecision(hold.status, _farewell(hold, view.guardians))
        if hold.finalizer and hold.finalizer not in hold.finalizers:
            return HoldDecision(hold.status, _sequence(hold, ((_finalized(hold),),)))
        if view.left is not None:
            gone = _without((view.left,))
            return HoldDecision(hold.status, _sequence(hold, tuple(gone)) if gone else None)
        if has_left(hold, view.claimants):
            told = Facts(
                hold, "Failed", "Finished", "its pod has ended", view.node, reported_use(hold, ())
            )
            decided = HoldDecision(status_of(told, now, hold.status.owners))
        else:
            decided = hold_lifecycle.decide(view, now, policy)
        return self._with_clock(view, decided, now)

    def left_over(self, hold: Hold, pods: Mapping[Key, Pod]) -> Pod | None:
        """A guardian of the same object and name, made by whoever served it before us."""
        pod = pods.get(Key(hold.guardian_namespace, hold.guardian)) if hold.guardian else None
        if pod is None or ROLE_LABEL in pod.labels:
            return None
        ours = any(owner.controller and owner.uid == hold.parent.uid for owner in pod.owners)
        return pod if ours else None

    def dismissed(self, hold: Hold, guardians: tuple[Pod, ...]) -> Sequence:
        """Delete a hold's object and its guardian with it."""
        steps = [*_without(guardians), (DeleteObject(hold.parent),)]
        if hold.finalizer in hold.finalizers:
            steps.insert(-1, (_released(hold),))
        return _sequence(hold, tuple(steps))

    def _with_clock(self, view: HoldView, decided: HoldDecision, now: datetime) -> HoldDecision:
        """What was decided, its moments noted; an object whose time is long over goes."""
        hold = view.hold
        chronicle = chronicle_of(hold, view.roles.standing, decided.status.phase, now)
        status = replace(decided.status, chronicle=chronicle)
        gone_at = cleanup_at(replace(hold, status=status), self.cleanup)
        if (
            gone_at is not None
            and gone_at <= now
            and status == hold.status
            and not view.replacement.stays
        ):
            return HoldDecision(status, self.dismissed(hold, view.guardians))
        ends = chronicle.ends if chronicle is not None and status.phase == "Available" else None
        # What is due already waits for the status to be written, which brings us back.
        later = (moment for moment in (gone_at, ends) if moment is not None and moment > now)
        return HoldDecision(status, decided.sequence, earliest(decided.wake_at, *later))


def _farewell(hold: Hold, guardians: tuple[Pod, ...]) -> Sequence | None:
    """Somebody deletes the object: its guardian goes first, then our finalizer."""
    steps = list(_without(guardians))
    if hold.finalizer in hold.finalizers:
        steps.append((_released(hold),))
    return _sequence(hold, tuple(steps)) if steps else None


def _without(guardians: tuple[Pod, ...]) -> list[tuple[Action, ...]]:
    standing = tuple(DeletePod(pod.key, pod.uid) for pod in guardians)
    return [standing] if standing else []


def _finalized(hold: Hold) -> SetFinalizers:
    return SetFinalizers(hold.parent, hold.version, (*hold.finalizers, hold.finalizer))


def _released(hold: Hold) -> SetFinalizers:
    others = tuple(each for each in hold.finalizers if each != hold.finalizer)
    return SetFinalizers(hold.parent, hold.version, others)


def _sequence(hold: Hold, steps: tuple[tuple[Action, ...], ...]) -> Sequence:
    return Sequence(Work.OBJECT, (hold_subject(hold.parent),), steps)
