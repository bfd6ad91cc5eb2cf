"""Somebody has the operator's token: what they can do with it ends at the operator's own work.

The requests are made with the token itself, while the operator goes on under the same account.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from headroom.core.actions import CreateGuardian
from headroom.core.holds import Hold, PodTemplate
from headroom.core.objects import Key, Parent, Pod
from headroom.core.resources import Resources
from headroom.wire.guardians import guardian_json
from headroom.wire.kinds import (
    CLAIM_INDEXES,
    EVENTS,
    HEADROOMS,
    HOLDS,
    LEASES,
    PODS,
    VOLUME_CLAIMS,
    VOLUMES,
)
from headroom.wire.objects.volumes import SELECTED_NODE
from testbed.api import Api, ApiFailure, Json
from testbed.controlplane import ControlPlane
from testbed.identities import OPERATOR
from tests.e2e.attacks.stage import HOME, NOW, Stage, stage_of
from tests.e2e.installing import until
from tests.stories.things import headroom, hold, pod, requests

pytestmark = pytest.mark.e2e
VICTIM = "victim"
PARENT = Parent("headroom.dev/v1alpha1", "Hold", VICTIM, "nightly", "u1")
HOLD = Hold(PARENT, PodTemplate(Pod(Key(VICTIM, ""))))
REFUSED = "ValidatingAdmissionPolicy"


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
            api.create(f"{PODS.path(VICTIM)}?dryRun=All", pod("probe", namespace=VICTIM))
        except ApiFailure as failure:
            return REFUSED in str(failure)
        return False

    until("the policies are in force", in_force)
    yield api
    api.close()


def guardian(**changes: Any) -> Json:
    """A pod as the operator makes it, with changes to its spec."""
    made = guardian_json(CreateGuardian("intruder", HOLD, Resources({"cpu": 100})))
    return {**made, "spec": {**made["spec"], **changes}}


def container(**changes: Any) -> Json:
    return {"containers": [{**guardian()["spec"]["containers"][0], **changes}]}


SECRET = {"name": "s", "secret": {"secretName": "token"}}
HOST_PATH = {"name": "s", "hostPath": {"path": "/"}}
SECURITY = guardian()["spec"]["containers"][0]["securityContext"]
INTRUDERS: dict[str, Json] = {
    "privileged": container(securityContext={"privileged": True}),
    "as root": container(securityContext={**SECURITY, "runAsUser": 0}),
    "escalating": container(securityContext={"capabilities": {"drop": ["ALL"]}}),
    "with capabilities": container(
        securityContext={**SECURITY, "capabilities": {"drop": ["ALL"], "add": ["NET_RAW"]}}
    ),
    "of another image": container(image="example.com/miner:1"),
    "with a command": container(command=["sh"]),
    "with a variable from a secret": container(envFrom=[{"secretRef": {"name": "token"}}]),
    "with a secret": {"volumes": [SECRET]},
    "with a host path": {"volumes": [HOST_PATH]},
    "of another account": {"serviceAccountName": "admin"},
    "with a token": {"automountServiceAccountToken": True},
    "on the host's network": {"hostNetwork": True},
    "among the host's processes": {"hostPID": True},
    "with an init container": {"initContainers": [{"name": "i", "image": "example.com/miner:1"}]},
    "of a critical class": {"priorityClassName": "system-node-critical", "preemptionPolicy": None},
    "without a profile": {"securityContext": {"runAsNonRoot": True, "runAsUser": 1}},
}


@pytest.mark.parametrize("what", INTRUDERS)
def test_the_operators_token_creates_no_pod(stolen: Api, what: str) -> None:
    with pytest.raises(ApiFailure, match=REFUSED):
        stolen.create(PODS.path(VICTIM), guardian(**INTRUDERS[what]))


@pytest.mark.parametrize("part", ["labels", "ownerReferences"])
def test_the_operators_token_creates_no_pod_that_is_not_its_own(stolen: Api, part: str) -> None:
    made = guardian()
    metadata = {key: value for key, value in made["metadata"].items() if key != part}
    with pytest.raises(ApiFailure, match=REFUSED):
        stolen.create(PODS.path(VICTIM), {**made, "metadata": metadata})


def test_the_operators_token_creates_what_the_operator_creates(stolen: Api) -> None:
    stolen.create(f"{PODS.path(VICTIM)}?dryRun=All", guardian())


@pytest.fixture
def bystanders(stage: Stage) -> Iterator[tuple[str, str]]:
    """A running pod of a tenant and one of the cluster's own."""
    where: Json = {"nodeSelector": {"pool": "commons"}}
    for namespace in (VICTIM, "kube-system"):
        thing = pod("unrelated", "100m", namespace=namespace, **where)
        stage.plane.api.create(PODS.path(namespace), thing)
    yield VICTIM, "kube-system"
    for namespace in (VICTIM, "kube-system"):
        stage.plane.api.delete(PODS.path(namespace, "unrelated"), NOW)


