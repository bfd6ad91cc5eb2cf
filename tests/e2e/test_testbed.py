"""The testbed is what it claims to be: real components, real rights, and gone when we are."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from testbed.api import Json
from testbed.controlplane import ControlPlane, KubectlFailed
from tests.patience import deadline_after, keep_waiting
from tests.versions import needs

pytestmark = [pytest.mark.e2e, pytest.mark.usefixtures("binaries")]

_PODS = "/api/v1/namespaces/default/pods"


def _pod(name: str, cpu: str, **spec: object) -> Json:
    container = {"name": "main", "image": "none", "resources": {"requests": {"cpu": cpu}}}
    return {"metadata": {"name": name}, "spec": {"containers": [container], **spec}}


def _eventually(check: Callable[[], bool], what: str, timeout_s: float = 60.0) -> None:
    deadline = deadline_after(timeout_s)
    while not check():
        keep_waiting(deadline, what)
        time.sleep(0.1)


def _phase(plane: ControlPlane, pod: str) -> str:
    return str(plane.api.get(f"{_PODS}/{pod}")["status"]["phase"])


def test_a_pod_is_scheduled_and_runs_on_a_hollow_kubelet(control_plane: ControlPlane) -> None:
    control_plane.api.create(_PODS, _pod("runs", "100m"))
    _eventually(lambda: _phase(control_plane, "runs") == "Running", "the pod runs")
    assert control_plane.api.get(f"{_PODS}/runs")["spec"]["nodeName"].startswith("hollow-")
    control_plane.kubectl("delete", "pod", "runs", "--wait")


def test_a_hollow_kubelet_rejects_a_pod_that_does_not_fit(control_plane: ControlPlane) -> None:
    control_plane.api.create(_PODS, _pod("too-large", "1500m", nodeName="hollow-0"))
    _eventually(lambda: _phase(control_plane, "too-large") == "Failed", "the pod is rejected")
    assert control_plane.api.get(f"{_PODS}/too-large")["status"]["reason"] == "OutOfcpu"
    control_plane.kubectl("delete", "pod", "too-large", "--wait")


@pytest.mark.parametrize("who", ["operator", "certificate", "service account"])
def test_nobody_has_rights_that_rbac_did_not_give(control_plane: ControlPlane, who: str) -> None:
    makers: dict[str, Callable[[], Path]] = {
        "operator": control_plane.operator_kubeconfig,
        "certificate": lambda: control_plane.kubeconfig_for("alice", ["auditors"]),
        "service account": lambda: control_plane.service_account_kubeconfig("default", "robot"),
    }
    names = {
        "operator": "system:serviceaccount:headroom-system:headroom-operator",
        "certificate": "alice",
        "service account": "system:serviceaccount:default:robot",
    }
    kubeconfig = makers[who]()
    with pytest.raises(KubectlFailed, match="forbidden"):
        control_plane.kubectl("get", "secrets", kubeconfig=kubeconfig)
    seen = control_plane.kubectl("auth", "whoami", "-o", "json", kubeconfig=kubeconfig)
    assert json.loads(seen)["status"]["userInfo"]["username"] == names[who]


@needs("mutating-policy")
def test_a_mutating_admission_policy_is_obeyed(control_plane: ControlPlane) -> None:
    base = "/apis/admissionregistration.k8s.io/v1"
    mutation = 'Object{metadata: Object.metadata{labels: {"stamped": "yes"}}}'
    policy = {
        "metadata": {"name": "stamp"},
        "spec": {
            "matchConstraints": {
                "resourceRules": [
                    {
                        "apiGroups": [""],
                        "apiVersions": ["v1"],
                        "operations": ["CREATE"],
                        "resources": ["configmaps"],
                    }
                ]
            },
            "reinvocationPolicy": "Never",
            "mutations": [
                {
                    "patchType": "ApplyConfiguration",
                    "applyConfiguration": {"expression": mutation},
                }
            ],
        },
    }
    binding = {"metadata": {"name": "stamp"}, "spec": {"policyName": "stamp"}}
    control_plane.api.create(f"{base}/mutatingadmissionpolicies", policy)
    control_plane.api.create(f"{base}/mutatingadmissionpolicybindings", binding)
    maps = "/api/v1/namespaces/default/configmaps?dryRun=All"

    def is_stamped() -> bool:
        made = control_plane.api.create(maps, {"metadata": {"name": "letter"}})
        return bool(made["metadata"].get("labels") == {"stamped": "yes"})

    _eventually(is_stamped, "the policy is in force")
    control_plane.api.delete(f"{base}/mutatingadmissionpolicybindings/stamp")
    control_plane.api.delete(f"{base}/mutatingadmissionpolicies/stamp")


def test_components_can_be_restarted_killed_and_frozen(tmp_path: Path) -> None:
    with ControlPlane.start(tmp_path / "plane", hollow_nodes=1) as plane:
        before = plane.pid("kube-scheduler")
        plane.restart("kube-scheduler")
        assert plane.pid("kube-scheduler") not in (None, before)
        plane.kill("kube-apiserver")
        assert plane.pid("kube-apiserver") is None
        plane.start_component("kube-apiserver")
        plane.pause("kube-scheduler")
        plane.api.create(_PODS, _pod("waits", "100m"))
        time.sleep(2)
        assert _phase(plane, "waits") == "Pending"
        plane.resume("kube-scheduler")
        _eventually(lambda: _phase(plane, "waits") == "Running", "the pod runs")


def test_kwok_runs_300_pods_on_300_nodes(tmp_path: Path) -> None:
    with ControlPlane.start(tmp_path / "plane", kwok=True) as plane:
        names = plane.add_fake_nodes(300, cpu="1", memory="1Gi", labels={"tier": "fake"})
        plane.wait_nodes_ready(300, names)
        pods = [_pod(f"pod-{number}", "1", nodeSelector={"tier": "fake"}) for number in range(300)]
        plane.api.for_each(lambda pod: plane.api.create(_PODS, pod), pods)

        def nodes_in_use() -> set[str]:
            running = plane.api.items(f"{_PODS}?fieldSelector=status.phase=Running")
            return {pod["spec"]["nodeName"] for pod in running}

        _eventually(lambda: nodes_in_use() == set(names), "one pod runs on each node")
        plane.api.delete(_PODS)
        _eventually(lambda: not plane.api.items(_PODS), "the pods are gone")
        plane.remove_nodes(names[:100])
        assert len(plane.api.items("/api/v1/nodes")) == 200


def test_a_fake_pod_completes_and_honours_readiness_gates(tmp_path: Path) -> None:
    with ControlPlane.start(tmp_path / "plane", kwok=True) as plane:
        plane.wait_nodes_ready(1, plane.add_fake_nodes(1))
        brief = _pod("brief", "1")
        brief["metadata"]["annotations"] = {"testbed.headroom.dev/complete-after": "1s"}
        plane.api.create(_PODS, brief)
        plane.api.create(_PODS, _pod("gated", "1", readinessGates=[{"conditionType": "a.dev/b"}]))
        _eventually(lambda: _phase(plane, "brief") == "Succeeded", "the pod completes")
        _eventually(lambda: _phase(plane, "gated") == "Running", "the gated pod runs")
        conditions = plane.api.get(f"{_PODS}/gated")["status"]["conditions"]
        assert {c["type"]: c["status"] for c in conditions}["Ready"] == "False"


def test_kwok_takes_no_pod_for_its_namesake(tmp_path: Path) -> None:
    """It deletes by name: a pod made anew while it still thinks of the last one must stay."""
    with ControlPlane.start(tmp_path / "plane", kwok=True, scheduler=False) as plane:
        (node,) = plane.add_fake_nodes(1)
        plane.wait_nodes_ready(1, [node])
        names = [f"pod-{number}" for number in range(20)]
        for turn in range(5):
            for name in names:
                plane.api.create(_PODS, _pod(name, "10m", nodeName=node))
            time.sleep(0.05 * turn)
            for name in names:
                plane.api.delete(f"{_PODS}/{name}", {"gracePeriodSeconds": 0})
                plane.api.create(_PODS, _pod(name, "10m"))
            time.sleep(0.5)
            assert len(plane.api.items(_PODS)) == len(names)
            for name in names:
                plane.api.delete(f"{_PODS}/{name}")


def test_two_control_planes_do_not_meet(tmp_path: Path, control_plane: ControlPlane) -> None:
    with ControlPlane.start(tmp_path / "plane", scheduler=False, controller_manager=False) as other:
        assert other.server != control_plane.server
        assert other.api.items("/api/v1/nodes") == []


_VICTIM = """
import sys, time
from pathlib import Path
from threading import Thread
from testbed.controlplane import ControlPlane

def start() -> None:
    plane = ControlPlane.start(Path(sys.argv[1]), hollow_nodes=1)
    print(*(plane.pid(name) for name in plane.component_names), flush=True)

# In a thread that ends: programs must outlive it, and must not outlive the process.
thread = Thread(target=start)
thread.start()
thread.join()
time.sleep(600)
"""


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_an_ended_run_leaves_no_process(tmp_path: Path, end: signal.Signals) -> None:
    command = [sys.executable, "-c", _VICTIM, str(tmp_path / "plane")]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as victim:
        assert victim.stdout is not None
        pids = [int(pid) for pid in victim.stdout.readline().split()]
        try:
            assert len(pids) == 5
            time.sleep(1)
            assert all(map(_runs, pids))
        finally:
            victim.send_signal(end)
            victim.wait()
    _eventually(lambda: not any(map(_runs, pids)), "every process is gone", timeout_s=15)


def _runs(pid: int) -> bool:
    """Say whether the process runs; one that waits to be reaped does not."""
    try:
        os.kill(pid, 0)
        return "State:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except (ProcessLookupError, FileNotFoundError):
        return False
