"""Where a pod may go: nodeSelector, affinity, tolerations, spread and host ports, as a Placement.

A placement is found by the text of these parts, so all pods of a workload share one value and the
work done for it. `pods` calls `placement_of`; nobody else needs to know the shapes below.
"""

from __future__ import annotations

from typing import NamedTuple

from msgspec import field

from headroom.core.objects import (
    ANYWHERE,
    HostPort,
    NodeAffinity,
    Placement,
    PodAffinity,
    PodTerm,
    PreferredNodeTerm,
    PreferredPodTerm,
    Toleration,
    TopologySpread,
)
from headroom.wire.objects.intern import Interned
from headroom.wire.objects.podjson import JsonObject, PodSpec
from headroom.wire.objects.reader import Reader, spelling
from headroom.wire.objects.selectors import (
    NodeSelectorTerm,
    Selector,
    node_term,
    optional_selector,
)


class _NodeSelector(JsonObject):
    node_selector_terms: list[NodeSelectorTerm] | None = None


class _WeightedNodeTerm(JsonObject):
    weight: int | None = None
    preference: NodeSelectorTerm | None = None


class _NodeAffinity(JsonObject):
    required_during_scheduling_ignored_during_execution: _NodeSelector | None = None
    preferred_during_scheduling_ignored_during_execution: list[_WeightedNodeTerm] | None = None


class _PodTerm(JsonObject):
    label_selector: Selector | None = None
    topology_key: str | None = None
    namespaces: list[str] | None = None
    namespace_selector: Selector | None = None
    match_label_keys: list[str] | None = None
    mismatch_label_keys: list[str] | None = None


class _WeightedPodTerm(JsonObject):
    weight: int | None = None
    pod_affinity_term: _PodTerm | None = None


class _PodAffinity(JsonObject):
    required_during_scheduling_ignored_during_execution: list[_PodTerm] | None = None
    preferred_during_scheduling_ignored_during_execution: list[_WeightedPodTerm] | None = None


class _Affinity(JsonObject):
    node_affinity: _NodeAffinity | None = None
    pod_affinity: _PodAffinity | None = None
    pod_anti_affinity: _PodAffinity | None = None


class TolerationJson(JsonObject):
    key: str | None = None
    operator: str | None = None
    value: str | None = None
    effect: str | None = None
    toleration_seconds: int | None = None


class _Spread(JsonObject):
    max_skew: int | None = None
    topology_key: str | None = None
    when_unsatisfiable: str | None = None
    label_selector: Selector | None = None
    min_domains: int | None = None
    node_affinity_policy: str | None = None
    node_taints_policy: str | None = None
    match_label_keys: list[str] | None = None


class _Port(JsonObject):
    host_port: int | None = None
    container_port: int | None = None
    protocol: str | None = None
    host_ip: str | None = field(name="hostIP", default=None)


_read_node_selector = Reader(dict[str, str])
_read_affinity = Reader(_Affinity)
_read_tolerations = Reader(list[TolerationJson])
_read_spread = Reader(list[_Spread])
_read_ports = Reader(list[_Port])


class _Spelling(NamedTuple):
    """The text of every part that makes a placement; empty where a part is absent."""

    node_selector: bytes
    affinity: bytes
    tolerations: bytes
    spread: bytes
    ports: tuple[tuple[str, bytes], ...]
    host_network: bool = False


_NOTHING = _Spelling(b"", b"", b"", b"", ())


def placement_of(spec: PodSpec) -> Placement:
    """Give the placement that a pod spec spells; DecodeError names the path of a wrong part."""
    ports = _spelled_ports(spec)
    spelled = _Spelling(
        spelling(spec.node_selector),
        spelling(spec.affinity),
        spelling(spec.tolerations),
        spelling(spec.topology_spread_constraints),
        ports,
        bool(ports and spec.host_network),
    )
    return ANYWHERE if spelled == _NOTHING else _placements(spelled)


def _spelled_ports(spec: PodSpec) -> tuple[tuple[str, bytes], ...]:
    """Give the texts of the lists that name host ports, with their paths; most pods have none."""
    found = []
    for index, container in enumerate(spec.containers or ()):
        text = spelling(container.ports)
        if _opens_ports(text, spec.host_network):
            found.append((f"spec.containers[{index}].ports", text))
    for index, container in enumerate(spec.init_containers or ()):
        # Ports of ordinary init containers count for nothing, those of sidecars do.
        if container.restart_policy == "Always":
            text = spelling(container.ports)
            if _opens_ports(text, spec.host_network):
                found.append((f"spec.initContainers[{index}].ports", text))
    return tuple(found)


