"""Decide whether a hold may have a guardian, at the moment when it would be created.

First the limits of its namespace are checked, then the quotas of its dialect. A refused hold is
checked again when room in the namespace becomes free or its limits change. Existing guardians are
never checked.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from headroom.core.derived_names import shape_of
from headroom.core.hold_state.view import HoldView
from headroom.core.holds import Hold
from headroom.core.objects import Key, Namespace, Pod
from headroom.core.quotas.namespaces import (
    NO_LIMITS,
    LimitsError,
    NamespaceLimits,
    misread,
    refusal,
    written,
)
from headroom.core.renewal import has_shape_of
from headroom.core.subjects import Awaited, Change, Subject, hold_subject
from headroom.engine.ledger import Ledger
from headroom.engine.limits.usage import UsageBook
from headroom.engine.quotas import QuotaBook


class Allowance:
    """Keeps count by namespace, and answers for limits and quotas."""

    def __init__(self, ledger: Ledger, quotas: QuotaBook) -> None:
        self._ledger = ledger
        self.quotas = quotas
        self._usage = UsageBook()
        self._allowed: dict[str, str] = {}  # by hold: the shape that it may have

    def within(self, view: HoldView, now: datetime) -> HoldView:
        """The view of a hold, which has no room as long as a limit or a quota refuses it."""
        hold, subject = view.hold, hold_subject(view.hold.parent)
        if hold.terminal or hold.problems or hold.deleted is not None:
            self.forget(hold)
            return view
        stands = bool(view.guardians or view.claimants)
        if stands and all(has_shape_of(hold, each) for each in view.guardians):
            self._allow(hold)  # Whatever the limits are by now.
        else:
            why = self._limited(hold, subject)
            if why is not None:
                return replace(view, held_up=why, in_place=False)
        if stands:
            self.quotas.stands(hold)
            return view
        self.quotas.asks_anew(subject)
        over = self.quotas.room_for(hold, subject, now)
        return view if over is None else replace(view, refused=over)

    def beyond_limit(self, hold: Hold, subject: Subject) -> str | None:
        """Which limit forbids the object of a slot; if none does, it counts from now on.

        `subject` is who is looked at again when there may be room.
        """
        return self._limited(hold, subject)

    def forget(self, hold: Hold) -> None:
        """A hold is gone or over: what it took is free again."""
        self._allowed.pop(str(hold.parent), None)
        limits = Awaited(Change.USAGE, hold.home)
        self._ledger.agenda.stop_waiting(hold_subject(hold.parent), limits)
        if self._usage.release(hold.home, str(hold.parent)):
            self._wake(hold.home)

    def see_pod(self, pod: Pod) -> None:
        if self._usage.see_pod(pod):
            self._wake(pod.rules_namespace)

    def lose_pod(self, key: Key, uid: str) -> None:
        namespace = self._usage.namespace_of(key)
        if self._usage.lose_pod(key, uid):
            self._wake(namespace)

    def see_namespace(self, namespace: Namespace) -> None:
        """A namespace is there, maybe with other limits."""
        self._wake(namespace.name)

    def _limited(self, hold: Hold, subject: Subject) -> str | None:
        home, name = hold.home, str(hold.parent)
        if self._allowed.get(name) == shape_of(hold):
            return None  # Its guardian of this shape is on its way.
        limits = limits_of(self._ledger, home)
        why: str | None
        if isinstance(limits, LimitsError):
            why = misread(home, limits)
        else:
            why = refusal(limits, hold, self._usage.without(home, name))
        if why is not None:
            self._ledger.agenda.wait(subject, on=Awaited(Change.USAGE, home))
            return why
        self._allow(hold)
        return None

    def _allow(self, hold: Hold) -> None:
        name = str(hold.parent)
        self._allowed[name] = shape_of(hold)
        self._usage.allow(hold.home, name, hold.template.pod.requests)

    def _wake(self, namespace: str) -> None:
        self._ledger.agenda.wake(Awaited(Change.USAGE, namespace))


def limits_of(ledger: Ledger, namespace: str) -> NamespaceLimits | LimitsError:
    """The limits of a namespace: its own, or the default; the operator's own has none."""
    policy, known = ledger.policy, ledger.namespaces.get(namespace)
    default = NO_LIMITS if namespace == policy.namespace else policy.namespace_limits
    return written(known.limits if known is not None else "", default)
