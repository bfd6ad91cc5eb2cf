"""Claims, volumes and classes put together."""

from __future__ import annotations

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
from headroom.core.objects import Key, NodeTerm
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
    assert look(storage(claim)).trouble == "volume pv of claim data does not exist"
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
