"""The statuses that a kubelet writes, as values: running, ended, rejected."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from headroom.sim.api.values import Json, condition_status, new_condition, uid_of, with_condition
from headroom.sim.kubelet.admission import Rejection

_CONTAINERS = "ContainersReady"
_SANDBOX = {"type": "PodReadyToStartContainers", "status": "True"}
_INITIALIZED = {"type": "Initialized", "status": "True"}
_READY = {"type": "Ready", "status": "True"}
_CONTAINERS_READY = {"type": _CONTAINERS, "status": "True"}
_SCHEDULED = {"type": "PodScheduled", "status": "True"}


def running(pod: Json, now: str) -> Json:
    """All containers run; the pod is Ready unless a readiness gate is not met."""
    spec = pod.get("spec") or {}
    host = _host_address(str(spec.get("nodeName")))
    address = _address(uid_of(pod), 10)
    status: Json = {
        **(pod.get("status") or {}),
        "phase": "Running",
        "startTime": now,
        "hostIP": host,
        "hostIPs": [{"ip": host}],
        "podIP": address,
        "podIPs": [{"ip": address}],
        "containerStatuses": [_running(each, now) for each in spec.get("containers") or ()],
    }
    conditions = (_SANDBOX, _INITIALIZED, _readiness(pod), _CONTAINERS_READY, _SCHEDULED)
    return _with_all(status, conditions, now)


def reported_again(pod: Json, now: str) -> Json:
    """A running pod's status after its kubelet was away."""
    return with_condition(pod.get("status"), _readiness(pod), now)


def _readiness(pod: Json) -> Json:
    """The Ready condition of a pod whose containers run."""
    unmet = [
        gate["conditionType"]
        for gate in (pod.get("spec") or {}).get("readinessGates") or ()
        if condition_status(pod, gate["conditionType"]) != "True"
    ]
    if not unmet:
        return _READY
    words = "; ".join(
        f'corresponding condition of pod readiness gate "{gate}" does not exist.' for gate in unmet
    )
    return new_condition("Ready", False, "ReadinessGatesNotReady", words)


def finished(pod: Json, phase: str, now: str) -> Json:
    """The containers have ended, successfully (Succeeded) or not (Failed)."""
    code = 0 if phase == "Succeeded" else 1
    reason = "Completed" if code == 0 else "Error"
    done = "PodCompleted" if code == 0 else "PodFailed"
    before = pod.get("status") or {}
    started = before.get("startTime") or now
    ended = {
        "exitCode": code,
        "reason": reason,
        "startedAt": started,
        "finishedAt": now,
    }
    containers = [
        {**_named(each), "ready": False, "state": {"terminated": ended}}
        for each in (pod.get("spec") or {}).get("containers") or ()
    ]
    status = {**before, "phase": phase, "containerStatuses": containers}
    return _with_all(
        status,
        (
            {"type": "Ready", "status": "False", "reason": done},
            {"type": _CONTAINERS, "status": "False", "reason": done},
        ),
        now,
    )


def failed(pod: Json, rejection: Rejection, now: str) -> Json:
    """The kubelet rejected the pod."""
    return {
        **(pod.get("status") or {}),
        "phase": "Failed",
        "reason": rejection.reason,
        "message": f"Pod was rejected: {rejection.message}",
        "startTime": now,
    }


def _with_all(status: Json, conditions: Iterable[Json], now: str) -> Json:
    """The status with these conditions first, in this order; other conditions follow."""
    others = {condition["type"]: condition for condition in status.get("conditions") or ()}
    ours = []
    for condition in conditions:
        old = others.pop(condition["type"], None)
        since = now
        if old is not None and old.get("status") == condition["status"]:
            since = old.get("lastTransitionTime", now)
        ours.append({**condition, "lastTransitionTime": since})
    return {**status, "conditions": [*ours, *others.values()]}


def _running(container: Json, now: str) -> dict[str, Any]:
    state = {"running": {"startedAt": now}}
    return {**_named(container), "ready": True, "started": True, "state": state}


def _named(container: Json) -> dict[str, Any]:
    image = container.get("image", "")
    return {"name": container.get("name", ""), "image": image, "imageID": "", "restartCount": 0}


@lru_cache(maxsize=4096)
def _host_address(node: str) -> str:
    return _address(node, 172)


def _address(text: str, first: int) -> str:
    """A valid-looking address that is always the same for the same name."""
    digest = hashlib.blake2b(text.encode(), digest_size=3).digest()
    return ".".join(str(part) for part in (first, *digest))
