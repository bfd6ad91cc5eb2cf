"""CapacityBuffers served by Karpenter itself and by the operator: both bring as many machines.

Karpenter (its feature gate `CapacityBuffer`) plans with pods that do not exist; the operator
creates placeholders. The same buffers are given to each, on a control plane of its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest

from headroom.cli.dialects import chosen
from headroom.wire.manifests import Installation, install_objects
from testbed.api import Json
from testbed.controlplane import ControlPlane
from testbed.karpenter import Fleet, Karpenter
from tests.e2e.installing import install, until
from tests.e2e.processes import OperatorProcess

pytestmark = pytest.mark.e2e
BUFFERS = "/apis/autoscaling.x-k8s.io/v1beta1/namespaces/default/capacitybuffers"
TEMPLATES = "/api/v1/namespaces/default/podtemplates"
# By name: how much a chunk asks for, and how many there are.
WANTED = {"small": ("500m", 6), "large": ("3", 3)}
LONG_S = 600  # Nothing is consolidated while the test looks.


def test_the_same_buffers_bring_as_many_machines(karpenter_program: Path, tmp_path: Path) -> None:
    theirs = machines_for(tmp_path / "theirs", by_karpenter=True)
    ours = machines_for(tmp_path / "ours", by_karpenter=False)
    print(f"\nmachines: Karpenter's own {dict(theirs)}, ours {dict(ours)}")
    assert sum(theirs.values()) >= len(WANTED)
    assert sum(ours.values()) == sum(theirs.values())


def machines_for(folder: Path, by_karpenter: bool) -> Counter[str]:
    """The machines that the buffers bring, by type."""
    with ExitStack() as running:
        plane = running.enter_context(ControlPlane.start(folder / "plane", kwok=True))
        fleet = Fleet(consolidate_after_s=LONG_S)
        karpenter = Karpenter.start(plane, fleet, buffers=by_karpenter)
        if not by_karpenter:
            codecs = chosen(["capacitybuffer"])
            objects = install_objects(Installation("example.com/x:1", replicas=0, codecs=codecs))
            install(plane, objects)
            account = plane.service_account_kubeconfig("headroom-system", "headroom-operator")
            flags = ("--dialect", "capacitybuffer")
            running.enter_context(OperatorProcess(account, folder / "log", *flags))
        for name in WANTED:
            order(plane, name)
            until(f"{name} is provisioned", provisioned(plane, name), seconds=120)
        until("every machine is there", lambda: len(karpenter.nodes()) == len(karpenter.claims()))
        kinds = [node["metadata"]["labels"] for node in karpenter.nodes()]
        return Counter(labels["node.kubernetes.io/instance-type"] for labels in kinds)


def order(plane: ControlPlane, name: str) -> None:
    """Ask for one buffer."""
    cpu, replicas = WANTED[name]
    container = {"name": "m", "image": "x", "resources": {"requests": {"cpu": cpu}}}
    template = {"metadata": {"name": name}, "template": {"spec": {"containers": [container]}}}
    plane.api.create(TEMPLATES, template)
    spec = {"podTemplateRef": {"name": name}, "replicas": replicas}
    kind = {"apiVersion": "autoscaling.x-k8s.io/v1beta1", "kind": "CapacityBuffer"}
    plane.api.create(BUFFERS, {**kind, "metadata": {"name": name}, "spec": spec})


def provisioned(plane: ControlPlane, name: str) -> Callable[[], bool]:
    def told() -> bool:
        status: Json = plane.api.get(f"{BUFFERS}/{name}").get("status") or {}
        conditions = {each["type"]: each for each in status.get("conditions") or ()}
        return bool(conditions.get("Provisioning", {}).get("status") == "True")

    return told
