"""The last known objects of one kind, so that a new list becomes a difference.

Between `begin` and `finish` a complete list is read: unchanged objects are not reported again, and
objects that are not in the list were deleted. At other times every change is reported. Changes may
be watched beside a list that is read in pages: a change is newer than the list, so what a page says
about that object is ignored. Pure: `watch` passes objects in, and sends what it returns.
"""

from __future__ import annotations

from headroom.core.headrooms.headrooms import Headroom
from headroom.core.holds import Hold
from headroom.core.objects import Key, Namespace, Node, Pod
from headroom.core.quotas.quota import Quota
from headroom.ports import Event, Lost, Seen, Thing


class KnownObjects:
    """The objects of one kind by name, as last reported."""

    def __init__(self) -> None:
        self._known: dict[Key, Thing] = {}
        self._listed: set[Key] | None = None
        self._changed: set[Key] = set()  # since the list began

    def __len__(self) -> int:
        return len(self._known)

    def keys(self) -> frozenset[Key]:
        """The names of all known objects."""
        return frozenset(self._known)

    @property
    def listing(self) -> bool:
        return self._listed is not None

    def begin(self) -> None:
        """A complete list starts (again)."""
        self._listed = set()
        self._changed = set()

    def update(self, thing: Thing) -> list[Event]:
        """An object exists in this version."""
        key = key_of(thing)
        known = self._known.get(key)
        self._known[key] = thing
        if self._listed is not None:
            self._listed.add(key)
            self._changed.add(key)
            if known == thing:
                return []
        if known is not None and _uid_of(known) != _uid_of(thing):
            return [Lost(known), Seen(thing)]  # Deleted and created again between two events.
        return [Seen(thing)]

    def is_outdated(self, key: Key) -> bool:
        """Whether a page of the list is older than what was seen of this object since."""
        return key in self._changed

    def has(self, key: Key) -> bool:
        """Whether an object of this name was reported."""
        return key in self._known

    def has_version(self, key: Key, uid: str, version: str) -> bool:
        """Whether this version of an object was already reported."""
        known = self._known.get(key)
        return known is not None and known.version == version and _uid_of(known) in ("", uid)

    def mark_listed(self, key: Key) -> None:
        """An object exists and was not decoded (again): its known value stays valid."""
        if self._listed is not None:
            self._listed.add(key)

    def remove(self, key: Key) -> list[Event]:
        """An object was deleted; nothing is reported for an unknown object."""
        known = self._known.pop(key, None)
        if self._listed is not None:
            self._listed.discard(key)
            self._changed.add(key)
        return [Lost(known)] if known is not None else []

    def finish(self) -> list[Event]:
        """The list is complete: report deleted objects, in order of name."""
        listed = self._listed or set()
        self._listed = None
        self._changed = set()
        missing = sorted(key for key in self._known if key not in listed)
        return [Lost(self._known.pop(key)) for key in missing]


def key_of(thing: Thing) -> Key:
    """The name under which an object is known."""
    if isinstance(thing, Node | Namespace):
        return Key("", thing.name)
    return thing.key


def _uid_of(thing: Thing) -> str:
    match thing:
        case Pod():  # Most objects are pods.
            return thing.uid
        case Hold() | Headroom() | Quota():
            return thing.parent.uid
        case Namespace():
            return ""
        case _:
            return thing.uid