def test_the_operators_token_swaps_no_image(stolen: Api, bystanders: tuple[str, str]) -> None:
    change = {"spec": {"containers": [{**requests("100m"), "image": "miner"}]}}
    for namespace in bystanders:
        with pytest.raises(ApiFailure, match=REFUSED):
            stolen.patch(PODS.path(namespace, "unrelated"), change)


@pytest.mark.parametrize(
    "change",
    [
        {"metadata": {"labels": {"app": "web"}}},
        {"metadata": {"labels": {"headroom.dev/role": "guardian"}}},
        {"metadata": {"annotations": {"example.com/note": "mine"}}},
        {"metadata": {"finalizers": ["example.com/stay"]}},
        {"spec": {"activeDeadlineSeconds": 1}},
    ],
    ids=str,
)
def test_the_operators_token_changes_nothing_of_others_pods(
    stolen: Api, bystanders: tuple[str, str], change: Json
) -> None:
    with pytest.raises(ApiFailure, match=REFUSED):
        stolen.patch(PODS.path(VICTIM, "unrelated"), change)


@pytest.mark.parametrize(
    "status",
    [
        {"phase": "Failed"},
        {"podIP": "10.9.9.9", "podIPs": [{"ip": "10.9.9.9"}]},
        {"conditions": [{"type": "Ready", "status": "False"}]},
        {"conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}]},
        {"conditions": [{"type": "DisruptionTarget", "status": "True", "reason": "Whim"}]},
    ],
    ids=str,
)
def test_the_operators_token_writes_no_status_of_others_pods(
    stolen: Api, bystanders: tuple[str, str], status: Json
) -> None:
    with pytest.raises(ApiFailure, match=REFUSED):
        stolen.patch(PODS.path(VICTIM, "unrelated", "status"), {"status": status})


def test_the_operators_token_deletes_no_unrelated_pod(
    stolen: Api, bystanders: tuple[str, str]
) -> None:
    for namespace in bystanders:
        for options in (None, NOW):
            with pytest.raises(ApiFailure, match=REFUSED):
                stolen.delete(PODS.path(namespace, "unrelated"), options)


def test_nobody_of_the_clusters_own_pods_is_marked_as_preempted(
    stolen: Api, bystanders: tuple[str, str]
) -> None:
    mark = {"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}
    path = PODS.path("kube-system", "unrelated", "status")
    with pytest.raises(ApiFailure, match=REFUSED):
        stolen.patch(path, {"status": {"conditions": [mark]}})


def test_the_operators_token_nominates_nobody_who_is_not_at_our_gate(
    stage: Stage, stolen: Api
) -> None:
    thing = pod("waits", "100m", namespace=VICTIM, nodeSelector={"pool": "nowhere"})
    stage.plane.api.create(PODS.path(VICTIM), thing)
    path = PODS.path(VICTIM, "waits", "status")
    with pytest.raises(ApiFailure, match=REFUSED):
        stolen.patch(path, {"status": {"nominatedNodeName": "commons-0"}})
    stage.plane.api.delete(PODS.path(VICTIM, "waits"), NOW)


def binding(name: str, **metadata: Any) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "Binding",
        "metadata": {"name": name, **metadata},
        "target": {"apiVersion": "v1", "kind": "Node", "name": "commons-0"},
    }


def test_the_operators_token_binds_no_pod_of_the_cluster_and_none_by_name_alone(
    stage: Stage, stolen: Api
) -> None:
    nowhere: Json = {"nodeSelector": {"pool": "nowhere"}}
    for namespace in (VICTIM, "kube-system"):
        thing = pod("waits", "100m", namespace=namespace, **nowhere)
        made = stage.plane.api.create(PODS.path(namespace), thing)
        uid = made["metadata"]["uid"] if namespace == "kube-system" else ""
        path = PODS.path(namespace, "waits", "binding")
        with pytest.raises(ApiFailure, match=REFUSED):
            stolen.create(path, binding("waits", namespace=namespace, uid=uid))
        stage.plane.api.delete(PODS.path(namespace, "waits"), NOW)


def test_a_binding_carries_no_annotation_but_a_claim(stage: Stage, stolen: Api) -> None:
    thing = pod("marked", "100m", namespace=VICTIM, ours=True, nodeSelector={"pool": "nowhere"})
    uid = stage.plane.api.create(PODS.path(VICTIM), thing)["metadata"]["uid"]
    more = {"namespace": VICTIM, "uid": uid, "annotations": {"example.com/inject": "true"}}
    with pytest.raises(ApiFailure, match=REFUSED):
        stolen.create(PODS.path(VICTIM, "marked", "binding"), binding("marked", **more))
    stage.plane.api.delete(PODS.path(VICTIM, "marked"), NOW)


def test_the_operators_token_writes_no_index_where_nobody_asked(stolen: Api, stage: Stage) -> None:
    index = {
        "apiVersion": CLAIM_INDEXES.api_version,
        "kind": CLAIM_INDEXES.kind,
        "metadata": {"name": "headroom"},
        "spec": {"keys": {"*": True}, "freshUntil": "2099-01-01T00:00:00Z"},
    }
    with pytest.raises(ApiFailure, match=REFUSED):
        stolen.create(CLAIM_INDEXES.path("kube-system"), index)
    other = {**index, "metadata": {"name": "other"}}
    with pytest.raises(ApiFailure, match=REFUSED):
        stolen.create(CLAIM_INDEXES.path(VICTIM), other)


def test_the_operators_token_takes_no_other_lease_and_speaks_for_nobody_else(stolen: Api) -> None:
    lease = {"apiVersion": LEASES.api_version, "kind": "Lease", "metadata": {"name": "stolen"}}
    with pytest.raises(ApiFailure, match=REFUSED):
        stolen.create(LEASES.path(HOME), lease)
    event = {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": "rumour"},
        "involvedObject": {"kind": "Pod", "name": "x", "namespace": VICTIM},
        "source": {"component": "kubelet"},
    }
    with pytest.raises(ApiFailure, match=REFUSED):
        stolen.create(EVENTS.path(VICTIM), event)


def test_the_operators_token_deletes_no_hold_that_stands_and_makes_no_headroom(
    stage: Stage, stolen: Api
) -> None:
    stage.plane.api.create(HOLDS.path(VICTIM), hold("stands", "100m", namespace=VICTIM))
    with pytest.raises(ApiFailure, match=REFUSED):
        stolen.delete(HOLDS.path(VICTIM, "stands"))
    with pytest.raises(ApiFailure, match=REFUSED):
        stolen.create(HEADROOMS.path(VICTIM), headroom("mine", namespace=VICTIM))
    stage.plane.api.delete(HOLDS.path(VICTIM, "stands"))


LATE_CLAIM = {
    "metadata": {"name": "data", "namespace": VICTIM},
    "spec": {
        "storageClassName": "late",  # or the volume controller would bind the two
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "1Gi"}},
    },
}
DISK = {
    "metadata": {"name": "disk"},
    "spec": {
        "accessModes": ["ReadWriteOnce"],
        "capacity": {"storage": "1Gi"},
        "csi": {"driver": "disks.example.com", "volumeHandle": "disk"},
    },
}
TAKEN = {"kind": "PersistentVolumeClaim", "namespace": VICTIM, "name": "other", "uid": "u"}


