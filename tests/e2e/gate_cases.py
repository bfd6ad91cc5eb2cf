"""Pods that the gate is put on and pods that it is not, whoever puts it there."""

from __future__ import annotations

import itertools
import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from headroom.core.actions import WriteIndex
from headroom.wire.render import render
from testbed.api import Json
from testbed.controlplane import ControlPlane

GATE = "headroom.dev/claim"
KEYS = ("label:app=web", "exists:example.com/any", "name:joe", "controller:train")
_numbers = itertools.count()


def write_index(
    plane: ControlPlane, namespace: str, keys: tuple[str, ...], fresh_seconds: float
) -> None:
    """Write the namespace's index exactly as the operator does."""
    fresh_until = datetime.now(UTC) + timedelta(seconds=fresh_seconds)
    body = render(WriteIndex(namespace, keys, fresh_until)).body
    plane.kubectl("apply", "--server-side", "--force-conflicts", "-f", "-", input=json.dumps(body))


def pod(labels: dict[str, str] | None = None, spec: Json | None = None, **metadata: Any) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": f"pod-{next(_numbers)}", "labels": labels or {}, **metadata},
        "spec": {"containers": [{"name": "main", "image": "web:1"}], **(spec or {})},
    }


def gates_of(made: Json) -> list[str]:
    return [gate["name"] for gate in made["spec"].get("schedulingGates", ())]


GATED = [
    pytest.param(pod({"app": "web", "tier": "front"}), id="label"),
    pytest.param(pod({"example.com/any": ""}), id="label-exists"),
    pytest.param(pod(name="joe"), id="name"),
    pytest.param(pod({"app": "web"}, name=None, generateName="made-"), id="generated-name"),
    pytest.param(
        pod(ownerReferences=[{"apiVersion": "v1", "kind": "Job", "name": "train", "uid": "u"}]),
        id="controller",
    ),
    pytest.param(pod({"app": "web"}, {"schedulerName": "default-scheduler"}), id="named-scheduler"),
]
LEFT_ALONE = [
    pytest.param(pod({"app": "web2"}), id="other-label"),
    pytest.param(pod(labels={}), id="no-label"),
    pytest.param(pod(name="joey"), id="other-name"),
    pytest.param(pod({"app": "web", "headroom.dev/role": "guardian"}), id="ours"),
    pytest.param(pod({"app": "web"}, {"nodeName": "hollow-0"}), id="placed"),
    pytest.param(pod({"app": "web"}, {"schedulerName": "headroom-scheduler"}), id="scheduler"),
]
OTHERS = {"schedulingGates": [{"name": "example.com/wait"}]}
BOTH = {"schedulingGates": [{"name": GATE}, {"name": "example.com/wait"}]}
