"""Which volumes claims get that wait for their pod, node by node."""

from __future__ import annotations

from dataclasses import replace

from headroom.core.demand.unbound_claims import MADE, bindings, late_claims
from headroom.core.demand.volume_constraints import with_volumes
from headroom.core.demand.volumes import Storage, StorageClass, Volume, VolumeClaim
from headroom.core.objects import Key, LateClaim, Node, NodeTerm, Pod
from tests.builders import need

A, B = Node("a", labels={"zone": "x"}), Node("b", labels={"zone": "y"})
IN_X, IN_Y = ((NodeTerm((need("zone", "In", each),)),) for each in "xy")
CLASS = StorageClass("late", "disks.example.com", waits_for_pod=True)
CLAIM = VolumeClaim(
    Key("default", "data"), storage_class="late", uid="1", modes=("ReadWriteOnce",), size=10
)
DISK = Volume(
    "disk", terms=IN_X, free=True, storage_class="late", size=20, modes=("ReadWriteOnce",)
)


def late(*things: VolumeClaim | Volume | StorageClass) -> tuple[LateClaim, ...]:
    claims = {each.key: each for each in things if isinstance(each, VolumeClaim)}
    volumes = {each.name: each for each in things if isinstance(each, Volume)}
    classes = {each.name: each for each in things if isinstance(each, StorageClass)}
    pod = Pod(Key("default", "p"), claims=tuple(key.name for key in claims))
    return late_claims(pod, pod.claims, Storage(claims, volumes, classes))


def test_a_free_volume_on_the_node_goes_before_a_new_one() -> None:
    found = late(CLAIM, DISK, CLASS)
    assert bindings(found, A) == {"data": "disk"}
    assert bindings(found, B) == {"data": MADE}


def test_the_smallest_volume_that_will_do_is_taken() -> None:
    unfit = (
        replace(DISK, name="small", size=5),
        replace(DISK, name="other", storage_class=""),
        replace(DISK, name="raw", block=True),
        replace(DISK, name="shared", modes=("ReadOnlyMany",)),
        replace(DISK, name="used", free=False),
        replace(DISK, name="meant", claim=Key("default", "other")),
    )
    found = late(CLAIM, replace(DISK, name="large", size=99), DISK, *unfit, CLASS)
    assert bindings(found, A) == {"data": "disk"}


def test_two_claims_do_not_get_one_volume() -> None:
    second = replace(CLAIM, key=Key("default", "more"), uid="2", size=15)
    nobody = replace(CLASS, provisioner="kubernetes.io/no-provisioner")
    assert bindings(late(CLAIM, second, DISK, nobody), A) is None
    both = late(CLAIM, second, DISK, replace(DISK, name="next", size=30), nobody)
    assert bindings(both, A) == {"data": "disk", "more": "next"}


def test_volumes_are_made_where_the_class_allows_and_on_the_node_that_was_chosen() -> None:
    assert bindings(late(CLAIM, replace(CLASS, topologies=IN_Y)), A) is None
    assert bindings(late(CLAIM, replace(CLASS, topologies=IN_Y)), B) == {"data": MADE}
    chosen = late(replace(CLAIM, selected="b"), DISK, CLASS)
    assert (bindings(chosen, A), bindings(chosen, B)) == (None, {"data": MADE})


def test_a_volume_that_names_the_claim_is_the_only_one_for_it() -> None:
    meant = replace(DISK, name="meant", terms=IN_Y, claim=CLAIM.key, claim_uid="1")
    found = late(CLAIM, DISK, meant, CLASS)
    assert (bindings(found, A), bindings(found, B)) == (None, {"data": "meant"})


def test_a_pod_carries_the_claims_that_wait_for_it() -> None:
    storage = Storage({CLAIM.key: CLAIM}, {}, {CLASS.name: CLASS})
    found = with_volumes(Pod(Key("default", "p"), claims=("data",)), storage)
    assert found.late == (LateClaim("data", 10, made_on=()),)
