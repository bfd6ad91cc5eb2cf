"""`headroom dashboard` on a real control plane: kubectl, API server, kubelet forward the port."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from testbed.browser import Browser
from testbed.controlplane import ControlPlane
from testbed.forwarding import forwarding_node
from tests.dashboard.fixtures import browser as browser
from tests.dashboard.looking import assert_well
from tests.e2e.installing import until
from tests.e2e.test_cli import headroom
from tests.e2e.test_dashboard import operator

pytestmark = pytest.mark.e2e
HOME = "headroom-system"
PORT = 8081
PEOPLE = "page-people"


@pytest.fixture(scope="module")
def page_on_a_pod(control_plane: ControlPlane) -> Iterator[ControlPlane]:
    """The installed Deployment's pod on a node that forwards ports to an operator of ours."""
    plane = control_plane
    done = headroom(
        plane.kubeconfig, "install", "--image", "headroom:test", "--no-policy", "--dashboard"
    )
    assert done.returncode == 0, done.stderr
    with operator(plane, "127.0.0.1:0") as running:
        target = int(str(running.address).rpartition(":")[2])
        with forwarding_node(plane, PORT, target) as node:
            place(plane, node)
            yield plane
    plane.kubectl("delete", "namespace", PEOPLE, "--ignore-not-found", "--wait=false")
    gone = headroom(plane.kubeconfig, "uninstall")
    assert gone.returncode == 0, gone.stderr


def place(plane: ControlPlane, node: str) -> None:
    """Have the operator's pods run on a node."""
    spec = (
        '{"spec": {"replicas": 1, "strategy": {"type": "Recreate", "rollingUpdate": null},'
        ' "template": {"spec": {"nodeSelector": {"kubernetes.io/hostname": "%s"},'
        ' "tolerations": [{"operator": "Exists"}]}}}}'
    )
    plane.kubectl("-n", HOME, "patch", "deployment", "headroom-operator", "-p", spec % node)

    def there() -> bool:
        pods = plane.api.items(f"/api/v1/namespaces/{HOME}/pods")
        ours = [pod for pod in pods if pod["metadata"]["name"].startswith("headroom-operator-")]
        return bool(ours) and all(
            pod["spec"].get("nodeName") == node and pod["status"].get("phase") == "Running"
            for pod in ours
        )

    until("the operator's pod runs on the node", there)


@contextmanager
def dashboard(plane: ControlPlane, kubeconfig: Path) -> Iterator[subprocess.Popen[str]]:
    """The command, with the control plane's own kubectl."""
    path = f"{plane.site.binaries}{os.pathsep}{os.environ['PATH']}"
    command = [sys.executable, "-m", "headroom", "dashboard", "--kubeconfig", str(kubeconfig)]
    with subprocess.Popen(
        command,
        env={**os.environ, "PATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.terminate()


def test_the_page_is_reached_through_a_forwarded_port_by_who_has_the_role(
    page_on_a_pod: ControlPlane, browser: Browser
) -> None:
    plane = page_on_a_pod
    person = plane.service_account_kubeconfig(PEOPLE, "person")
    whom = ("--role=headroom-dashboard", f"--serviceaccount={PEOPLE}:person")
    plane.kubectl("-n", HOME, "create", "rolebinding", "page-person", *whom)
    with dashboard(plane, person) as process:
        line = process.stdout.readline().strip() if process.stdout else ""
        if not line.startswith("http://127.0.0.1:"):
            process.terminate()
            raise AssertionError(f"no address: {process.communicate()[1]}")
        with browser.page(line) as page:
            page.until("document.documentElement.dataset.connection === 'live'")
            page.until("!!document.querySelector('[data-node=\"forwarding\"]')")
            assert_well(page)


def test_who_has_no_right_to_forward_is_told_which_role_has_it(page_on_a_pod: ControlPlane) -> None:
    plane = page_on_a_pod
    stranger = plane.service_account_kubeconfig(PEOPLE, "stranger")
    with dashboard(plane, stranger) as process:
        out, err = process.communicate(timeout=120)
    assert (process.returncode, out) == (3, "")
    assert "forbidden" in err
    assert "headroom-dashboard" in err
