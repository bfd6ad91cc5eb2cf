"""Everything that `headroom install` puts into a cluster, as objects in the order to apply them.

CRDs and priority classes come first, then who the operator is and what it may do
(`manifests_rbac`), the operator itself, and last the admission policy. Nothing here reads a
cluster.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

from headroom.core.names import (
    LOCKED_CLASS,
    LOCKED_PRIORITY,
    PREEMPTIBLE_CLASS,
    PREEMPTIBLE_PRIORITY,
)
from headroom.wire.crds import crds
from headroom.wire.manifests_rbac import ACCOUNT, rights
from headroom.wire.policy import policy_objects

# Objects of the API are open-ended JSON.
Json: TypeAlias = dict[str, Any]

LABELS = {"app.kubernetes.io/name": "headroom"}
SELECTOR = {**LABELS, "app.kubernetes.io/component": "operator"}
NAMESPACE = "headroom-system"
HTTP_PORT = 8080


@dataclass(frozen=True, slots=True)
class Installation:
    """What may differ between clusters."""

    image: str
    namespace: str = NAMESPACE
    replicas: int = 2
    arguments: tuple[str, ...] = ()  # further ones of `headroom run`
    policy: bool = True  # the cluster has MutatingAdmissionPolicy (Kubernetes 1.36)


def install_objects(installation: Installation) -> list[Json]:
    """Return every object of an installation; applying them again changes nothing."""
    namespace = installation.namespace
    return [
        *crds(),
        *priority_classes(),
        _namespace(namespace),
        *rights(namespace),
        _deployment(installation),
        _disruption_budget(namespace),
        *(policy_objects() if installation.policy else ()),
    ]


def priority_classes() -> list[Json]:
    """Return the classes of guardians: those that stay, and those that make way."""
    return [
        _priority_class(
            LOCKED_CLASS,
            LOCKED_PRIORITY,
            "Guardians of headroom: the room goes to its owners only. Not for pods of your own.",
        ),
        _priority_class(
            PREEMPTIBLE_CLASS,
            PREEMPTIBLE_PRIORITY,
            "Guardians of headroom that make way for any pod of ordinary priority.",
        ),
    ]


def _priority_class(name: str, value: int, description: str) -> Json:
    return {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": name, "labels": LABELS},
        "value": value,
        "preemptionPolicy": "Never",
        "globalDefault": False,
        "description": description,
    }


def _namespace(name: str) -> Json:
    labels = {**LABELS, "pod-security.kubernetes.io/enforce": "restricted"}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}


def _deployment(installation: Installation) -> Json:
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {
            "name": ACCOUNT,
            "namespace": installation.namespace,
            "labels": SELECTOR,
        },
        "spec": {
            "replicas": installation.replicas,
            "selector": {"matchLabels": SELECTOR},
            "template": {
                "metadata": {"labels": SELECTOR},
                "spec": _pod_spec(installation),
            },
        },
    }


def _pod_spec(installation: Installation) -> Json:
    return {
        "serviceAccountName": ACCOUNT,
        # While the operator waits for room itself, nobody's holds are handed over.
        "priorityClassName": "system-cluster-critical",
        "terminationGracePeriodSeconds": 30,
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": 65532,
            "runAsGroup": 65532,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "affinity": {
            "podAntiAffinity": {
                "preferredDuringSchedulingIgnoredDuringExecution": [
                    {
                        "weight": 100,
                        "podAffinityTerm": {
                            "topologyKey": "kubernetes.io/hostname",
                            "labelSelector": {"matchLabels": SELECTOR},
                        },
                    }
                ]
            }
        },
        "containers": [_container(installation)],
    }


def _container(installation: Installation) -> Json:
    return {
        "name": "operator",
        "image": installation.image,
        "args": ["run", "--in-cluster", f"--http=0.0.0.0:{HTTP_PORT}", *installation.arguments],
        "env": [
            {
                "name": "HEADROOM_NAMESPACE",
                "valueFrom": {"fieldRef": {"fieldPath": "metadata.namespace"}},
            },
        ],
        "ports": [{"name": "http", "containerPort": HTTP_PORT, "protocol": "TCP"}],
        "livenessProbe": {
            "httpGet": {"path": "/healthz", "port": "http"},
            "periodSeconds": 10,
            "failureThreshold": 6,
        },
        "readinessProbe": {"httpGet": {"path": "/readyz", "port": "http"}, "periodSeconds": 5},
        "resources": {
            "requests": {"cpu": "100m", "memory": "256Mi"},
            "limits": {"memory": "1Gi"},
        },
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
    }


def _disruption_budget(namespace: str) -> Json:
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": ACCOUNT, "namespace": namespace, "labels": LABELS},
        "spec": {"maxUnavailable": 1, "selector": {"matchLabels": SELECTOR}},
    }
