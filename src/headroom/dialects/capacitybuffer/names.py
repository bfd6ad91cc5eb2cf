"""The kind CapacityBuffer, and the names around it."""

from __future__ import annotations

from headroom.wire.kinds import Resource

GROUP = "autoscaling.x-k8s.io"
VERSION = "v1beta1"
OLDER_VERSION = "v1alpha1"  # served too; the API server converts it to the newer one

BUFFERS = Resource(GROUP, VERSION, "capacitybuffers", "CapacityBuffer")

# Workloads that a buffer may copy, by group. An empty group means apps, as for Karpenter.
APPS = ("Deployment", "ReplicaSet", "StatefulSet")
BATCH = ("Job",)

OURS = "headroom"  # our name in managedFields
PEOPLE = "kubectl"
