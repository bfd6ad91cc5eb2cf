"""Realistic pod lists to decode: a few hundred workloads, many pods each, as the API sends them.

About 5 kB a pod: injected token volumes, probes, environment, tolerations, managed fields and a
running pod's status. The same numbers give the same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, TextIO

Json = dict[str, Any]
_REPLICAS = 100
_STARTED = "2026-03-01T08:15:{:02d}Z"


def write_list(out: TextIO, pods: int) -> None:
    """Write a PodList of that many pods."""
    out.write(
        '{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"812345"},"items":['
    )
    for index, pod in enumerate(make_pods(pods)):
        out.write("," if index else "")
        json.dump(pod, out, separators=(",", ":"))
    out.write("]}\n")


def make_pods(count: int, nodes: int = 1000) -> Iterator[Json]:
    """Make pods, a hundred for each workload, one after the other on so many nodes."""
    for index in range(count):
        pod = _pod(index // _REPLICAS, index)
        pod["spec"]["nodeName"] = node_name(index % nodes)
        yield pod


def node_name(index: int) -> str:
    return f"node-{index}"


def _pod(workload: int, index: int) -> Json:
    app = f"service-{workload:03d}"
    started = _STARTED.format(index % 60)
    token = f"kube-api-access-{index:05x}"
    return {
        "metadata": {
            "name": f"{app}-6d4cf56db6-{index:05x}",
            "generateName": f"{app}-6d4cf56db6-",
            "namespace": f"team-{workload % 20}",
            "uid": f"7f1c5a10-0000-4000-8000-{index:012x}",
            "resourceVersion": str(500_000 + index),
            "generation": 1,
            "creationTimestamp": started,
            "labels": {
                "app.kubernetes.io/name": app,
                "app.kubernetes.io/part-of": "shop",
                "pod-template-hash": "6d4cf56db6",
            },
            "annotations": {
                "kubectl.kubernetes.io/restartedAt": "2026-03-01T08:00:00Z",
                "prometheus.io/scrape": "true",
                "prometheus.io/port": "9090",
            },
            "ownerReferences": [
                {
                    "apiVersion": "apps/v1",
                    "kind": "ReplicaSet",
                    "name": f"{app}-6d4cf56db6",
                    "uid": f"9a1c5a10-0000-4000-8000-{workload:012x}",
                    "controller": True,
                    "blockOwnerDeletion": True,
                }
            ],
            "managedFields": _managed_fields(started),
        },
        "spec": _spec(app, workload, token),
        "status": _status(app, workload, index, started),
    }


def _managed_fields(at: str) -> list[Json]:
    env: Json = {
        f'k:{{"name":"SETTING_{number}"}}': {".": {}, "f:name": {}, "f:value": {}}
        for number in range(4)
    }
    container = {
        "f:image": {},
        "f:env": {".": {}, **env},
        "f:resources": {"f:requests": {"f:cpu": {}}},
    }
    labels: Json = {"f:app.kubernetes.io/name": {}, "f:pod-template-hash": {}}
    created = {
        "f:metadata": {"f:labels": {".": {}, **labels}, "f:ownerReferences": {".": {}}},
        "f:spec": {"f:containers": {'k:{"name":"main"}': container}, "f:schedulerName": {}},
    }
    conditions: Json = {
        f'k:{{"type":"{kind}"}}': {".": {}, "f:status": {}} for kind in ("Ready", "Initialized")
    }
    status = {"f:status": {"f:conditions": conditions, "f:phase": {}, "f:podIP": {}}}
    entry = {"apiVersion": "v1", "fieldsType": "FieldsV1", "operation": "Update", "time": at}
    return [
        {**entry, "manager": "kube-controller-manager", "fieldsV1": created},
        {**entry, "manager": "kubelet", "fieldsV1": status, "subresource": "status"},
    ]


def _spec(app: str, workload: int, token: str) -> Json:
    zones = {"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["zone-a", "zone-b"]}
    required = {"nodeSelectorTerms": [{"matchExpressions": [zones]}]}
    away = {
        "labelSelector": {"matchLabels": {"app.kubernetes.io/name": app}},
        "topologyKey": "kubernetes.io/hostname",
    }
    return {
        "volumes": [
            {
                "name": token,
                "projected": {
                    "sources": [{"serviceAccountToken": {"path": "token"}}],
                    "defaultMode": 420,
                },
            },
            {"name": "config", "configMap": {"name": f"{app}-config", "defaultMode": 420}},
        ],
        "containers": [_container(app, workload, token), _container("proxy", 0, token)],
        "restartPolicy": "Always",
        "terminationGracePeriodSeconds": 30,
        "dnsPolicy": "ClusterFirst",
        "serviceAccountName": app,
        "securityContext": {"runAsNonRoot": True},
        "affinity": {
            "nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required},
            "podAntiAffinity": {
                "preferredDuringSchedulingIgnoredDuringExecution": [
                    {"weight": 100, "podAffinityTerm": away}
                ]
            },
        },
        "schedulerName": "default-scheduler",
        "tolerations": [
            {
                "key": f"node.kubernetes.io/{why}",
                "operator": "Exists",
                "effect": "NoExecute",
                "tolerationSeconds": 300,
            }
            for why in ("not-ready", "unreachable")
        ],
        "priority": 0,
        "enableServiceLinks": True,
        "preemptionPolicy": "PreemptLowerPriority",
    }


def _container(name: str, workload: int, token: str) -> Json:
    probe = {
        "httpGet": {"path": "/healthz", "port": 8080, "scheme": "HTTP"},
        "periodSeconds": 10,
        "failureThreshold": 3,
    }
    return {
        "name": name,
        "image": f"example.com/shop/{name}:1.4.2",
        "args": ["--listen=:8080", "--log-format=json", f"--name={name}"],
        "ports": [{"name": "http", "containerPort": 8080, "protocol": "TCP"}],
        "env": [
            {"name": f"SETTING_{number}", "value": f"value of setting {number}"}
            for number in range(4)
        ],
        "resources": _resources(workload),
        "volumeMounts": [
            {"name": "config", "mountPath": "/etc/shop"},
            {
                "name": token,
                "readOnly": True,
                "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount",
            },
        ],
        "livenessProbe": probe,
        "readinessProbe": probe,
        "terminationMessagePath": "/dev/termination-log",
        "imagePullPolicy": "IfNotPresent",
    }


def _status(app: str, workload: int, index: int, started: str) -> Json:
    kinds = ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled")
    containers = [
        {
            "name": name,
            "state": {"running": {"startedAt": started}},
            "lastState": {},
            "ready": True,
            "restartCount": 0,
            "image": f"example.com/shop/{name}:1.4.2",
            "imageID": f"example.com/shop/{name}@sha256:{index:064x}",
            "containerID": f"containerd://{index:064x}",
            "started": True,
            "allocatedResources": _amounts(workload if name == app else 0),
            "resources": _resources(workload if name == app else 0),
        }
        for name in (app, "proxy")
    ]
    return {
        "phase": "Running",
        "conditions": [
            {"type": kind, "status": "True", "lastProbeTime": None, "lastTransitionTime": started}
            for kind in kinds
        ],
        "hostIP": f"10.0.{index % 1000 // 250}.{index % 250}",
        "podIP": f"10.{64 + index // 65536}.{index // 256 % 256}.{index % 256}",
        "startTime": started,
        "containerStatuses": containers,
        "qosClass": "Burstable",
    }


def _amounts(workload: int) -> dict[str, str]:
    return {"cpu": f"{100 + workload % 7 * 50}m", "memory": f"{128 * (1 + workload % 5)}Mi"}


def _resources(workload: int) -> Json:
    amounts = _amounts(workload)
    return {"limits": {"memory": amounts["memory"]}, "requests": amounts}
