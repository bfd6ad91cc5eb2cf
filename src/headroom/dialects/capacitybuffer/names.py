"""The kind CapacityBuffer, and the names around it."""

from __future__ import annotations

from headroom.wire.kinds import Resource

GROUP = "autoscaling.x-k8s.io"
VERSION = "v1beta1"
OLDER_VERSION = "v1alpha1"  # served too; the API server gives it out as the newer one

BUFFERS = Resource(GROUP, VERSION, "capacitybuffers", "CapacityBuffer")

# Workloads that a buffer may copy, by group. An empty group is taken for apps, as Karpenter does.
APPS = ("Deployment", "ReplicaSet", "StatefulSet")
BATCH = ("Job",)

OURS = "headroom"  # what the API server calls us in managedFields
PEOPLE = "kubectl"
