"""Nodes of a control plane through its API: create thousands, wait for them, remove them.

A fake node is a plain Node object with kwok's annotation and any capacity. A node counts as ready
when pods can be placed on it: condition Ready, and no taint because it is not ready yet.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from http import HTTPStatus
from urllib.parse import quote

from testbed.api import Api, ApiFailure, Json
from testbed.components import FAKE_NODE_ANNOTATION, LOOPBACK
from testbed.recipes import KUBERNETES, chosen_minor

_NODES = "/api/v1/nodes"
_POLL_S = 0.1
_STARTING_TAINTS = (
    "node.kubernetes.io/not-ready",
    "node.kubernetes.io/unreachable",
)


class NodesNotReady(Exception):
    """Fewer nodes than wanted became ready in time."""


def fake_node(name: str, capacity: Mapping[str, str], labels: Mapping[str, str]) -> Json:
    """Return a Node that kwok will keep alive.

    It comes complete: ready, and with the labels that the controller manager would add. Each
    update saved is saved thousands of times; this makes a large cluster ready three times sooner.
    """
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "annotations": {FAKE_NODE_ANNOTATION: "fake"},
            "labels": {
                "kubernetes.io/hostname": name,
                "kubernetes.io/os": "linux",
                "beta.kubernetes.io/os": "linux",
                "kubernetes.io/arch": "amd64",
                "beta.kubernetes.io/arch": "amd64",
                "type": "kwok",
                **labels,
            },
        },
        "status": {
            "capacity": dict(capacity),
            "allocatable": dict(capacity),
            "nodeInfo": {
                "kubeletVersion": KUBERNETES[chosen_minor()].version,
                "operatingSystem": "linux",
                "architecture": "amd64",
            },
            "phase": "Running",
            "addresses": [
                {"type": "InternalIP", "address": LOOPBACK},
                {"type": "Hostname", "address": name},
            ],
            "conditions": [
                _condition("Ready", "True", "KubeletReady", now),
                _condition("MemoryPressure", "False", "KubeletHasSufficientMemory", now),
                _condition("DiskPressure", "False", "KubeletHasNoDiskPressure", now),
                _condition("PIDPressure", "False", "KubeletHasSufficientPID", now),
            ],
        },
    }


def _condition(kind: str, status: str, reason: str, now: str) -> Json:
    return {
        "type": kind,
        "status": status,
        "reason": reason,
        "message": "fake",
        "lastHeartbeatTime": now,
        "lastTransitionTime": now,
    }


def create(api: Api, nodes: Iterable[Json]) -> None:
    api.for_each(lambda node: api.create(_NODES, node), nodes)


def remove(api: Api, names: Iterable[str]) -> None:
    """Delete the Node objects; those that are gone already are fine."""

    def delete(name: str) -> None:
        try:
            api.delete(f"{_NODES}/{quote(name)}")
        except ApiFailure as failure:
            if failure.status != HTTPStatus.NOT_FOUND:
                raise

    api.for_each(delete, names)


def is_ready(node: Json) -> bool:
    """Whether pods can be placed on the node, ignoring cordons."""
    conditions = node.get("status", {}).get("conditions", ())
    taints = node.get("spec", {}).get("taints", ())
    return any(c["type"] == "Ready" and c["status"] == "True" for c in conditions) and not any(
        taint["key"] in _STARTING_TAINTS for taint in taints
    )


def wait_ready(api: Api, count: int, names: Sequence[str], timeout_s: float) -> None:
    """Return once `count` nodes are ready, of the named ones if any are named."""
    wanted = frozenset(names)
    deadline = time.monotonic() + timeout_s
    while True:
        asked = time.monotonic()
        # From the watch cache: cheap, and a moment's staleness only delays us by a poll.
        nodes = api.items(f"{_NODES}?resourceVersion=0")
        chosen = [n for n in nodes if not wanted or n["metadata"]["name"] in wanted]
        ready = sum(map(is_ready, chosen))
        if ready >= count:
            return
        if time.monotonic() > deadline:
            late = sorted(n["metadata"]["name"] for n in chosen if not is_ready(n))
            raise NodesNotReady(
                f"{ready} of {count} nodes ready after {timeout_s:g} s; not ready: "
                f"{', '.join(late[:10]) or 'the others do not exist'}"
            )
        # Looking at thousands of nodes takes the very processors that make them ready.
        time.sleep(_POLL_S + 3 * (time.monotonic() - asked))
