"""Rights in one namespace are enough to look at that namespace; changes are seen as they come."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from testbed.controlplane import ControlPlane
from tests.e2e.installing import until
from tests.e2e.test_cli import headroom, operator

pytestmark = pytest.mark.e2e
HOME = "tenant"
RULES = [
    {
        "apiGroups": ["headroom.dev"],
        "resources": ["holds", "headrooms"],
        "verbs": ["get", "list", "watch", "create", "delete"],
    },
    {"apiGroups": [""], "resources": ["pods", "events"], "verbs": ["get", "list", "watch"]},
]
HOLD = ("--cpu", "50m", "--owner", "app=tenant", "--wait", "60s")
SPARE = {
    "apiVersion": "headroom.dev/v1alpha1",
    "kind": "Headroom",
    "metadata": {"name": "spare", "namespace": HOME},
    "spec": {
        "slot": {"template": {"resources": {"requests": {"cpu": "50m"}}}},
        "size": {"perNode": {"slots": 1}},
        "owners": [{"labelSelector": {"matchLabels": {"app": "tenant"}}}],
    },
}


@pytest.fixture(scope="module")
def tenant(control_plane: ControlPlane, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The kubeconfig of somebody with a RoleBinding in one namespace; an operator runs."""
    plane = control_plane
    done = headroom(plane.kubeconfig, "install", "--image", "headroom:test", "--no-policy")
    assert done.returncode == 0, done.stderr
    plane.api.create("/api/v1/namespaces", {"metadata": {"name": HOME}})
    rbac = f"/apis/rbac.authorization.k8s.io/v1/namespaces/{HOME}"
    plane.api.create(f"{rbac}/roles", {"metadata": {"name": "looks"}, "rules": RULES})
    plane.api.create(
        f"{rbac}/rolebindings",
        {
            "metadata": {"name": "looks"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "looks"},
            "subjects": [{"kind": "User", "name": HOME}],
        },
    )
    config = yaml.safe_load(plane.kubeconfig_for(HOME).read_text())
    config["contexts"][0]["context"]["namespace"] = HOME
    file = tmp_path_factory.mktemp("tenant") / "kubeconfig"
    file.write_text(yaml.safe_dump(config))
    with operator(plane.kubeconfig) as running:
        running.wait_until_ready()
        yield file
        running.end()
    plane.kubectl("delete", "namespace", HOME, "--wait=false")
    gone = headroom(plane.kubeconfig, "uninstall")
    assert gone.returncode == 0, gone.stderr


def ask(kubeconfig: Path, *arguments: str, code: int = 0) -> str:
    done = headroom(kubeconfig, *arguments)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout + done.stderr


def test_a_tenant_reserves_looks_and_releases(tenant: Path) -> None:
    dry = ask(tenant, "reserve", "mine", *HOLD[:4], "--dry-run=server")
    assert "hold mine made (server dry run)" in dry
    assert "no holds in namespace tenant" in ask(tenant, "get", "holds")
    assert "hold mine is held on " in ask(tenant, "reserve", "mine", *HOLD)
    try:
        listed = ask(tenant, "get", "holds")
        assert "mine" in listed
        assert "note:" not in listed  # Nothing is missing from this answer.
        told = ask(tenant, "explain", "hold/mine")
        assert "hold tenant/mine is held on " in told
        assert "you may not list nodes" in told
        assert "guardian" in ask(tenant, "get", "guardians", "-o", "json")
        assert "Hold/tenant/mine" in ask(tenant, "top")
        assert "Held" in ask(tenant, "describe", "hold", "mine")
        everywhere = ask(tenant, "get", "holds", "-A", code=3)
        assert "-n NAMESPACE" in everywhere
        ask(tenant, "get", "nodes", code=3)
        assert "mine" in ask(tenant, "release", "mine", "--dry-run=server")
        assert "mine" in ask(tenant, "get", "holds", "-o", "name")
    finally:
        assert ask(tenant, "release", "mine") == "hold mine released\n"


def test_a_headroom_on_nodes_that_cannot_be_seen_is_told_by_its_own_word(
    tenant: Path, control_plane: ControlPlane
) -> None:
    path = f"/apis/headroom.dev/v1alpha1/namespaces/{HOME}/headrooms"
    control_plane.api.create(path, SPARE)
    try:
        until(
            "every slot is held",
            lambda: control_plane.api.get(f"{path}/spare").get("status", {}).get("held") == 3,
        )
        told = ask(tenant, "explain", "hr", "spare")
        assert "has 3 of 3 slots, according to its status" in told
        assert "your permissions do not show what is free on nodes" in told
        slots = ask(tenant, "get", "slots", "-o", "jsonpath={.items[*].state}")
        assert slots.startswith("held held held\n")
        _watch_slots_go(control_plane, path)
    finally:
        control_plane.api.delete(f"{path}/spare")


def _watch_slots_go(plane: ControlPlane, path: str) -> None:
    """What depends on several kinds is followed as well: slots, by headrooms, pods and nodes."""
    command = [sys.executable, "-m", "headroom", "get", "slots", "spare", "-n", HOME, "-w"]
    command += ["--kubeconfig", str(plane.kubeconfig)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as watch:
        assert watch.stdout is not None
        try:
            first = [watch.stdout.readline().split() for _ in range(4)]
            assert [line[2] for line in first[1:]] == ["held", "held", "held"]
            change = {"spec": {"slot": {"template": {"nodeSelector": {"no": "where"}}}}}
            plane.api.patch(f"{path}/spare", change)
            assert watch.stdout.readline().split()[0] == "spare"
        finally:
            watch.terminate()


def test_a_watch_prints_what_changes(tenant: Path, control_plane: ControlPlane) -> None:
    command = [sys.executable, "-m", "headroom", "get", "holds", "-w", "-o", "name"]
    command += ["--kubeconfig", str(tenant)]
    table = [*command[:5], "-w", *command[-2:]]
    with (
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as names,
        subprocess.Popen(table, stdout=subprocess.PIPE, text=True) as lines,
    ):
        assert names.stdout is not None
        assert lines.stdout is not None
        try:
            # The tenant's own requests go through the same server: what is made later is seen.
            ask(tenant, "reserve", "seen", *HOLD)
            assert names.stdout.readline() == "hold.headroom.dev/seen\n"
            assert lines.stdout.readline().split()[0] == "NAME"
            first = lines.stdout.readline().split()
            while first[1] != "Available":
                first = lines.stdout.readline().split()
            assert first[0] == "seen"
            ask(tenant, "release", "seen")
            assert lines.stdout.readline().split()[0] == "seen"
        finally:
            for process in (names, lines):
                process.terminate()


def test_a_server_dry_run_of_an_installation_changes_nothing(control_plane: ControlPlane) -> None:
    config = control_plane.kubeconfig
    done = headroom(config, "install", "--dry-run=server", "-n", "elsewhere", "--no-policy")
    assert done.returncode == 0, done.stderr
    assert "Namespace/elsewhere applied (server dry run)" in done.stderr
    assert "does not exist yet" in done.stderr
    names = json.loads(control_plane.kubectl("get", "namespaces", "-o", "json"))["items"]
    assert "elsewhere" not in [item["metadata"]["name"] for item in names]
