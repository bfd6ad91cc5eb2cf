"""Bringing our objects into a real control plane, and waiting for what becomes true by itself."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from headroom.wire.crds import crds
from headroom.wire.manifests import priority_classes
from headroom.wire.policy import policy_objects
from headroom.wire.yamls import dump_all
from testbed.api import ApiFailure
from testbed.controlplane import ControlPlane
from tests.patience import deadline_after, keep_waiting
from tests.versions import has

_CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_POLL_S = 0.05


def until(what: str, true: Callable[[], bool], *, seconds: float = 30.0) -> None:
    """Ask again and again until it is true; a server has its own pace."""
    deadline = deadline_after(seconds)
    while not true():
        keep_waiting(deadline, what)
        time.sleep(_POLL_S)


def served_here(objects: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Leave out what this version of Kubernetes does not have, as `headroom install` does."""
    if has("mutating-policy"):
        return list(objects)
    return [each for each in objects if not each["kind"].startswith("MutatingAdmissionPolicy")]


def our_objects() -> list[Mapping[str, Any]]:
    """Everything that the operator needs to find in a cluster, rights aside."""
    home = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "headroom-system"}}
    return [*crds(), *priority_classes(), *policy_objects(), home]


def install(plane: ControlPlane, objects: Iterable[Mapping[str, Any]]) -> None:
    """Apply the objects, and return once every kind among them is served."""
    made = served_here(objects)
    plane.kubectl("apply", "--server-side", "-f", "-", input=dump_all(made))
    definitions = [each for each in made if each["kind"] == "CustomResourceDefinition"]
    until("all our kinds are served", lambda: all(_served(plane, crd) for crd in definitions))


def remove_asking_policy(plane: ControlPlane) -> None:
    """Take away the policy that gates pods by a dialect's words; `headroom uninstall` leaves it."""
    if has("mutating-policy"):
        kinds = "mutatingadmissionpolicy,mutatingadmissionpolicybinding"
        plane.kubectl("delete", kinds, "asks-gate.headroom.dev", "--ignore-not-found")


def _served(plane: ControlPlane, crd: Mapping[str, Any]) -> bool:
    spec = crd["spec"]
    version = spec["versions"][0]["name"]
    status = plane.api.get(f"{_CRDS}/{crd['metadata']['name']}").get("status") or {}
    conditions = {each["type"]: each["status"] for each in status.get("conditions") or ()}
    if conditions.get("Established") != "True":
        return False
    try:
        plane.api.get(f"/apis/{spec['group']}/{version}/{spec['names']['plural']}")
    except ApiFailure:
        return False
    return True
