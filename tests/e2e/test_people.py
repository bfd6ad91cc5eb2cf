"""People's verbs about standing headroom, asked of a real control plane."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from testbed.controlplane import ControlPlane
from tests.e2e.installing import remove_asking_policy, until
from tests.e2e.test_cli import headroom, operator

pytestmark = pytest.mark.e2e
HEADROOMS = "/apis/headroom.dev/v1alpha1/namespaces/default/headrooms"
SPARE = {
    "apiVersion": "headroom.dev/v1alpha1",
    "kind": "Headroom",
    "metadata": {"name": "people", "namespace": "default"},
    "spec": {
        "slot": {"template": {"resources": {"requests": {"cpu": "50m"}}}},
        "size": {"perNode": {"slots": 1}},
        "owners": [{"labelSelector": {"matchLabels": {"app": "people"}}}],
    },
}

ORDER = {
    "apiVersion": "core.korder.dev/v1alpha1",
    "kind": "Order",
    "metadata": {"name": "people", "namespace": "default"},
    "spec": {
        "daemonSet": True,
        "template": {"spec": {"duration": "1h", "resources": {"requests": {"cpu": "50m"}}}},
    },
}


@pytest.fixture(scope="module")
def plane(control_plane: ControlPlane) -> Iterator[ControlPlane]:
    """The control plane with our kinds and korder's, and an operator that serves them."""
    kubeconfig = control_plane.kubeconfig
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("HEADROOM_DIALECT", "korder")
        done = headroom(kubeconfig, "install", "--image", "headroom:test")
        assert done.returncode == 0, done.stderr
        with operator(kubeconfig) as running:
            running.wait_until_ready()
            yield control_plane
            running.end()
    gone = headroom(kubeconfig, "uninstall")
    assert gone.returncode == 0, gone.stderr
    remove_asking_policy(control_plane)
    for plural in ("orders", "tickets", "quotas"):
        control_plane.kubectl("delete", "crd", f"{plural}.core.korder.dev")


def ask(plane: ControlPlane, *arguments: str, code: int = 0) -> str:
    done = headroom(plane.kubeconfig, *arguments)
    assert done.returncode == code, done.stderr
    return done.stdout


def test_a_headroom_is_planned_held_listed_explained_and_dumped(
    plane: ControlPlane, tmp_path: Path
) -> None:
    file = tmp_path / "people.json"
    file.write_text(json.dumps(SPARE))
    planned = json.loads(ask(plane, "plan", str(file), "-o", "json"))
    nodes = sorted(slot["node"] for slot in planned["items"][0]["slots"])
    assert len(nodes) == 3
    plane.api.create(HEADROOMS, SPARE)
    try:
        path = f"{HEADROOMS}/people"
        until(
            "every slot is held",
            lambda: plane.api.get(path).get("status", {}).get("held") == 3,
        )
        listed = json.loads(ask(plane, "get", "slots", "people", "-o", "json"))["items"]
        assert [(item["node"], item["state"]) for item in listed] == [
            (node, "held") for node in nodes
        ]
        assert "wants 3 slots and has 3" in ask(plane, "explain", "hr/people")
        assert "Held" in ask(plane, "describe", "hr/people")
        assert "Headroom/default/people" in ask(plane, "top")
        dump = tmp_path / "dump.json"
        dump.write_text(ask(plane, "dump"))
        again = ask(plane, "get", "slots", "people", "-o", "json", "--from", str(dump))
        assert json.loads(again)["items"] == listed
    finally:
        plane.api.delete(f"{HEADROOMS}/people")


def test_a_hold_is_reserved_and_released_from_flags(plane: ControlPlane) -> None:
    flags = ("--cpu", "50m", "--owner", "app=people", "--wait", "30s")
    assert "hold flags is held on " in ask(plane, "reserve", "flags", *flags)
    ask(plane, "reserve", "flags", *flags, code=1)
    assert ask(plane, "release", "flags") == "hold flags released\n"
    ask(plane, "release", "flags", code=1)
    too_much = ("--cpu", "5000", "--owner", "app=people", "--wait", "2s")
    ask(plane, "reserve", "giant", *too_much, code=1)
    ask(plane, "release", "giant")


def test_an_order_answers_the_questions_of_its_guide(plane: ControlPlane) -> None:
    orders = "/apis/core.korder.dev/v1alpha1/namespaces/default/orders"
    plane.api.create(orders, ORDER)
    try:
        until(
            "every ticket is there",
            lambda: (
                plane.api.get(f"{orders}/people").get("status", {}).get("availableReplicas") == 3
            ),
        )
        told = ask(plane, "explain", "order/people")
        assert "no: 3 are wanted, and all were created" in told
        assert "no: each of 3 eligible nodes has its ticket; all 3 nodes are eligible" in told
        assert ask(plane, "get", "tickets").count("Ready") == 3
    finally:
        plane.api.delete(f"{orders}/people")
        until("its tickets are gone", lambda: "people" not in ask(plane, "get", "tickets"))