def test_the_operators_token_writes_on_volumes_only_who_is_to_have_them(
    stage: Stage, stolen: Api
) -> None:
    stage.plane.api.create(VOLUME_CLAIMS.path(VICTIM), LATE_CLAIM)
    stage.plane.api.create(VOLUMES.path(), DISK)
    claim, disk = VOLUME_CLAIMS.path(VICTIM, "data"), VOLUMES.path("", "disk")
    attempts: list[tuple[str, Json]] = [
        (claim, {"metadata": {"annotations": {"pv.kubernetes.io/bind-completed": "yes"}}}),
        (claim, {"metadata": {"labels": {"a": "b"}}}),
        (claim, {"metadata": {"finalizers": None}}),
        (claim, {"spec": {"volumeName": "disk"}}),
        (disk, {"spec": {"persistentVolumeReclaimPolicy": "Delete"}}),
        (disk, {"spec": {"capacity": {"storage": "9Gi"}}}),
        (disk, {"metadata": {"annotations": {"a": "b"}}}),
        (disk, {"spec": {"claimRef": {"namespace": VICTIM, "name": "data"}}}),
    ]
    for path, change in attempts:
        with pytest.raises(ApiFailure, match=REFUSED):
            stolen.patch(path, change)
    stolen.patch(claim, {"metadata": {"annotations": {SELECTED_NODE: "a"}}})
    stolen.patch(disk, {"spec": {"claimRef": TAKEN}})
    with pytest.raises(ApiFailure, match=REFUSED):  # Somebody is to have it by now.
        stolen.patch(disk, {"spec": {"claimRef": {**TAKEN, "name": "data", "uid": "v"}}})


def test_meanwhile_the_operator_does_its_work(stage: Stage, stolen: Api) -> None:
    with stage.unhurt():
        for what in ("privileged", "with a secret"):
            with pytest.raises(ApiFailure, match=REFUSED):
                stolen.create(PODS.path(VICTIM), guardian(**INTRUDERS[what]))
    assert REFUSED not in stage.operator.log()
