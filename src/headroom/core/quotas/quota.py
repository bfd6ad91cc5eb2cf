"""A quota of a dialect: an object that limits what objects of its API group take together.

A dialect brings a class that inherits from `Quota`. It says what an object takes, whether more fits
and what the status says, each as a function of values. `engine.quotas` counts, remembers and asks.
A quota never takes existing room away: it only refuses new objects.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from headroom.core.actions import SetFinalizers, Tell
from headroom.core.headrooms.headrooms import Headroom
from headroom.core.holds import Hold, Problem
from headroom.core.index_entries import By, Entry
from headroom.core.names import API_VERSION
from headroom.core.objects import Key, Parent, no_labels
from headroom.core.resources import EMPTY, Resources

_LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Demand:
    """What a quota may count of an object: a slot, or one that wants slots (without `requests`).

    `duration` is how long a slot lasts; None is for ever.
    """

    parent: Parent
    labels: Mapping[str, str] = field(default_factory=no_labels)
    requests: Resources | None = None
    duration: timedelta | None = None


@dataclass(frozen=True, slots=True)
class Account:
    """The usage of a quota, in total and by namespace, and which objects wait.

    `waiting` are sentences, one for each that was refused. `instead` is the quota that is in force
    in its place, where there may be only one.
    """

    used: Resources = EMPTY
    used_by: Mapping[str, Resources] = field(default_factory=dict)
    waiting: tuple[str, ...] = ()
    instead: str = ""


@dataclass(frozen=True, slots=True)
class QuotaDecision:
    """What a quota's object needs, and what is to be remembered of it (`memory`).

    `turned`: other limits apply than before, so waiting objects ask again.
    """

    memory: object
    status: Any = None
    free: SetFinalizers | None = None
    wake_at: datetime | None = None
    turned: bool = False


@dataclass(frozen=True, slots=True)
class Quota(ABC):
    """What all quotas have. `problems` keep one out of force; `status` is the dialect's own."""

    parent: Parent
    created: datetime | None = None
    deleted: datetime | None = None
    generation: int = 1
    version: str = ""
    problems: tuple[Problem, ...] = ()
    status: Any = None

    @property
    def key(self) -> Key:
        return Key(self.parent.namespace, self.parent.name)

    # What it depends on.
    @property
    def exclusive(self) -> str:
        """Of several with the same word only the oldest is in force; empty: all are."""
        return ""

    @property
    def by_namespace(self) -> bool:
        """Whether the labels of namespaces decide what it counts."""
        return False

    @property
    def namespaces(self) -> tuple[str, ...]:
        """The namespaces whose usage it has to know by itself."""
        return ()

    # What it counts, and what it answers.
    @abstractmethod
    def amounts(self, demand: Demand, labels: Mapping[str, str]) -> Resources | None:
        """What an object takes in a namespace with these labels; None: it is not counted."""

    @abstractmethod
    def refusal(self, demand: Demand, used: Resources, there: Resources, now: datetime) -> str:
        """Why there is no room for an object beside what is used, in all and in its namespace."""

    # What its object says.
    @abstractmethod
    def decide(self, memory: object, account: Account, now: datetime) -> QuotaDecision:
        """What the object needs; `memory` is that of the last decision, None at first."""

    @abstractmethod
    def status_events(self, status: Any, now: datetime) -> tuple[Tell, ...]:
        """The events about the change to this status."""


def in_force(quotas: Iterable[Quota]) -> tuple[Quota, ...]:
    """The quotas that limit anything, by name."""
    sound = [each for each in quotas if not each.problems and each.deleted is None]
    oldest: dict[str, Quota] = {}
    for each in sorted(sound, key=age):
        oldest.setdefault(each.exclusive, each)
    counting = (each for each in sound if not each.exclusive or each is oldest[each.exclusive])
    return tuple(sorted(counting, key=lambda each: each.parent.name))


def instead_of(quota: Quota, limiting: Iterable[Quota]) -> str:
    """The name of the quota that is in force in the place of this one, if there is one."""
    if quota.problems or quota.deleted is not None or not quota.exclusive:
        return ""
    oldest = next(each.parent.name for each in limiting if each.exclusive == quota.exclusive)
    return oldest if oldest != quota.parent.name else ""


def quota_entries(quota: Quota, demand: Demand, labels: Mapping[str, str]) -> tuple[Entry, ...]:
    """Where an object counts under a quota: in all, and in its namespace, which has these labels.

    A quota counts objects of its own API group.
    """
    if quota.parent.api_version != demand.parent.api_version:
        return ()
    amounts = quota.amounts(demand, labels)
    if amounts is None:
        return ()
    places = ((quota.parent.name, ""), (quota.parent.name, demand.parent.namespace))
    return tuple(Entry(By.QUOTA, each, amounts) for each in places)


def demand_of(wanted: Hold | Headroom) -> Demand | None:
    """What quotas may count of an object; None: it is of our own API group, which has none."""
    if wanted.parent.api_version == API_VERSION:
        return None
    if isinstance(wanted, Headroom):
        return Demand(wanted.parent, wanted.labels)
    duration = wanted.tenure.duration if wanted.tenure is not None else wanted.ttl
    return Demand(wanted.parent, wanted.labels, wanted.template.pod.requests, duration)


def had_room(hold: Hold) -> bool:
    """Whether a slot had room before, as its object says: it was created for one, or has begun."""
    told = hold.status.chronicle
    begun = told is not None and told.activated is not None
    return hold.member is not None or begun or hold.status.phase in ("Available", "Succeeded")


def age(thing: Headroom | Quota) -> tuple[datetime, str, str]:
    """By this the oldest is found, among objects that are as old by name."""
    return thing.created or _LONG_AGO, thing.parent.namespace, thing.parent.name
