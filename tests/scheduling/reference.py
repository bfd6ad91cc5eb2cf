"""kube-scheduler's filters written once more, node by node and pod by pod, without any cleverness.

Slow and plain on purpose: what the arrays say must be what this says. It keeps the Go code's shape,
so that the two can be read side by side.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from headroom.core.objects import LabelSelector, Node, Placement, Pod, PodTerm, Taint
from headroom.core.selection import matches, node_matches, tolerated
from headroom.scheduling.terms import spread_selector, term_of

CORDON = Taint("node.kubernetes.io/unschedulable")


@dataclass
class World:
    nodes: dict[str, Node] = field(default_factory=dict)
    pods: dict[str, list[Pod]] = field(default_factory=dict)
    nominated: dict[str, list[Pod]] = field(default_factory=dict)
    namespaces: dict[str, Mapping[str, str]] = field(default_factory=dict)

    def on(self, name: str) -> list[Pod]:
        return self.pods.get(name, [])


def refusal(pod: Pod, name: str, world: World, before: World | None = None) -> tuple[str, ...]:
    """Give the reasons why a node is refused, nominated pods considered.

    Whether company matters at all is decided by the world as it was `before` pods were removed.
    """
    before = before or world
    company = _company_matters(pod, before)
    removed = [one for one in before.on(name) if one not in world.on(name)]
    rivals = [
        one
        for one in world.nominated.get(name, [])
        if one.priority >= pod.priority and one.key != pod.key
    ]
    if rivals:
        pods = {**world.pods, name: [*world.on(name), *rivals]}
        with_rivals = World(world.nodes, pods, {}, world.namespaces)
        spread = _Spread(before, rivals, removed)
        found = _refusal(pod, name, with_rivals, company, spread)
        if found:
            return found
    return _refusal(pod, name, world, company, _Spread(before, [], removed))


@dataclass(frozen=True)
class _Spread:
    """What PodTopologySpread counts: pods of a world, and changes on the node that is judged.

    kube-scheduler counts the two by different rules: of the pods in the world neither ending ones
    nor any for an empty selector, of the changes both.
    """

    world: World
    added: list[Pod]
    removed: list[Pod]


def _company_matters(pod: Pod, world: World) -> bool:
    """Whether InterPodAffinity is skipped: nominated pods are not asked."""
    if pod.placement.pod_affinity.required or pod.placement.pod_anti_affinity.required:
        return True
    return any(
        term.topology_key in node.labels and _about(term, other, pod, world)
        for node, other in _everybody(world)
        for term in other.placement.pod_anti_affinity.required
    )


def _refusal(pod: Pod, name: str, world: World, company: bool, spread: _Spread) -> tuple[str, ...]:
    node = world.nodes[name]
    placement = pod.placement
    if node.unschedulable and not tolerated(CORDON, placement.tolerations):
        return ("node(s) were unschedulable",)
    if _tainted(placement, node):
        return ("node(s) had untolerated taint(s)",)
    if not node_matches(placement, node):
        return ("node(s) didn't match Pod's node affinity/selector",)
    if _port_taken(pod, world.on(name)):
        return ("node(s) didn't have free ports for the requested pod ports",)
    return (
        _insufficient(pod, node, world.on(name))
        or _refused_by_spread(pod, node, spread)
        or (_company(pod, node, world) if company else ())
    )


def _tainted(placement: Placement, node: Node) -> bool:
    hard = [taint for taint in node.taints if taint.effect != "PreferNoSchedule"]
    return any(not tolerated(taint, placement.tolerations) for taint in hard)


def _port_taken(pod: Pod, others: list[Pod]) -> bool:
    for wanted in pod.placement.ports:
        for other in others:
            for used in other.placement.ports:
                if (wanted.port, wanted.protocol) != (used.port, used.protocol):
                    continue
                if wanted.ip == used.ip or "0.0.0.0" in (wanted.ip, used.ip):
                    return True
    return False


def _insufficient(pod: Pod, node: Node, others: list[Pod]) -> tuple[str, ...]:
    found = []
    if len(others) + 1 > node.allocatable["pods"]:
        found.append("Too many pods")
    for resource in sorted(pod.requests):
        used = sum(other.requests[resource] for other in others)
        if pod.requests[resource] > node.allocatable[resource] - used:
            found.append(f"Insufficient {resource}")
    return tuple(found)


def _refused_by_spread(pod: Pod, node: Node, spread: _Spread) -> tuple[str, ...]:
    world = spread.world
    text = "node(s) didn't match pod topology spread constraints"
    hard = [one for one in pod.placement.spread if one.when_unsatisfiable == "DoNotSchedule"]
    counts: list[dict[str, int]] = [{} for _ in hard]
    for other in world.nodes.values():
        if not all(one.topology_key in other.labels for one in hard):
            continue
        for index, one in enumerate(hard):
            if one.node_affinity_policy == "Honor" and not node_matches(pod.placement, other):
                continue
            if one.node_taints_policy == "Honor" and _tainted(pod.placement, other):
                continue
            chosen = spread_selector(one, pod.labels)
            number = 0
            for there in world.on(other.name):
                if there.deleted or there.key.namespace != pod.key.namespace:
                    continue
                if chosen is not None and chosen.requirements and matches(chosen, there.labels):
                    number += 1
            if other is node and chosen is not None:
                number += _matching(chosen, pod, spread.added)
                number -= _matching(chosen, pod, spread.removed)
            value = other.labels[one.topology_key]
            counts[index][value] = counts[index].get(value, 0) + number
    for index, one in enumerate(hard):
        if one.topology_key not in node.labels:
            return (f"{text} (missing required label)",)
        least = min(counts[index].values(), default=0)
        if len(counts[index]) < (one.min_domains or 1):
            least = 0
        chosen = spread_selector(one, pod.labels)
        itself = int(chosen is not None and matches(chosen, pod.labels))
        number = counts[index].get(node.labels[one.topology_key], 0)
        if number + itself - least > one.max_skew:
            return (text,)
    return ()


def _matching(chosen: LabelSelector, pod: Pod, others: list[Pod]) -> int:
    same = [one for one in others if one.key.namespace == pod.key.namespace]
    return sum(matches(chosen, one.labels) for one in same)


def _company(pod: Pod, node: Node, world: World) -> tuple[str, ...]:
    wanted = pod.placement.pod_affinity.required
    if wanted and not _has_company(pod, node, world, wanted):
        return ("node(s) didn't match pod affinity rules",)
    for other_node, other in _everybody(world):
        for term in pod.placement.pod_anti_affinity.required:
            same = _same_domain(term, node, other_node)
            if same and _about(term, pod, other, world):
                return ("node(s) didn't match pod anti-affinity rules",)
    for other_node, other in _everybody(world):
        for term in other.placement.pod_anti_affinity.required:
            same = _same_domain(term, node, other_node)
            if same and _about(term, other, pod, world):
                return ("node(s) didn't satisfy existing pods anti-affinity rules",)
    return ()


def _has_company(pod: Pod, node: Node, world: World, wanted: tuple[PodTerm, ...]) -> bool:
    if not all(term.topology_key in node.labels for term in wanted):
        return False
    matching = [
        other_node
        for other_node, other in _everybody(world)
        if all(_about(term, pod, other, world) for term in wanted)
    ]
    if all(any(_same_domain(term, node, there) for there in matching) for term in wanted):
        return True
    counted = any(term.topology_key in there.labels for there in matching for term in wanted)
    return not counted and all(_about(term, pod, pod, world) for term in wanted)


def _everybody(world: World) -> list[tuple[Node, Pod]]:
    return [(world.nodes[name], pod) for name, pods in world.pods.items() for pod in pods]


def _same_domain(term: PodTerm, one: Node, other: Node) -> bool:
    value = one.labels.get(term.topology_key)
    return value is not None and value == other.labels.get(term.topology_key)


def _about(term: PodTerm, holder: Pod, other: Pod, world: World) -> bool:
    labels = world.namespaces.get(other.key.namespace, {})
    return term_of(term, holder).about(other.key.namespace, other.labels, labels)