def _opens_ports(text: bytes, host_network: bool | None) -> bool:
    return b'"hostPort"' in text or (bool(host_network) and bool(text))


def _read(spelled: _Spelling) -> Placement:
    affinity = _read_affinity(spelled.affinity or b"{}", "spec.affinity")
    selector = _read_node_selector(spelled.node_selector or b"{}", "spec.nodeSelector")
    tolerations = _read_tolerations(spelled.tolerations or b"[]", "spec.tolerations")
    spread = _read_spread(spelled.spread or b"[]", "spec.topologySpreadConstraints")
    return Placement(
        node_selector=tuple(sorted(selector.items())),
        node_affinity=_node_affinity(affinity.node_affinity),
        pod_affinity=_pod_affinity(affinity.pod_affinity),
        pod_anti_affinity=_pod_affinity(affinity.pod_anti_affinity),
        spread=tuple(_spread(each) for each in spread),
        tolerations=tuple(toleration_of(each) for each in tolerations),
        ports=_host_ports(spelled),
    )


_placements: Interned[_Spelling, Placement] = Interned(_read, limit=512)


def _node_affinity(affinity: _NodeAffinity | None) -> NodeAffinity:
    if affinity is None:
        return NodeAffinity()
    required = affinity.required_during_scheduling_ignored_during_execution
    preferred = affinity.preferred_during_scheduling_ignored_during_execution or ()
    terms = (
        tuple(node_term(term) for term in required.node_selector_terms or ()) if required else None
    )
    return NodeAffinity(
        required=terms,
        preferred=tuple(
            PreferredNodeTerm(each.weight or 0, node_term(each.preference or NodeSelectorTerm()))
            for each in preferred
        ),
    )


def _pod_affinity(affinity: _PodAffinity | None) -> PodAffinity:
    if affinity is None:
        return PodAffinity()
    required = affinity.required_during_scheduling_ignored_during_execution or ()
    preferred = affinity.preferred_during_scheduling_ignored_during_execution or ()
    return PodAffinity(
        required=tuple(_pod_term(term) for term in required),
        preferred=tuple(
            PreferredPodTerm(each.weight or 0, _pod_term(each.pod_affinity_term or _PodTerm()))
            for each in preferred
        ),
    )


def _pod_term(term: _PodTerm) -> PodTerm:
    return PodTerm(
        selector=optional_selector(term.label_selector),
        topology_key=term.topology_key or "",
        namespaces=tuple(sorted(term.namespaces or ())),
        namespace_selector=optional_selector(term.namespace_selector),
        match_label_keys=tuple(term.match_label_keys or ()),
        mismatch_label_keys=tuple(term.mismatch_label_keys or ()),
    )


def _spread(spread: _Spread) -> TopologySpread:
    return TopologySpread(
        max_skew=spread.max_skew or 1,
        topology_key=spread.topology_key or "",
        when_unsatisfiable=spread.when_unsatisfiable or "DoNotSchedule",
        selector=optional_selector(spread.label_selector),
        min_domains=spread.min_domains,
        node_affinity_policy=spread.node_affinity_policy or "Honor",
        node_taints_policy=spread.node_taints_policy or "Ignore",
        match_label_keys=tuple(spread.match_label_keys or ()),
    )


def toleration_of(toleration: TolerationJson) -> Toleration:
    """Make the core value; an empty operator means Equal."""
    return Toleration(
        key=toleration.key or "",
        operator=toleration.operator or "Equal",
        value=toleration.value or "",
        effect=toleration.effect or "",
        seconds=toleration.toleration_seconds,
    )


def _host_ports(spelled: _Spelling) -> tuple[HostPort, ...]:
    found = []
    for path, text in spelled.ports:
        for port in _read_ports(text, path):
            # On the host's network a container port is a host port; the API server fills that in.
            number = port.host_port or (port.container_port if spelled.host_network else 0)
            if number:
                found.append(HostPort(number, port.protocol or "TCP", port.host_ip or "0.0.0.0"))
    return tuple(found)
