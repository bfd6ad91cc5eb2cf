"""The storage of the embedded cluster: objects, versions, uids, names and listeners.

It only stores. `server` decides what may be stored; a `feed` decides when a listener receives a
change. Everything is deterministic: uids and name suffixes come from the seed, and lists are in
order of creation.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import Enum
from random import Random
from types import MappingProxyType
from typing import Any

from headroom.core.objects import Node, Pod
from headroom.ports import Thing
from headroom.sim.api.registry import Registry
from headroom.sim.api.values import Json, Ref, Stored, dig, ref_of, uid_of
from headroom.wire.objects.podsagain import born, pod_updated, pod_with
from headroom.wire.times import format_time

SUFFIX_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"


COMING, GOING, META, SPEC, STATUS = 1, 2, 4, 8, 16
"""The parts of an object that a change can concern. A listener says which parts it needs.

COMING is a new object, GOING a removed one.
"""

SERVER_FIELDS = (
    "uid",
    "creationTimestamp",
    "resourceVersion",
    "generation",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
)
"""Fields of the metadata that only the API server writes."""

_LAST_FIELDS = ("labels", "annotations", *SERVER_FIELDS)

EVERYTHING = COMING | GOING | META | SPEC | STATUS


class Verb(Enum):
    ADDED = "ADDED"
    MODIFIED = "MODIFIED"
    DELETED = "DELETED"


@dataclass(slots=True, eq=False)
class ObjectChange:
    """One change of one object; `known` is its core value, once somebody has asked for it."""

    verb: Verb
    ref: Ref
    obj: Json
    old: Json | None
    registry: Registry
    parts: int = EVERYTHING
    known: Thing | None = None

    @property
    def thing(self) -> Thing:
        """The changed object as a core value, decoded once for all listeners."""
        if self.known is None:
            self.known = self.registry.decode(self.obj)
        return self.known

    def differs_in(self, *paths: tuple[str, ...]) -> bool:
        """Whether one of these parts of the object is another one than before."""
        return any(dig(self.obj, *path) != dig(self.old, *path) for path in paths)


Listener = Callable[[ObjectChange], None]


@dataclass(slots=True)
class _Repeats:
    """The repetitions of an event since it was last read."""

    last: datetime
    count: int = 0
    version: int = 0


class Store:
    """All objects of the cluster."""

    def __init__(
        self, now: Callable[[], datetime], seed: int, registry: Registry | None = None
    ) -> None:
        self.registry = Registry() if registry is None else registry
        self._now = now
        self._random = Random(f"{seed}/store")
        self._objects: dict[str, dict[tuple[str, str], Json]] = defaultdict(dict)
        self._listeners: dict[str, list[tuple[Listener, int, bool]]] = defaultdict(list)
        self._concerned: dict[tuple[str, int, bool], tuple[Listener, ...]] = {}
        self._refs: dict[str, Ref] = {}
        self._version = 0
        self._repeats: dict[Ref, _Repeats] = {}
        self._stamp: tuple[datetime | None, str] = None, ""

    @property
    def version(self) -> int:
        """The number of changes so far."""
        return self._version

    def now(self) -> datetime:
        return self._now()

    def timestamp(self) -> str:
        """The current time in the format of objects: whole seconds, UTC."""
        now = self._now()
        if now is not self._stamp[0]:
            self._stamp = now, format_time(now)
        return self._stamp[1]

    def timestamp_in(self, seconds: float) -> str:
        return format_time(self._now() + timedelta(seconds=seconds))

    def get(self, ref: Ref) -> Json | None:
        if self._repeats and ref.kind == "Event" and ref in self._repeats:
            self._write_repeats(ref)
        return self._objects[ref.kind].get((ref.namespace, ref.name))

    def find(self, kind: str, namespace: str, name: str) -> Json | None:
        """Like `get`, of any kind but events."""
        return self._objects[kind].get((namespace, name))

    def by_uid(self, uid: str) -> Json | None:
        ref = self._refs.get(uid)
        return self.get(ref) if ref else None

    def list(self, kind: str, namespace: str | None = None) -> Iterator[Json]:
        """All objects of a kind in order of creation; the store may change while they are read."""
        if self._repeats and kind == "Event":
            self._write_repeats(*self._repeats)
        for obj in tuple(self._objects[kind].values()):
            if namespace is None or obj["metadata"].get("namespace") == namespace:
                yield obj

    def count(self, kind: str) -> int:
        return len(self._objects[kind])

    def all_of(self, kind: str) -> Mapping[tuple[str, str], Json]:
        """The objects of a kind by namespace and name, now and later."""
        return MappingProxyType(self._objects[kind])

    def kinds(self) -> tuple[str, ...]:
        return tuple(sorted(kind for kind, objects in self._objects.items() if objects))

    def listen(
        self, kind: str, listener: Listener, parts: int = EVERYTHING, plain: bool = True
    ) -> None:
        """Call `listener` immediately for every later change of this kind.

        For pods, only for changes of these parts, and unless `plain` only for pods that have
        owner references (before or after the change) or volumes.
        """
        if kind == "Event":
            self._write_repeats(*self._repeats)
        self._listeners[kind].append((listener, parts, plain))
        self._concerned.clear()

    def remove_listener(self, kind: str, listener: Listener) -> None:
        kept = [each for each in self._listeners[kind] if each[0] != listener]
        self._listeners[kind] = kept
        self._concerned.clear()

    def fresh_name(self, prefix: str) -> str:
        letters = "".join(self._random.choice(SUFFIX_ALPHABET) for _ in range(5))
        return f"{prefix}{letters}"

    def insert(
        self, obj: Json, as_it_was: bool = False, pod: Pod | None = None, **fields: Any
    ) -> Json:
        """Store a new object with a new uid, version, generation and creation time.

        With `as_it_was` it keeps those that it has. `pod` is its decoded value, if known, but for
        these `fields`.
        """
        fresh = {
            "uid": _uuid4(self._random.getrandbits(128)),
            "creationTimestamp": self.timestamp(),
            "generation": 1,
        }
        meta = {**fresh, **obj["metadata"]} if as_it_was else {**obj["metadata"], **fresh}
        uid, ref = str(meta["uid"]), Ref(obj["kind"], meta.get("namespace", ""), meta["name"])
        stored = self._stored(obj, meta, ref)
        if pod is not None:
            created = self._now().replace(microsecond=0)
            stored.plain = born(pod, uid, str(self._version), created, **fields)
        self._refs[uid] = ref
        self._objects[ref.kind][ref.namespace, ref.name] = stored
        self._tell(ObjectChange(Verb.ADDED, ref, stored, None, self.registry, COMING))
        return stored

    def replace(self, old: Json, new: Json, **fields: Any) -> Json:
        """Store a new state of an object; an equal state creates no new version.

        `fields` are the fields of a pod's core value that change, if the caller knows them.
        """
        if new == old:
            return old
        ref = ref_of(old)
        stored = self._stored(new, new["metadata"], ref)
        parts = EVERYTHING
        if ref.kind == "Pod":
            parts = _parts(old, new)
            _decode_again(stored, old, fields)
        self._objects[ref.kind][ref.namespace, ref.name] = stored
        self._tell(ObjectChange(Verb.MODIFIED, ref, stored, old, self.registry, parts))
        return stored

    def replace_status(self, old: Json, status: Json, **fields: Any) -> Json:
        """Store a new status of a pod.

        `fields` are the fields of the core value that change, if the caller knows them.
        """
        if status == old.get("status"):
            return old
        self._version += 1
        ref = ref_of(old)
        stored = Stored(old, ref)
        stored["metadata"] = _restamped(old["metadata"], str(self._version))
        stored["status"] = status
        _decode_again(stored, old, fields)
        self._objects[ref.kind][ref.namespace, ref.name] = stored
        self._tell(ObjectChange(Verb.MODIFIED, ref, stored, old, self.registry, STATUS))
        return stored

    def repeat_event(self, ref: Ref) -> bool:
        """Count that an event has occurred again; False if it must be written as a change.

        The event gets its new count, time and version when it is read. If somebody watches changes
        of events, or there is no such event, nothing is counted.
        """
        known = self._repeats.get(ref)
        if known is None:
            if any(parts != COMING for _, parts, _ in self._listeners["Event"]):
                return False
            if (ref.namespace, ref.name) not in self._objects["Event"]:
                return False
            known = self._repeats[ref] = _Repeats(self._now())
        self._version += 1
        known.count += 1
        known.last = self._now()
        known.version = self._version
        return True

    def _write_repeats(self, *refs: Ref) -> None:
        """Write the repetitions of these events, which were only counted so far."""
        events = self._objects["Event"]
        for ref in refs:
            known = self._repeats.pop(ref)
            old = events[ref.namespace, ref.name]
            stored = Stored(old, ref)
            stored["count"] = int(old.get("count") or 1) + known.count
            stored["lastTimestamp"] = format_time(known.last.replace(microsecond=0))
            stored["metadata"] = {**old["metadata"], "resourceVersion": str(known.version)}
            events[ref.namespace, ref.name] = stored

    def remove(self, old: Json) -> None:
        ref = ref_of(old)
        del self._objects[ref.kind][ref.namespace, ref.name]
        del self._refs[uid_of(old)]
        last = self._stored(old, old["metadata"], ref)
        if isinstance(old, Stored):
            version = str(self._version)
            if old.plain is not None:
                last.plain = _with_version(old.plain, version)
            if old.told is old.plain:
                last.told = last.plain
            elif isinstance(old.told, Pod | Node):  # Other kinds are rare.
                last.told = _with_version(old.told, version)
        self._tell(ObjectChange(Verb.DELETED, ref, last, old, self.registry, GOING))

    def forget(self, ref: Ref) -> Json | None:
        """Remove an object without a change event, and return it."""
        if self._repeats and ref.kind == "Event" and ref in self._repeats:
            self._write_repeats(ref)
        found = self._objects[ref.kind].pop((ref.namespace, ref.name), None)
        if found is not None:
            del self._refs[uid_of(found)]
        return found

    def as_added(self, obj: Json) -> ObjectChange:
        """The change that a new listener gets for an existing object."""
        return ObjectChange(Verb.ADDED, ref_of(obj), obj, None, self.registry, COMING)

    def _stored(self, obj: Json, meta: Json, ref: Ref) -> Stored:
        self._version += 1
        stored = Stored(obj, ref)
        stored["metadata"] = {**meta, "resourceVersion": str(self._version)}
        return stored

    def _tell(self, change: ObjectChange) -> None:
        kind, parts = change.ref.kind, change.parts
        plain = False
        if kind == "Pod":
            plain = _is_plain(change)
            if type(change.obj) is Stored and self.registry.reads_pods_plainly:
                change.known = change.obj.told = change.obj.plain
        concerned = self._concerned.get((kind, parts, plain))
        if concerned is None:
            concerned = tuple(
                listener
                for listener, wanted, plain_too in self._listeners[kind]
                if wanted & parts and (plain_too or not plain)
            )
            self._concerned[kind, parts, plain] = concerned
        for listener in concerned:
            listener(change)


def _parts(old: Json, new: Json) -> int:
    """The parts of an object that differ between two versions."""
    parts = 0
    for name, part in (("metadata", META), ("spec", SPEC), ("status", STATUS)):
        before, after = old.get(name), new.get(name)
        if before is not after and before != after:
            parts |= part
    return parts or EVERYTHING


def _is_plain(change: ObjectChange) -> bool:
    """Whether a pod has no volumes and no owner references, and had none before the change."""
    if "ownerReferences" in change.obj["metadata"] or (change.obj.get("spec") or {}).get("volumes"):
        return False
    return change.old is None or "ownerReferences" not in change.old["metadata"]


def _decode_again(stored: Stored, old: Json, fields: Mapping[str, Any]) -> None:
    """Derive the core value of a pod from the version before, now if the changes are known."""
    if type(old) is not Stored or type(old.plain) is not Pod:
        return
    if fields:
        stored.plain = pod_updated(old.plain, old, stored, **fields)
    if stored.plain is None:
        stored.before = old


def _restamped(meta: Json, version: str) -> dict[str, Any]:
    """Metadata with a new version, with its fields in the order that an update gives them."""
    changed = {name: value for name, value in meta.items() if name not in _LAST_FIELDS}
    for name in _LAST_FIELDS:
        if name in meta:
            changed[name] = meta[name]
    changed["resourceVersion"] = version
    return changed


def _uuid4(bits: int) -> str:
    """Format random bits as a UUID of version 4; `uuid.UUID` takes twice as long."""
    text = f"{bits:032x}"
    variant = "89ab"[int(text[16], 16) & 3]
    return f"{text[:8]}-{text[8:12]}-4{text[13:16]}-{variant}{text[17:20]}-{text[20:]}"


def _with_version(thing: Pod | Node, version: str) -> Pod | Node:
    if isinstance(thing, Pod):
        return pod_with(thing, version=version)
    return replace(thing, version=version)
