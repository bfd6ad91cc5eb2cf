"""Limit how fast guardians are created: a number at a time, and after a refusal one try at a time.

If the API server refuses a guardian (quota, LimitRange, Pod Security, a policy, a webhook, an
invalid field), it will also refuse the next slot of the same Headroom, and the next Hold of that
shape in that namespace. So a refusal pauses them all, and one of them retries after a while, later
each time. Each success allows one more at a time, as in TCP. A namespace has its own pace, for a
tenant whose Holds all have different shapes.

    free ──refused──▶ paused ──time over, or a quota has more room──▶ one try ──created──▶ two …
                        ▲                                               │
                        └──────────────────── refused ──────────────────┘
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from headroom.core.demand.quotaroom import ResourceQuota
from headroom.core.derived_names import shape_of
from headroom.core.holds import Hold
from headroom.core.objects import Key
from headroom.core.policy import Policy
from headroom.core.subjects import Subject, Topic, hold_subject
from headroom.core.waits.backoff import backoff
from headroom.engine.agenda import LONGEST_PAUSE, Agenda
from headroom.engine.indexes import drop

MOST_AT_A_TIME = 500
NAMESPACE_PAUSE = timedelta(milliseconds=500)  # between tries of a namespace that is refused a lot
QUOTA_PAUSE = timedelta(seconds=1)  # a quota may change many times a second


def pace_subject(name: str) -> Subject:
    """The pace of a Headroom takes its turns with its namespace."""
    return Subject(Topic.PACE, name, name.split("/", 2)[1] if name.count("/") >= 2 else "")


@dataclass(slots=True)
class Pace:
    """Of one parent, or one namespace: `window` may be under way at a time."""

    window: int
    under_way: dict[Subject, None] = field(default_factory=dict)
    waiting: OrderedDict[Subject, None] = field(default_factory=OrderedDict)
    refusals: int = 0
    not_before: datetime | None = None
    why: str = ""
    shape: str = ""  # what was refused

    def free(self, now: datetime) -> int:
        """How many may begin now."""
        if self.not_before is not None and now < self.not_before:
            return 0
        return max(0, self.window - len(self.under_way))


class GuardianPace:
    """Paces by name: `Kind/namespace/name` of a Headroom, `namespace shape` of Holds, `namespace`.

    Whoever wants a guardian is either under way or waits here; nobody else has a timer.
    """

    def __init__(self, policy: Policy, agenda: Agenda) -> None:
        self._policy = policy
        self._agenda = agenda
        self._paces: dict[str, Pace] = {}
        self._names: dict[Subject, tuple[str, str]] = {}  # by subject of a hold: where it was noted
        self._in: dict[str, dict[str, None]] = {}  # namespace → names of its paces
        self._quotas: dict[Key, ResourceQuota] = {}

    def see(self, hold: Hold) -> None:
        """A hold wants a guardian: what was noted of another shape of it no longer counts."""
        subject, names = hold_subject(hold.parent), _names(hold)
        if self._names.get(subject, names) != names:
            self.forget(hold)
        pace = self._paces.get(names[0])
        if pace is not None and pace.refusals and pace.shape != shape_of(hold):
            pace.refusals, pace.not_before = 0, None  # The template has changed.

    def may_make(self, hold: Hold, now: datetime) -> bool:
        """Whether a guardian may be made now."""
        return not self._waits_for(hold, now)

    def wait(self, hold: Hold, now: datetime) -> None:
        """Look at a hold when its guardian may be made."""
        subject, names = hold_subject(hold.parent), _names(hold)
        name = self._waits_for(hold, now)
        pace = self._pace(name, hold.home)
        pace.waiting[subject] = None
        self._names[subject] = names
        if pace.not_before is not None and now < pace.not_before:
            self._agenda.later(pace_subject(name), pace.not_before)

    def _waits_for(self, hold: Hold, now: datetime) -> str:
        """The pace that lets no guardian of a hold begin now; empty where none does."""
        known = ((name, self._paces.get(name)) for name in _names(hold))
        return next((name for name, pace in known if pace is not None and not pace.free(now)), "")

    def withdraw(self, hold: Hold) -> None:
        """A hold wants no guardian just now."""
        if hold_subject(hold.parent) in self._names:
            self.forget(hold)

    def why(self, hold: Hold) -> str:
        """Why the API server refused the last guardian of this parent, while that counts."""
        pace = self._paces.get(_names(hold)[0])
        return pace.why if pace is not None and pace.refusals else ""

    def begun(self, hold: Hold) -> None:
        """A guardian is being made."""
        subject, names = hold_subject(hold.parent), _names(hold)
        self._names[subject] = names
        for name in names:
            pace = self._pace(name, hold.home)
            pace.waiting.pop(subject, None)
            pace.under_way[subject] = None

    def ended(self, hold: Hold) -> None:
        """It was made, or was not: somebody else may have the turn."""
        subject = hold_subject(hold.parent)
        for name in self._names.get(subject, ()):
            pace = self._paces.get(name)
            if pace is None:
                continue
            pace.under_way.pop(subject, None)
            if pace.waiting:
                self._agenda.touch(pace_subject(name))
            self._tidy(name)
        if not self._noted(subject):
            self._names.pop(subject, None)

    def made(self, hold: Hold) -> None:
        """The API server took a guardian."""
        for name in _names(hold):
            pace = self._paces.get(name)
            if pace is not None:
                pace.window = min(pace.window + 1, MOST_AT_A_TIME)
                pace.refusals, pace.not_before, pace.why = 0, None, ""

    def refused(self, hold: Hold, why: str, now: datetime) -> None:
        """The API server refused a guardian: its like wait, and one of them tries again later."""
        subject, names = hold_subject(hold.parent), _names(hold)
        self._names[subject] = names
        parent, namespace = (self._pace(name, hold.home) for name in names)
        if parent.not_before is None or now >= parent.not_before:  # Others failed at the same time.
            pause = backoff(self._policy.guardian_retry, parent.refusals, LONGEST_PAUSE)
            parent.not_before = now + pause
            parent.refusals += 1
        parent.window, parent.why, parent.shape = 1, why, shape_of(hold)
        parent.waiting[subject] = None
        namespace.window = max(1, namespace.window // 2)
        if namespace.window == 1:
            namespace.not_before = now + NAMESPACE_PAUSE
        for name in names:
            self._agenda.later(pace_subject(name), self._paces[name].not_before or now)

    def slowed(self, hold: Hold) -> None:
        """No answer that counts: fewer at a time."""
        for name in _names(hold):
            pace = self._paces.get(name)
            if pace is not None:
                pace.window = max(1, pace.window // 2)

    def look(self, name: str, now: datetime) -> None:
        """Give the free turns of a pace to those who wait for one."""
        pace = self._paces.get(name)
        if pace is None or not pace.waiting:
            return
        if pace.not_before is not None and now < pace.not_before:
            self._agenda.later(pace_subject(name), pace.not_before)
            return
        for _ in range(min(pace.free(now), len(pace.waiting))):
            subject = next(iter(pace.waiting))
            pace.waiting.move_to_end(subject)  # It begins now, or withdraws, or waits as the last.
            self._agenda.touch(subject)

    def forget(self, hold: Hold) -> None:
        """A hold is gone, or of another shape."""
        subject = hold_subject(hold.parent)
        for name in self._names.pop(subject, ()):
            pace = self._paces.get(name)
            if pace is not None:
                pace.waiting.pop(subject, None)
                pace.under_way.pop(subject, None)
                if pace.waiting:
                    self._agenda.touch(pace_subject(name))
                self._tidy(name)

    def see_quota(self, quota: ResourceQuota, now: datetime) -> None:
        """A quota is as given: where it leaves more room than before, those who wait try again."""
        before = self._quotas.get(quota.key)
        self._quotas[quota.key] = quota
        if before is None or not _leaves_more(before, quota):
            return
        raised = dict(before.hard) != dict(quota.hard)
        for name in self._in.get(quota.namespace, ()):
            pace = self._paces[name]
            if pace.not_before is not None:
                soon = now if raised else now + QUOTA_PAUSE
                pace.not_before = min(pace.not_before, soon)
                pace.refusals = 0 if raised else pace.refusals
                self._agenda.later(pace_subject(name), pace.not_before)

    def lose_quota(self, quota: ResourceQuota) -> None:
        """A quota was lifted: those who wait try again at once."""
        self._quotas.pop(quota.key, None)
        for name in self._in.get(quota.namespace, ()):
            pace = self._paces[name]
            pace.not_before, pace.refusals = None, 0
            self._agenda.touch(pace_subject(name))

    def size(self) -> int:
        """How much is remembered."""
        waiting = sum(len(each.waiting) + len(each.under_way) for each in self._paces.values())
        return len(self._paces) + len(self._names) + waiting

    def _pace(self, name: str, namespace: str) -> Pace:
        pace = self._paces.get(name)
        if pace is None:
            whole = name == namespace
            most = self._policy.guardians_per_namespace if whole else self._policy.guardians_at_once
            pace = self._paces[name] = Pace(most)
            self._in.setdefault(namespace, {})[name] = None
        return pace

    def _tidy(self, name: str) -> None:
        """Forget a pace that nobody waits for."""
        pace = self._paces.get(name)
        if pace is None or pace.waiting or pace.under_way:
            return
        del self._paces[name]
        namespace = name.split("/", 2)[1] if "/" in name else name.partition(" ")[0]
        drop(self._in, namespace, name)
        self._agenda.forget(pace_subject(name))

    def _noted(self, subject: Subject) -> bool:
        names = self._names.get(subject, ())
        paces = (self._paces[name] for name in names if name in self._paces)
        return any(subject in pace.waiting or subject in pace.under_way for pace in paces)


def _names(hold: Hold) -> tuple[str, str]:
    """The paces that count for a hold: its parent's, and its namespace's."""
    parent = hold.parent.whole if hold.slot else f"{hold.home} {shape_of(hold)}"
    return parent, hold.home


def _leaves_more(before: ResourceQuota, now: ResourceQuota) -> bool:
    """Whether a quota leaves more of anything than it did."""
    names = before.hard.keys() | now.hard.keys()
    return any(_left(now, name) > _left(before, name) for name in names)


def _left(quota: ResourceQuota, name: str) -> float:
    if name not in quota.hard:
        return float("inf")
    return quota.hard[name] - quota.used.get(name, 0)
