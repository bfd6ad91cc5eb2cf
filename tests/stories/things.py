"""Manifests in a few words: everything defaulted, nothing random."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]
GATE = "headroom.dev/claim"
OURS = "headroom-scheduler"
NAMESPACE = "default"


def requests(cpu: str | int, memory: str = "") -> Json:
    amounts = {"cpu": str(cpu)} | ({"memory": memory} if memory else {})
    return {"name": "main", "image": "app", "resources": {"requests": amounts}}


def pod(name: str, cpu: str | int = 1, app: str = "", **spec: Any) -> Json:
    """A pod; `app` labels it, `gated` and `ours` choose the door."""
    metadata: Json = {"name": name, "namespace": spec.pop("namespace", NAMESPACE)}
    metadata["labels"] = {"app": app} if app else {}
    metadata["annotations"] = spec.pop("annotations", {})
    memory = spec.pop("memory", "")
    if spec.pop("gated", False):
        spec["schedulingGates"] = [{"name": GATE}]
    if spec.pop("ours", False):
        spec["schedulerName"] = OURS
    spec = {"containers": [requests(cpu, memory)], "terminationGracePeriodSeconds": 0, **spec}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def hold(name: str, cpu: str | int = 1, app: str = "web", **spec: Any) -> Json:
    """A hold for pods labelled `app`, unless `owners` says otherwise."""
    metadata = {"name": name, "namespace": spec.pop("namespace", NAMESPACE)}
    template: Json = {"spec": {"containers": [requests(cpu, spec.pop("memory", ""))]}}
    template["spec"].update(spec.pop("template", {}))
    owners = spec.pop("owners", [{"labelSelector": {"matchLabels": {"app": app}}}])
    return {
        "apiVersion": "headroom.dev/v1alpha1",
        "kind": "Hold",
        "metadata": metadata,
        "spec": {"template": template, "owners": owners, **spec},
    }


def headroom(name: str, cpu: str | int = 1, app: str = "web", **spec: Any) -> Json:
    """Slots for pods labelled `app`; `replicas` or `size` says how many.

    `template` adds to the slot's shape, `chunk` and `source` (a Deployment's name) say it instead.
    """
    metadata = {"name": name, "namespace": spec.pop("namespace", NAMESPACE)}
    size = spec.pop("size", {"replicas": spec.pop("replicas", 1)})
    template = {"resources": {"requests": {"cpu": str(cpu)}}, **spec.pop("template", {})}
    slot: Json = {"template": template}
    source = spec.pop("source", "")
    if source:
        slot = {"from": {"apiVersion": "apps/v1", "kind": "Deployment", "name": source}}
    if "chunk" in spec:
        slot["chunk"] = spec.pop("chunk")
    if spec.get("mode") != "Preemptible":
        spec.setdefault("owners", [{"labelSelector": {"matchLabels": {"app": app}}}])
    return {
        "apiVersion": "headroom.dev/v1alpha1",
        "kind": "Headroom",
        "metadata": metadata,
        "spec": {"slot": slot, "size": size, **spec},
    }


def workload(kind: str, name: str, cpu: str | int = 1, **more: Any) -> Json:
    """A Deployment or DaemonSet whose pods are labelled with its name; as `pod` otherwise."""
    one = pod("x", cpu=cpu, app=name, **more.pop("pods", {}))
    template = {"metadata": {"labels": {"app": name}}, "spec": one["spec"]}
    template["spec"].pop("terminationGracePeriodSeconds")
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {"selector": {"matchLabels": {"app": name}}, "template": template, **more},
    }


def priority_class(name: str, value: int) -> Json:
    return {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": name},
        "value": value,
    }
