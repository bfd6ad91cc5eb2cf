"""Labels, annotations and other names that users and programs rely on: keep them stable."""

from __future__ import annotations

GROUP = "headroom.dev"
VERSION = "v1alpha1"
API_VERSION = f"{GROUP}/{VERSION}"

ROLE_LABEL = f"{GROUP}/role"
ROLE_GUARDIAN = "guardian"
ROLE_LATCH = "latch"
ROLE_FENCE = "fence"
FOR_LABEL = f"{GROUP}/for"
PARENT_ANNOTATION = f"{GROUP}/parent"
CLAIMED_ANNOTATION = f"{GROUP}/claimed"
CLAIMED_UID_ANNOTATION = f"{GROUP}/claimed-uid"  # beside it: whose namesake may come later
SLOT_ANNOTATION = f"{GROUP}/slot"  # on a guardian: which slot of its parent it keeps
SHAPE_ANNOTATION = f"{GROUP}/shape"  # on a guardian: hash of the template that it was made from
CLAIMED_SLOT_ANNOTATION = f"{GROUP}/claimed-slot"  # on an owner: which slot of that parent it got
CLAIMED_BESIDE_ANNOTATION = f"{GROUP}/claimed-beside"  # on an owner: what it had without that hold
CLAIMS_ANNOTATION = f"{GROUP}/claims"  # on a latch: which owner was to get which hold
USERS_ANNOTATION = f"{GROUP}/users"  # on a latch that a hold keeps: uids of those who use it
POLICY_LABEL = f"{GROUP}/allocate-policy"  # on a guardian: "none" or "set", see core.sides
BESIDE_LABEL = f"{GROUP}/beside"  # and a hash: an owner's uid, for the slots that follow it
PASS_LABEL = f"{GROUP}/pass"  # on an owner of kube-scheduler's: fences let it by
CLAIM_GATE = f"{GROUP}/claim"
LATCH_GATE = f"{GROUP}/latch"
WAIT_ANNOTATION = f"{GROUP}/wait"  # "true" on an owner: keep waiting for a hold
READINESS_GATE = f"{GROUP}/never-ready"
CLAIMS_NAMESPACE_LABEL = f"{GROUP}/claims"  # "enabled" opts a namespace into the policy
LIMITS_ANNOTATION = f"{GROUP}/limits"  # on a namespace: what its objects may hold at most
ANNOTATIONS_OF_USERS = (WAIT_ANNOTATION,)  # all others of our group are written by us alone

INDEX_NAME = "headroom"  # the ClaimIndex of a namespace

NAMESPACE_LABEL = f"{GROUP}/namespace"  # on a pod of ours that stands apart: for which namespace
CLUSTER_NAMESPACES = ("kube-node-lease", "kube-public", "kube-system")
"""The cluster's own namespaces: their pods are neither gated by annotation nor preempted by us."""

SCHEDULER_NAME = "headroom-scheduler"
DEFAULT_SCHEDULER_NAME = "default-scheduler"

LOCKED_CLASS = "headroom-locked"
LOCKED_PRIORITY = 1_000_000_000
PREEMPTIBLE_CLASS = "headroom-preemptible"
PREEMPTIBLE_PRIORITY = -10

LEASE_NAME = "headroom-operator"
NODE_ANNOTATION = f"{GROUP}/node"  # on a latch: the node whose room it keeps
SAFE_TO_EVICT = "cluster-autoscaler.kubernetes.io/safe-to-evict"
