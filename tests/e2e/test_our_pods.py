"""A real API server takes the pods that we make, and gives back what was meant.

In namespaces that enforce the restricted pod security standard, with every scheduling field set.
"""

from __future__ import annotations

import time

import pytest

from headroom.core.actions import CreateGuardian, CreateLatch
from headroom.core.derived_names import guardian_name
from headroom.core.holds import Hold
from headroom.core.names import LOCKED_PRIORITY
from headroom.core.objects import Key, Pod
from headroom.core.resources import Resources
from headroom.wire.kinds import HOLDS, PODS
from headroom.wire.objects.holds import hold_from
from headroom.wire.objects.pods import pod_from
from headroom.wire.render import render
from testbed.api import ApiFailure
from testbed.controlplane import ControlPlane
from tests.contract.kube_ground import install
from tests.patience import deadline_after, keep_waiting
from tests.wire.objects import Json, hold_json
from tests.wire.test_render_pods import RICH

pytestmark = pytest.mark.e2e
RESTRICTED = {"pod-security.kubernetes.io/enforce": "restricted"}


def make_namespace(plane: ControlPlane, name: str, labels: dict[str, str]) -> None:
    """Make a namespace and wait until pods may be made in it."""
    plane.api.ensure("/api/v1/namespaces", {"metadata": {"name": name, "labels": labels}})
    deadline = deadline_after(30)
    while True:
        try:
            plane.api.get(f"/api/v1/namespaces/{name}/serviceaccounts/default")
        except ApiFailure:
            keep_waiting(deadline, "a service account")
            time.sleep(0.05)
        else:
            return


def make_hold(plane: ControlPlane, namespace: str, spec: Json | None = None) -> Hold:
    thing = hold_json(spec)
    thing["metadata"] = {"name": "nightly", "namespace": namespace}
    return hold_from(plane.api.create(HOLDS.path(namespace), thing))


def make_guardian(plane: ControlPlane, hold: Hold) -> Pod:
    write = render(CreateGuardian(guardian_name(hold), hold, hold.template.pod.requests))
    assert isinstance(write.body, dict)
    return pod_from(plane.api.create(write.path, dict(write.body)))


def test_a_guardian_is_welcome_where_pods_are_restricted(control_plane: ControlPlane) -> None:
    install(control_plane)
    make_namespace(control_plane, "our-pods", RESTRICTED)
    hold = make_hold(control_plane, "our-pods")
    guardian = make_guardian(control_plane, hold)
    assert hold.problems == ()
    assert guardian.requests == hold.template.pod.requests
    assert (guardian.priority, guardian.preempts) == (LOCKED_PRIORITY, False)
    assert guardian.grace_seconds == 4  # So that who is ousted leaves time to hold the rest.


def test_a_guardian_with_every_scheduling_field_keeps_what_was_meant(
    control_plane: ControlPlane,
) -> None:
    install(control_plane)
    make_namespace(control_plane, "our-rich-pods", {})
    kata: Json = {"metadata": {"name": "kata"}, "handler": "kata"}
    kata["overhead"] = {"podFixed": {"cpu": "250m"}}
    control_plane.api.ensure("/apis/node.k8s.io/v1/runtimeclasses", kata)
    hold = make_hold(control_plane, "our-rich-pods", RICH)
    guardian = make_guardian(control_plane, hold)
    assert hold.problems == ()
    assert guardian.requests == hold.template.pod.requests
    assert guardian.placement.node_selector == hold.template.pod.placement.node_selector
    assert guardian.placement.ports == hold.template.pod.placement.ports
    assert guardian.node == ""


def test_a_latch_is_welcome_where_pods_are_restricted(control_plane: ControlPlane) -> None:
    install(control_plane)
    make_namespace(control_plane, "our-latches", RESTRICTED)
    parent = make_hold(control_plane, "our-latches").parent
    requests = Resources({"cpu": 1500, "memory": 2**30})
    write = render(CreateLatch(Key("our-latches", "latch-1"), parent, requests, "a"))
    assert isinstance(write.body, dict)
    latch = pod_from(control_plane.api.create(PODS.path("our-latches"), dict(write.body)))
    assert latch.gates == ("headroom.dev/latch",)
    assert latch.requests == requests
