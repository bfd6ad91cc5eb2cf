"""An installation with every dialect on the version of Kubernetes that is at hand.

`make test` runs this on the usual version and on the oldest that is supported.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from headroom.cli.dialects import NAMES
from headroom.kube.versions import FEATURES, read_version
from testbed.api import Json
from testbed.controlplane import ControlPlane
from testbed.recipes import KUBERNETES, chosen_minor
from tests.e2e.installing import until
from tests.e2e.processes import OperatorProcess
from tests.versions import has

pytestmark = [pytest.mark.e2e, pytest.mark.every_version]
POLICIES = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
DIALECTS = [word for name in NAMES for word in ("--dialect", name)]


@pytest.fixture(scope="module")
def plane(binaries: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """A control plane of our own: an installation is cluster-wide."""
    with ControlPlane.start(tmp_path_factory.mktemp("versions")) as plane:
        yield plane


@pytest.fixture(scope="module")
def installed(plane: ControlPlane) -> str:
    """What `headroom install` says; everything that the version serves is there."""
    done = headroom(plane, "install", *DIALECTS)
    assert done.returncode == 0, done.stderr
    return done.stderr


def headroom(plane: ControlPlane, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "headroom", *arguments],
        env={**os.environ, "KUBECONFIG": str(plane.kubeconfig)},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def expected() -> dict[str, bool]:
    """What the table says of this version."""
    version = read_version(chosen_minor())
    assert version is not None
    return {feature.name: version >= feature.since for feature in FEATURES}


def test_everything_is_installed_but_what_this_version_does_not_have(installed: str) -> None:
    passed_over = [line for line in installed.splitlines() if "no such kind" in line]
    assert all("MutatingAdmissionPolicy" in line for line in passed_over)
    assert bool(passed_over) == (not has("mutating-policy"))
    assert "warning" not in installed


def test_every_definition_is_established(plane: ControlPlane, installed: str) -> None:
    def established() -> bool:
        return all(_conditions(crd).get("Established") == "True" for crd in _found())

    def _found() -> list[Json]:
        return plane.api.items(DEFINITIONS)

    until("all kinds are served", established)
    names = {crd["spec"]["names"]["kind"] for crd in _found()}
    assert {"Hold", "Headroom", "Order", "Quota", "Reservation", "CapacityBuffer"} <= names


def test_the_api_server_understands_every_policy(plane: ControlPlane, installed: str) -> None:
    def checked(policy: Json) -> bool:
        seen = policy.get("status", {}).get("observedGeneration")
        return bool(seen == policy["metadata"]["generation"])

    until("policies are checked", lambda: all(map(checked, plane.api.items(POLICIES))), seconds=60)
    for policy in plane.api.items(POLICIES):
        warnings = policy["status"].get("typeChecking", {}).get("expressionWarnings", [])
        assert not warnings, policy["metadata"]["name"]


def test_the_cluster_has_what_the_table_says_of_its_version(plane: ControlPlane) -> None:
    told = json.loads(headroom(plane, "version", "--cluster", "-o", "json").stdout)
    assert told["kubernetes"] == KUBERNETES[chosen_minor()].version
    assert told["supported"] is True
    assert told["features"] == expected()
    table = headroom(plane, "version", "--cluster").stdout
    assert KUBERNETES[chosen_minor()].version in table


def test_the_operator_says_at_its_start_what_this_version_has(
    plane: ControlPlane, installed: str, tmp_path: Path
) -> None:
    log = tmp_path / "operator.log"
    with OperatorProcess(plane.kubeconfig, log):
        lines = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    (line,) = (each for each in lines if each["event"] == "features")
    assert line["lacks"] == [name for name, there in expected().items() if not there]
    assert not [each for each in lines if each["event"] == "unsupported_kubernetes"]


def _conditions(crd: Json) -> dict[str, str]:
    told = crd.get("status", {}).get("conditions") or ()
    return {each["type"]: each["status"] for each in told}
