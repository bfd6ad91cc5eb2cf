"""Claims, volumes and classes as they were last seen, and the pods at our doors that name them.

A pod that waits at a door carries what its volumes ask of a node (`core.demand.volumes`), so that
everybody who judges where it fits minds them. When a claim, a volume or a class changes, the pods
that it concerns are judged anew.
"""

from __future__ import annotations

from collections.abc import Iterable

from headroom.core.demand.volumes import (
    Binding,
    Storage,
    StorageClass,
    Stored,
    Volume,
    VolumeClaim,
    mounts,
    volume_refusal,
    with_volumes,
)
from headroom.core.objects import Key, Pod
from headroom.engine.indexes import drop


class VolumeBook:
    """Storage, and who waits for it."""

    def __init__(self) -> None:
        self._claims: dict[Key, VolumeClaim] = {}
        self._volumes: dict[str, Volume] = {}
        self._classes: dict[str, StorageClass] = {}
        self._waiting: dict[Key, dict[Key, None]] = {}  # pods at our doors, by claim
        self.storage = Storage(self._claims, self._volumes, self._classes)

    def judged(self, pod: Pod, waits: bool) -> Pod:
        """A pod, with what its volumes ask if it waits at one of our doors."""
        return with_volumes(pod, self.storage) if waits and pod.claims else pod

    def refusal(self, pod: Pod) -> str:
        """Why its claims forbid a pod every node; empty where they do not."""
        return volume_refusal(pod, self.storage) if pod.claims else ""

    def late(self, pod: Pod) -> tuple[str, ...]:
        """The claims of a pod that are bound only once it has a node."""
        mounted = mounts(pod.key.namespace, dict.fromkeys(pod.claims), self.storage)
        return tuple(each.claim for each in mounted if each.binding is Binding.WAITS_FOR_POD)

    def unseen(self, pod: Pod) -> bool:
        """Whether a pod names a claim that is not there, or that we do not know of yet."""
        return any(claim not in self._claims for claim in _named(pod))

    def add(self, pod: Pod) -> None:
        """A pod waits at one of our doors."""
        for claim in _named(pod):
            self._waiting.setdefault(claim, {})[pod.key] = None

    def remove(self, pod: Pod) -> None:
        """A pod waits no more."""
        for claim in _named(pod):
            drop(self._waiting, claim, pod.key)

    def see(self, thing: Stored) -> tuple[Key, ...]:
        """A claim, volume or class is there; answer with the pods whom it concerns."""
        before = self._concerned(self._known(thing))
        match thing:
            case VolumeClaim():
                self._claims[thing.key] = thing
            case Volume():
                self._volumes[thing.name] = thing
            case StorageClass():
                self._classes[thing.name] = thing
        return tuple(dict.fromkeys((*before, *self._concerned(thing))))

    def lose(self, thing: Stored) -> tuple[Key, ...]:
        """A claim, volume or class is gone."""
        match thing:
            case VolumeClaim():
                self._claims.pop(thing.key, None)
            case Volume():
                self._volumes.pop(thing.name, None)
            case StorageClass():
                self._classes.pop(thing.name, None)
        return tuple(self._concerned(thing))

    def _known(self, thing: Stored) -> Stored | None:
        match thing:
            case VolumeClaim():
                return self._claims.get(thing.key)
            case Volume():
                return self._volumes.get(thing.name)
            case StorageClass():
                return self._classes.get(thing.name)

    def _concerned(self, thing: Stored | None) -> Iterable[Key]:
        """The pods that go by a thing; a class or a free volume may matter to all who wait."""
        match thing:
            case None:
                return ()
            case VolumeClaim():
                return self._waiting.get(thing.key, ())
            case Volume(claim=Key() as claim):
                return self._waiting.get(claim, ())
            case _:
                return [key for pods in self._waiting.values() for key in pods]


def _named(pod: Pod) -> list[Key]:
    return [Key(pod.key.namespace, name) for name in pod.claims]
