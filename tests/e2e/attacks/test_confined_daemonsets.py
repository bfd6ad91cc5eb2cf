"""Somebody has the operator's token: of DaemonSets it writes those that run nowhere and nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from headroom.core.actions import WriteOverhead
from headroom.core.headrooms.node_overhead import Overhead
from headroom.core.holds import PodTemplate
from headroom.core.objects import Key, Parent, Pod
from headroom.core.resources import Resources
from headroom.wire.kind_codecs import NATIVE
from headroom.wire.kinds import DAEMON_SETS
from testbed.api import Api, ApiFailure, Json
from testbed.controlplane import ControlPlane
from testbed.identities import OPERATOR
from tests.e2e.attacks.stage import Stage, stage_of
from tests.e2e.installing import until
from tests.stories.things import workload

pytestmark = pytest.mark.e2e
VICTIM = "victim"
REFUSED = "ValidatingAdmissionPolicy"
PARENT = Parent("headroom.dev/v1alpha1", "Headroom", VICTIM, "every", "u1")
OVERHEAD = Overhead(PARENT, PodTemplate(Pod(Key(VICTIM, ""))), Resources({"cpu": 500}))


@pytest.fixture(scope="module")
def stage(
    attacked_plane: ControlPlane, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Stage]:
    with stage_of(attacked_plane, tmp_path_factory) as stage:
        stage.tenant(VICTIM, headroom=False)
        yield stage


@pytest.fixture(scope="module")
def stolen(stage: Stage) -> Iterator[Api]:
    """A client with the operator's identity, from the moment on in which its policies are seen."""
    who = stage.plane.identities
    api = Api(stage.plane.server, who.authority_pem, who.token(OPERATOR))

    def in_force() -> bool:
        try:
            api.create(f"{DAEMON_SETS.path(VICTIM)}?dryRun=All", theirs("probe"))
        except ApiFailure as failure:
            return REFUSED in str(failure)
        return False

    until("the policies are in force", in_force)
    yield api
    api.close()


def theirs(name: str) -> Json:
    """A DaemonSet of somebody's that has no node to run on."""
    made = workload("DaemonSet", name, pods={"nodeSelector": {"pool": "nowhere"}})
    return {**made, "metadata": {"name": name, "namespace": VICTIM}}


def ours() -> Json:
    body: Any = NATIVE.render(WriteOverhead(OVERHEAD)).body
    return dict(body)


def changed(**spec: Any) -> Json:
    """A DaemonSet of the operator's with another pod spec."""
    made = ours()
    template = made["spec"]["template"]
    inside = {**template, "spec": {**template["spec"], **spec}}
    return {**made, "spec": {**made["spec"], "template": inside}}


def container(**more: Any) -> list[Json]:
    return [{**ours()["spec"]["template"]["spec"]["containers"][0], **more}]


INTRUDERS: dict[str, Json] = {
    "that runs somewhere": changed(affinity={}),
    "of another image": changed(containers=container(image="example.com/miner:1")),
    "on the host's network": changed(hostNetwork=True),
    "with a host path": changed(volumes=[{"name": "s", "hostPath": {"path": "/"}}]),
    "of another account": changed(serviceAccountName="admin"),
    "of nobody": {
        **ours(),
        "metadata": {"name": "free", "namespace": VICTIM},
    },
}


@pytest.mark.parametrize("what", INTRUDERS)
def test_the_operators_token_creates_no_daemon_set(stolen: Api, what: str) -> None:
    with pytest.raises(ApiFailure, match=REFUSED):
        stolen.create(f"{DAEMON_SETS.path(VICTIM)}?dryRun=All", INTRUDERS[what])


def test_the_operators_token_creates_what_the_operator_creates(stolen: Api) -> None:
    stolen.create(f"{DAEMON_SETS.path(VICTIM)}?dryRun=All", ours())


def test_the_operators_token_changes_no_daemon_set_of_others(stage: Stage, stolen: Api) -> None:
    stage.plane.api.create(DAEMON_SETS.path(VICTIM), theirs("agent"))
    for change in (
        {"metadata": {"labels": {"a": "b"}}},
        {"metadata": {"ownerReferences": ours()["metadata"]["ownerReferences"]}},
        {"spec": {"template": {"spec": changed()["spec"]["template"]["spec"]}}},
    ):
        with pytest.raises(ApiFailure, match=REFUSED):
            stolen.patch(DAEMON_SETS.path(VICTIM, "agent"), change)
