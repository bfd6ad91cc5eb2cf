"""Slots in chunks of a whole node: one guardian for as many pods as fit on a node.

Many small placeholders are slow to take, because each is preempted or handed over separately. A
chunk is a multiple of the pod's requests, so that pods fill it without a rest. It is as large as
fits on every eligible node, beside the pods that run on each node anyway.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from headroom.core.headrooms.eligibility import sorted_out
from headroom.core.holds import PodTemplate
from headroom.core.objects import Key, Node, OwnerReference, Pod
from headroom.core.requests import ContainerNeed, PodNeed, nonzero_requests
from headroom.core.resources import EMPTY, PODS, Resources

DAEMON_SET = "DaemonSet"


def pods_a_node(template: PodTemplate, nodes: Collection[Node], overhead: Resources = EMPTY) -> int:
    """How many pods of this shape every eligible node takes; at least one.

    `overhead` is what stands on a node anyway (DaemonSets).
    """
    requests = template.pod.requests
    eligible, _ = sorted_out(nodes, template.pod)
    counts = [
        (node.allocatable[name] - overhead[name]) // requests[name]
        for node in eligible
        for name in requests
        if name != PODS and requests[name]
    ]
    return max(1, min(counts, default=1))


def overhead_of(pods: Iterable[Pod], daemon_sets: Mapping[Key, str]) -> Resources:
    """What DaemonSets ask for, of each resource on the node where they ask for most of it.

    `daemon_sets` are those that there are, with their uid: anybody may write an owner reference on
    a pod, so only who belongs to one of them is believed.
    """
    by_node: dict[str, Resources] = {}
    for pod in pods:
        controller = daemon_set_of(pod)
        if controller is None or not pod.occupies_node:
            continue
        if daemon_sets.get(Key(pod.key.namespace, controller.name)) == controller.uid:
            by_node[pod.node] = by_node.get(pod.node, EMPTY) + pod.requests
    largest = EMPTY
    for each in by_node.values():
        largest = largest.largest(each)
    return largest


def daemon_set_of(pod: Pod) -> OwnerReference | None:
    """The DaemonSet that a pod says it belongs to."""
    return next((each for each in pod.owners if each.kind == DAEMON_SET and each.controller), None)


def times(template: PodTemplate, count: int) -> PodTemplate:
    """The template that keeps the room of so many pods in one piece."""
    if count == 1:
        return template
    requests = template.pod.requests.without(PODS) * count
    return replace(template, pod=with_requests(template.pod, requests))


def with_requests(pod: Pod, requests: Resources) -> Pod:
    """The pod with other requests, in one container."""
    need = PodNeed(containers=(ContainerNeed(requests=requests),))
    return replace(pod, requests=requests, nonzero_requests=nonzero_requests(need))
