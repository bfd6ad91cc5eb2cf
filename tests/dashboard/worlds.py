"""Clusters to look at, as files; and a command that serves a page, as a process of its own."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from headroom.core.names import API_VERSION

Json = dict[str, Any]
MARKUP = "<img src=x onerror=globalThis.hit=1>"
ESCAPES = "\x1b[2J\x1b]0;owned\x07 \u202etxt.exe"
START = "2027-01-04T08:00:00Z"
END = "2027-01-04T08:01:00Z"


def node(name: str, pool: str = "general", **labels: str) -> Json:
    amounts = {"cpu": "4", "memory": "16Gi", "pods": "110", "nvidia.com/gpu": "2"}
    zone = {"topology.kubernetes.io/zone": "a"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"sim.headroom.dev/pool": pool, **zone, **labels}},
        "status": {
            "capacity": amounts,
            "allocatable": amounts,
            "conditions": [{"type": "Ready", "status": "True"}],
        },
    }


def pod(name: str, on: str = "", namespace: str = "shop", **metadata: Json) -> Json:
    requests = {"cpu": "1", "memory": "1Gi"}
    spec: Json = {"containers": [{"name": "main", "resources": {"requests": requests}}]}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace, "uid": name, **metadata},
        "spec": {**spec, **({"nodeName": on} if on else {})},
        "status": {"phase": "Running" if on else "Pending"},
    }


def guardian(name: str, parent: str, slot: str, on: str = "") -> Json:
    return pod(
        name,
        on,
        labels={"headroom.dev/role": "guardian"},
        annotations={"headroom.dev/parent": parent, "headroom.dev/slot": slot},
    )


def headroom(name: str, message: str) -> Json:
    window = {"start": "0 9 * * *", "duration": "2h", "timeZone": "UTC", "leadTime": "10m"}
    ready = {"type": "Ready", "status": "False", "reason": "Waiting", "message": message}
    moment = {"lastTransitionTime": START}
    return {
        "apiVersion": API_VERSION,
        "kind": "Headroom",
        "metadata": {"name": name, "namespace": "shop", "uid": f"uid-{name}"},
        "spec": {
            "slot": {"template": {"resources": {"requests": {"cpu": "1", "memory": "1Gi"}}}},
            "size": {"replicas": 2},
            "owners": [{"priorityAtLeast": 1000}],
            "schedule": [window],
        },
        "status": {"desired": 2, "held": 1, "pending": 1, "conditions": [{**ready, **moment}]},
    }


def hostile_result() -> Json:
    """A result with objects of every sort, and with text from people who mean harm."""
    late = pod("late")
    late["status"]["conditions"] = [
        {
            "type": "PodScheduled",
            "status": "False",
            "reason": "Unschedulable",
            "message": f"cannot be placed {MARKUP} {ESCAPES}",
        }
    ]
    claimed = {"headroom.dev/claimed": "Headroom/shop/burst", "headroom.dev/claimed-slot": "1"}
    return {
        "apiVersion": "sim.headroom.dev/v1alpha1",
        "kind": "Result",
        "start": START,
        "end": END,
        "objects": [
            node("general-0", evil=MARKUP),
            node("general-1"),
            node("burst-0", "burst"),
            headroom("burst", f"</script>{MARKUP} {ESCAPES}"),
            pod("web", "general-0"),
            pod(f"evil{MARKUP}", "general-1"),
            pod("owner", "burst-0", annotations=claimed),
            guardian("burst-0", "Headroom/shop/burst", "0", "general-0"),
            guardian("burst-1", "Headroom/shop/burst", "1"),
            late,
        ],
        "events": [],
        "journal": [
            {"at": 0, "what": "headroom_held", "object": "Headroom/shop/burst", "desired": 2},
            {"at": 1, "what": "pod_created", "object": "Pod/shop/burst-0", "role": "guardian"},
            {"at": 9, "what": "pod_bound", "object": "Pod/shop/burst-0"},
            {"at": 50, "what": "pod_created", "object": f"Pod/shop/{MARKUP}"},
        ],
        "summary": {},
    }


def many_nodes(count: int, pods_each: int = 1) -> Json:
    """A dump of many nodes, each with pods; every tenth pod is a guardian."""
    objects = [node(f"node-{number:05}", f"pool-{number % 7}") for number in range(count)]
    for number in range(count):
        for each in range(pods_each):
            name = f"p-{number}-{each}"
            on = f"node-{number:05}"
            if (number * pods_each + each) % 10:
                objects.append(pod(name, on))
            else:
                objects.append(guardian(name, "Headroom/shop/burst", str(number), on))
    return {"apiVersion": API_VERSION, "kind": "Dump", "end": END, "objects": objects}


@contextmanager
def served(*arguments: str) -> Iterator[str]:
    """A command that serves a page: its address; ended at the end."""
    process = subprocess.Popen(
        [sys.executable, "-m", "headroom", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        line = process.stdout.readline().strip() if process.stdout else ""
        if not line.startswith("http://"):
            process.kill()
            raise RuntimeError(f"no address: {line} {process.communicate()[1]}")
        yield line
    finally:
        process.terminate()
        process.communicate(timeout=60)
