"""The command line against a real control plane: installed, run, asked, stopped."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml

from testbed.controlplane import ControlPlane
from tests.e2e.installing import until

pytestmark = pytest.mark.e2e
LEASE = "/apis/coordination.k8s.io/v1/namespaces/headroom-system/leases/headroom-operator"
HOLD = {
    "apiVersion": "headroom.dev/v1alpha1",
    "kind": "Hold",
    "metadata": {"name": "from-the-cli", "namespace": "default"},
    "spec": {
        "template": {
            "spec": {"containers": [{"name": "main", "resources": {"requests": {"cpu": "100m"}}}]}
        },
        "owners": [{"labelSelector": {"matchLabels": {"app": "cli"}}}],
    },
}


def headroom(kubeconfig: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a verb in a process of its own, to its end."""
    return subprocess.run(
        [sys.executable, "-m", "headroom", *arguments],
        env={**os.environ, "KUBECONFIG": str(kubeconfig)},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


class Running:
    """An operator process; its log lines are read as it writes them."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.address = ""

    def wait_for_log(self, event: str) -> dict[str, object]:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            entry: dict[str, object] = json.loads(line)
            if entry["event"] == event:
                return entry
        raise AssertionError(f"the operator ended without {event}")

    def probe(self, path: str) -> str:
        with urllib.request.urlopen(f"http://{self.address}{path}", timeout=10) as answer:
            return str(answer.read().decode())

    def wait_until_ready(self) -> None:
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == "ready\n"

    def end(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        self.process.communicate(timeout=30)
        return self.process.returncode


@contextmanager
def operator(kubeconfig: Path) -> Iterator[Running]:
    command = [sys.executable, "-m", "headroom", "run", "--http", "127.0.0.1:0"]
    environment = {**os.environ, "HEADROOM_KUBECONFIG": str(kubeconfig)}
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        running = Running(process)
        try:
            running.address = str(running.wait_for_log("http_listening")["address"])
            yield running
        finally:
            if process.poll() is None:
                process.kill()
                process.communicate()


@pytest.fixture(scope="module")
def installed(control_plane: ControlPlane) -> Iterator[ControlPlane]:
    """The control plane with everything that `headroom install` brings; twice changes nothing."""
    for _ in range(2):
        done = headroom(control_plane.kubeconfig, "install", "--image", "headroom:test")
        assert done.returncode == 0, done.stderr
    yield control_plane
    gone = headroom(control_plane.kubeconfig, "uninstall")
    assert gone.returncode == 0, gone.stderr


def holder(plane: ControlPlane) -> str:
    return str(plane.api.get(LEASE)["spec"].get("holderIdentity") or "")


def test_a_replica_leads_another_stands_by_and_takes_over(installed: ControlPlane) -> None:
    with operator(installed.kubeconfig) as first:
        first.wait_until_ready()
        assert first.probe("/readyz") == "leading\n"
        with operator(installed.kubeconfig) as second:
            second.wait_for_log("synced")
            assert second.probe("/readyz") == "standby\n"
            assert first.end() == 0
            second.wait_until_ready()
            assert second.probe("/healthz") == "leading\n"
            assert "headroom_leader 1.0" in second.probe("/metrics")
            assert second.end() == 0
    until("the lease is free", lambda: holder(installed) == "")


def test_a_hold_is_kept_and_shown(installed: ControlPlane) -> None:
    holds = "/apis/headroom.dev/v1alpha1/namespaces/default/holds"
    with operator(installed.kubeconfig) as running:
        running.wait_until_ready()
        installed.api.create(holds, HOLD)
        try:
            until(
                "the hold is available",
                lambda: (
                    installed.api.get(f"{holds}/from-the-cli").get("status", {}).get("phase")
                    == "Available"
                ),
            )
            shown = headroom(installed.kubeconfig, "get", "holds", "from-the-cli")
            assert "Available" in shown.stdout
            nodes = headroom(installed.kubeconfig, "get", "nodes", "-o", "json")
            held = [item["held"].get("cpu", 0) for item in json.loads(nodes.stdout)["items"]]
            assert sum(held) == 100
            assert 'headroom_holds{phase="Available"} 1.0' in running.probe("/metrics")
        finally:
            installed.kubectl("delete", "hold", "from-the-cli")
        assert running.end() == 0


@contextmanager
def watching(kubeconfig: Path, told: Path, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    """A verb that goes on until it is interrupted; what it prints is in the file `told`."""
    environment = {**os.environ, "KUBECONFIG": str(kubeconfig)}
    command = [sys.executable, "-m", "headroom", *arguments]
    with told.open("wb") as out, subprocess.Popen(command, env=environment, stdout=out) as process:
        try:
            yield process
        finally:
            process.kill()


def test_a_watch_prints_a_line_for_each_change_until_it_is_interrupted(
    installed: ControlPlane, tmp_path: Path
) -> None:
    holds = "/apis/headroom.dev/v1alpha1/namespaces/default/holds"
    told = tmp_path / "told"
    with (
        operator(installed.kubeconfig) as running,
        watching(installed.kubeconfig, told, "get", "holds", "-w", "-n", "default") as watch,
    ):
        running.wait_until_ready()
        installed.api.create(holds, HOLD)
        until("the change is told", lambda: "Available" in told.read_text())
        before = len(told.read_text().splitlines())
        installed.kubectl("delete", "hold", "from-the-cli")
        until("the end is told", lambda: len(told.read_text().splitlines()) > before)
        watch.send_signal(signal.SIGINT)
        assert watch.wait(60) in (0, 130)
    lines = told.read_text().splitlines()
    assert lines[0].startswith("NAME")
    assert all(line.startswith("from-the-cli ") for line in lines[1:])


def test_someone_without_rights_is_told_which_and_where_they_come_from(
    installed: ControlPlane,
) -> None:
    nobody = installed.kubeconfig_for("nobody")
    asked = headroom(nobody, "get", "holds")
    assert asked.returncode == 3
    assert "nobody" in asked.stderr
    assert "Traceback" not in asked.stderr


def test_a_wrong_token_is_told_in_one_line(installed: ControlPlane, tmp_path: Path) -> None:
    config = yaml.safe_load(installed.kubeconfig.read_text())
    config["users"][0]["user"] = {"token": "nonsense"}
    wrong = tmp_path / "wrong.kubeconfig"
    wrong.write_text(yaml.safe_dump(config))
    asked = headroom(wrong, "run")
    assert asked.returncode == 3
    assert "does not accept our credentials" in asked.stderr
