"""v1beta1 beside v1alpha1 without a conversion, on a real API server, by the steps of 0056.

There is no v1beta1 yet: the test adds it to our definitions as a later release will. At each step
the operator of this release and that of the release before serve on, through both doors.
"""

from __future__ import annotations

import copy
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path

import pytest

from bench.upgrade import NEW, Version
from headroom.wire.crds import crds
from headroom.wire.kinds import (
    CLAIM_INDEXES,
    HEADROOMS,
    HOLDS,
    NAMESPACES,
    PODS,
    SLOT_SETS,
    Resource,
)
from headroom.wire.yamls import dump_all
from testbed.api import Api, ApiFailure, Json
from testbed.controlplane import ControlPlane
from testbed.identities import OPERATOR
from testbed.previous import PreviousUnavailable, previous_sources
from tests.e2e.installing import until
from tests.stories.things import NAMESPACE, headroom, hold, pod
from tests.versions import has

pytestmark = [pytest.mark.e2e, pytest.mark.every_version]
ALPHA, BETA = "v1alpha1", "v1beta1"
KINDS = (HOLDS, HEADROOMS, SLOT_SETS, CLAIM_INDEXES)
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
MAPS = f"/api/v1/namespaces/{NAMESPACE}/configmaps"
WAIT_S = 180.0
STORED, NOT_STORED = {"served": True, "storage": True}, {"served": True, "storage": False}
STEPS: dict[str, dict[str, Json]] = {
    "v1beta1 is served": {ALPHA: STORED, BETA: NOT_STORED},
    "v1beta1 is stored": {ALPHA: NOT_STORED, BETA: STORED},
    "v1alpha1 is deprecated": {ALPHA: {**NOT_STORED, "deprecated": True}, BETA: STORED},
}


@pytest.fixture(scope="module")
def previous(pytestconfig: pytest.Config) -> Path:
    """The code of the previous release; without the history of the clone there is none."""
    try:
        return previous_sources()
    except PreviousUnavailable as trouble:
        capture = pytestconfig.pluginmanager.getplugin("capturemanager")
        with capture.global_and_fixture_disabled():
            print(f"\nTESTS OF API VERSIONS SKIPPED: {trouble}", file=sys.stderr)
        pytest.skip(str(trouble))


@pytest.fixture
def plane(binaries: Path, tmp_path: Path) -> Iterator[ControlPlane]:
    """A control plane whose definitions are ours to change, with one node."""
    with ControlPlane.start(tmp_path / "plane", kwok=True) as plane:
        plane.wait_nodes_ready(1, plane.add_fake_nodes(1, cpu="8"))
        labels = {"headroom.dev/claims": "enabled"}
        plane.api.patch(NAMESPACES.path(name=NAMESPACE), {"metadata": {"labels": labels}})
        yield plane


def of_beta(resource: Resource) -> Resource:
    return replace(resource, version=BETA)


def define(plane: ControlPlane, versions: dict[str, Json]) -> None:
    """Change our definitions to these versions, which have the same fields."""
    made = copy.deepcopy(crds())
    for crd in made:
        (only,) = crd["spec"]["versions"]
        crd["spec"]["versions"] = [{**only, "name": name, **versions[name]} for name in versions]
    plane.kubectl("apply", "--server-side", "--force-conflicts", "-f", "-", input=dump_all(made))

    def served(version: str) -> bool:
        try:
            for each in KINDS:
                plane.api.items(replace(each, version=version).path())
        except ApiFailure:  # Not yet, or just being changed.
            return False
        return True

    until("each version is served", lambda: all(map(served, versions)), seconds=WAIT_S)


def rewrite(plane: ControlPlane) -> None:
    """As docs/operating/upgrading.md has it: write everything once, and forget the old version."""
    for resource in KINDS:
        listed = plane.kubectl(
            "get", f"{resource.plural}.{BETA}.{resource.group}", "-A", "-o", "json"
        )
        plane.kubectl("replace", "-f", "-", input=listed)
        path = f"{DEFINITIONS}/{resource}/status"
        plane.api.patch(path, {"status": {"storedVersions": [BETA]}})


