"""Claims, volumes and classes as they were last seen, and the pods at our doors that name them.

A pod that waits at a door carries what its volumes ask of a node (`core.demand.volumes`), so that
everybody who judges where it fits minds them. When a claim, a volume or a class changes, the pods
that it concerns are judged anew. Claims that wait for their pod are prepared for a node before the
pod is bound to it, as kube-scheduler does: a free volume is promised to the claim, or the node is
written on it so that one is made there; then we wait until the volume controller has bound them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta

from headroom.core.actions import PromiseVolume, SelectNode
from headroom.core.demand.unbound_claims import MADE, bindings
from headroom.core.demand.volume_constraints import volume_refusal, with_volumes
from headroom.core.demand.volumes import (
    NodeDrivers,
    Storage,
    StorageClass,
    Stored,
    Volume,
    VolumeClaim,
)
from headroom.core.index_entries import By
from headroom.core.objects import Key, Node, Pod
from headroom.core.plan import Sequence, Work
from headroom.core.subjects import pod_subject
from headroom.core.waits.stabilization import Stabilization
from headroom.engine.indexes import Index
from headroom.scheduling.reasons import VOLUME_UNBINDABLE

BINDING_LIMIT = timedelta(minutes=10)
"""How long a pod's volumes may take before it is decided anew, as in kube-scheduler."""

PASSING = timedelta(seconds=2)
"""How long what is wrong with a claim may last before a pod on its way is decided anew."""


