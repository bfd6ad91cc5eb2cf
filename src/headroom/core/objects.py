"""Pods, nodes and their scheduling terms as plain values.

They contain only facts that can change a decision, already calculated (a pod has its effective
requests, not its containers). `wire` creates them from JSON; nothing in core knows JSON.
`selection` has the functions that evaluate selectors and taints; holds have their own module.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from types import MappingProxyType
from typing import NamedTuple

from headroom.core.fast_dataclass import dataclass
from headroom.core.resources import EMPTY, Resources

NO_LABELS: Mapping[str, str] = MappingProxyType({})

ENDED_PHASES = ("Succeeded", "Failed")  # of a pod
LONGEST_MESSAGE = 4096  # characters of a condition; the API server takes eight times as many


def no_labels() -> Mapping[str, str]:
    """The default where there are none; Python 3.11 takes a mapping proxy for a mutable one."""
    return NO_LABELS


class Key(NamedTuple):
    """Namespace and name; the namespace is empty for what is cluster-scoped.

    A tuple, because keys are looked up all the time: their hash and comparison are not Python code.
    """

    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}" if self.namespace else self.name


@dataclass(frozen=True, slots=True)
class OwnerReference:
    api_version: str
    kind: str
    name: str
    uid: str
    controller: bool = False


@dataclass(frozen=True, slots=True)
class Requirement:
    """One expression of a selector; `operator` is In, NotIn, Exists, DoesNotExist, Gt or Lt."""

    key: str
    operator: str
    values: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LabelSelector:
    """All of `requirements` must hold; matchLabels arrive here as In with one value."""

    requirements: tuple[Requirement, ...] = ()


@dataclass(frozen=True, slots=True)
class NodeTerm:
    """One node selector term: all label expressions and all field expressions must hold."""

    labels: tuple[Requirement, ...] = ()
    fields: tuple[Requirement, ...] = ()


@dataclass(frozen=True, slots=True)
class PreferredNodeTerm:
    weight: int
    term: NodeTerm


@dataclass(frozen=True, slots=True)
class NodeAffinity:
    """`required` is None when absent (matches all); an empty tuple matches no node."""

    required: tuple[NodeTerm, ...] | None = None
    preferred: tuple[PreferredNodeTerm, ...] = ()


@dataclass(frozen=True, slots=True)
class PodTerm:
    """One inter-pod (anti-)affinity term. A `selector` of None matches no pod.

    With `namespaces` empty and `namespace_selector` None the term is about the pod's own namespace.
    """

    selector: LabelSelector | None
    topology_key: str
    namespaces: tuple[str, ...] = ()
    namespace_selector: LabelSelector | None = None
    match_label_keys: tuple[str, ...] = ()
    mismatch_label_keys: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PreferredPodTerm:
    weight: int
    term: PodTerm


@dataclass(frozen=True, slots=True)
class PodAffinity:
    required: tuple[PodTerm, ...] = ()
    preferred: tuple[PreferredPodTerm, ...] = ()


@dataclass(frozen=True, slots=True)
class TopologySpread:
    max_skew: int
    topology_key: str
    when_unsatisfiable: str
    selector: LabelSelector | None = None
    min_domains: int | None = None
    node_affinity_policy: str = "Honor"
    node_taints_policy: str = "Ignore"
    match_label_keys: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Taint:
    key: str
    value: str = ""
    effect: str = "NoSchedule"


@dataclass(frozen=True, slots=True)
class Toleration:
    """An empty `key` with Exists tolerates every key; an empty `effect` every effect."""

    key: str = ""
    operator: str = "Equal"
    value: str = ""
    effect: str = ""
    seconds: int | None = None


@dataclass(frozen=True, slots=True)
class HostPort:
    port: int
    protocol: str = "TCP"
    ip: str = "0.0.0.0"


@dataclass(frozen=True, slots=True)
class Placement:
    """Where a pod may go: everything of its spec that speaks about nodes and neighbours.

    Shared between pods of one workload (the decoder interns it), and hashable, so that work done
    for one pod of a shape serves the next. What is asked most is calculated once: its hash, and
    whether it says anything about other pods. `minds_pods`: or has host ports, which they may want.
    """

    node_selector: tuple[tuple[str, str], ...] = ()
    node_affinity: NodeAffinity = NodeAffinity()
    pod_affinity: PodAffinity = PodAffinity()
    pod_anti_affinity: PodAffinity = PodAffinity()
    spread: tuple[TopologySpread, ...] = ()
    tolerations: tuple[Toleration, ...] = ()
    ports: tuple[HostPort, ...] = ()
    hashed: int = field(init=False, repr=False, compare=False)
    has_pod_terms: bool = field(init=False, repr=False, compare=False)
    minds_pods: bool = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        spread, ports = self.spread, self.ports
        others = (self.pod_affinity, self.pod_anti_affinity)
        terms = (self.node_affinity, others, spread)
        hashed = hash((self.node_selector, terms, self.tolerations, ports))
        object.__setattr__(self, "hashed", hashed)
        has_pod_terms = any(each.required or each.preferred for each in others)
        object.__setattr__(self, "has_pod_terms", has_pod_terms)
        object.__setattr__(self, "minds_pods", has_pod_terms or bool(ports))

    def __hash__(self) -> int:
        return self.hashed


ANYWHERE = Placement()


@dataclass(frozen=True, slots=True)
class Wish:
    """Which holds a pod wants, as Koordinator's annotations and labels say it.

    With `needs_hold` it runs in a hold or not at all. A `name` makes the other parts of no account;
    `terms` of None want nothing, an empty tuple is satisfied by no hold. `exact` are resources of
    which the hold must have just what the pod asks for. With `avoids_holds` it never becomes an
    owner. `problem` says what cannot be read: such a pod waits until it is mended.
    """

    needs_hold: bool = False
    name: str = ""
    selector: tuple[tuple[str, str], ...] = ()
    terms: tuple[NodeTerm, ...] | None = None
    tolerations: tuple[Toleration, ...] = ()
    exact: tuple[str, ...] = ()
    avoids_holds: bool = False
    problem: str = ""


NO_WISH = Wish()


@dataclass(frozen=True, slots=True)
class LateClaim:
    """A volume claim that is bound once its pod has a node, and what it may get on which nodes.

    `volumes` are free ones that would do, the best first, each with the nodes that reach it (None:
    all of them). `made_on` says where a new one is made, one term of these (none: everywhere; None:
    nowhere). `selected` is the node that was chosen already.
    """

    claim: str
    size: int = 0
    selected: str = ""
    volumes: tuple[tuple[str, tuple[NodeTerm, ...] | None], ...] = ()
    made_on: tuple[NodeTerm, ...] | None = None


@dataclass(frozen=True, slots=True)
class Pod:
    """One pod, as far as scheduling and claiming go.

    `annotations` keeps only keys under prefixes that we or a dialect read. `images` and
    `unsupported` are for our own scheduler: what it scores, and what it must leave to others
    (device claims), in words. `claims` are the volume claims it mounts, by name, `own_claims` those
    of them that are made for it alone. What volumes ask is put in by who knows them: `reach` of a
    node, one term of each; `zones` likewise, as labels of old volumes say it; `sole` are claims
    that one pod uses at a time, `late` those that are bound when it is placed.
    """

    key: Key
    uid: str = ""
    version: str = ""
    labels: Mapping[str, str] = field(default_factory=no_labels)
    annotations: Mapping[str, str] = field(default_factory=no_labels)
    owners: tuple[OwnerReference, ...] = ()
    created: datetime | None = None
    deleted: datetime | None = None
    node: str = ""
    nominated: str = ""
    scheduler: str = "default-scheduler"
    priority: int = 0
    preempts: bool = True
    gates: tuple[str, ...] = ()
    phase: str = "Pending"
    reason: str = ""
    started: datetime | None = None
    requests: Resources = EMPTY
    nonzero_requests: Resources = EMPTY
    growth: Resources = EMPTY  # of the requests: what its node has put off until there is room
    placement: Placement = ANYWHERE
    unsupported: tuple[str, ...] = ()
    claims: tuple[str, ...] = ()
    own_claims: tuple[str, ...] = ()
    reach: tuple[tuple[NodeTerm, ...], ...] = ()
    zones: tuple[tuple[str, tuple[str, ...]], ...] = ()
    sole: tuple[str, ...] = ()
    late: tuple[LateClaim, ...] = ()
    unschedulable_since: datetime | None = None
    unschedulable_message: str = ""
    grace_seconds: int = 30
    preempted: bool = False  # ended by kube-scheduler's preemption (its DisruptionTarget condition)
    wish: Wish = NO_WISH  # this and what follows: only what a dialect that is on has read
    requested: tuple[str, ...] = ()  # keys of the holds that its annotations ask for
    spared: bool = False  # never ended to make way for an owner of a hold
    pre_allocatable: int | None = None  # marked: its place may be promised; the highest goes first
    placeholder: bool = False  # it only keeps room, on behalf of another system
    on_behalf_of: str = ""  # the namespace that a pod of ours keeps room for, if it is not its own

    @property
    def finished(self) -> bool:
        """Whether the pod has ended for good and uses nothing any more."""
        return self.phase in ENDED_PHASES

    @property
    def rules_namespace(self) -> str:
        """The namespace of which it is a pod, for rules between pods and for limits."""
        return self.on_behalf_of or self.key.namespace

    @property
    def occupies_node(self) -> bool:
        """Whether kube-scheduler counts this pod on its node."""
        return bool(self.node) and self.phase not in ENDED_PHASES

    @property
    def counts_on(self) -> str:
        """The node on which kube-scheduler counts this pod: its own, or where it is nominated."""
        return "" if self.phase in ENDED_PHASES else self.node or self.nominated


@dataclass(frozen=True, slots=True)
class Node:
    name: str
    uid: str = ""
    version: str = ""
    labels: Mapping[str, str] = field(default_factory=no_labels)
    annotations: Mapping[str, str] = field(default_factory=no_labels)
    taints: tuple[Taint, ...] = ()
    unschedulable: bool = False
    allocatable: Resources = EMPTY
    ready: bool = True
    created: datetime | None = None
    deleted: datetime | None = None
    unready_since: datetime | None = None  # None while it is ready, or does not say since when


@dataclass(frozen=True, slots=True)
class Namespace:
    name: str
    labels: Mapping[str, str] = field(default_factory=no_labels)
    version: str = ""
    limits: str = ""  # what holds in it may have at most, as written: see core.quotas.namespaces


def shortened(message: str) -> str:
    """A message, cut if it is too long: it may quote thousands of objects."""
    return message if len(message) <= LONGEST_MESSAGE else f"{message[: LONGEST_MESSAGE - 1]}…"


@dataclass(frozen=True, slots=True)
class Condition:
    """A metav1.Condition; `since` is its lastTransitionTime.

    A long message is cut: the API server would refuse the whole status for it.
    """

    type: str
    status: str
    reason: str
    message: str = ""
    since: datetime | None = None
    generation: int = 0

    def __post_init__(self) -> None:
        if len(self.message) > LONGEST_MESSAGE:
            object.__setattr__(self, "message", shortened(self.message))


@dataclass(frozen=True, slots=True)
class Parent:
    """The object that a guardian belongs to and, if the object has many, its slot.

    The text with the slot (`identity`) identifies a hold everywhere in the engine; `whole` is the
    object alone, as in `headroom.dev/parent`. Both texts are built once, because they are read
    hundreds of times for one owner.
    """

    api_version: str
    kind: str
    namespace: str
    name: str
    uid: str = field(default="", compare=False)
    slot: str = ""
    whole: str = field(init=False, repr=False, compare=False)
    identity: str = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        whole = f"{self.kind}/{self.namespace}/{self.name}"
        object.__setattr__(self, "whole", whole)
        object.__setattr__(self, "identity", identity(whole, self.slot))

    def __str__(self) -> str:
        return self.identity

    @property
    def title(self) -> str:
        """Its identity for people: an object outside of namespaces has none to show."""
        return titled(str(self))


def titled(identity: str) -> str:
    """An identity for people: `Reservation//r` is `Reservation/r`."""
    return identity.replace("//", "/", 1)


def identity(whole: str, slot: str) -> str:
    """Format an object and one of its slots as one text."""
    return f"{whole}#{slot}" if slot else whole


@dataclass(frozen=True, slots=True)
class OwnObject:
    """An object that the operator makes for itself, as JSON."""

    parent: Parent
    raw: str
