"""Objects for tests of the embedded cluster, as plain JSON: all defaulted, nothing random."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]


def node(name: str, cpu: str = "4", memory: str = "16Gi", **more: Any) -> Json:
    room = {"cpu": cpu, "memory": memory, "pods": str(more.pop("pods", 110))}
    labels = {"kubernetes.io/hostname": name, **more.pop("labels", {})}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "spec": more,
        "status": {"capacity": room, "allocatable": room},
    }


def pod(name: str, cpu: str = "1", labels: Json | None = None, **spec: Any) -> Json:
    requests = {"cpu": cpu} if cpu else {}
    container = {"name": "main", "image": "app", "resources": {"requests": requests}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default", "labels": labels or {}},
        "spec": {"containers": [container], **spec},
    }


def priority_class(name: str, value: int, **more: Any) -> Json:
    return {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": name},
        "value": value,
        **more,
    }


def replica_set(name: str, replicas: int, cpu: str = "1") -> Json:
    return {**deployment(name, replicas, cpu), "kind": "ReplicaSet"}


def deployment(name: str, replicas: int, cpu: str = "1", **spec: Any) -> Json:
    labels = {"app": name}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": pod("x", cpu)["spec"]},
            **spec,
        },
    }


def daemon_set(name: str, cpu: str = "1", **pod_spec: Any) -> Json:
    made = deployment(name, 1, cpu)
    spec = {**made["spec"]["template"]["spec"], **pod_spec}
    template = {**made["spec"]["template"], "spec": spec}
    kept = {"selector": made["spec"]["selector"], "template": template}
    return {**made, "kind": "DaemonSet", "spec": kept}


def stateful_set(name: str, replicas: int, cpu: str = "1", **spec: Any) -> Json:
    made = deployment(name, replicas, cpu, serviceName=name, **spec)
    return {**made, "kind": "StatefulSet"}


def job(name: str, annotations: Json | None = None, **spec: Any) -> Json:
    template = {
        "metadata": {"labels": {"app": name}, "annotations": annotations or {}},
        "spec": {**pod("x")["spec"], "restartPolicy": "Never"},
    }
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"template": template, **spec},
    }


def budget(name: str, app: str, **spec: Any) -> Json:
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"selector": {"matchLabels": {"app": app}}, **spec},
    }


def hold(name: str, cpu: str = "1", app: str = "web", **spec: Any) -> Json:
    container = {"name": "main", "resources": {"requests": {"cpu": cpu}}}
    return {
        "apiVersion": "headroom.dev/v1alpha1",
        "kind": "Hold",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {
            "template": {"spec": {"containers": [container]}},
            "owners": [{"labelSelector": {"matchLabels": {"app": app}}}],
            **spec,
        },
    }
