"""Why a pod does not fit, in kube-scheduler's own words, and the message that it builds from them.

People and programs (Cluster Autoscaler, Karpenter, alerts) read these texts, and the oracle test
compares them letter by letter with kube-scheduler 1.36.
"""

from __future__ import annotations

from collections.abc import Mapping

from headroom.core.demand.volume_constraints import UNBINDABLE
from headroom.core.resources import PODS, TOO_MANY_PODS

UNSCHEDULABLE = "node(s) were unschedulable"
NODE_NAME = "node(s) didn't match the requested node name"
TAINT = "node(s) had untolerated taint(s)"
NODE_AFFINITY = "node(s) didn't match Pod's node affinity/selector"
NODE_AFFINITY_NAMES = "node(s) didn't satisfy plugin(s) [NodeAffinity]"
NODE_AFFINITY_CONFLICT = "pod affinity terms conflict"
PORTS = "node(s) didn't have free ports for the requested pod ports"
VOLUME_IN_USE = (
    "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode "
    "already in-use by another pod"
)
VOLUME_COUNT = "node(s) exceed max volume count"
VOLUME_UNBINDABLE = UNBINDABLE
VOLUME_ZONE = "node(s) had no available volume zone"
VOLUME_REACH = "node(s) didn't match PersistentVolume's node affinity"
SPREAD = "node(s) didn't match pod topology spread constraints"
SPREAD_LABEL = f"{SPREAD} (missing required label)"
AFFINITY = "node(s) didn't match pod affinity rules"
ANTI_AFFINITY = "node(s) didn't match pod anti-affinity rules"
EXISTING_ANTI_AFFINITY = "node(s) didn't satisfy existing pods anti-affinity rules"
NO_VICTIMS = "No preemption victims found for incoming pod"
NOT_HELPFUL = "Preemption is not helpful for scheduling"
NO_NODES = "no nodes available to schedule pods"
NO_CLAIMS = "no new claims to deallocate"
"""The message of the DynamicResources plugin, on by default since 1.34, for pods without claims."""

HOPELESS = frozenset(
    (
        UNSCHEDULABLE,
        NODE_NAME,
        TAINT,
        NODE_AFFINITY,
        NODE_AFFINITY_NAMES,
        VOLUME_REACH,
        VOLUME_UNBINDABLE,
        VOLUME_ZONE,
        SPREAD_LABEL,
        AFFINITY,
    )
)
"""Reasons that preemption cannot remove; a request above a node's size is another."""


def insufficient(resource: str) -> str:
    """Name a lack of one resource."""
    return TOO_MANY_PODS if resource == PODS else f"Insufficient {resource}"


def message(nodes: int, reasons: Mapping[str, int], *, before: str = "", after: str = "") -> str:
    """Build kube-scheduler's message: a sorted histogram between `before` and `after`.

    `before` replaces the histogram (a pod refused as a whole); `after` is the message of
    preemption.
    """
    if not nodes:
        return NO_NODES
    sentence = f"0/{nodes} nodes are available:"
    histogram = ", ".join(sorted(f"{count} {reason}" for reason, count in reasons.items()))
    if before or histogram:
        sentence += f" {before or histogram}."
    return f"{sentence} {after}" if after else sentence
