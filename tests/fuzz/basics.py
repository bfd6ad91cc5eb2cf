"""What all samples are made of."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]

NOON = "2027-01-04T12:00:00Z"
OURS = "headroom.dev/v1alpha1"
CONDITION: Json = {
    "type": "Ready",
    "status": "True",
    "reason": "Held",
    "message": "all is well",
    "lastTransitionTime": NOON,
}


def meta(name: str, namespace: str = "shop", **more: Any) -> Json:
    place = {"namespace": namespace} if namespace else {}
    return {"name": name, **place, "uid": f"uid-{name}", "creationTimestamp": NOON, **more}


def requests(cpu: str = "500m", memory: str = "512Mi") -> Json:
    return {"requests": {"cpu": cpu, "memory": memory}}
