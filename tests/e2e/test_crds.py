"""The real API server takes our CRDs, and refuses bad Holds with words that name the field."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from headroom.wire.crds import crds
from headroom.wire.yamls import dump_all, load
from testbed.api import ApiFailure
from testbed.controlplane import ControlPlane, KubectlFailed
from tests.e2e.installing import install, until
from tests.versions import usual_version
from tests.wire.hold_cases import BAD, BAD_AT_THE_DOOR, GOOD, RIGHT, Case
from tools.schemas import facts, written

pytestmark = pytest.mark.e2e
DATA = Path(__file__).parent.parent.parent / "src/headroom/wire/data/kubernetes.json"
HOLDS = "/apis/headroom.dev/v1alpha1/namespaces/default/holds"


@pytest.fixture(scope="module")
def plane(control_plane: ControlPlane) -> Iterator[ControlPlane]:
    """The shared control plane, with our CRDs established."""
    install(control_plane, crds())
    yield control_plane
    control_plane.kubectl("delete", "holds", "--all", "--ignore-not-found")


def judged(plane: ControlPlane, case: Case) -> dict[str, Any]:
    """Have the API server judge a Hold as kubectl would ask it to, without keeping it."""
    return plane.api.create(f"{HOLDS}?dryRun=All&fieldValidation=Strict", case.hold())


@pytest.mark.parametrize("case", [*BAD, *BAD_AT_THE_DOOR], ids=lambda case: case.name)
def test_a_bad_hold_is_refused_with_the_field_named(plane: ControlPlane, case: Case) -> None:
    with pytest.raises(ApiFailure) as refused:
        judged(plane, case)
    said = str(refused.value)
    assert case.blames in said
    assert case.says in said


@pytest.mark.parametrize("case", RIGHT, ids=lambda case: case.name)
def test_a_sound_hold_is_taken(plane: ControlPlane, case: Case) -> None:
    assert judged(plane, case)["metadata"]["name"] == case.name


def test_what_is_left_out_gets_its_default(plane: ControlPlane) -> None:
    made = plane.api.create(f"{HOLDS}?dryRun=All", GOOD)
    assert made["spec"]["ttl"] == "24h"
    assert made["spec"]["allocateOnce"] is True
    assert "allocatePolicy" not in made["spec"]
    assert made["metadata"]["generation"] == 1


def test_the_status_is_written_apart_and_checked_too(plane: ControlPlane) -> None:
    made = {**GOOD, "metadata": {"name": "with-status"}, "status": {"phase": "Available"}}
    assert "status" not in plane.api.create(HOLDS, made)
    path = f"{HOLDS}/with-status/status"
    written = plane.api.patch(path, {"status": {"phase": "Pending"}, "spec": {"ttl": "1s"}})
    assert (written["status"]["phase"], written["spec"]["ttl"]) == ("Pending", "24h")
    with pytest.raises(ApiFailure, match=r"status\.phase: Unsupported value: .Lost."):
        plane.api.patch(path, {"status": {"phase": "Lost"}})


def test_the_columns_tell_the_story_of_a_hold(plane: ControlPlane) -> None:
    made = {**GOOD, "metadata": {"name": "columns"}}
    made["spec"] = {**GOOD["spec"], "expires": "2027-01-01T02:00:00Z"}
    plane.api.create(HOLDS, made)
    plane.api.patch(
        f"{HOLDS}/columns/status",
        {
            "status": {
                "phase": "Succeeded",
                "nodeName": "node-1",
                "allocatable": {"cpu": "6", "memory": "20Gi"},
                "currentOwners": [{"namespace": "default", "name": "train-0", "uid": "u"}],
                "conditions": [
                    {
                        "type": "Ready",
                        "status": "False",
                        "reason": "Claimed",
                        "message": "train-0 has it",
                        "lastTransitionTime": "2027-01-01T00:00:00Z",
                        "observedGeneration": 1,
                    }
                ],
            }
        },
    )
    head, row = plane.kubectl("get", "hold", "columns").splitlines()
    assert head.split() == ["NAME", "PHASE", "NODE", "OWNER", "AGE", "TTL", "EXPIRES"]
    assert row.split()[:4] == ["columns", "Succeeded", "node-1", "train-0"]
    assert row.split()[5:] == ["24h", "2027-01-01T02:00:00Z"]
    wide = plane.kubectl("get", "hld", "columns", "-o", "wide")
    assert "Claimed" in wide
    assert "train-0 has it" in wide
    assert "columns" in plane.kubectl("get", "headroom-all")


def _explains(plane: ControlPlane, kind: str) -> bool:
    """Say whether kubectl can explain a kind; the API server documents new ones a moment later."""
    try:
        return bool(plane.kubectl("explain", kind))
    except KubectlFailed:
        return False


def test_kubectl_explains_the_fields(plane: ControlPlane) -> None:
    until("kubectl knows the kind", lambda: _explains(plane, "hold"))
    told = plane.kubectl("explain", "hold.spec")
    assert "Who may claim the slot" in told
    assert "ttl" in told
    deep = plane.kubectl("explain", "hold.spec.template.spec.containers.resources")
    assert "requests" in deep


def test_applying_the_definitions_again_changes_nothing(plane: ControlPlane) -> None:
    path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/holds.headroom.dev"
    before = plane.api.get(path)["metadata"]["resourceVersion"]
    plane.kubectl("apply", "--server-side", "-f", "-", input=dump_all(crds()))
    assert plane.api.get(path)["metadata"]["resourceVersion"] == before


def test_a_client_side_apply_works_too(plane: ControlPlane) -> None:
    name = "claimindexes.headroom.dev,holds.headroom.dev"
    plane.kubectl("apply", "--dry-run=server", "-f", "-", input=dump_all(crds()))
    assert "holds.headroom.dev" in plane.kubectl("get", "crd", *name.split(","))


def test_the_definitions_have_no_complaints(plane: ControlPlane) -> None:
    crd = plane.api.get(
        "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/holds.headroom.dev"
    )
    conditions = {each["type"]: each["status"] for each in crd["status"]["conditions"]}
    assert conditions["Established"] == "True"
    assert conditions["NamesAccepted"] == "True"
    assert conditions.get("NonStructuralSchema", "False") == "False"


@usual_version()
def test_what_we_know_of_kubernetes_is_what_this_server_says(plane: ControlPlane) -> None:
    assert DATA.read_text(encoding="utf-8") == written(facts(plane.api.get))


WORDS = """
    yes on y n off True ~ null 0644 0o17 0899 0x1F 0b11 -0b11 1_000 1e3 1.5 .5 3.0 +7 -7 1:30
    2027-01-04 2027-01-04T07:55:00Z 1.2.3 100m yep nO 9223372036854775807 1e21 'yes' "1e3"
    2027-1-4 1__0 0_7 +0x1 -.5 1.e2 09.5 <<x = 1e-7
"""


HEAD = "apiVersion: headroom.dev/v1alpha1\nkind: Hold\nmetadata: {name: words}\n"


def test_kubectl_reads_every_word_as_we_do(plane: ControlPlane) -> None:
    rows = "\n".join(f"  w{index}: [{word}]" for index, word in enumerate(WORDS.split()))
    names = "  n: 1\n  yes: 2\n  0x10: 3\n  1.5: 4\n"
    text = f"{HEAD}data:\n{names}{rows}\n"
    asked = ("create", "--dry-run=client", "--validate=false", "-o", "json", "-f", "-")
    theirs = json.loads(plane.kubectl(*asked, input=text))["data"]
    (ours,) = load(text, "f.yaml")
    assert json.dumps(ours.data["data"], sort_keys=True) == json.dumps(theirs, sort_keys=True)