@dataclass
class Claims:
    """Holds that are claimed one after the other."""

    plane: ControlPlane
    numbers: Iterator[int]

    def through_both_doors(self, resource: Resource = HOLDS) -> None:
        """A hold made in this version is claimed through each door."""
        for door in ("gated", "ours"):
            self._claim(f"h{next(self.numbers)}", door, resource)

    def _claim(self, name: str, door: str, resource: Resource) -> None:
        api = self.plane.api
        made = {**hold(name, app=name), "apiVersion": resource.api_version}
        api.create(resource.path(NAMESPACE), made)
        until(f"{name} is held", lambda: self._phase(name) == "Available", seconds=WAIT_S)
        if door == "gated" and has("mutating-policy"):  # The policy puts the gate on.
            until("owners are gated", lambda: self._gated(name), seconds=WAIT_S)
            owner = pod(name, app=name)
        else:
            owner = pod(name, app=name, **{door: True})
        api.create(PODS.path(NAMESPACE), owner)
        until(f"{name} runs", lambda: self._runs(name), seconds=WAIT_S)
        claimed = api.get(PODS.path(NAMESPACE, name))["metadata"]["annotations"]
        assert claimed["headroom.dev/claimed"] == f"Hold/{NAMESPACE}/{name}"
        api.delete(PODS.path(NAMESPACE, name))

    def _gated(self, name: str) -> bool:
        path = f"{PODS.path(NAMESPACE)}?dryRun=All"
        made = self.plane.api.create(path, pod("probe", app=name))
        return bool(made["spec"].get("schedulingGates"))

    def _phase(self, name: str) -> str:
        status = self.plane.api.get(HOLDS.path(NAMESPACE, name)).get("status") or {}
        return str(status.get("phase", ""))

    def _runs(self, name: str) -> bool:
        found = self.plane.api.get(PODS.path(NAMESPACE, name))
        return bool(found["status"].get("phase") == "Running")


def guardians(plane: ControlPlane) -> dict[str, str]:
    """The uid of each guardian that nobody claims, by its pod's name."""
    found = plane.api.items(f"{PODS.path(NAMESPACE)}?labelSelector=headroom.dev/role=guardian")
    kept = ("kept", "spare")
    return {
        each["metadata"]["name"]: each["metadata"]["uid"]
        for each in found
        if any(owner["name"] in kept for owner in each["metadata"]["ownerReferences"])
    }


def contents(plane: ControlPlane, resource: Resource) -> dict[str, Json]:
    """Every object of a kind without what differs between versions."""
    left_out = ("apiVersion", "kind", "status")
    return {
        each["metadata"]["name"]: {key: each[key] for key in each if key not in left_out}
        | {"metadata": each["metadata"]["uid"]}
        for each in plane.api.items(resource.path(NAMESPACE))
    }


