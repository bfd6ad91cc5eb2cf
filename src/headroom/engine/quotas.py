"""All quotas: what counts under each, which objects wait for room, and the status of each.

The engine reports quotas, namespaces and counted objects to this module, and asks it before it
creates anything that takes room. `room_for` answers and, if the answer is yes, counts it at once,
so that no two decisions use the same room. Refused objects are checked again when room appears. A
quota counts objects of its own API group; `core.quotas` has the arithmetic.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta

from headroom.core.actions import SetFinalizers
from headroom.core.headrooms.headrooms import Headroom
from headroom.core.holds import Hold
from headroom.core.names import API_VERSION
from headroom.core.objects import NO_LABELS, Namespace, Parent
from headroom.core.plan import Sequence, Work
from headroom.core.quotas.limits import (
    CLUSTER,
    NAMESPACE_SELECTOR,
    Quota,
    QuotaDemand,
    applies,
    order_demand,
    ticket_demand,
)
from headroom.core.quotas.statuses import status_of
from headroom.core.subjects import Subject
from headroom.engine.agenda import Agenda
from headroom.engine.quota_state import Page
from headroom.engine.status_writer import StatusWriter, quota_subject

FREED_AGAIN = timedelta(seconds=1)  # The watch has shown by then that a finalizer is gone.
_LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)


class QuotaBook:
    """Knows, for every quota, what is used of it; says who may have more."""

    def __init__(self, agenda: Agenda) -> None:
        self._agenda = agenda
        self._pages: dict[str, Page] = {}
        self._in_force: tuple[Page, ...] = ()
        self._namespaces: dict[str, Mapping[str, str]] = {}
        self._orders: dict[str, Headroom] = {}
        self._charged: dict[str, tuple[Parent, QuotaDemand]] = {}
        self._seated = False

    def see_quota(self, quota: Quota) -> None:
        """A quota is there, as given."""
        page = self._pages.get(quota.parent.name)
        if page is None or page.quota.parent.uid != quota.parent.uid:
            self._pages[quota.parent.name] = Page(quota)
            self._changed()
        elif page.change(quota):
            self._changed()
        self._agenda.touch(quota_subject(quota.parent))

    def lose_quota(self, parent: Parent) -> None:
        """A quota is gone: whoever waited for it may go on."""
        page = self._pages.pop(parent.name, None)
        if page is not None:
            self._wake(page)
            self._changed()

    def see_namespace(self, namespace: Namespace) -> None:
        """A namespace is there; its labels decide which quotas it is under."""
        self._relabel(namespace.name, namespace.labels)

    def lose_namespace(self, name: str) -> None:
        self._relabel(name, NO_LABELS)
        self._namespaces.pop(name, None)

    def see_order(self, order: Headroom, now: datetime) -> None:
        """An object that wants slots is there: it takes a seat if there is one."""
        if order.parent.api_version == API_VERSION:
            return
        if order.deleted is not None:
            self.lose(order.parent)
            return
        self._orders[str(order.parent)] = order
        if str(order.parent) in self._charged:
            self._charge(order.parent, _demand(order))
        elif self._seated:
            self._admit(order, now)

    def see_ticket(self, hold: Hold) -> None:
        """A slot is there: it counts once it stands, and no longer when its time is over."""
        if hold.parent.api_version == API_VERSION:
            return
        if hold.status.phase == "Failed":
            self.lose(hold.parent)
        elif str(hold.parent) in self._charged or _stands(hold):
            self.stands(hold)

    def stands(self, hold: Hold) -> None:
        """Count a slot that has its room already, whatever the quotas say."""
        if hold.parent.api_version != API_VERSION:
            self._charge(hold.parent, _demand(hold))

    def lose(self, parent: Parent) -> None:
        """An object is gone, ended or was never made: what it took is free again."""
        self._orders.pop(str(parent), None)
        charge = self._charged.pop(str(parent), None)
        if charge is None:
            return
        for page in self._under(*charge):
            page.take(charge[1])
            self._wake(page)

    def asks_anew(self, subject: Subject) -> None:
        """Somebody is looked at again: what it was refused before no longer counts."""
        for page in self._pages.values():
            if page.waiting.pop(subject, None) is not None:
                self._agenda.touch(quota_subject(page.quota.parent))

    def room_for(self, wanted: Hold | Headroom, subject: Subject, now: datetime) -> str | None:
        """Count what somebody wants, or say in a sentence which quota has no room for it.

        `subject` is who is looked at again when there is room.
        """
        if str(wanted.parent) in self._charged or wanted.parent.api_version == API_VERSION:
            return None
        self._seat_all(now)
        refused = self._admit(wanted, now)
        if refused is None:
            return None
        page, why = refused
        page.waiting[subject] = f"{wanted.parent}: {why}"
        page.woken = False
        self._agenda.touch(quota_subject(page.quota.parent))
        return why

    def look(self, name: str, writer: StatusWriter, now: datetime) -> Iterator[Sequence]:
        """Have a quota's object show how it stands, and come back when a window turns."""
        page = self._pages.get(name)
        if page is None:
            return
        self._seat_all(now)
        page.woken = False
        subject = quota_subject(page.quota.parent)
        if page.turned(now):
            self._wake(page)
        if page.next_turn is not None:
            self._agenda.later(subject, page.next_turn)
        quota = writer.quota(page.quota, now)
        if quota.freed is None:
            self._settle(page)
            status = status_of(quota, page.account(now, self._instead_of(page)), now)
            yield from writer.publish_quota(quota, status, now)
        elif page.freed_at is not None and now < page.freed_at + FREED_AGAIN:
            self._agenda.later(subject, page.freed_at + FREED_AGAIN)
        else:
            page.freed_at = now
            free = SetFinalizers(quota.parent, quota.version, quota.freed)
            yield Sequence(Work.QUOTA, (subject,), ((free,),))

    def _seat_all(self, now: datetime) -> None:
        """Seat what was there when we began, the oldest first: so were they seated before us."""
        if self._seated:
            return
        self._seated = True
        for order in sorted(self._orders.values(), key=_age):
            self._admit(order, now)

    def _admit(self, wanted: Hold | Headroom, now: datetime) -> tuple[Page, str] | None:
        """Count a demand under all quotas, or say which of them refuses it and why."""
        demand = _demand(wanted)
        for page in self._in_force:
            if not self._applies(page, wanted.parent, demand):
                continue
            self._settle(page)
            why = page.refusal(demand, now)
            if why is not None:
                return page, str(why)
        self._charge(wanted.parent, demand)
        return None

    def _charge(self, parent: Parent, demand: QuotaDemand) -> None:
        before = self._charged.get(str(parent))
        if before is not None and before[1] == demand:
            return
        if before is not None:
            for page in self._under(*before):
                page.take(demand=before[1])
                self._wake(page)
        self._charged[str(parent)] = (parent, demand)
        for page in self._under(parent, demand):
            page.add(demand)
            self._agenda.touch(quota_subject(page.quota.parent))

    def _under(self, parent: Parent, demand: QuotaDemand) -> list[Page]:
        """The quotas that a demand counts under, in force or not."""
        return [page for page in self._pages.values() if self._applies(page, parent, demand)]

    def _applies(self, page: Page, parent: Parent, demand: QuotaDemand) -> bool:
        if page.quota.parent.api_version != parent.api_version:
            return False
        labels = self._namespaces.get(demand.namespace, NO_LABELS)
        return applies(page.quota.scope, demand, labels)

    def _settle(self, page: Page) -> None:
        """Count anew what a page no longer knows."""
        if not page.stale:
            return
        page.clear()
        for parent, demand in self._charged.values():
            if self._applies(page, parent, demand):
                page.add(demand)

    def _relabel(self, namespace: str, labels: Mapping[str, str]) -> None:
        if self._namespaces.get(namespace, NO_LABELS) == labels:
            return
        self._namespaces[namespace] = labels
        for page in self._pages.values():
            if page.quota.scope.kind == NAMESPACE_SELECTOR:
                page.stale = True
                self._wake(page)

    def _changed(self) -> None:
        """Quotas are not what they were: find out which are in force, and let everybody ask."""
        sound = [page for page in self._pages.values() if page.sound]
        sound.sort(key=lambda page: page.quota.parent.name)
        self._in_force = tuple(page for page in sound if page is self._first(page, sound))
        for page in self._pages.values():
            self._wake(page)

    def _first(self, page: Page, sound: list[Page]) -> Page:
        """The quota that is in force where there may be only one: the oldest for the cluster."""
        if page.quota.scope.kind != CLUSTER:
            return page
        rivals = (other for other in sound if other.quota.scope.kind == CLUSTER)
        return min(rivals, key=lambda other: _age(other.quota))

    def _instead_of(self, page: Page) -> str:
        """The name of the quota that is in force in the place of this one, if there is one."""
        if not page.sound or page in self._in_force:
            return ""
        return self._first(page, list(self._in_force)).quota.parent.name

    def _wake(self, page: Page) -> None:
        """Let those who wait for a quota ask again; once a plan is enough."""
        self._agenda.touch(quota_subject(page.quota.parent))
        if not page.woken:
            page.woken = True
            for subject in page.waiting:
                self._agenda.touch(subject)


def _age(thing: Headroom | Quota) -> tuple[datetime, str, str]:
    return thing.created or _LONG_AGO, thing.parent.namespace, thing.parent.name


def _stands(hold: Hold) -> bool:
    """Whether an object says that its slot had room once: it was made for one, or has begun."""
    told = hold.status.chronicle
    begun = told is not None and told.activated is not None
    return hold.member is not None or begun or hold.status.phase in ("Available", "Succeeded")


def _demand(wanted: Hold | Headroom) -> QuotaDemand:
    if isinstance(wanted, Headroom):
        return order_demand(wanted.parent.namespace, wanted.labels)
    duration = wanted.tenure.duration if wanted.tenure is not None else wanted.ttl
    requests = wanted.template.pod.requests
    return ticket_demand(wanted.parent.namespace, wanted.labels, requests, duration)
