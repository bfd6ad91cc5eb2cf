"""Quotas of dialects: what counts under each, and which objects wait for room.

`refusal` is asked before anything is created that takes room. Whoever asks reports the answer with
`answered`, before the next one asks, so that no two decisions use the same room. Refused objects
wait on the agenda. The rules are those of the quota itself (`core.quotas.quota`); the ledger keeps
the quotas, what is charged, and its total by quota.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from headroom.core.headrooms.headrooms import Headroom
from headroom.core.holds import Hold
from headroom.core.index_entries import By, Entry
from headroom.core.objects import NO_LABELS, Parent
from headroom.core.plan import Sequence, Work
from headroom.core.quotas.quota import (
    Account,
    Demand,
    Quota,
    age,
    demand_of,
    had_room,
    in_force,
    instead_of,
    quota_entries,
)
from headroom.core.quotas.refusals import QuotaRefusal
from headroom.core.subjects import Awaited, Change, Subject
from headroom.engine.ledger import Ledger
from headroom.engine.status_writer import StatusWriter, quota_subject


def begin(ledger: Ledger, now: datetime) -> None:
    """Count the objects from before the start, the oldest first, as they were counted before."""
    for headroom in sorted(ledger.slots.headrooms.values(), key=age):
        _seat(ledger, headroom, now)


def see_quota(ledger: Ledger, quota: Quota) -> None:
    """A quota was created or has changed."""
    name = quota.parent.name
    before = ledger.quotas.objects.get(name)
    if before is not None and before.parent.uid != quota.parent.uid:
        lose_quota(ledger, before.parent)
        before = None
    ledger.quotas.objects[name] = quota
    if before is None or _limits_otherwise(before, quota):
        _recount(ledger, name)
        _wake_all(ledger)
    ledger.agenda.touch(quota_subject(quota.parent))


def lose_quota(ledger: Ledger, parent: Parent) -> None:
    """A quota is gone: objects that waited for it may continue."""
    if ledger.quotas.objects.pop(parent.name, None) is not None:
        ledger.quotas.memory.pop(parent.name, None)
        _recount(ledger, parent.name)
        _wake(ledger, parent.name)
        _wake_all(ledger)


def relabelled(ledger: Ledger) -> None:
    """Namespaces have other labels than before."""
    for name, quota in ledger.quotas.objects.items():
        if quota.by_namespace:
            _recount(ledger, name)
            _wake(ledger, name)


def see_headroom(ledger: Ledger, headroom: Headroom, now: datetime) -> None:
    """An object that wants slots was observed: after the start, count it if the quota has room."""
    if headroom.deleted is not None:
        lose(ledger, headroom.parent)
    elif ledger.began:
        _seat(ledger, headroom, now)


def see_hold(ledger: Ledger, hold: Hold) -> None:
    """A slot was observed: it counts from when it is held until it has expired."""
    if hold.status.phase == "Failed":
        lose(ledger, hold.parent)
    elif hold.parent.identity in ledger.quotas.charges or had_room(hold):
        stands(ledger, hold)


def stands(ledger: Ledger, thing: Hold | Headroom) -> None:
    """Count an object that already has its room, even above the quotas."""
    demand = demand_of(thing)
    if demand is not None:
        _charge(ledger, demand)


def lose(ledger: Ledger, parent: Parent) -> None:
    """An object is gone, has ended or was never created: it no longer counts."""
    if ledger.quotas.charges.pop(parent.identity, None) is not None:
        _count(ledger, parent.identity)


def refusal(ledger: Ledger, wanted: Hold | Headroom, now: datetime) -> QuotaRefusal | None:
    """The first quota that has no room for an object, if there is one."""
    if not ledger.quotas.objects or wanted.parent.identity in ledger.quotas.charges:
        return None
    demand = demand_of(wanted)
    if demand is None:
        return None
    for quota in in_force(ledger.quotas.objects.values()):
        counted = _entries(ledger, quota, demand)
        if counted:
            used, there = (ledger.quotas.charged.total(by, value) for by, value, _ in counted)
            why = quota.refusal(demand, used, there, now)
            if why:
                return QuotaRefusal(quota.parent.name, why)
    return None


def answered(
    ledger: Ledger, wanted: Hold | Headroom, subject: Subject, refusal: QuotaRefusal | None
) -> None:
    """Count an object that was not refused; else decide `subject` again when there may be room."""
    if refusal is None:
        demand = demand_of(wanted)
        if demand is not None and demand.parent.identity not in ledger.quotas.charges:
            _charge(ledger, demand)  # Who is charged already was not asked about a new size.
        return
    sentence = f"{wanted.parent}: {refusal.why}"
    ledger.quotas.refusals[subject] = QuotaRefusal(refusal.quota, sentence)
    ledger.agenda.wait(subject, on=Awaited(Change.QUOTA, refusal.quota))
    _touch(ledger, refusal.quota)


def asks_anew(ledger: Ledger, subject: Subject) -> None:
    """A subject is decided again: drop its former refusal."""
    before = ledger.quotas.refusals.pop(subject, None)
    if before is not None:
        ledger.agenda.stop_waiting(subject, Awaited(Change.QUOTA, before.quota))
        _touch(ledger, before.quota)


def look(ledger: Ledger, name: str, writer: StatusWriter, now: datetime) -> Iterator[Sequence]:
    """Write the status of a quota, and set a timer for when its limits may change."""
    if name not in ledger.quotas.objects:
        return
    quota = ledger.quotas.objects[name]
    subject = quota_subject(quota.parent)
    quota = writer.as_written(quota, subject, now)
    decision = quota.decide(ledger.quotas.memory[name], _account(ledger, name), now)
    ledger.quotas.memory[name] = decision.memory
    if decision.turned:
        _wake(ledger, name)
    if decision.wake_at is not None:
        ledger.agenda.later(subject, decision.wake_at)
    if decision.status is not None:
        yield from writer.publish_quota(quota, decision.status, now)
    if decision.free is not None:
        yield Sequence(Work.QUOTA, (subject,), ((decision.free,),))


def _seat(ledger: Ledger, headroom: Headroom, now: datetime) -> None:
    if headroom.deleted is None and refusal(ledger, headroom, now) is None:
        stands(ledger, headroom)


def _account(ledger: Ledger, name: str) -> Account:
    quota, refused = ledger.quotas.objects[name], sorted(ledger.quotas.refusals.items())
    return Account(
        ledger.quotas.charged.total(By.QUOTA, (name, "")),
        {each: ledger.quotas.charged.total(By.QUOTA, (name, each)) for each in quota.namespaces},
        tuple(sentence for _, (whose, sentence) in refused if whose == name),
        instead_of(quota, in_force(ledger.quotas.objects.values())),
    )


def _charge(ledger: Ledger, demand: Demand) -> None:
    name = demand.parent.identity
    if ledger.quotas.charges.get(name) != demand:
        ledger.quotas.charges[name] = demand
        _count(ledger, name)


def _count(ledger: Ledger, name: str) -> None:
    """Count an object under all quotas, in force or not; wake subjects that wait for room."""
    counted: list[Entry] = []
    if name in ledger.quotas.charges:
        for quota in ledger.quotas.objects.values():
            counted += _entries(ledger, quota, ledger.quotas.charges[name])
    before = ledger.quotas.charged.entries(name)
    ledger.quotas.charged.put(name, tuple(counted))
    for touched in dict.fromkeys(_quota_of(each) for each in (*before, *counted)):
        _touch(ledger, touched)
    for freed in dict.fromkeys(map(_quota_of, before)):
        _wake(ledger, freed)


def _recount(ledger: Ledger, name: str) -> None:
    """Count all objects under one quota again: it was created, changed or deleted."""
    quota = ledger.quotas.objects.get(name)
    for thing, demand in ledger.quotas.charges.items():
        others = (each for each in ledger.quotas.charged.entries(thing) if _quota_of(each) != name)
        own = _entries(ledger, quota, demand) if quota is not None else ()
        ledger.quotas.charged.put(thing, (*others, *own))


def _entries(ledger: Ledger, quota: Quota, demand: Demand) -> tuple[Entry, ...]:
    known = ledger.namespaces.get(demand.parent.namespace)
    return quota_entries(quota, demand, known.labels if known is not None else NO_LABELS)


def _wake_all(ledger: Ledger) -> None:
    """Quotas have changed: others may be in force, so every waiting subject asks again."""
    for name in ledger.quotas.objects:
        _wake(ledger, name)


def _wake(ledger: Ledger, name: str) -> None:
    """Decide the subjects again that wait for a quota."""
    _touch(ledger, name)
    ledger.agenda.wake(Awaited(Change.QUOTA, name))


def _touch(ledger: Ledger, name: str) -> None:
    if name in ledger.quotas.objects:
        ledger.agenda.touch(quota_subject(ledger.quotas.objects[name].parent))


def _quota_of(entry: Entry) -> str:
    return str(entry.value[0]) if isinstance(entry.value, tuple) else ""


def _limits_otherwise(before: Quota, quota: Quota) -> bool:
    return (before.generation, before.deleted) != (quota.generation, quota.deleted)
