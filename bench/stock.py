"""Thousands of nodes and tens of thousands of pods in an API server, in seconds.

They are put straight into etcd, as JSON, which an API server reads like what it wrote itself: no
admission, no defaulting and no answer for each of them. The pods are those of `pods`: about 5 kB,
running, bound. Nobody looks after the nodes, so start the control plane without
kube-controller-manager, which would find all of them dead.
"""

from __future__ import annotations

import base64
import contextlib
import http.client
import json
import time
from collections.abc import Iterable, Iterator
from itertools import islice
from urllib.parse import urlsplit

from bench.lab import Json
from bench.pods import make_pods, node_name
from testbed.api import ApiFailure
from testbed.controlplane import ControlPlane
from testbed.nodes import fake_node

AT_ONCE = 100  # puts in one transaction: below etcd's limits of 128 puts and 1.5 MB
SERVED_S = 900.0
TEAMS = 20
ROOM = {"cpu": "16", "memory": "64Gi", "pods": "110"}


def fill(plane: ControlPlane, nodes: int, pods: int) -> float:
    """Put so many nodes and bound pods there; return how long until the API server shows all."""
    began = time.perf_counter()
    for team in range(TEAMS):
        plane.api.ensure("/api/v1/namespaces", {"metadata": {"name": f"team-{team}"}})
    _put(plane.store, made_nodes(nodes))
    _put(plane.store, bound_pods(pods, nodes))
    for path, count in (("/api/v1/nodes", nodes), ("/api/v1/pods", pods)):
        _until_shown(plane, path, count)
    return time.perf_counter() - began


def made_nodes(count: int) -> Iterator[tuple[str, Json]]:
    """Nodes with the keys under which the API server looks for them."""
    for index in range(count):
        name = node_name(index)
        node = fake_node(name, ROOM, {"topology.kubernetes.io/zone": f"zone-{'ab'[index % 2]}"})
        node["metadata"] |= {
            "uid": f"5d1c5a10-0000-4000-8000-{index:012x}",
            "creationTimestamp": node["status"]["conditions"][0]["lastTransitionTime"],
        }
        yield f"/registry/minions/{name}", node


def bound_pods(count: int, nodes: int) -> Iterator[tuple[str, Json]]:
    """Running pods with their keys, spread over the nodes."""
    for pod in make_pods(count, nodes):
        body = {"apiVersion": "v1", "kind": "Pod", **pod}
        body["metadata"] = {
            name: value for name, value in pod["metadata"].items() if name != "resourceVersion"
        }
        metadata = body["metadata"]
        yield f"/registry/pods/{metadata['namespace']}/{metadata['name']}", body


def _put(store: str, objects: Iterable[tuple[str, Json]]) -> None:
    """Write objects by etcd's own HTTP interface, many in one transaction."""
    connection = http.client.HTTPConnection(urlsplit(store).netloc, timeout=60)
    waiting = iter(objects)
    try:
        while batch := list(islice(waiting, AT_ONCE)):
            puts = [
                {"requestPut": {"key": _coded(key), "value": _coded(json.dumps(value))}}
                for key, value in batch
            ]
            connection.request("POST", "/v3/kv/txn", json.dumps({"success": puts}))
            answer = connection.getresponse()
            told = answer.read()
            if answer.status != http.HTTPStatus.OK:
                raise RuntimeError(f"etcd: {answer.status} {told[:300]!r}")
    finally:
        connection.close()


def _coded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def _until_shown(plane: ControlPlane, path: str, count: int) -> None:
    """Wait until the API server counts them all, and its watch cache has them all too.

    A page of one object says how many follow. The next page comes from the cache; as long as the
    cache is behind etcd, there is none ("Too large resource version").
    """
    deadline = time.perf_counter() + SERVED_S
    while time.perf_counter() < deadline:
        with contextlib.suppress(ApiFailure):
            page = plane.api.get(f"{path}?limit=1")
            found = len(page["items"]) + page["metadata"].get("remainingItemCount", 0)
            if found >= count:
                following = page["metadata"].get("continue", "")
                plane.api.get(f"{path}?limit=1&continue={following}")
                return
        time.sleep(1.0)
    raise RuntimeError(f"{path}: not {count} objects after {SERVED_S:.0f} s")
