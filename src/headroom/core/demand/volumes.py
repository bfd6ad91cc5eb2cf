"""The volumes of a pod, as far as they affect its placement and its followers.

A pod names claims, a claim is bound to a volume, and a volume may be reachable from some nodes
only. `mounts` combines the three and names what is missing. `volume_constraints` says what this
requires of nodes; `followers` uses it to count slots.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum

from headroom.core.objects import Key, LabelSelector, NodeTerm, no_labels

ZONE_LABELS = (
    "topology.kubernetes.io/zone",
    "topology.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region",
)


class Binding(Enum):
    """How far a claim of a pod has got."""

    BOUND = "bound"
    UNBOUND = "unbound"
    WAITS_FOR_POD = "waits for its pod"  # It is bound only once the pod has a node.
    MISSING = "missing"


class _ClusterScoped:
    """An object without a namespace."""

    __slots__ = ()
    name: str

    @property
    def key(self) -> Key:
        return Key("", self.name)


@dataclass(frozen=True, slots=True)
class VolumeClaim:
    key: Key
    volume: str = ""
    storage_class: str = ""
    uid: str = ""
    bound: bool = False
    version: str = ""
    modes: tuple[str, ...] = ()
    lost: bool = False  # its volume is gone for good
    deleting: bool = False
    made_for: str = ""  # the uid of what controls it: the pod, of an ephemeral volume
    selected: str = ""  # the node that a scheduler has chosen for it
    size: int = 0
    block: bool = False  # a raw device, not a file system
    selector: LabelSelector | None = None  # of volumes that will do


@dataclass(frozen=True, slots=True)
class Volume(_ClusterScoped):
    """A PersistentVolume; `terms` are the nodes that reach it, None: all of them do.

    `zones` is what labels say of one made before there was a node affinity: allowed values by key.
    """

    name: str
    driver: str = ""
    attributes: Mapping[str, str] = field(default_factory=no_labels)
    claim: Key | None = None
    claim_uid: str = ""
    terms: tuple[NodeTerm, ...] | None = None
    uid: str = ""
    version: str = ""
    zones: tuple[tuple[str, tuple[str, ...]], ...] = ()
    free: bool = False  # anybody may have it
    storage_class: str = ""
    size: int = 0
    modes: tuple[str, ...] = ()
    block: bool = False
    labels: Mapping[str, str] = field(default_factory=no_labels)


@dataclass(frozen=True, slots=True)
class StorageClass(_ClusterScoped):
    """`topologies` are the nodes on which it makes volumes, one term of them; none: everywhere."""

    name: str
    provisioner: str = ""
    waits_for_pod: bool = False
    uid: str = ""
    version: str = ""
    topologies: tuple[NodeTerm, ...] = ()


@dataclass(frozen=True, slots=True)
class NodeDrivers(_ClusterScoped):
    """A CSINode: how many volumes of each driver may be attached to a node; not named: any."""

    name: str
    limits: Mapping[str, int] = field(default_factory=dict)
    uid: str = ""
    version: str = ""


Stored = VolumeClaim | Volume | StorageClass | NodeDrivers  # in the order of `Storage`


@dataclass(frozen=True, slots=True)
class Storage:
    """Everything known of volumes."""

    claims: Mapping[Key, VolumeClaim] = field(default_factory=dict)
    volumes: Mapping[str, Volume] = field(default_factory=dict)
    classes: Mapping[str, StorageClass] = field(default_factory=dict)
    drivers: Mapping[str, NodeDrivers] = field(default_factory=dict)


NO_STORAGE = Storage()


@dataclass(frozen=True, slots=True)
class Mount:
    """One claim of a pod; `driver` is the one that serves it, or will, where that is known."""

    claim: str
    binding: Binding
    volume: Volume | None = None
    driver: str = ""
    trouble: str = ""


def mounts(namespace: str, claims: Iterable[str], storage: Storage) -> tuple[Mount, ...]:
    """Look up the claims that a pod names, in its order."""
    return tuple(_mount(Key(namespace, name), storage) for name in claims)


def _mount(key: Key, storage: Storage) -> Mount:
    claim = storage.claims.get(key)
    if claim is None:
        return Mount(key.name, Binding.MISSING, trouble=f"claim {key.name} does not exist")
    if not claim.volume or not claim.bound:
        return _unbound(claim, storage)
    volume = storage.volumes.get(claim.volume)
    if volume is None:
        words = f'persistentvolume "{claim.volume}" not found'
        return Mount(key.name, Binding.MISSING, trouble=words)
    stolen = claim.uid and volume.claim_uid and claim.uid != volume.claim_uid
    if volume.claim != key or stolen:
        words = f"volume {volume.name} belongs to another claim than {key.name}"
        return Mount(key.name, Binding.MISSING, trouble=words)
    return Mount(key.name, Binding.BOUND, volume, volume.driver)


def _unbound(claim: VolumeClaim, storage: Storage) -> Mount:
    found = storage.classes.get(claim.storage_class)
    driver = found.provisioner if found is not None else ""
    waits = found is not None and found.waits_for_pod and not claim.volume
    binding = Binding.WAITS_FOR_POD if waits else Binding.UNBOUND
    return Mount(claim.key.name, binding, driver=driver)


def allowed_nodes(mounted: Iterable[Mount]) -> tuple[tuple[NodeTerm, ...], ...]:
    """The node terms of all bound volumes: a node must match one term of each."""
    volumes = (mount.volume for mount in mounted)
    return tuple(each.terms for each in volumes if each is not None and each.terms is not None)
