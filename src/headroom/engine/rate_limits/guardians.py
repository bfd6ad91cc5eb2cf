"""The paces at which guardians are created (`core.waits.pace`), and which holds wait for a turn."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from itertools import islice

from headroom.core.demand.quotaroom import ResourceQuota
from headroom.core.derived_names import shape_of
from headroom.core.holds import Hold
from headroom.core.index_entries import By, Entry
from headroom.core.objects import Key
from headroom.core.policy import Policy
from headroom.core.subjects import Subject, Topic, hold_subject
from headroom.core.waits import pace as paces
from headroom.core.waits.pace import Pace
from headroom.engine.agenda import Agenda
from headroom.engine.indexes import Index


class GuardianPace:
    """By subject: the pace of a Headroom, of Holds of one shape in a namespace, of a namespace.

    Whoever wants a guardian is either under way or waits here; nobody else has a timer.
    """

    def __init__(self, policy: Policy, agenda: Agenda) -> None:
        self._policy = policy
        self._agenda = agenda
        self._paces: dict[Subject, Pace] = {}
        self._holds: Index[Subject] = Index()  # by the paces that they wait for or are under way at
        self._quotas: dict[Key, ResourceQuota] = {}

    def see(self, hold: Hold) -> None:
        """A hold wants a guardian: what was noted of another shape of it no longer counts."""
        if not self._noted(hold).keys() <= set(_subjects(hold)):
            self.forget(hold)
        parent = _subjects(hold)[0]
        if parent in self._paces:
            self._paces[parent] = paces.for_shape(self._paces[parent], shape_of(hold))

    def may_make(self, hold: Hold, now: datetime) -> bool:
        """Whether a guardian may be made now."""
        return self._closed(hold, now) is None

    def wait(self, hold: Hold, now: datetime) -> None:
        """Look at a hold when its guardian may be made."""
        closed = self._closed(hold, now)
        if closed is None:
            return
        self._enqueue(hold, closed)
        not_before = self._paces[closed].not_before
        if not_before is not None and now < not_before:
            self._agenda.later(closed, not_before)

    def withdraw(self, hold: Hold) -> None:
        """A hold wants no guardian just now."""
        if self._noted(hold):
            self.forget(hold)

    def why(self, hold: Hold) -> str:
        """Why the API server refused the last guardian of this parent, while that counts."""
        pace = self._paces.get(_subjects(hold)[0])
        return pace.why if pace is not None and pace.refusals else ""

    def begun(self, hold: Hold) -> None:
        """A guardian is being made."""
        for each in _subjects(hold):
            self._pace(each, hold)
        entries = tuple(Entry(By.PACE_UNDER_WAY, each) for each in _subjects(hold))
        self._holds.put(hold_subject(hold.parent), entries)

    def ended(self, hold: Hold) -> None:
        """It was made, or was not: somebody else may have the turn."""
        noted, subject = self._noted(hold), hold_subject(hold.parent)
        waits = tuple(each for each in self._holds.entries(subject) if each.by is By.PACE_WAITING)
        self._holds.put(subject, waits)
        self._next(noted)

    def forget(self, hold: Hold) -> None:
        """A hold is gone, or of another shape."""
        noted = self._noted(hold)
        self._holds.put(hold_subject(hold.parent))
        self._next(noted)

    def made(self, hold: Hold) -> None:
        """The API server accepted a guardian."""
        self._change(hold, paces.made)

    def slowed(self, hold: Hold) -> None:
        """No answer that counts: fewer at a time."""
        self._change(hold, paces.slowed)

    def refused(self, hold: Hold, why: str, now: datetime) -> None:
        """The API server refused a guardian: its like wait, and one of them tries again later."""
        parent, home = _subjects(hold)
        first = self._policy.guardian_retry
        own = paces.refused(self._pace(parent, hold), why, shape_of(hold), first, now)
        shared = paces.refused_in_namespace(self._pace(home, hold), now)
        self._enqueue(hold, parent)
        for subject, pace in ((parent, own), (home, shared)):
            self._paces[subject] = pace
            self._agenda.later(subject, pace.not_before or now)

    def look(self, subject: Subject, now: datetime) -> None:
        """Give the free turns of a pace to those who wait for one."""
        pace, waiting = self._paces.get(subject), self._holds.of(By.PACE_WAITING, subject)
        if pace is None or not waiting:
            return
        if pace.not_before is not None and now < pace.not_before:
            self._agenda.later(subject, pace.not_before)
            return
        under_way = len(self._holds.of(By.PACE_UNDER_WAY, subject))
        for hold in tuple(islice(waiting, pace.free(under_way, now))):
            noted = self._holds.entries(hold)
            self._holds.put(hold, tuple(each for each in noted if each.value != subject))
            self._holds.put(hold, noted)  # It begins now, or withdraws, or waits as the last.
            self._agenda.touch(hold)

    def see_quota(self, quota: ResourceQuota, now: datetime) -> None:
        """A quota is as given: where it leaves more room than before, those who wait try again."""
        before = self._quotas.get(quota.key)
        self._quotas[quota.key] = quota
        if before is None or not paces.leaves_more(before, quota):
            return
        for subject, pace in self._paces.items():
            if pace.namespace == quota.namespace and pace.not_before is not None:
                grown = self._paces[subject] = paces.quota_grew(pace, before, quota, now)
                self._agenda.later(subject, grown.not_before or now)

    def lose_quota(self, quota: ResourceQuota) -> None:
        """A quota was lifted: those who wait try again at once."""
        self._quotas.pop(quota.key, None)
        for subject, pace in self._paces.items():
            if pace.namespace == quota.namespace:
                self._paces[subject] = paces.quota_lifted(pace)
                self._agenda.touch(subject)

    def _closed(self, hold: Hold, now: datetime) -> Subject | None:
        """The pace that lets no guardian of a hold begin now, if there is one."""
        for subject in _subjects(hold):
            pace, under_way = self._paces.get(subject), self._holds.of(By.PACE_UNDER_WAY, subject)
            if pace is not None and not pace.free(len(under_way), now):
                return subject
        return None

    def _enqueue(self, hold: Hold, at: Subject) -> None:
        subject = hold_subject(hold.parent)
        noted = self._holds.entries(subject)
        self._holds.put(subject, tuple(dict.fromkeys((*noted, Entry(By.PACE_WAITING, at)))))

    def _noted(self, hold: Hold) -> dict[Subject, None]:
        """The paces that a hold waits for or is under way at."""
        entries = self._holds.entries(hold_subject(hold.parent))
        return {each.value: None for each in entries if isinstance(each.value, Subject)}

    def _next(self, subjects: dict[Subject, None]) -> None:
        """A place is free: look who is next, and forget a pace that nobody waits for."""
        for subject in subjects:
            if self._holds.of(By.PACE_WAITING, subject):
                self._agenda.touch(subject)
            elif not self._holds.of(By.PACE_UNDER_WAY, subject):
                self._paces.pop(subject, None)
                self._agenda.forget(subject)

    def _pace(self, subject: Subject, hold: Hold) -> Pace:
        policy, shared = self._policy, subject == _subjects(hold)[1]
        most = policy.guardians_per_namespace if shared else policy.guardians_at_once
        return self._paces.setdefault(subject, Pace(hold.home, most))

    def _change(self, hold: Hold, by: Callable[[Pace], Pace]) -> None:
        for subject in _subjects(hold):
            if subject in self._paces:
                self._paces[subject] = by(self._paces[subject])


def _subjects(hold: Hold) -> tuple[Subject, Subject]:
    """The paces that count for a hold: its parent's, and its namespace's.

    The pace of a Headroom takes its turns with its namespace.
    """
    home = Subject(Topic.PACE, hold.home)
    if hold.slot:
        return Subject(Topic.PACE, hold.parent.whole, hold.parent.namespace), home
    return Subject(Topic.PACE, f"{hold.home} {shape_of(hold)}"), home