class VolumeBook:
    """Storage, and who waits for it."""

    def __init__(self, index: Index[Key]) -> None:
        self._index = index  # of pods, by the claims of those at our doors
        self._claims: dict[Key, VolumeClaim] = {}
        self._volumes: dict[str, Volume] = {}
        self._classes: dict[str, StorageClass] = {}
        self._since: dict[str, datetime] = {}  # by uid of a pod: its volumes were asked for
        # By uid of a pod: its claims forbid every node.
        self._troubled: Stabilization[str, bool] = Stabilization(PASSING)
        self._asked: dict[str, str] = {}  # by uid of a claim: the node seen as chosen for it
        self._drivers: dict[str, NodeDrivers] = {}
        self.storage = Storage(self._claims, self._volumes, self._classes, self._drivers)

    def judged(self, pod: Pod, waits: bool) -> Pod:
        """A pod, with what its volumes ask if it waits at one of our doors."""
        return with_volumes(pod, self.storage) if waits and pod.claims else pod

    def refusal(self, pod: Pod) -> str:
        """Why its claims forbid a pod every node; empty where they do not."""
        return volume_refusal(pod, self.storage) if pod.claims else ""

    def prepare(self, pod: Pod, node: Node | None, now: datetime) -> Sequence | str | None:
        """What the claims that wait for a pod need next, if it is to be on a node.

        A write, nothing but time (None), or the reason why they get no volume there.
        """
        trouble = self.refusal(pod)
        if trouble:  # Claims and volumes come by different streams: it may pass.
            return trouble if now >= self._troubled.tell(pod.uid, True, now) else None
        self._troubled.forget(pod.uid)
        if not pod.late:
            return None
        got = bindings(pod.late, node) if node is not None else None
        if node is None or got is None:
            return VOLUME_UNBINDABLE
        if now >= self.deadline(pod, now):
            self._since.pop(pod.uid, None)
            return f"its volumes were not bound within {BINDING_LIMIT.seconds // 60} minutes"
        writes = []
        for name, volume in got.items():
            claim = self._claims[Key(pod.key.namespace, name)]
            if volume == MADE and not claim.selected and self._asked.pop(claim.uid, ""):
                return f"the volume of claim {name} could not be made for {node.name}"
            write = self._write(claim, volume, node.name)
            writes += [write] if write is not None else []
        return Sequence(Work.VOLUMES, (pod_subject(pod.key),), (tuple(writes),)) if writes else None

    def is_ready(self, pod: Pod) -> bool:
        """Whether a pod has all of its volumes."""
        return not pod.claims or (not pod.late and not self.refusal(pod))

    def again_at(self, pod: Pod, now: datetime) -> datetime | None:
        """When to look again at a pod whose volumes are not ready, at the latest."""
        passing = self._troubled.counts_from(pod.uid)
        if passing is not None:
            return passing
        return self.deadline(pod, now) if pod.late else None

    def deadline(self, pod: Pod, now: datetime) -> datetime:
        """Until when a pod waits for the volumes that were asked for."""
        return self._since.setdefault(pod.uid, now) + BINDING_LIMIT

    def _write(
        self, claim: VolumeClaim, volume: str, node: str
    ) -> SelectNode | PromiseVolume | None:
        if volume == MADE:
            return None if claim.selected == node else SelectNode(claim.key, claim.uid, node)
        known = self._volumes[volume]
        if known.claim == claim.key and known.claim_uid == claim.uid:
            return None
        return PromiseVolume(volume, known.version, claim.key, claim.uid)

    def wrote(self, action: SelectNode | PromiseVolume) -> tuple[Key, ...]:
        """A write is done, and counts before the watch shows it; whom that concerns."""
        if isinstance(action, SelectNode):
            claim = self._claims.get(action.key)
            if claim is not None and claim.uid == action.uid:
                self._claims[action.key] = replace(claim, selected=action.node)
            return tuple(self._index.of(By.VOLUME_CLAIM, action.key))
        volume = self._volumes.get(action.volume)
        if volume is not None:
            given = replace(volume, claim=action.claim, claim_uid=action.claim_uid, free=False)
            self._volumes[action.volume] = given
        return tuple(self._concerned(volume))

    def unseen(self, pod: Pod) -> bool:
        """Whether a pod names a claim that is not there, or that we do not know of yet."""
        return any(Key(pod.key.namespace, name) not in self._claims for name in pod.claims)

    def see(self, thing: Stored) -> tuple[Key, ...]:
        """A claim, volume or class is there; answer with the pods whom it concerns."""
        before = self._concerned(self._known(thing))
        match thing:
            case VolumeClaim():
                self._claims[thing.key] = thing
                if thing.selected and not thing.bound:
                    self._asked[thing.uid] = thing.selected
                elif thing.bound:
                    self._asked.pop(thing.uid, None)
            case Volume():
                self._volumes[thing.name] = thing
            case StorageClass():
                self._classes[thing.name] = thing
            case NodeDrivers():
                self._drivers[thing.name] = thing
        return tuple(dict.fromkeys((*before, *self._concerned(thing))))

    def lose(self, thing: Stored) -> tuple[Key, ...]:
        """A claim, volume or class is gone."""
        match thing:
            case VolumeClaim():
                self._claims.pop(thing.key, None)
                self._asked.pop(thing.uid, None)
            case Volume():
                self._volumes.pop(thing.name, None)
            case StorageClass():
                self._classes.pop(thing.name, None)
            case NodeDrivers():
                self._drivers.pop(thing.name, None)
        return tuple(self._concerned(thing))

    def forget(self, uid: str) -> None:
        """A pod is gone."""
        self._since.pop(uid, None)
        self._troubled.forget(uid)

    def _known(self, thing: Stored) -> Stored | None:
        match thing:
            case VolumeClaim():
                return self._claims.get(thing.key)
            case Volume():
                return self._volumes.get(thing.name)
            case StorageClass():
                return self._classes.get(thing.name)
            case NodeDrivers():
                return self._drivers.get(thing.name)

    def _concerned(self, thing: Stored | None) -> Iterable[Key]:
        """The pods that go by a thing; a class or a free volume may matter to all who wait."""
        match thing:
            case None:
                return ()
            case VolumeClaim():
                return self._index.of(By.VOLUME_CLAIM, thing.key)
            case Volume(claim=Key() as claim):
                return self._index.of(By.VOLUME_CLAIM, claim)
            case _:
                return [key for pods in self._index.all(By.VOLUME_CLAIM).values() for key in pods]
