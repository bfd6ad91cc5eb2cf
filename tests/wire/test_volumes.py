"""Volume claims, volumes and storage classes as an API server sends them."""

from __future__ import annotations

import pytest

from headroom.core.demand.volumes import StorageClass, Volume, VolumeClaim
from headroom.core.objects import Key, NodeTerm, Requirement
from headroom.wire.errors import DecodeError
from headroom.wire.objects.pods import pod_from
from headroom.wire.objects.volumes import claim_from, storage_class_from, volume_from
from tests.wire.objects import Json, pod_json

DONE = {"pv.kubernetes.io/bind-completed": "yes"}


def claim_json(annotations: Json | None = None, **spec: object) -> Json:
    meta = {"name": "s3-pvc", "namespace": "shop", "uid": "1", "annotations": annotations or {}}
    return {"metadata": meta, "spec": spec}


def test_a_claim_is_bound_once_both_sides_agree() -> None:
    key = Key("shop", "s3-pvc")
    assert claim_from(claim_json()) == VolumeClaim(key, uid="1")
    named = claim_from(claim_json(volumeName="pv", storageClassName="fast"))
    assert named == VolumeClaim(key, "pv", "fast", "1", bound=False)
    assert claim_from(claim_json(DONE, volumeName="pv")).bound


def test_a_volume_has_its_driver_attributes_claim_and_nodes() -> None:
    zone = {"key": "zone", "operator": "In", "values": ["a"]}
    affinity = {"required": {"nodeSelectorTerms": [{"matchExpressions": [zone]}]}}
    csi = {"driver": "s3.csi.aws.com", "volumeAttributes": {"bucketName": "b"}}
    ref = {"namespace": "shop", "name": "s3-pvc", "uid": "1"}
    spec = {"csi": csi, "claimRef": ref, "nodeAffinity": affinity}
    found = volume_from({"metadata": {"name": "pv"}, "spec": spec})
    terms = (NodeTerm((Requirement("zone", "In", ("a",)),)),)
    key = Key("shop", "s3-pvc")
    assert found == Volume("pv", "s3.csi.aws.com", {"bucketName": "b"}, key, "1", terms)


def test_a_volume_of_another_kind_has_no_driver() -> None:
    found = volume_from({"metadata": {"name": "pv"}, "spec": {"hostPath": {"path": "/data"}}})
    assert found == Volume("pv")


@pytest.mark.parametrize(
    ("mode", "waits"), [(None, False), ("Immediate", False), ("WaitForFirstConsumer", True)]
)
def test_a_storage_class_may_let_claims_wait(mode: str | None, waits: bool) -> None:
    thing = {"metadata": {"name": "fast"}, "provisioner": "ebs", "volumeBindingMode": mode}
    assert storage_class_from(thing) == StorageClass("fast", "ebs", waits)


def test_a_wrong_type_is_named_with_its_path() -> None:
    with pytest.raises(DecodeError, match="shop/s3-pvc"):
        claim_from(claim_json(volumeName=["pv"]))


def test_a_pod_names_its_claims() -> None:
    volumes = [
        {"name": "a", "persistentVolumeClaim": {"claimName": "s3-pvc"}},
        {"name": "b", "emptyDir": {}},
        {"name": "c", "persistentVolumeClaim": {"claimName": "other"}},
    ]
    assert pod_from(pod_json(spec={"volumes": volumes})).claims == ("s3-pvc", "other")
    assert pod_from(pod_json()).claims == ()


def test_zone_labels_of_an_old_volume_are_kept() -> None:
    labels = {
        "failure-domain.beta.kubernetes.io/zone": "a__b",
        "topology.kubernetes.io/region": "r",
        "topology.kubernetes.io/zone": "a____b",  # an empty part: nobody can say what is meant
    }
    found = volume_from({"metadata": {"name": "pv", "labels": labels}, "spec": {}})
    assert found.zones == (
        ("topology.kubernetes.io/region", ("r",)),
        ("failure-domain.beta.kubernetes.io/zone", ("a", "b")),
    )


def test_a_claim_says_how_it_is_used_and_for_whom_it_was_made() -> None:
    owner = {"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "7", "controller": True}
    wish = claim_json({"volume.kubernetes.io/selected-node": "n"}, accessModes=["ReadWriteOncePod"])
    wish["metadata"] |= {"ownerReferences": [owner], "deletionTimestamp": "2026-01-01T00:00:00Z"}
    found = claim_from({**wish, "status": {"phase": "Lost"}})
    assert (found.modes, found.made_for, found.selected) == (("ReadWriteOncePod",), "7", "n")
    assert found.deleting
    assert found.lost
