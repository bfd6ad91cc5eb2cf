"""All quotas: what counts under each, and which objects wait for room.

`refusal` is asked before anything is created that takes room. Whoever asks reports the answer with
`answered`, before the next one asks, so that no two decisions use the same room. Refused objects
wait on the agenda. `core.quotas.accounts` has the decisions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime

from headroom.core.headrooms.headrooms import Headroom
from headroom.core.holds import Hold
from headroom.core.index_entries import By, Entry
from headroom.core.names import API_VERSION
from headroom.core.objects import NO_LABELS, Namespace, Parent
from headroom.core.plan import Sequence, Work
from headroom.core.quotas import limits
from headroom.core.quotas.accounts import (
    QuotaRecord,
    age,
    decide,
    demand_of,
    had_room,
    in_force,
    instead_of,
    quota_entries,
)
from headroom.core.quotas.limits import (
    NAMESPACE_SELECTOR,
    Quota,
    QuotaDemand,
    QuotaRefusal,
    bounds,
)
from headroom.core.quotas.statuses import Account
from headroom.core.subjects import Awaited, Change, Subject
from headroom.engine.agenda import Agenda
from headroom.engine.indexes import Index
from headroom.engine.status_writer import StatusWriter, quota_subject

NEW = QuotaRecord()


class QuotaBook:
    """Quotas by name, and by object what it takes of them."""

    def __init__(self, agenda: Agenda, namespaces: Mapping[str, Namespace]) -> None:
        self._agenda = agenda
        self._namespaces = namespaces  # Their labels decide which quotas they are under.
        self._quotas: dict[str, Quota] = {}
        self._records: dict[str, QuotaRecord] = {}
        self._in_force: tuple[Quota, ...] = ()
        self._charged: dict[str, tuple[Parent, QuotaDemand]] = {}
        self._used: Index[str] = Index()  # of what is charged, by quota
        self._refused: dict[Subject, tuple[str, str]] = {}  # quota and sentence
        self._unseated: dict[str, Headroom] | None = {}  # None: we have begun

    def begin(self, now: datetime) -> None:
        """Seat what was there when we began, the oldest first: so were they seated before us."""
        orders, self._unseated = self._unseated or {}, None
        for order in sorted(orders.values(), key=age):
            if self.refusal(order, now) is None:
                self._charge(order)

    def see_quota(self, quota: Quota) -> None:
        """A quota is there, as given."""
        name = quota.parent.name
        before = self._quotas.get(name)
        if before is not None and before.parent.uid != quota.parent.uid:
            self.lose_quota(before.parent)
            before = None
        self._quotas[name] = quota
        if before is None or before.scope != quota.scope:
            self._recount(name)
        if before is None or _limits_otherwise(before, quota):
            self._records[name] = replace(self._records.get(name, NEW), turns_at=None)
            self._changed()
        self._agenda.touch(quota_subject(quota.parent))

    def lose_quota(self, parent: Parent) -> None:
        """A quota is gone: whoever waited for it may go on."""
        if self._quotas.pop(parent.name, None) is not None:
            self._records.pop(parent.name, None)
            self._recount(parent.name)
            self._wake(parent.name)
            self._changed()

    def relabelled(self) -> None:
        """Namespaces have other labels than before."""
        for name, quota in self._quotas.items():
            if quota.scope.kind == NAMESPACE_SELECTOR:
                self._recount(name)
                self._wake(name)

    def see_order(self, order: Headroom, now: datetime) -> None:
        """An object that wants slots is there: it takes a seat if there is one."""
        if order.parent.api_version == API_VERSION:
            return
        if order.deleted is not None:
            self.lose(order.parent)
        elif self._unseated is not None:
            self._unseated[str(order.parent)] = order
        elif self.refusal(order, now) is None:
            self._charge(order)

    def see_ticket(self, hold: Hold) -> None:
        """A slot is there: it counts once it stands, and no longer when its time is over."""
        if hold.status.phase == "Failed":
            self.lose(hold.parent)
        elif str(hold.parent) in self._charged or had_room(hold):
            self.stands(hold)

    def stands(self, hold: Hold) -> None:
        """Count a slot that has its room already, whatever the quotas say."""
        if hold.parent.api_version != API_VERSION:
            self._charge(hold)

    def lose(self, parent: Parent) -> None:
        """An object is gone, ended or was never made: what it took is free again."""
        if self._unseated is not None:
            self._unseated.pop(str(parent), None)
        if self._charged.pop(str(parent), None) is not None:
            self._count(str(parent))

    def refusal(self, wanted: Hold | Headroom, now: datetime) -> QuotaRefusal | None:
        """The first quota that has no room for what somebody wants, if there is one."""
        parent = wanted.parent
        if str(parent) in self._charged or parent.api_version == API_VERSION:
            return None
        demand = demand_of(wanted)
        for quota in self._in_force:
            counted = self._entries(quota, parent, demand)
            used = (self._used.total(by, value) for by, value, _ in counted)
            why = counted and limits.refusal(quota, bounds(quota, now), demand, *used)
            if why:
                return QuotaRefusal(quota.parent.name, str(why))
        return None

    def answered(
        self, wanted: Hold | Headroom, subject: Subject, refusal: QuotaRefusal | None
    ) -> None:
        """Count what is not refused; else `subject` is looked at again when there may be room."""
        if refusal is None:
            ours = wanted.parent.api_version == API_VERSION
            if not ours and str(wanted.parent) not in self._charged:
                self._charge(wanted)  # Who is charged already was not asked about a new size.
            return
        self._refused[subject] = (refusal.quota, f"{wanted.parent}: {refusal.why}")
        self._agenda.wait(subject, on=Awaited(Change.QUOTA, refusal.quota))
        self._touch(refusal.quota)

    def asks_anew(self, subject: Subject) -> None:
        """Somebody is looked at again: what it was refused before no longer counts."""
        name, _ = self._refused.pop(subject, ("", ""))
        if name:
            self._agenda.stop_waiting(subject, Awaited(Change.QUOTA, name))
            self._touch(name)

    def look(self, name: str, writer: StatusWriter, now: datetime) -> Iterator[Sequence]:
        """Have a quota's object show how it stands, and come back when a window turns."""
        if name not in self._quotas:
            return
        quota = writer.quota(self._quotas[name], now)
        subject = quota_subject(quota.parent)
        decision = decide(quota, self._records[name], self._account(name, now), now)
        self._records[name] = decision.record
        if decision.turned:
            self._wake(name)
        if decision.wake_at is not None:
            self._agenda.later(subject, decision.wake_at)
        if decision.status is not None:
            yield from writer.publish_quota(quota, decision.status, now)
        if decision.free is not None:
            yield Sequence(Work.QUOTA, (subject,), ((decision.free,),))

    def _account(self, name: str, now: datetime) -> Account:
        quota, refused = self._quotas[name], sorted(self._refused.items())
        shares = (share.namespace for share in quota.shares)
        return Account(
            bounds(quota, now),
            self._used.total(By.QUOTA, (name, "")),
            {each: self._used.total(By.QUOTA, (name, each)) for each in shares},
            tuple(sentence for _, (whose, sentence) in refused if whose == name),
            instead_of(quota, self._in_force),
        )

    def _charge(self, thing: Hold | Headroom) -> None:
        parent, charge = str(thing.parent), (thing.parent, demand_of(thing))
        if self._charged.get(parent) != charge:
            self._charged[parent] = charge
            self._count(parent)

    def _count(self, name: str) -> None:
        """Count an object under all quotas, in force or not; wake who waits for less of one."""
        counted: list[Entry] = []
        if name in self._charged:
            for quota in self._quotas.values():
                counted += self._entries(quota, *self._charged[name])
        before = self._used.entries(name)
        self._used.put(name, tuple(counted))
        for touched in dict.fromkeys(_quota_of(each) for each in (*before, *counted)):
            self._touch(touched)
        for freed in dict.fromkeys(map(_quota_of, before)):
            self._wake(freed)

    def _recount(self, name: str) -> None:
        """Count anew what is under one quota: it came, went or has another scope."""
        quota = self._quotas.get(name)
        for thing, charge in self._charged.items():
            others = (each for each in self._used.entries(thing) if _quota_of(each) != name)
            own = self._entries(quota, *charge) if quota is not None else ()
            self._used.put(thing, (*others, *own))

    def _entries(self, quota: Quota, parent: Parent, demand: QuotaDemand) -> tuple[Entry, ...]:
        known = self._namespaces.get(demand.namespace)
        labels = known.labels if known is not None else NO_LABELS
        return quota_entries(quota, parent, demand, labels)

    def _changed(self) -> None:
        """Quotas are not what they were: find out which are in force, and let everybody ask."""
        self._in_force = in_force(self._quotas.values())
        for name in self._quotas:
            self._wake(name)

    def _wake(self, name: str) -> None:
        """Let those who wait for a quota ask again."""
        self._touch(name)
        self._agenda.wake(Awaited(Change.QUOTA, name))

    def _touch(self, name: str) -> None:
        if name in self._quotas:
            self._agenda.touch(quota_subject(self._quotas[name].parent))


def _quota_of(entry: Entry) -> str:
    return str(entry.value[0]) if isinstance(entry.value, tuple) else ""


def _limits_otherwise(before: Quota, quota: Quota) -> bool:
    return (before.generation, before.deleted) != (quota.generation, quota.deleted)
