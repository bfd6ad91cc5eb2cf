"""Admission of a new pod: defaults, priority, and the reasons to refuse it.

The rules and messages are those of the real admission plugins (Priority, DefaultTolerationSeconds)
and of pod defaulting, as far as they can change scheduling. `quota` checks quotas; `pods` has the
rules for later changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from headroom.sim.api import kinds
from headroom.sim.api.values import Json, dig, new_condition, with_condition
from headroom.sim.errors import forbidden, invalid

DEFAULT_PRIORITY = 0
PREEMPTS = "PreemptLowerPriority"
_WAITS = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")

ListKind = Callable[[str], Iterable[Json]]


def prioritized(obj: Json, list_kind: ListKind) -> Json:
    """A new pod with the priority of its class; later admission policies read it."""
    spec = dict(obj.get("spec") or {})
    spec.update(_priority(str(dig(obj, "metadata", "name")), spec, list_kind("PriorityClass")))
    return {**obj, "spec": spec}


def admit_pod(obj: Json, now: str) -> Json:
    """A prioritized pod as it is stored; raises the API server's error if it is refused."""
    name = str(dig(obj, "metadata", "name"))
    spec = dict(obj.get("spec") or {})
    if spec.get("nodeName") and spec.get("schedulingGates"):
        words = "cannot be set until all schedulingGates have been cleared"
        raise invalid(kinds.POD, name, f"spec.nodeName: Forbidden: {words}")
    for field in ("containers", "initContainers"):
        if spec.get(field):
            spec[field] = [_container(container) for container in spec[field]]
    spec["tolerations"] = _tolerations(spec.get("tolerations") or [])
    defaulted = {**_DEFAULTS, **spec}
    return {**obj, "spec": defaulted, "status": first_status(defaulted, now)}


_DEFAULTS: Json = {
    "dnsPolicy": "ClusterFirst",
    "enableServiceLinks": True,
    "restartPolicy": "Always",
    "schedulerName": "default-scheduler",
    "securityContext": {},
    "terminationGracePeriodSeconds": 30,
}


def first_status(spec: Json, now: str) -> Json:
    """The status of every new pod; for a gated pod it has the condition that says so."""
    status: Json = {"phase": "Pending", "qosClass": _quality(spec)}
    if spec.get("schedulingGates"):
        why = "Scheduling is blocked due to non-empty scheduling gates"
        condition = new_condition("PodScheduled", False, "SchedulingGated", why)
        return with_condition(status, condition, now)
    return status


def _container(container: Json) -> Json:
    """A container with the requests that follow from its limits."""
    limits = dig(container, "resources", "limits")
    if not limits:
        return container
    requests = dig(container, "resources", "requests") or {}
    if limits.keys() <= requests.keys():
        return container
    return {
        **container,
        "resources": {**container["resources"], "requests": {**limits, **requests}},
    }


def _priority(name: str, spec: Json, classes: Iterable[Json]) -> Json:
    wanted = spec.get("priorityClassName") or ""
    by_name = {str(dig(item, "metadata", "name")): item for item in classes}
    if wanted and wanted not in by_name:
        raise forbidden(kinds.POD, name, f"no PriorityClass with name {wanted} was found")
    chosen = by_name.get(wanted) or _global_default(by_name.values())
    priority = chosen["value"] if chosen else DEFAULT_PRIORITY
    policy = (chosen or {}).get("preemptionPolicy") or PREEMPTS
    computed = "priority admission controller computed {} from the given PriorityClass name"
    if spec.get("priority") not in (None, priority):
        words = (
            f"the integer value of priority ({spec['priority']}) must not be provided in pod spec"
        )
        raise forbidden(kinds.POD, name, f"{words}; {computed.format(priority)}")
    if spec.get("preemptionPolicy") not in (None, policy):
        given = spec["preemptionPolicy"]
        words = f"the string value of PreemptionPolicy ({given}) must not be provided in pod spec"
        raise forbidden(kinds.POD, name, f"{words}; {computed.format(policy)}")
    found: dict[str, Any] = {"priority": priority, "preemptionPolicy": policy}
    if chosen:
        found["priorityClassName"] = dig(chosen, "metadata", "name")
    return found


def _global_default(classes: Iterable[Json]) -> Json | None:
    """The class for pods that name none: of several global defaults the lowest, then by name."""
    defaults = [item for item in classes if item.get("globalDefault")]
    return min(
        defaults, key=lambda item: (item["value"], dig(item, "metadata", "name")), default=None
    )


def _tolerations(given: list[Json]) -> list[Json]:
    """Add the default toleration of five minutes for a node that is not ready."""
    added = [
        {"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
        for key in _WAITS
        if not any(_covers(toleration, key) for toleration in given)
    ]
    return [*given, *added]


def _covers(toleration: Json, key: str) -> bool:
    return toleration.get("key", "") in (key, "") and toleration.get("effect", "") in (
        "NoExecute",
        "",
    )


def _quality(spec: Json) -> str:
    """The QoS class, calculated from CPU and memory of the containers."""
    guaranteed, any_set = True, False
    for container in (*spec.get("containers", ()), *(spec.get("initContainers") or ())):
        requests = dig(container, "resources", "requests") or {}
        limits = dig(container, "resources", "limits") or {}
        any_set = any_set or bool(requests or limits)
        for resource in ("cpu", "memory"):
            if not limits.get(resource) or requests.get(resource) != limits.get(resource):
                guaranteed = False
    if not any_set:
        return "BestEffort"
    return "Guaranteed" if guaranteed else "Burstable"
