"""A whole installation on a real API server: taken as it is, with rights that suffice and end."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from headroom.core.actions import CreateGuardian, CreateLatch, Tell, WriteIndex
from headroom.core.holds import Hold, PodTemplate
from headroom.core.objects import Key, Parent, Pod
from headroom.core.resources import Resources
from headroom.wire.manifests import Installation, install_objects
from headroom.wire.render import render
from testbed.controlplane import ControlPlane, KubectlFailed
from tests.e2e.installing import install, until
from tests.wire.hold_cases import GOOD

pytestmark = pytest.mark.e2e
HOME = "headroom-system"
SHOP = "install-shop"
AT = datetime.now(UTC)
PARENT = Parent("headroom.dev/v1alpha1", "Hold", SHOP, "nightly", "u1")
HOLD = Hold(PARENT, PodTemplate(Pod(Key(SHOP, ""))))
REQUESTS = Resources({"cpu": 100})


@pytest.fixture(scope="module")
def plane(control_plane: ControlPlane) -> Iterator[ControlPlane]:
    """The shared control plane with an installation of no replicas, and a namespace of users."""
    install(control_plane, install_objects(Installation("example.com/headroom:1", replicas=0)))
    restricted = {"pod-security.kubernetes.io/enforce": "restricted"}
    restricted["headroom.dev/claims"] = "enabled"
    control_plane.api.ensure(
        "/api/v1/namespaces", {"metadata": {"name": SHOP, "labels": restricted}}
    )
    yield control_plane
    control_plane.kubectl("delete", "deployment,pdb", "headroom-operator", "-n", HOME)


def may(plane: ControlPlane, who: Path, verb: str, what: str, namespace: str = "default") -> bool:
    """Ask the API server whether somebody may do something."""
    name = what.partition("=")[2]
    resource, _, subresource = what.partition("=")[0].partition("/")
    asked = ["auth", "can-i", verb, f"{resource}/{name}" if name else resource, "-n", namespace]
    if subresource:
        asked.append(f"--subresource={subresource}")
    try:
        return plane.kubectl(*asked, kubeconfig=who).strip() == "yes"
    except KubectlFailed:
        return False


@pytest.mark.parametrize(
    ("verb", "what", "namespace"),
    [
        ("watch", "pods", "default"),
        ("watch", "nodes", "default"),
        ("watch", "holds.headroom.dev", "default"),
        ("watch", "headrooms.headroom.dev", "default"),
        ("watch", "deployments.apps", "default"),
        ("list", "jobs.batch", "default"),
        ("patch", "headrooms.headroom.dev/status", "default"),
        ("create", "pods/binding", "default"),
        ("patch", "pods/status", "default"),
        ("patch", "holds.headroom.dev/status", "default"),
        ("patch", "claimindexes.headroom.dev", "default"),
        ("create", "leases.coordination.k8s.io", HOME),
        ("update", "leases.coordination.k8s.io=headroom-operator", HOME),
    ],
)
def test_the_operator_may_do_its_work(
    plane: ControlPlane, verb: str, what: str, namespace: str
) -> None:
    assert may(plane, plane.operator_kubeconfig(), verb, what, namespace)


@pytest.mark.parametrize(
    ("verb", "what", "namespace"),
    [
        ("get", "secrets", HOME),
        ("get", "configmaps", HOME),
        ("update", "nodes", "default"),
        ("patch", "nodes", "default"),
        ("update", "holds.headroom.dev", "default"),
        ("create", "holds.headroom.dev", "default"),
        ("update", "headrooms.headroom.dev", "default"),
        ("update", "headrooms.headroom.dev/scale", "default"),
        ("update", "deployments.apps", "default"),
        ("update", "leases.coordination.k8s.io=kube-scheduler", HOME),
        ("create", "leases.coordination.k8s.io", "default"),
        ("create", "clusterroles.rbac.authorization.k8s.io", "default"),
    ],
)
def test_the_operator_may_do_nothing_more(
    plane: ControlPlane, verb: str, what: str, namespace: str
) -> None:
    assert not may(plane, plane.operator_kubeconfig(), verb, what, namespace)


def test_guardians_and_latches_are_allowed_where_pods_are_restricted(plane: ControlPlane) -> None:
    guardian = render(CreateGuardian("nightly", HOLD, REQUESTS)).body
    latch = render(CreateLatch(Key(HOME, "latch"), PARENT, REQUESTS, "hollow-0")).body
    for made in (guardian, latch):
        asked = ("create", "--dry-run=server", "-f", "-")
        said = plane.kubectl(*asked, input=json.dumps(made), kubeconfig=plane.operator_kubeconfig())
        assert "created" in said


def test_the_operators_own_pod_is_allowed_in_its_namespace(plane: ControlPlane) -> None:
    deployment = plane.api.get(f"/apis/apps/v1/namespaces/{HOME}/deployments/headroom-operator")
    pod = {"metadata": {"name": "operator"}, "spec": deployment["spec"]["template"]["spec"]}
    made = plane.api.create(f"/api/v1/namespaces/{HOME}/pods?dryRun=All", pod)
    assert made["spec"]["serviceAccountName"] == "headroom-operator"


def test_the_operator_can_keep_the_index_and_tell_events(plane: ControlPlane) -> None:
    index = render(WriteIndex(SHOP, ("*",), AT + timedelta(seconds=20)))
    asked = ("apply", "--server-side", "-f", "-")
    for _ in range(2):  # The first write creates it, the second one finds it.
        plane.kubectl(*asked, input=json.dumps(index.body), kubeconfig=plane.operator_kubeconfig())
    event = Tell("v1", "Pod", Key(SHOP, "web"), "u", "Normal", "Claimed", "words", AT)
    said = plane.kubectl(
        "create",
        "-f",
        "-",
        input=json.dumps(render(event).body),
        kubeconfig=plane.operator_kubeconfig(),
    )
    assert "created" in said


def test_people_see_our_kinds_with_the_roles_they_have(plane: ControlPlane) -> None:
    for role in ("view", "edit"):
        bound = (f"--clusterrole={role}", f"--user={role}-er", f"--namespace={SHOP}")
        plane.kubectl("create", "rolebinding", role, *bound)
    editor, viewer = plane.kubeconfig_for("edit-er"), plane.kubeconfig_for("view-er")
    holds = "holds.headroom.dev"
    until("the roles are put together", lambda: may(plane, viewer, "list", holds, SHOP))
    until("the other one too", lambda: may(plane, editor, "list", holds, SHOP))
    assert not may(plane, editor, "create", holds, SHOP)
    assert not may(plane, editor, "create", "headrooms.headroom.dev", SHOP)
    reserving = ("--clusterrole=headroom-edit", "--user=edit-er", f"--namespace={SHOP}")
    plane.kubectl("create", "rolebinding", "reserve", *reserving)
    until("an administrator lets it reserve", lambda: may(plane, editor, "create", holds, SHOP))
    assert may(plane, editor, "patch", "headrooms.headroom.dev/scale", SHOP)
    assert may(plane, viewer, "get", "headrooms.headroom.dev/scale", SHOP)
    assert not may(plane, viewer, "patch", "headrooms.headroom.dev/scale", SHOP)
    assert not may(plane, viewer, "create", holds, SHOP)
    assert not may(plane, editor, "patch", f"{holds}/status", SHOP)
    assert not may(plane, editor, "create", "claimindexes.headroom.dev", SHOP)
    hold = {**GOOD, "metadata": {"name": "mine", "namespace": SHOP}}
    asked = ("create", "--dry-run=server", "-f", "-")
    assert "created" in plane.kubectl(*asked, input=json.dumps(hold), kubeconfig=editor)


def test_installing_again_changes_nothing(plane: ControlPlane) -> None:
    path = f"/apis/apps/v1/namespaces/{HOME}/deployments/headroom-operator"
    before = plane.api.get(path)["metadata"]["generation"]
    install(plane, install_objects(Installation("example.com/headroom:1", replicas=0)))
    assert plane.api.get(path)["metadata"]["generation"] == before
