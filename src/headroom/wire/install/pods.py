"""Our own programs as Deployments: alike in all that keeps them safe and in their place.

`manifests` runs the operator this way, `install.webhook` the webhook.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from headroom.wire.installed_kinds import LABELS, NETWORK_POLICIES
from headroom.wire.kinds import BUDGETS, DEPLOYMENTS, Json


@dataclass(frozen=True, slots=True)
class Program:
    """One program of ours; its account has its name, its only port the name of `port`."""

    name: str
    component: str
    namespace: str
    replicas: int
    image: str
    arguments: Sequence[str]
    port: tuple[str, int]
    resources: Json

    @property
    def selector(self) -> dict[str, str]:
        return {**LABELS, "app.kubernetes.io/component": self.component}

    def metadata(self, labels: Json = LABELS) -> Json:
        """The metadata of an object with the name of the program."""
        return {"name": self.name, "namespace": self.namespace, "labels": labels}


def deployment(program: Program, container: Json, **pod: Any) -> Json:
    """Return the Deployment; `container` and `pod` are what is special about this one."""
    spec = {
        "replicas": program.replicas,
        "selector": {"matchLabels": program.selector},
        "template": {
            "metadata": {"labels": program.selector},
            "spec": {**_pod_spec(program, container), **pod},
        },
    }
    return DEPLOYMENTS.new(program.metadata(program.selector), spec=spec)


def disruption_budget(program: Program) -> Json:
    """Return the budget that lets one replica go at a time."""
    spec = {"maxUnavailable": 1, "selector": {"matchLabels": program.selector}}
    return BUDGETS.new(program.metadata(), spec=spec)


def network_policy(program: Program, ports: Sequence[int] = ()) -> Json:
    """Return the policy that lets nobody in but on these ports.

    A kubelet's probes come from the node, which is always let in. Where the API server listens is
    not ours to know, so the ways out stay open.
    """
    allowed = [{"protocol": "TCP", "port": port} for port in ports]
    spec = {
        "podSelector": {"matchLabels": program.selector},
        "policyTypes": ["Ingress"],
        "ingress": [{"ports": allowed}] if allowed else [],
    }
    return NETWORK_POLICIES.new(program.metadata(), spec=spec)


def _pod_spec(program: Program, container: Json) -> Json:
    return {
        "serviceAccountName": program.name,
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
                            "labelSelector": {"matchLabels": program.selector},
                        },
                    }
                ]
            }
        },
        # Two replicas in one zone would be lost together; better so than not at all.
        "topologySpreadConstraints": [
            {
                "maxSkew": 1,
                "topologyKey": "topology.kubernetes.io/zone",
                "whenUnsatisfiable": "ScheduleAnyway",
                "labelSelector": {"matchLabels": program.selector},
            }
        ],
        "containers": [{**_container(program), **container}],
    }


def _container(program: Program) -> Json:
    port, number = program.port
    # The webhook's one port speaks TLS; kubelets do not mind who signed its certificate.
    scheme = {"scheme": "HTTPS"} if port == "https" else {}
    return {
        "name": program.component,
        "image": program.image,
        "args": [*program.arguments],
        "env": [
            {
                "name": "HEADROOM_NAMESPACE",
                "valueFrom": {"fieldRef": {"fieldPath": "metadata.namespace"}},
            },
        ],
        "ports": [{"name": port, "containerPort": number, "protocol": "TCP"}],
        "livenessProbe": {
            "httpGet": {"path": "/healthz", "port": port, **scheme},
            "periodSeconds": 10,
            "failureThreshold": 6,
        },
        "readinessProbe": {
            "httpGet": {"path": "/readyz", "port": port, **scheme},
            "periodSeconds": 5,
        },
        "resources": program.resources,
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
    }
