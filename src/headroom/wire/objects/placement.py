"""Where a pod may go: nodeSelector, affinity, tolerations, spread and host ports, as a Placement.

A placement is found by the text of these parts, so all pods of a workload share one value and the
work done for it. `pods` calls `placement_of`; nobody else needs to know the shapes below.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

from msgspec import field

from headroom.core.objects import (
    ANYWHERE,
    HostPort,
    NodeAffinity,
    NodeTerm,
    Placement,
    PodAffinity,
    PodTerm,
    PreferredNodeTerm,
    PreferredPodTerm,
    Toleration,
    TopologySpread,
)
from headroom.wire.objects.codec import COUNT, NUMBER, TEXT, TEXTS, Codec, Part, text_or
from headroom.wire.objects.intern import Interned
from headroom.wire.objects.podjson import JsonObject, PodSpec
from headroom.wire.objects.reader import ABSENT, Reader, spelling, spellings
from headroom.wire.objects.selectors import NODE_TERM, SELECTOR, node_terms

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"

_PREFERRED_NODE = Codec(
    PreferredNodeTerm, weight=NUMBER, term=NODE_TERM.part(NodeTerm()).named("preference")
)
_NODE_AFFINITY = Codec(
    NodeAffinity,
    required=node_terms().named(_REQUIRED),
    preferred=_PREFERRED_NODE.parts().named(_PREFERRED),
)
_POD_TERM = Codec(
    PodTerm,
    selector=SELECTOR.named("labelSelector"),
    topology_key=TEXT,
    namespaces=replace(TEXTS, read=lambda names: tuple(sorted(names))),
    namespace_selector=SELECTOR,
    match_label_keys=TEXTS,
    mismatch_label_keys=TEXTS,
)
_PREFERRED_POD = Codec(
    PreferredPodTerm,
    weight=NUMBER,
    term=_POD_TERM.part(PodTerm(None, "")).named("podAffinityTerm"),
)
_POD_AFFINITY = Codec(
    PodAffinity,
    required=_POD_TERM.parts().named(_REQUIRED),
    preferred=_PREFERRED_POD.parts().named(_PREFERRED),
)
_AFFINITY = Codec[Any](
    dict,
    node_affinity=_NODE_AFFINITY.part(NodeAffinity()),
    pod_affinity=_POD_AFFINITY.part(PodAffinity()),
    pod_anti_affinity=_POD_AFFINITY.part(PodAffinity()),
)
TOLERATION = Codec(
    Toleration,
    key=TEXT,
    operator=text_or("Equal"),
    value=TEXT,
    effect=TEXT,
    seconds=COUNT.named("tolerationSeconds"),
)
_SPREAD = Codec(
    TopologySpread,
    max_skew=Part(int, 1, lambda skew: skew or 1),
    topology_key=TEXT,
    when_unsatisfiable=text_or("DoNotSchedule"),
    selector=SELECTOR.named("labelSelector"),
    min_domains=COUNT,
    node_affinity_policy=text_or("Honor"),
    node_taints_policy=text_or("Ignore"),
    match_label_keys=TEXTS,
)


class _Port(JsonObject):
    host_port: int | None = None
    container_port: int | None = None
    protocol: str | None = None
    host_ip: str | None = field(name="hostIP", default=None)


_read_node_selector = Reader(dict[str, str])
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
    selector, affinity, tolerations, spread = spellings(
        spec.node_selector, spec.affinity, spec.tolerations, spec.topology_spread_constraints
    )
    on_host = bool(ports and spec.host_network)
    spelled = _Spelling(selector, affinity, tolerations, spread, ports, on_host)
    return ANYWHERE if spelled == _NOTHING else _placements(spelled)


def _spelled_ports(spec: PodSpec) -> tuple[tuple[str, bytes], ...]:
    """Give the texts of the lists that name host ports, with their paths; most pods have none."""
    found = []
    for index, container in enumerate(spec.containers or ()):
        if container.ports is not ABSENT:
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
    selector = _read_node_selector(spelled.node_selector or b"{}", "spec.nodeSelector")
    return Placement(
        node_selector=tuple(sorted(selector.items())),
        spread=_SPREAD.decode_list(spelled.spread, "spec.topologySpreadConstraints"),
        tolerations=TOLERATION.decode_list(spelled.tolerations, "spec.tolerations"),
        ports=_host_ports(spelled),
        **_AFFINITY.decode(spelled.affinity, "spec.affinity"),
    )


_placements: Interned[_Spelling, Placement] = Interned(_read, limit=512)


def _host_ports(spelled: _Spelling) -> tuple[HostPort, ...]:
    found = []
    for path, text in spelled.ports:
        for port in _read_ports(text, path):
            # On the host's network a container port is a host port; the API server fills that in.
            number = port.host_port or (port.container_port if spelled.host_network else 0)
            if number:
                found.append(HostPort(number, port.protocol or "TCP", port.host_ip or "0.0.0.0"))
    return tuple(found)
