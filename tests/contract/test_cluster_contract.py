"""What every Cluster promises: all that is there is told, and each action ends as it should."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from headroom.core.actions import (
    Bind,
    CreateGuardian,
    CreateLatch,
    DeletePod,
    Disclaim,
    Done,
    EndPod,
    Gone,
    Invalid,
    MarkPreempted,
    MarkUnschedulable,
    Nominate,
    Stale,
    Taken,
    Tell,
    Ungate,
    WriteHoldStatus,
    WriteIndex,
)
from headroom.core.holds import Hold, HoldStatus, OwnerUse
from headroom.core.names import (
    CLAIM_GATE,
    CLAIMED_ANNOTATION,
    CLAIMED_UID_ANNOTATION,
    LATCH_GATE,
    ROLE_LABEL,
)
from headroom.core.objects import Condition, Key, Namespace, Node, Parent
from headroom.core.resources import Resources
from headroom.ports import Seen, Synced
from headroom.wire.events import event_name
from headroom.wire.kinds import CLAIM_INDEXES, EVENTS, HOLDS, NODES, PODS
from tests.contract.ground import (
    Ground,
    Watching,
    hold_manifest,
    lost,
    node_manifest,
    pod_manifest,
)

NOON = datetime(2027, 1, 4, 12, 0, tzinfo=UTC)
NODE = "contract-node"
OTHER_UID = "00000000-0000-0000-0000-000000000000"
SHOP = Parent("headroom.dev/v1alpha1", "Hold", "shop", "nightly", "uid-1")
GATED = {"schedulingGates": [{"name": "example.com/other"}, {"name": CLAIM_GATE}]}


def test_what_is_there_is_told_before_synced_and_changes_after(ground: Ground) -> None:
    async def story() -> None:
        uid = await ground.make(PODS, pod_manifest("early"))
        await ground.make(HOLDS, hold_manifest("nightly"))
        await ground.make(NODES, node_manifest("early-node"))
        async with Watching(ground.cluster) as watching:
            await watching.synced()
            before = list(watching.events[: watching.events.index(Synced())])
            seen = [event.thing for event in before if isinstance(event, Seen)]
            assert any(isinstance(thing, Node) and thing.name == "early-node" for thing in seen)
            names = [thing.name for thing in seen if isinstance(thing, Namespace)]
            assert ground.namespace in names
            assert [thing for thing in seen if isinstance(thing, Hold)]
            pod = await watching.pod(Key(ground.namespace, "early"))
            assert Seen(pod) in before
            assert pod.uid == uid

            await ground.make(PODS, pod_manifest("late"))
            await watching.pod(Key(ground.namespace, "late"))
            await ground.remove(PODS, "early")
            assert (await watching.pod_gone(Key(ground.namespace, "early"))).uid == uid
            await ground.remove(HOLDS, "nightly")
            await watching.until(lambda event: lost(event, Hold))
            await ground.remove(NODES, "early-node")
            await watching.until(lambda event: lost(event, Node))

    ground.run(story())


async def a_hold(ground: Ground, watching: Watching, name: str = "nightly") -> Hold:
    await ground.make(HOLDS, hold_manifest(name))
    return await watching.hold(Key(ground.namespace, name))


def test_a_guardian_is_made_once(ground: Ground) -> None:
    async def story() -> None:
        async with Watching(ground.cluster) as watching:
            hold = await a_hold(ground, watching)
            make = CreateGuardian("nightly-0", hold, hold.template.pod.requests, NODE)
            outcome = await ground.cluster.perform(make)
            guardian = await watching.pod(Key(ground.namespace, "nightly-0"))
            assert outcome == Done(guardian.uid)
            assert guardian.labels[ROLE_LABEL] == "guardian"
            assert guardian.requests["cpu"] == 500
            assert guardian.owners[0].uid == hold.parent.uid
            assert guardian.node == ""
            assert isinstance(await ground.cluster.perform(make), Taken)

    ground.run(story())


def test_a_guardian_can_be_made_on_its_node(ground: Ground) -> None:
    async def story() -> None:
        async with Watching(ground.cluster) as watching:
            hold = await a_hold(ground, watching)
            smaller = Resources({"cpu": 200})
            make = CreateGuardian("nightly-1", hold, smaller, NODE, bound=True)
            assert isinstance(await ground.cluster.perform(make), Done)
            guardian = await watching.pod(Key(ground.namespace, "nightly-1"))
            assert guardian.node == NODE
            assert guardian.requests["cpu"] == 200

    ground.run(story())


def test_a_latch_is_gated_until_it_is_deleted(ground: Ground) -> None:
    async def story() -> None:
        async with Watching(ground.cluster) as watching:
            key = Key(ground.namespace, "latch-0")
            latch = CreateLatch(key, SHOP, Resources({"cpu": 700}), NODE, (("a/b/c", str(SHOP)),))
            assert isinstance(await ground.cluster.perform(latch), Done)
            assert (await watching.pod(key)).gates == (LATCH_GATE,)
            assert await ground.cluster.perform(Nominate(key, "", NODE)) == Done()
            pod = await watching.pod(key, lambda pod: pod.nominated == NODE)
            assert await ground.cluster.perform(DeletePod(key, pod.uid)) == Done()
            assert (await watching.pod_gone(key)).uid == pod.uid

    ground.run(story())


def test_a_pod_that_has_changed_is_not_deleted_by_its_old_version(ground: Ground) -> None:
    async def story() -> None:
        async with Watching(ground.cluster) as watching:
            key = Key(ground.namespace, "latch-1")
            latch = CreateLatch(key, SHOP, Resources({"cpu": 700}), NODE)
            assert isinstance(await ground.cluster.perform(latch), Done)
            old = await watching.pod(key)
            assert await ground.cluster.perform(Nominate(key, "", NODE)) == Done()
            new = await watching.pod(key, lambda pod: pod.nominated == NODE)
            delete = DeletePod(key, old.uid, old.version)
            assert isinstance(await ground.cluster.perform(delete), Stale)
            assert await ground.look(PODS, "latch-1") is not None
            assert await ground.cluster.perform(DeletePod(key, new.uid, new.version)) == Done()

    ground.run(story())


def test_a_nomination_and_its_claim_are_one_write_and_can_be_taken_back(ground: Ground) -> None:
    async def story() -> None:
        async with Watching(ground.cluster) as watching:
            key = Key(ground.namespace, "owner")
            uid = await ground.make(PODS, pod_manifest("owner", **GATED))
            assert await ground.cluster.perform(Nominate(key, uid, NODE, SHOP)) == Done()
            pod = await watching.pod(key, lambda pod: pod.nominated == NODE)
            assert pod.annotations[CLAIMED_ANNOTATION] == "Hold/shop/nightly"
            assert pod.annotations[CLAIMED_UID_ANNOTATION] == "uid-1"
            taken_back = Disclaim(key, uid, nominated=True)
            assert await ground.cluster.perform(taken_back) == Done()
            there = await ground.look(PODS, "owner")
            assert there is not None
            assert not there["status"].get("nominatedNodeName")
            assert CLAIMED_ANNOTATION not in there["metadata"].get("annotations", {})

    ground.run(story())


def test_a_pod_that_gives_way_says_so_and_ends(ground: Ground) -> None:
    async def story() -> None:
        async with Watching(ground.cluster) as watching:
            key = Key(ground.namespace, "victim")
            uid = await ground.make(PODS, pod_manifest("victim", **GATED))
            mark = MarkPreempted(key, uid, "for another", NOON)
            assert await ground.cluster.perform(mark) == Done()
            assert (await watching.pod(key, lambda pod: pod.preempted)).uid == uid
            assert await ground.cluster.perform(EndPod(key, uid, NOON)) == Done()
            assert (await watching.pod_gone(key)).uid == uid

    ground.run(story())


def test_a_pod_of_the_same_name_is_never_touched(ground: Ground) -> None:
    async def story() -> None:
        key = Key(ground.namespace, "owner")
        uid = await ground.make(PODS, pod_manifest("owner", **GATED))
        perform = ground.cluster.perform
        assert isinstance(await perform(Nominate(key, OTHER_UID, NODE)), Stale)
        assert isinstance(await perform(Disclaim(key, OTHER_UID)), Stale)
        assert isinstance(await perform(Disclaim(key, OTHER_UID, nominated=True)), Stale)
        assert isinstance(await perform(DeletePod(key, OTHER_UID)), Stale)
        assert isinstance(await perform(EndPod(key, OTHER_UID, NOON)), Stale)
        mark = MarkPreempted(key, OTHER_UID, "for another", NOON)
        assert isinstance(await perform(mark), Stale)
        assert isinstance(await perform(Ungate(key, OTHER_UID, CLAIM_GATE, 1)), Stale)
        assert isinstance(await perform(Bind(key, OTHER_UID, NODE)), Stale)
        unschedulable = MarkUnschedulable(key, OTHER_UID, "no", NOON)
        assert isinstance(await perform(unschedulable), Stale)
        there = await ground.look(PODS, "owner")
        assert there is not None
        assert there["metadata"]["uid"] == uid
        assert len(there["spec"]["schedulingGates"]) == 2

    ground.run(story())


def test_what_is_not_there_is_gone(ground: Ground) -> None:
    async def story() -> None:
        key = Key(ground.namespace, "nobody")
        perform = ground.cluster.perform
        assert isinstance(await perform(Nominate(key, OTHER_UID, NODE)), Gone)
        assert isinstance(await perform(Disclaim(key, OTHER_UID)), Gone)
        assert isinstance(await perform(DeletePod(key, OTHER_UID)), Gone)
        assert isinstance(await perform(Ungate(key, OTHER_UID, CLAIM_GATE, 0)), Gone)
        assert isinstance(await perform(Bind(key, OTHER_UID, NODE)), Gone)
        assert isinstance(await perform(MarkUnschedulable(key, OTHER_UID, "no", NOON)), Gone)
        parent = replace(SHOP, namespace=ground.namespace)
        assert isinstance(await perform(WriteHoldStatus(parent, HoldStatus())), Gone)
        elsewhere = Key("no-such-namespace", "latch")
        latch = CreateLatch(elsewhere, SHOP, Resources({"cpu": 1}), NODE)
        assert isinstance(await perform(latch), Gone)

    ground.run(story())


def test_only_our_gate_is_removed_and_only_where_it_is(ground: Ground) -> None:
    async def story() -> None:
        async with Watching(ground.cluster) as watching:
            key = Key(ground.namespace, "owner")
            uid = await ground.make(PODS, pod_manifest("owner", **GATED))
            perform = ground.cluster.perform
            assert isinstance(await perform(Ungate(key, uid, CLAIM_GATE, 0)), Stale)
            assert isinstance(await perform(Ungate(key, uid, CLAIM_GATE, 7)), Stale)
            assert await perform(Ungate(key, uid, CLAIM_GATE, 1)) == Done()
            await watching.pod(key, lambda pod: pod.gates == ("example.com/other",))
            assert isinstance(await perform(Ungate(key, uid, CLAIM_GATE, 1)), Stale)

    ground.run(story())


def test_a_pod_is_bound_once_and_the_claim_is_part_of_it(ground: Ground) -> None:
    async def story() -> None:
        async with Watching(ground.cluster) as watching:
            key = Key(ground.namespace, "owner")
            uid = await ground.make(PODS, pod_manifest("owner"))
            perform = ground.cluster.perform
            assert await perform(Bind(key, uid, NODE, SHOP)) == Done()
            pod = await watching.pod(key, lambda pod: pod.node == NODE)
            assert pod.annotations[CLAIMED_ANNOTATION] == "Hold/shop/nightly"
            assert isinstance(await perform(Bind(key, uid, NODE)), Stale)

    ground.run(story())


def test_a_gated_pod_is_not_bound(ground: Ground) -> None:
    async def story() -> None:
        uid = await ground.make(PODS, pod_manifest("owner", **GATED))
        outcome = await ground.cluster.perform(Bind(Key(ground.namespace, "owner"), uid, NODE))
        assert isinstance(outcome, Stale)

    ground.run(story())


def test_a_pod_we_cannot_place_says_so(ground: Ground) -> None:
    async def story() -> None:
        async with Watching(ground.cluster) as watching:
            key = Key(ground.namespace, "owner")
            uid = await ground.make(PODS, pod_manifest("owner"))
            mark = MarkUnschedulable(key, uid, "0/3 nodes: no room", NOON)
            assert await ground.cluster.perform(mark) == Done()
            pod = await watching.pod(key, lambda pod: pod.unschedulable_since == NOON)
            assert pod.unschedulable_message == "0/3 nodes: no room"

    ground.run(story())


def test_a_status_replaces_all_of_the_old(ground: Ground) -> None:
    async def story() -> None:
        async with Watching(ground.cluster) as watching:
            hold = await a_hold(ground, watching)
            ready = Condition("Ready", "True", "Held", "on a node", NOON, hold.generation)
            first = HoldStatus(
                phase="Available",
                node=NODE,
                allocatable=Resources({"cpu": 500, "memory": 64 * 2**20}),
                owners=(OwnerUse("shop", "web-0", "uid-2"),),
                conditions=(ready,),
                observed_generation=hold.generation,
            )
            perform = ground.cluster.perform
            assert await perform(WriteHoldStatus(hold.parent, first)) == Done()
            await watching.hold(hold.key, lambda told: told.status == first)
            second = replace(first, allocatable=Resources({"cpu": 500}), owners=())
            assert await perform(WriteHoldStatus(hold.parent, second)) == Done()
            await watching.hold(hold.key, lambda told: told.status == second)

    ground.run(story())


def test_the_status_of_another_hold_of_that_name_is_not_written(ground: Ground) -> None:
    async def story() -> None:
        async with Watching(ground.cluster) as watching:
            hold = await a_hold(ground, watching)
            parent = replace(hold.parent, uid=OTHER_UID)
            write = WriteHoldStatus(parent, HoldStatus(phase="Failed"))
            assert isinstance(await ground.cluster.perform(write), Stale)

    ground.run(story())


def test_the_same_thing_told_twice_is_one_event_counted_up(ground: Ground) -> None:
    async def story() -> None:
        about = Key(ground.namespace, "owner")
        tell = Tell("v1", "Pod", about, "uid-1", "Normal", "Claimed", "got nightly", NOON)
        later = replace(tell, at=NOON.replace(minute=5))
        assert isinstance(await ground.cluster.perform(tell), Done)
        assert isinstance(await ground.cluster.perform(later), Done)
        event = await only_event(ground, tell)
        assert (event["count"], event["reason"], event["message"]) == (2, "Claimed", "got nightly")
        assert event["lastTimestamp"] == "2027-01-04T12:05:00Z"

    ground.run(story())


async def only_event(ground: Ground, tell: Tell) -> dict[str, object]:
    event = await ground.look(EVENTS, event_name(tell))
    assert event is not None
    return event


def test_an_index_is_made_and_renewed_by_the_same_write(ground: Ground) -> None:
    async def story() -> None:
        perform = ground.cluster.perform
        assert isinstance(await perform(WriteIndex(ground.namespace, ("app=web", "b"), NOON)), Done)
        later = NOON.replace(minute=1)
        assert isinstance(await perform(WriteIndex(ground.namespace, ("app=web",), later)), Done)
        index = await ground.look(CLAIM_INDEXES, "headroom")
        assert index is not None
        assert index["spec"] == {"keys": {"app=web": True}, "freshUntil": "2027-01-04T12:01:00Z"}

    ground.run(story())


def test_a_body_that_makes_no_sense_is_invalid(ground: Ground) -> None:
    async def story() -> None:
        key = Key(ground.namespace, "Not A Name")
        latch = CreateLatch(key, SHOP, Resources({"cpu": 1}), NODE)
        outcome = await ground.cluster.perform(latch)
        assert isinstance(outcome, Invalid)
        assert "Not A Name" in outcome.message

    ground.run(story())
