"""Claims, volumes and classes put together."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from headroom.core.demand.volume_constraints import volume_refusal, with_volumes
from headroom.core.demand.volumes import (
    Binding,
    Mount,
    Storage,
    StorageClass,
    Volume,
    VolumeClaim,
    allowed_nodes,
    mounts,
)
from headroom.core.objects import Key, NodeTerm, Pod
from tests.builders import need

KEY = Key("default", "data")
ZONE_A = (NodeTerm((need("zone", "In", "a"),)),)


def storage(
    claim: VolumeClaim | None = None,
    volume: Volume | None = None,
    *classes: StorageClass,
) -> Storage:
    return Storage(
        {claim.key: claim} if claim else {},
        {volume.name: volume} if volume else {},
        {each.name: each for each in classes},
    )


def look(known: Storage) -> Mount:
    (found,) = mounts("default", ["data"], known)
    return found


def test_a_bound_claim_leads_to_its_volume() -> None:
    claim = VolumeClaim(KEY, "pv", uid="1", bound=True)
    volume = Volume("pv", "s3.example.com", claim=KEY, claim_uid="1", terms=ZONE_A)
    found = look(storage(claim, volume))
    assert (found.binding, found.driver) == (Binding.BOUND, "s3.example.com")
    assert allowed_nodes([found]) == (ZONE_A,)


def test_a_volume_that_every_node_reaches_asks_nothing_of_nodes() -> None:
    claim = VolumeClaim(KEY, "pv", bound=True)
    assert allowed_nodes([look(storage(claim, Volume("pv", claim=KEY)))]) == ()


def test_what_is_not_there_is_named() -> None:
    assert look(storage()).trouble == "claim data does not exist"
    claim = VolumeClaim(KEY, "pv", uid="1", bound=True)
    assert look(storage(claim)).trouble == 'persistentvolume "pv" not found'
    other = Volume("pv", claim=Key("default", "other"))
    assert "belongs to another claim" in look(storage(claim, other)).trouble
    namesake = Volume("pv", claim=KEY, claim_uid="2")
    assert "belongs to another claim" in look(storage(claim, namesake)).trouble


def test_an_unbound_claim_knows_its_driver_by_its_class() -> None:
    fast = StorageClass("fast", "ebs.example.com")
    found = look(storage(VolumeClaim(KEY, storage_class="fast"), None, fast))
    assert (found.binding, found.driver) == (Binding.UNBOUND, "ebs.example.com")
    assert look(storage(VolumeClaim(KEY, storage_class="gone"))).driver == ""


def test_a_claim_may_wait_for_its_pod() -> None:
    late = StorageClass("late", "ebs.example.com", waits_for_pod=True)
    claim = VolumeClaim(KEY, storage_class="late")
    assert look(storage(claim, None, late)).binding is Binding.WAITS_FOR_POD
    named = VolumeClaim(KEY, "pv", storage_class="late")
    assert look(storage(named, None, late)).binding is Binding.UNBOUND


def bound(**more: Any) -> VolumeClaim:
    return replace(VolumeClaim(KEY, "pv", uid="1", bound=True), **more)


def pod(*claims: str, own: tuple[str, ...] = ()) -> Pod:
    return Pod(Key("default", "p"), "uid-p", claims=claims, own_claims=own)


def test_a_pod_gets_what_its_volumes_ask_for() -> None:
    zones = (("topology.kubernetes.io/zone", ("a", "b")),)
    volume = Volume("pv", claim=KEY, claim_uid="1", terms=ZONE_A, zones=zones)
    known = storage(bound(modes=("ReadWriteOncePod",)), volume)
    found = with_volumes(pod("data"), known)
    assert (found.reach, found.zones, found.sole) == ((ZONE_A,), zones, ("data",))
    assert volume_refusal(found, known) == ""


def test_a_claim_that_no_node_could_mend_refuses_the_pod_in_kube_schedulers_words() -> None:
    volume = Volume("pv", claim=KEY, claim_uid="1")
    refusals = {
        'persistentvolumeclaim "data" not found': storage(),
        'persistentvolumeclaim "data" bound to non-existent persistentvolume "pv"': storage(
            bound(lost=True), volume
        ),
        'persistentvolumeclaim "data" is being deleted': storage(bound(deleting=True), volume),
        'persistentvolume "pv" not found': storage(bound()),
        "pod has unbound immediate PersistentVolumeClaims": storage(VolumeClaim(KEY)),
    }
    found = {words: volume_refusal(pod("data"), known) for words, known in refusals.items()}
    assert found == {words: words for words in refusals}


def test_a_claim_of_an_ephemeral_volume_must_be_the_pods_own() -> None:
    asking = pod("p-scratch", own=("p-scratch",))
    key = Key("default", "p-scratch")
    assert volume_refusal(asking, storage()) == (
        'waiting for ephemeral volume controller to create the persistentvolumeclaim "p-scratch"'
    )
    claim = VolumeClaim(key, "pv", uid="1", bound=True)
    volume = Volume("pv", claim=key, claim_uid="1")
    assert volume_refusal(asking, storage(claim, volume)) == (
        "PVC default/p-scratch was not created for pod default/p (pod is not owner)"
    )
    own = replace(claim, made_for="uid-p")
    assert volume_refusal(asking, storage(own, volume)) == ""
