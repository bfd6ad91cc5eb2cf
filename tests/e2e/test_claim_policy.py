"""The admission policy on a real API server: who is gated, who never is, and what it costs."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

import pytest

from headroom.engine.claim_index import MOST_KEYS
from headroom.wire.crds import crds
from headroom.wire.policy import policy_objects
from testbed.api import Json
from testbed.controlplane import ControlPlane
from tests.e2e.gate_cases import (
    BOTH,
    GATE,
    GATED,
    KEYS,
    LEFT_ALONE,
    OTHERS,
    gates_of,
    pod,
    write_index,
)
from tests.e2e.installing import install, until
from tests.versions import needs

pytestmark = [pytest.mark.e2e, needs("mutating-policy")]
NAMESPACE = "policy-shop"

Gates = Callable[..., list[str]]


@pytest.fixture(scope="module")
def plane(control_plane: ControlPlane) -> ControlPlane:
    """The shared control plane with our kinds and the policy, and a namespace that wants it."""
    install(control_plane, [*crds(), *policy_objects()])
    labels = {"headroom.dev/claims": "enabled"}
    control_plane.api.ensure(
        "/api/v1/namespaces", {"metadata": {"name": NAMESPACE, "labels": labels}}
    )
    return control_plane


@pytest.fixture(scope="module")
def gates(plane: ControlPlane) -> Gates:
    """Ask, once the policy is in force, which gates a new pod would get; nothing is kept."""

    def ask(made: Json, namespace: str = NAMESPACE) -> list[str]:
        path = f"/api/v1/namespaces/{namespace}/pods?dryRun=All"
        return gates_of(plane.api.create(path, made))

    write_index(plane, NAMESPACE, KEYS, 600)
    until("the policy is in force", lambda: ask(pod({"app": "web"})) == [GATE])
    return ask


@pytest.mark.parametrize("made", GATED)
def test_a_pod_that_may_own_a_hold_is_gated(gates: Gates, made: Json) -> None:
    assert gates(made) == [GATE]


@pytest.mark.parametrize("made", LEFT_ALONE)
def test_any_other_pod_is_left_alone(gates: Gates, made: Json) -> None:
    assert gates(made) == []


def test_gates_of_others_stay_and_ours_is_added_once(gates: Gates) -> None:
    assert gates(pod({"app": "web"}, OTHERS)) == ["example.com/wait", GATE]
    assert gates(pod({"app": "web"}, BOTH)) == [GATE, "example.com/wait"]


def test_a_pod_that_repeats_itself_is_gated_all_the_same(gates: Gates) -> None:
    variables = [{"name": "A", "value": "1"}, {"name": "A", "value": "2"}]
    containers = [{"name": "main", "image": "web:1", "env": variables}]
    assert gates(pod({"app": "web"}, {"containers": containers})) == [GATE]


def test_namespaces_that_did_not_ask_are_untouched(gates: Gates) -> None:
    assert gates(pod({"app": "web"}), namespace="default") == []


def test_a_pod_applied_from_the_servers_side_is_gated_too(
    plane: ControlPlane, gates: Gates
) -> None:
    asked = ("apply", "--server-side", "--dry-run=server", "-o", "json", "-n", NAMESPACE, "-f", "-")
    made = json.loads(plane.kubectl(*asked, input=json.dumps(pod({"app": "web"}))))
    assert gates_of(made) == [GATE]


def test_pods_of_a_deployment_are_gated(plane: ControlPlane, gates: Gates) -> None:
    template = {"metadata": {"labels": {"app": "web"}}, "spec": pod()["spec"]}
    spec = {"replicas": 2, "selector": {"matchLabels": {"app": "web"}}, "template": template}
    path = f"/apis/apps/v1/namespaces/{NAMESPACE}/deployments"
    plane.api.create(path, {"metadata": {"name": "web"}, "spec": spec})
    pods = f"/api/v1/namespaces/{NAMESPACE}/pods?labelSelector=app%3Dweb"
    until("both pods are there", lambda: len(plane.api.items(pods)) == 2)
    assert [gates_of(made) for made in plane.api.items(pods)] == [[GATE], [GATE]]
    plane.api.delete(f"{path}/web")
    until("they are gone", lambda: not plane.api.items(pods))


@pytest.fixture
def careless_policy(plane: ControlPlane) -> Iterator[None]:
    """Somebody else's policy, which runs after ours and throws all gates away."""
    policy, binding = policy_objects()
    asked = "has(object.metadata.annotations) && 'open' in object.metadata.annotations"
    patch = '[JSONPatch{op: "remove", path: "/spec/schedulingGates"}]'
    spec = {
        "failurePolicy": "Fail",
        "reinvocationPolicy": "Never",
        "matchConstraints": policy["spec"]["matchConstraints"],
        "matchConditions": [{"name": "asked", "expression": asked}],
        "mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression": patch}}],
    }
    name = "zz-careless.example.com"
    install(
        plane,
        [
            {**policy, "metadata": {"name": name}, "spec": spec},
            {**binding, "metadata": {"name": name}, "spec": {"policyName": name}},
        ],
    )
    yield
    plane.kubectl("delete", "mutatingadmissionpolicy,mutatingadmissionpolicybinding", name)


def test_a_gate_that_others_drop_on_the_way_is_put_back(
    gates: Gates, careless_policy: None
) -> None:
    other = {"schedulingGates": [{"name": "example.com/wait"}]}
    until(
        "the other policy is in force",
        lambda: gates(pod({"a": "b"}, other, annotations={"open": ""})) == [],
    )
    assert gates(pod({"app": "web"}, other, annotations={"open": ""})) == [GATE]


def test_an_operator_that_is_gone_stops_nobody(plane: ControlPlane, gates: Gates) -> None:
    write_index(plane, NAMESPACE, KEYS, 3)
    until("the index is stale", lambda: gates(pod({"app": "web"})) == [])
    write_index(plane, NAMESPACE, KEYS, 600)
    until("the index is fresh again", lambda: gates(pod({"app": "web"})) == [GATE])


def test_without_an_index_nobody_is_gated(plane: ControlPlane, gates: Gates) -> None:
    plane.kubectl("delete", "claimindex", "--all", "-n", NAMESPACE)
    until("the policy has noticed", lambda: gates(pod({"app": "web"})) == [])
    write_index(plane, NAMESPACE, KEYS, 600)
    until("the index is back", lambda: gates(pod({"app": "web"})) == [GATE])


def test_a_hold_for_everybody_gates_everybody(plane: ControlPlane, gates: Gates) -> None:
    write_index(plane, NAMESPACE, ("*",), 600)
    until("the index is read", lambda: gates(pod({"unlike": "any"})) == [GATE])
    write_index(plane, NAMESPACE, KEYS, 600)
    until("the index is back", lambda: gates(pod({"unlike": "any"})) == [])


def test_an_index_of_as_many_keys_as_there_may_be_is_read_to_its_last(
    plane: ControlPlane, gates: Gates
) -> None:
    keys = tuple(f"label:app=web-{number}" for number in range(MOST_KEYS - 1))
    write_index(plane, NAMESPACE, (*keys, "label:last=one"), 600)
    until("the index is read", lambda: gates(pod({"last": "one"})) == [GATE])
    assert gates(pod({"app": "web-0"})) == [GATE]
    assert gates(pod({"app": f"web-{MOST_KEYS}"})) == []
    write_index(plane, NAMESPACE, KEYS, 600)
    until("the old index is back", lambda: gates(pod({"last": "one"})) == [])
