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
from headroom.core.quotas.quota import Quota
from headroom.core.sizes.replicas import NOTHING
from headroom.core.subjects import Topic, hold_subject
from headroom.dialects.korder.rules.limits import Ceiling, QuotaStatus, Scope
from headroom.dialects.korder.rules.quota import KorderQuota
from headroom.dialects.korder.rules.tenure import TicketTenure
from headroom.engine import quotas
from headroom.engine.agenda import Agenda
from headroom.engine.ledger import Ledger
from headroom.engine.status_writer import StatusWriter, quota_subject
from tests.builders import NOON, Amount, pod

VERSION = "core.korder.dev/v1alpha1"
HOUR = timedelta(hours=1)


def quota(name: str = "team", scope: Scope | None = None, **parts: Any) -> KorderQuota:
    """A quota for the cluster; `cpu=10` is reserved.cpu in cores, `orders` and `tickets` counts."""
    amounts: dict[str, int] = {
        each: parts.pop(each) for each in ("orders", "tickets") if each in parts
    }
    if "cpu" in parts:
        amounts["reserved.cpu"] = parts.pop("cpu") * 1000
    return KorderQuota(
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
        tenure=TicketTenure(duration) if duration is not None else None,
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
    """A ledger with quotas, and a moment; statuses are taken as they are written."""

    def __init__(self, *seen: KorderQuota) -> None:
        self.agenda = Agenda()
        self.ledger = Ledger(Policy(), self.agenda)
        self.writer = StatusWriter(self.ledger)
        self.namespaces = self.ledger.namespaces
        self.now = NOON
        self._shown: dict[str, QuotaStatus] = {}
        for each in seen:
            quotas.see_quota(self.ledger, each)

    def wants(self, *things: Hold | Headroom) -> list[bool]:
        """Who of these gets room, asked for in turn."""
        return [self.why(thing) is None for thing in things]

    def why(self, thing: Hold | Headroom) -> str | None:
        """Why there is no room for a thing, or None."""
        subject = hold_subject(thing.parent)
        if not self.ledger.began:
            self.ledger.began = True
            quotas.begin(self.ledger, self.now)
        quotas.asks_anew(self.ledger, subject)
        refusal = quotas.refusal(self.ledger, thing, self.now)
        quotas.answered(self.ledger, thing, subject, refusal)
        return refusal.why if refusal is not None else None

    def label(self, namespace: str, labels: Mapping[str, str]) -> None:
        self.namespaces[namespace] = Namespace(namespace, labels)
        quotas.relabelled(self.ledger)

    def order(self, headroom: Headroom) -> None:
        """The watch shows an object that wants slots."""
        self.ledger.slots.headrooms[headroom.parent.whole] = headroom
        quotas.see_headroom(self.ledger, headroom, self.now)

    def actions(self, name: str = "team") -> list[Action]:
        """What a quota has us write now."""
        sequences = quotas.look(self.ledger, name, self.writer, self.now)
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
        quotas.see_quota(self.ledger, quota)

    def take(self, action: WriteQuotaStatus) -> None:
        """Take a status as the API server does, and show it."""
        self._shown[action.parent.name] = action.status
        shown = self.ledger.quotas.objects[action.parent.name]
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