def test_operators_of_two_releases_serve_on_while_v1beta1_takes_over(
    plane: ControlPlane, previous: Path, tmp_path: Path
) -> None:
    new = Version("new", NEW, plane, tmp_path)
    old = Version("old", previous, plane, tmp_path)
    claims = Claims(plane, count())
    new.install()
    until("our kinds are served", lambda: bool(plane.api.get(HOLDS.root)), seconds=WAIT_S)
    try:
        new.start()
        new.wait_ready()
        plane.api.create(HOLDS.path(NAMESPACE), hold("kept", app="nobody"))
        plane.api.create(HEADROOMS.path(NAMESPACE), headroom("spare", app="nobody", replicas=2))
        claims.through_both_doors()
        until("slots are held", lambda: len(guardians(plane)) == 3, seconds=WAIT_S)
        before = guardians(plane)
        for step, versions in STEPS.items():
            define(plane, versions)  # The operator runs meanwhile.
            claims.through_both_doors()
            claims.through_both_doors(of_beta(HOLDS))
            new.stop()
            if step == "v1beta1 is stored":
                rewrite(plane)
            old.start()
            old.wait_ready()
            claims.through_both_doors()
            old.stop()
            new.start()
            new.wait_ready()
            for resource in (HOLDS, HEADROOMS):
                assert contents(plane, of_beta(resource)) == contents(plane, resource), step
            assert guardians(plane) == before, step
    finally:
        for version in (old, new):
            version.stop()
    lines = [
        line
        for each in ("new", "old")
        for line in (tmp_path / f"{each}.log").read_text(encoding="utf-8").splitlines()
    ]
    if not has("mutating-policy"):  # The release before tries to create what is not served there.
        lines = [line for line in lines if "mutatingadmissionpolic" not in line]
    assert [line for line in lines if "forbidden" in line] == []


def test_rules_and_policies_hold_in_v1beta1_as_in_v1alpha1(
    plane: ControlPlane, tmp_path: Path
) -> None:
    Version("new", NEW, plane, tmp_path).install()
    define(plane, STEPS["v1beta1 is served"])
    holds = of_beta(HOLDS).path(NAMESPACE)
    wrong = {**hold("wrong"), "apiVersion": of_beta(HOLDS).api_version}
    wrong["spec"]["owners"] = []
    with pytest.raises(ApiFailure, match="owners"):
        plane.api.create(holds, wrong)
    plane.api.create(holds, {**hold("kept"), "apiVersion": of_beta(HOLDS).api_version})
    who = plane.identities
    operator = Api(plane.server, who.authority_pem, who.token(OPERATOR))

    def refused() -> bool:
        try:
            operator.delete(f"{holds}/kept?dryRun=All")
        except ApiFailure as failure:
            return "operator-holds.headroom.dev" in str(failure)
        return False

    until("the policy of our account is in force", refused, seconds=WAIT_S)
    operator.close()


def test_what_was_rewritten_outlives_v1alpha1_and_a_guardian_that_names_it_is_not_collected(
    plane: ControlPlane, tmp_path: Path
) -> None:
    """Why decision 0056 has guardians name v1beta1 before v1alpha1 is no longer served."""
    new = Version("new", NEW, plane, tmp_path)
    new.install()
    until("our kinds are served", lambda: bool(plane.api.get(HOLDS.root)), seconds=WAIT_S)
    new.start()
    try:
        new.wait_ready()
        for name in ("kept", "spare"):
            plane.api.create(HOLDS.path(NAMESPACE), hold(name, app="nobody"))
        until("the holds are there", lambda: len(guardians(plane)) == 2, seconds=WAIT_S)
    finally:
        new.stop()
    define(plane, STEPS["v1beta1 is stored"])
    rewrite(plane)
    define(plane, {BETA: STORED})
    beta = of_beta(HOLDS)
    assert {*contents(plane, beta)} == {"kept", "spare"}
    kept = plane.api.get(beta.path(NAMESPACE, "kept"))["metadata"]["uid"]
    owner = {"apiVersion": beta.api_version, "kind": "Hold", "name": "kept", "uid": kept}
    plane.api.create(MAPS, {"metadata": {"name": "beside", "ownerReferences": [owner]}})
    plane.api.delete(beta.path(NAMESPACE, "kept"))
    until("what names v1beta1 is collected", lambda: not is_there(plane, "beside"), seconds=WAIT_S)
    assert len(guardians(plane)) == 2
    define(plane, STEPS["v1beta1 is stored"])
    until("the guardian goes after all", lambda: len(guardians(plane)) == 1, seconds=WAIT_S)


def is_there(plane: ControlPlane, name: str) -> bool:
    return name in {each["metadata"]["name"] for each in plane.api.items(MAPS)}
