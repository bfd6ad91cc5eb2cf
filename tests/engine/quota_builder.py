"""Quotas, orders and tickets for tests in one short line each, and a desk that keeps the books."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from headroom.core.actions import Action, WriteQuotaStatus
from headroom.core.headrooms.headrooms import Headroom, Slot
from headroom.core.holds import Hold, HoldStatus, PodTemplate
from headroom.core.objects import Condition, Namespace, Parent
from headroom.core.policy import Policy
from headroom.core.quotas.limits import Ceiling, Quota, QuotaStatus, Scope
from headroom.core.sizes.replicas import NOTHING
from headroom.core.subjects import Topic, hold_subject
from headroom.core.tickets.values import Tenure
from headroom.engine.agenda import Agenda
from headroom.engine.doors.book import DoorBook
from headroom.engine.ledger import Ledger
from headroom.engine.quotas import QuotaBook
from headroom.engine.status_writer import StatusWriter, quota_subject
from tests.builders import NOON, Amount, pod

VERSION = "core.korder.dev/v1alpha1"
HOUR = timedelta(hours=1)


def quota(name: str = "team", scope: Scope | None = None, **parts: Any) -> Quota:
    """A quota for the cluster; `cpu=10` is reserved.cpu in cores, `orders` and `tickets` counts."""
    amounts: dict[str, int] = {
        each: parts.pop(each) for each in ("orders", "tickets") if each in parts
    }
    if "cpu" in parts:
        amounts["reserved.cpu"] = parts.pop("cpu") * 1000
    return Quota(
        Parent(VERSION, "Quota", "", name, uid=parts.pop("uid", f"uid-of-{name}")),
        scope=scope or Scope(),
        hard=Ceiling(amounts, parts.pop("longest", None)),
        created=parts.pop("created", NOON),
        **parts,
    )


def ticket(name: str, cpu: Amount | None = 2, namespace: str = "shop", **parts: Any) -> Hold:
    """A ticket of two cores for an hour."""
    more = parts.pop("more", {})
    duration = parts.pop("duration", HOUR)
    return Hold(
        Parent(parts.pop("version", VERSION), "Ticket", namespace, name, uid=f"uid-of-{name}"),
        PodTemplate(pod("", cpu, namespace=namespace, more=more)),
        created=NOON,
        tenure=Tenure(duration) if duration is not None else None,
        status=HoldStatus(phase=parts.pop("phase", "")),
        **parts,
    )


def order(name: str, namespace: str = "shop", **parts: Any) -> Headroom:
    return Headroom(
        Parent(parts.pop("version", VERSION), "Order", namespace, name, uid=f"uid-of-{name}"),
        Slot(),
        NOTHING,
        created=parts.pop("created", NOON),
        **parts,
    )


class Desk:
    """The book of quotas, an agenda, and a moment; statuses are taken as they are written."""

    def __init__(self, *quotas: Quota) -> None:
        self.agenda = Agenda()
        ledger = Ledger(Policy(), self.agenda)
        self.writer = StatusWriter(ledger, DoorBook(ledger))
        self.namespaces: dict[str, Namespace] = {}
        self.book = QuotaBook(self.agenda, self.namespaces)
        self.now = NOON
        self._shown: dict[str, QuotaStatus] = {}
        for each in quotas:
            self.book.see_quota(each)

    def wants(self, *things: Hold | Headroom) -> list[bool]:
        """Who of these gets room, asked for in turn."""
        return [self.why(thing) is None for thing in things]

    def why(self, thing: Hold | Headroom) -> str | None:
        """Why there is no room for a thing, or None."""
        subject = hold_subject(thing.parent)
        self.book.begin(self.now)
        self.book.asks_anew(subject)
        refusal = self.book.refusal(thing, self.now)
        self.book.answered(thing, subject, refusal)
        return refusal.why if refusal is not None else None

    def label(self, namespace: str, labels: Mapping[str, str]) -> None:
        self.namespaces[namespace] = Namespace(namespace, labels)
        self.book.relabelled()

    def actions(self, name: str = "team") -> list[Action]:
        """What a quota has us write now."""
        sequences = self.book.look(name, self.writer, self.now)
        return [action for each in sequences for step in each.steps for action in step]

    def status(self, name: str = "team") -> QuotaStatus:
        """What a quota's object shows once all has been written; a while passes."""
        self.now += timedelta(seconds=2)
        for action in self.actions(name):
            if isinstance(action, WriteQuotaStatus):
                self.take(action)
        self.now += timedelta(seconds=2)
        assert [each for each in self.actions(name) if isinstance(each, WriteQuotaStatus)] == []
        return self._shown[name]

    def see(self, quota: Quota) -> None:
        """The watch shows a quota."""
        self.writer.note(quota_subject(quota.parent), quota.parent.uid, quota.status)
        self.book.see_quota(quota)

    def take(self, action: WriteQuotaStatus) -> None:
        """Take a status as the API server does, and show it."""
        self._shown[action.parent.name] = action.status
        shown = self.book._quotas[action.parent.name]
        self.see(replace(shown, status=action.status))
        self.writer.done(action, self.now)

    def condition(self, kind: str, name: str = "team") -> Condition:
        (found,) = [each for each in self.status(name).conditions if each.type == kind]
        return found

    def used(self, name: str = "team") -> dict[str, int]:
        return dict(self.status(name).used)

    def woken(self, now: datetime | None = None) -> list[str]:
        """Who is to be looked at, quotas left out."""
        due = self.agenda.take(now or self.now)
        return [str(each) for each in due if each.topic is not Topic.QUOTA]
