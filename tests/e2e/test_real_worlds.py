"""What people do with a real cluster's objects: which dialects are on, and what would come next."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from testbed.controlplane import ControlPlane
from tests.e2e.installing import remove_asking_policy, until
from tests.e2e.test_cli import headroom, operator
from tests.e2e.test_people import ORDER, SPARE

pytestmark = pytest.mark.e2e
Json = dict[str, Any]
KINDS = "nodes,namespaces,pods,holds,headrooms,orders,tickets,deployments,replicasets"
WEB = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "live-web", "namespace": "default"},
    "spec": {
        "replicas": 2,
        "selector": {"matchLabels": {"app": "live-web"}},
        "template": {
            "metadata": {"labels": {"app": "live-web"}},
            "spec": {
                "containers": [
                    {"name": "m", "image": "x", "resources": {"requests": {"cpu": "50m"}}}
                ]
            },
        },
    },
}
HOLD = {
    "apiVersion": "headroom.dev/v1alpha1",
    "kind": "Hold",
    "metadata": {"name": "live-kept", "namespace": "default"},
    "spec": {
        "template": {
            "spec": {"containers": [{"name": "m", "resources": {"requests": {"cpu": "50m"}}}]}
        },
        "owners": [{"labelSelector": {"matchLabels": {"app": "live-late"}}}],
    },
}
OWNER = """apiVersion: v1
kind: Pod
metadata: {name: late, namespace: default, labels: {app: live-late}}
spec:
  schedulingGates: [{name: headroom.dev/claim}]
  containers: [{name: m, image: x, resources: {requests: {cpu: 50m}}}]
"""


@pytest.fixture(scope="module")
def plane(binaries: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """A cluster of its own, so that what other tests leave is not in the dump."""
    with ControlPlane.start(tmp_path_factory.mktemp("worlds"), hollow_nodes=3) as started:
        yield from furnished(started)


def furnished(control_plane: ControlPlane) -> Iterator[ControlPlane]:
    """The cluster with an operator for korder's kinds, and something of every sort on it."""
    kubeconfig = control_plane.kubeconfig
    done = headroom(kubeconfig, "install", "--image", "headroom:test", "--dialect", "korder")
    assert done.returncode == 0, done.stderr
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("HEADROOM_DIALECT", "korder")
        running = operator(kubeconfig)
        begun = running.__enter__()
    try:
        begun.wait_until_ready()
        made = json.dumps({"apiVersion": "v1", "kind": "List", "items": [WEB, HOLD, SPARE, ORDER]})
        control_plane.kubectl("apply", "-f", "-", input=made)
        until("all is held and runs", lambda: is_settled(control_plane), seconds=90)
        yield control_plane
        control_plane.kubectl("delete", "-f", "-", input=made)
    finally:
        running.__exit__(None, None, None)
    gone = headroom(kubeconfig, "uninstall")
    assert gone.returncode == 0, gone.stderr
    remove_asking_policy(control_plane)
    for plural in ("orders", "tickets", "quotas"):
        control_plane.kubectl("delete", "crd", f"{plural}.core.korder.dev")


def is_settled(plane: ControlPlane) -> bool:
    found = json.loads(plane.kubectl("get", "holds,headrooms,orders,deployments", "-o", "json"))
    states: dict[str, Json] = {
        each["kind"]: each.get("status", {}) for each in found["items"] if is_ours(each)
    }
    told = (
        states["Hold"].get("phase"),
        states["Deployment"].get("availableReplicas"),
        states["Order"].get("availableReplicas"),
        states["Headroom"].get("held"),
    )
    return told == ("Available", 2, 3, 3)


def is_ours(item: Json) -> bool:
    return str(item["metadata"]["name"]) in ("live-web", "live-kept", "people")


def read(plane: ControlPlane, *arguments: str) -> str:
    done = headroom(plane.kubeconfig, *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_operators_deployment_says_which_dialects_are_on(plane: ControlPlane) -> None:
    assert json.loads(read(plane, "dump"))["dialects"] == ["korder"]
    slots = json.loads(read(plane, "get", "slots", "-o", "json"))["items"]
    assert len(slots) == 6, slots  # Three of the Headroom, three of the Order.


@pytest.mark.parametrize("form", ["dump", "kubectl"])
def test_a_simulation_goes_on_from_a_real_cluster(
    plane: ControlPlane, tmp_path: Path, form: str
) -> None:
    file, owner = tmp_path / "world", tmp_path / "owner.yaml"
    owner.write_text(OWNER)
    if form == "dump":
        file.write_text(read(plane, "dump"))
    else:
        file.write_text(plane.kubectl("get", KINDS, "-A", "-o", "yaml", "--show-managed-fields"))
    there = json.loads(plane.kubectl("get", "pods", "-A", "-o", "json"))["items"]
    arguments = ("simulate", str(file), str(owner), "--until", "5m", "-o", "json")
    result = json.loads(read(plane, *arguments))
    (late,) = (each for each in result["objects"] if each["metadata"]["name"] == "late")
    assert late["status"]["phase"] == "Running"
    assert result["summary"]["claims"] == 1
    gone = {name for name, *_ in places(there)} - {name for name, *_ in places(result["objects"])}
    assert len(gone) == 1, gone  # The guardian whose room the owner got.
    assert set(places(result["objects"])) >= {each for each in places(there) if each[0] not in gone}


def places(objects: list[Json]) -> list[tuple[str, str, str]]:
    return [
        (each["metadata"]["name"], each["metadata"]["uid"], each["spec"].get("nodeName", ""))
        for each in objects
        if each.get("kind", "Pod") == "Pod"
    ]
