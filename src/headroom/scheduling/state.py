"""The scheduler's cache of the cluster, updated one change at a time.

`nodes` and `pod_counts` keep the sums. They change only through this module, so that they cannot
become inconsistent. Adding or removing a pod costs microseconds, however large the cluster.
`filters`, `scores` and `preempt` read the arrays; no other code needs them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import field

from headroom.core.demand.volumes import NO_STORAGE, Storage
from headroom.core.fast_dataclass import dataclass
from headroom.core.objects import (
    NO_LABELS,
    HostPort,
    Key,
    LabelSelector,
    Namespace,
    Node,
    Pod,
)
from headroom.core.resources import CPU, EMPTY, MEMORY, PODS, Resources
from headroom.core.selection import equal_labels
from headroom.scheduling.nodes import MAX_ANSWERS, Ints, NodeTable
from headroom.scheduling.pod_counts import PodTallies, TermTallies, bump

DEFAULT_CPU = 100
DEFAULT_MEMORY = 200 * 1024 * 1024
"""What LeastAllocated counts for a container without requests."""

CONTROLLER_KINDS = {
    "ReplicationController": "v1",
    "ReplicaSet": "apps/v1",
    "StatefulSet": "apps/v1",
}
"""The owners whose selectors are used for default spreading, with their API versions."""


@dataclass(frozen=True, slots=True)
class _Bound:
    pod: Pod
    row: int


@dataclass(slots=True)
class _Numbering:
    """Numbered values of a topology label; a new `epoch` begins when most are unused."""

    epoch: int
    numbers: dict[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class ClusterState:
    """Nodes, the pods on them, the pods nominated to them, and which pods belong together.

    Services and the selectors of ReplicaSets, StatefulSets and ReplicationControllers matter only
    for the default spreading of pods without constraints; without them such pods are not spread.
    """

    table: NodeTable = field(default_factory=NodeTable)
    storage: Storage = NO_STORAGE  # The volumes, and how many a node can attach.
    pods: PodTallies = field(default_factory=PodTallies)
    terms: TermTallies = field(default_factory=TermTallies)
    _bound: dict[Key, _Bound] = field(default_factory=dict)
    _on_row: dict[int, dict[Key, Pod]] = field(default_factory=dict)
    _ports: dict[tuple[str, int], dict[tuple[Key, str], int]] = field(default_factory=dict)
    _claim_users: dict[Key, dict[Key, None]] = field(default_factory=dict)
    _by_priority: dict[int, dict[int, int]] = field(default_factory=dict)  # how many, by row
    expected: dict[Key, _Bound] = field(default_factory=dict)
    _expected_on: dict[int, dict[Key, Pod]] = field(default_factory=dict)
    _nominated: dict[Key, tuple[Pod, str]] = field(default_factory=dict)
    _nominated_to: dict[str, dict[Key, Pod]] = field(default_factory=dict)
    _namespaces: dict[str, Mapping[str, str]] = field(default_factory=dict)
    _services: dict[str, dict[str, Mapping[str, str]]] = field(default_factory=dict)
    _controllers: dict[tuple[str, Key], LabelSelector] = field(default_factory=dict)
    _domains: dict[str, _Numbering] = field(default_factory=dict)  # the most recently used
    _epochs: int = 0

    def set_node(self, node: Node) -> None:
        """Add or update a node."""
        self.table.set(node)

    def remove_node(self, name: str) -> None:
        """Remove a node; pods still bound to it are remembered in case it comes back."""
        row = self.table.remove(name)
        if row is None:
            return
        for key in tuple(self._expected_on.get(row, ())):
            self.unexpect(key)
        if not self._on_row.get(row):
            self.table.release(row)

    def add_pod(self, pod: Pod, node: str = "") -> None:
        """Count a pod on its node (or on `node`, if it is about to be bound there).

        A known pod is replaced; one that no longer occupies a node is removed.
        """
        name = node or pod.node
        known = self._bound.get(pod.key)
        stays = known is not None and self.table.row_of.get(name) == known.row
        if known is not None and stays and _counts_alike(known.pod, pod):
            # Most updates are of this kind: a status that changes nothing here.
            self._keep(pod, known.row)
            return
        if known is not None:
            self.remove_pod(pod.key)
        if not name or pod.finished:
            return
        if pod.key in self._nominated:
            self.unnominate(pod.key)
        if pod.key in self.expected:
            self.unexpect(pod.key)
        row = self.table.row(name)
        self._keep(pod, row)
        self._count(pod, row, 1)

    def remove_pod(self, key: Key) -> None:
        """Remove a bound pod; an unknown one is ignored."""
        bound = self._bound.pop(key, None)
        if bound is None:
            return
        self._count(bound.pod, bound.row, -1)
        pods = self._on_row[bound.row]
        del pods[key]
        if not pods:
            del self._on_row[bound.row]
            if self.table.nodes[bound.row] is None:
                self.table.release(bound.row)

    def expect(self, pod: Pod, node: str) -> None:
        """Let others consider a pod that will be bound to a node: its labels, rules and ports.

        Its room is not counted: something else keeps it until the pod is bound.
        """
        if pod.key in self.expected:
            self.unexpect(pod.key)
        row = self.table.row_of.get(node)
        if row is not None and pod.key not in self._bound:
            self.expected[pod.key] = _Bound(pod, row)
            self._expected_on.setdefault(row, {})[pod.key] = pod
            self.pods.move(pod, row, 1)
            if pod.claims or pod.placement.minds_pods:
                self._mind(pod, row, 1)

    def unexpect(self, key: Key) -> None:
        """It was bound, or will not be; an unknown one is ignored."""
        expected = self.expected.pop(key, None)
        if expected is None:
            return
        self.pods.move(expected.pod, expected.row, -1)
        if expected.pod.claims or expected.pod.placement.minds_pods:
            self._mind(expected.pod, expected.row, -1)
        del self._expected_on[expected.row][key]
        if not self._expected_on[expected.row]:
            del self._expected_on[expected.row]

    def besides(self, pod: Pod, numbers: Ints, counts: Callable[[Pod], int]) -> Ints:
        """Numbers by row, without the part that an expected pod itself adds to them."""
        expected = self.expected.get(pod.key)
        amount = counts(expected.pod) if expected is not None else 0
        if expected is None or not amount:
            return numbers
        others = numbers.copy()
        others[expected.row] -= amount
        return others

    def nominate(self, pod: Pod, node: str) -> None:
        """Count a pending pod on a node against pods of at most its own priority."""
        if pod.key in self._nominated:
            self.unnominate(pod.key)
        if pod.key in self.expected:
            self.unexpect(pod.key)
        self._nominated[pod.key] = (pod, node)
        self._nominated_to.setdefault(node, {})[pod.key] = pod

    def unnominate(self, key: Key) -> None:
        """Remove a nomination; an unknown one is ignored."""
        nominated = self._nominated.pop(key, None)
        if nominated is None:
            return
        pods = self._nominated_to[nominated[1]]
        del pods[key]
        if not pods:
            del self._nominated_to[nominated[1]]

    def set_namespace(self, namespace: Namespace) -> None:
        """Set a namespace's labels, which namespace selectors of affinity terms use."""
        if self._namespaces.get(namespace.name) != namespace.labels:
            self._namespaces[namespace.name] = namespace.labels
            self.pods.forget_questions()

    def remove_namespace(self, name: str) -> None:
        if self._namespaces.pop(name, None) is not None:
            self.pods.forget_questions()

    def set_service(self, key: Key, selector: Mapping[str, str]) -> None:
        """Set the selector of a Service; without a selector it groups no pods."""
        self._services.setdefault(key.namespace, {})[key.name] = selector

    def remove_service(self, key: Key) -> None:
        there = self._services.get(key.namespace, {})
        there.pop(key.name, None)
        if not there:
            self._services.pop(key.namespace, None)

    def set_controller(self, kind: str, key: Key, selector: LabelSelector) -> None:
        """Set the selector of a ReplicaSet, StatefulSet or ReplicationController."""
        self._controllers[kind, key] = selector

    def remove_controller(self, kind: str, key: Key) -> None:
        self._controllers.pop((kind, key), None)

    def node(self, name: str) -> Node | None:
        row = self.table.row_of.get(name)
        return None if row is None else self.table.nodes[row]

    def pod(self, key: Key) -> Pod | None:
        """A bound pod."""
        bound = self._bound.get(key)
        return None if bound is None else bound.pod

    def binding(self, key: Key) -> tuple[Pod | None, str]:
        """A bound pod and its node; None and "" if it is not bound."""
        bound = self._bound.get(key)
        return (None, "") if bound is None else (bound.pod, self.table.name(bound.row))

    def nomination(self, key: Key) -> tuple[Pod | None, str]:
        """A nominated pod and its node; None and "" if it is not nominated."""
        return self._nominated.get(key, (None, ""))

    def overbooked(self, name: str) -> Resources:
        """What pods request beyond their node's capacity; empty for an unknown node."""
        row = self.table.row_of.get(name)
        if row is None or self.table.nodes[row] is None:
            return EMPTY
        beyond = self.table.overbooked(row)
        return Resources(beyond) if beyond else EMPTY

    def free_places(self, name: str, expected: bool = True, without: Key | None = None) -> int:
        """How many more pods a node accepts by number, besides its pods and those `expected`."""
        row = self.table.row_of.get(name)
        if row is None:
            return 0
        free = int(self.table.free_of(PODS)[row])
        coming = self._expected_on.get(row, {})
        return free - len(coming) + (without in coming) if expected else free

    def pods_on(self, node: str) -> tuple[Pod, ...]:
        """The pods bound to a node, in the order in which they were added."""
        row = self.table.row_of.get(node)
        return () if row is None else tuple(self._on_row.get(row, {}).values())

    def pods_on_row(self, row: int) -> Iterable[Pod]:
        return self._on_row.get(row, {}).values()

    def rows_with_pods_below(self, priority: int) -> frozenset[int]:
        """The rows that have a bound pod of lower priority than this."""
        lower = (rows for each, rows in self._by_priority.items() if each < priority)
        return frozenset().union(*lower)

    def has_pods_below(self, priority: int) -> bool:
        """Whether any bound pod is of lower priority than this."""
        return any(each < priority for each in self._by_priority)

    def has_nominations(self) -> bool:
        return bool(self._nominated)

    def has_services(self, namespace: str) -> bool:
        return namespace in self._services

    def expected_on_row(self, row: int, without: Key) -> Iterable[Pod]:
        """The pods that are expected on a row, but for one."""
        return (pod for key, pod in self._expected_on.get(row, {}).items() if key != without)

    def nominated(self) -> Iterable[Key]:
        return self._nominated

    def nominated_rows(self) -> Iterable[tuple[int, Iterable[Pod]]]:
        """Each existing node with nominated pods, and these pods."""
        for name, pods in self._nominated_to.items():
            row = self.table.row_of.get(name)
            if row is not None and self.table.nodes[row] is not None:
                yield row, pods.values()

    def nominated_on(self, node: str) -> Collection[Pod]:
        return self._nominated_to.get(node, {}).values()

    def port_users(self, port: HostPort, without: Key) -> Iterable[tuple[int, str]]:
        """Row and host IP of every pod with this port and protocol, but for one if expected."""
        users = self._ports.get((port.protocol, port.port), {})
        itself = without if without in self.expected else None
        return ((row, ip) for (key, ip), row in users.items() if key != itself)

    def claim_users(self, claim: Key) -> Iterable[Key]:
        """The pods that use a volume claim, on any node."""
        return self._claim_users.get(claim, {})

    @property
    def namespaces(self) -> Mapping[str, Mapping[str, str]]:
        """The labels of namespaces."""
        return self._namespaces

    def namespace_labels(self, name: str) -> Mapping[str, str]:
        return self._namespaces.get(name, NO_LABELS)

    def domains(self, topology_key: str) -> tuple[Ints, int]:
        """Number the values of a topology label: by row 1, 2, … (0: no label), and how many."""
        numbering = self._domains.pop(topology_key, None)
        if numbering is None or len(numbering.numbers) > 2 * self.table.capacity:
            self._epochs += 1
            numbering = _Numbering(self._epochs)
        self._domains[topology_key] = numbering
        if len(self._domains) > MAX_ANSWERS:
            del self._domains[next(iter(self._domains))]
        numbers = numbering.numbers

        def number(node: Node) -> int:
            value = node.labels.get(topology_key)
            return 0 if value is None else numbers.setdefault(value, len(numbers) + 1)

        codes = self.table.ask(("domain", topology_key, numbering.epoch), number)
        return codes, len(numbers)

    def default_selector(self, pod: Pod) -> LabelSelector:
        """Which pods default spreading separates a pod from; empty if none."""
        chosen: dict[str, str] = {}
        for name, selector in sorted(self._services.get(pod.key.namespace, {}).items()):
            pairs = selector.items()
            if pairs and all(pod.labels.get(key) == value for key, value in pairs):
                chosen.update(self._services[pod.key.namespace][name])
        own = equal_labels(sorted(chosen.items()))
        owner = next((owner for owner in pod.owners if owner.controller), None)
        if owner is None or CONTROLLER_KINDS.get(owner.kind) != owner.api_version:
            return LabelSelector(own)
        key = Key(pod.key.namespace, owner.name)
        controller = self._controllers.get((owner.kind, key), LabelSelector())
        return LabelSelector(own + controller.requirements)

    def _keep(self, pod: Pod, row: int) -> None:
        self._bound[pod.key] = _Bound(pod, row)
        self._on_row.setdefault(row, {})[pod.key] = pod

    def _count(self, pod: Pod, row: int, sign: int) -> None:
        alike = self._by_priority.setdefault(pod.priority, {})
        bump(alike, row, sign)
        if not alike:
            del self._by_priority[pod.priority]
        self.table.occupy(row, pod.requests, nonzero_of(pod), sign)
        self.pods.move(pod, row, sign)
        if pod.claims or pod.placement.minds_pods:
            self._mind(pod, row, sign)

    def _mind(self, pod: Pod, row: int, sign: int) -> None:
        """Index what other pods may have to avoid: rules about pods, host ports and volumes."""
        if pod.placement.has_pod_terms:
            self.terms.move(pod, row, sign)
        for port in pod.placement.ports:
            users = self._ports.setdefault((port.protocol, port.port), {})
            if sign > 0:
                users[pod.key, port.ip] = row
            else:
                users.pop((pod.key, port.ip), None)
            if not users:
                del self._ports[port.protocol, port.port]
        for name in pod.claims:
            claim = Key(pod.key.namespace, name)
            mounting = self._claim_users.setdefault(claim, {})
            if sign > 0:
                mounting[pod.key] = None
            else:
                mounting.pop(pod.key, None)
            if not mounting:
                del self._claim_users[claim]


def _counts_alike(old: Pod, new: Pod) -> bool:
    """Whether everything that is summed up for a pod is unchanged."""
    return (
        not new.finished
        and (old.deleted is None) == (new.deleted is None)
        and old.priority == new.priority
        and (old.requests is new.requests or old.requests == new.requests)
        and (
            old.nonzero_requests is new.nonzero_requests
            or old.nonzero_requests == new.nonzero_requests
        )
        and old.labels == new.labels
        and (old.placement is new.placement or old.placement == new.placement)
    )


def nonzero_of(pod: Pod) -> tuple[int, int]:
    """CPU and memory as LeastAllocated counts them."""
    known = pod.nonzero_requests
    if known:
        return known[CPU], known[MEMORY]
    return pod.requests[CPU] or DEFAULT_CPU, pod.requests[MEMORY] or DEFAULT_MEMORY
