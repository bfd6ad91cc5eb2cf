"""What was last told of one kind, so that a fresh list can be told as a difference.

Between `begin` and `finish` a complete list is being read: what is unchanged is not told again, and
what is not on it by the end has gone. Outside, every change is told as it comes. Pure: `watch`
feeds it, and sends what it returns.
"""

from __future__ import annotations

from typing import assert_never

from headroom.core.demand.autoscalers import Autoscaler
from headroom.core.demand.quotaroom import ResourceQuota
from headroom.core.demand.volumes import NodeDrivers, StorageClass, Volume, VolumeClaim
from headroom.core.eviction.budgets import Budget
from headroom.core.holds import Hold
from headroom.core.objects import Key, Namespace, Node, Pod
from headroom.core.quotas.limits import Quota
from headroom.core.standing.headrooms import Headroom, Workload
from headroom.ports import (
    Event,
    Seen,
    Thing,
    gone,
)


class Mirror:
    """The things of one kind by name, as last told."""

    def __init__(self) -> None:
        self._known: dict[Key, Thing] = {}
        self._listed: set[Key] | None = None

    def __len__(self) -> int:
        return len(self._known)

    def keys(self) -> frozenset[Key]:
        """The names of all that is there, as last told."""
        return frozenset(self._known)

    @property
    def listing(self) -> bool:
        return self._listed is not None

    def begin(self) -> None:
        """A complete list starts (again)."""
        self._listed = set()

    def see(self, thing: Thing) -> list[Event]:
        """A thing is there, as given."""
        key = key_of(thing)
        known = self._known.get(key)
        self._known[key] = thing
        if self._listed is not None:
            self._listed.add(key)
            if known == thing:
                return []
        if known is not None and _uid_of(known) != _uid_of(thing):
            return [gone(known), Seen(thing)]  # Deleted and made anew while we did not look.
        return [Seen(thing)]

    def has(self, key: Key, uid: str, version: str) -> bool:
        """Whether a thing was told of just as it is in this version."""
        known = self._known.get(key)
        return known is not None and known.version == version and _uid_of(known) in ("", uid)

    def keep(self, key: Key) -> None:
        """A thing is there, and was not read (anew): whatever we knew of it stands."""
        if self._listed is not None:
            self._listed.add(key)

    def lose(self, key: Key) -> list[Event]:
        """A thing was deleted; nothing is told of what we never saw."""
        known = self._known.pop(key, None)
        if self._listed is not None:
            self._listed.discard(key)
        return [gone(known)] if known is not None else []

    def finish(self) -> list[Event]:
        """The list is complete: tell what has gone, in order of name."""
        listed = self._listed or set()
        self._listed = None
        missing = sorted(key for key in self._known if key not in listed)
        return [gone(self._known.pop(key)) for key in missing]


def key_of(thing: Thing) -> Key:
    """The name under which a thing is known."""
    if isinstance(thing, Node | Namespace):
        return Key("", thing.name)
    return thing.key


def _uid_of(thing: Thing) -> str:
    match thing:
        case Pod() | Node() | Workload():
            return thing.uid
        case VolumeClaim() | Volume() | StorageClass() | NodeDrivers():
            return thing.uid
        case ResourceQuota() | Budget() | Autoscaler():
            return thing.uid
        case Hold() | Headroom() | Quota():
            return thing.parent.uid
        case Namespace():
            return ""
        case _:
            assert_never(thing)
