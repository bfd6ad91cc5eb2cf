"""What every Cluster promises about headrooms, and about the workloads that they copy."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from headroom.core.actions import Done, Gone, Stale, WriteHeadroomStatus
from headroom.core.headrooms.headrooms import Headroom, HeadroomStatus, Workload
from headroom.core.objects import Condition, Key
from headroom.ports import Event, Seen, Synced
from headroom.wire.kinds import DEPLOYMENTS, HEADROOMS, STATEFUL_SETS
from tests.contract.ground import Ground, Watching, headroom_manifest, lost, workload_manifest

NOON = datetime(2027, 1, 4, 12, 0, tzinfo=UTC)
OTHER_UID = "00000000-0000-0000-0000-000000000000"


def copying(name: str, api_version: str, kind: str) -> dict[str, Any]:
    source = {"apiVersion": api_version, "kind": kind, "name": "web"}
    return headroom_manifest(name, slot={"from": source})


def workload(event: Event, key: Key, kind: str) -> Workload | None:
    match event:
        case Seen(Workload() as seen) if seen.key == key and seen.ref.kind == kind:
            return seen
    return None


async def headroom(watching: Watching, key: Key) -> Headroom:
    """Wait until the headroom is told."""

    def find(event: Event) -> Headroom | None:
        match event:
            case Seen(Headroom() as seen) if seen.key == key:
                return seen
        return None

    return await watching.until(find)


def test_a_headroom_and_the_workload_it_copies_are_told_before_synced(ground: Ground) -> None:
    async def story() -> None:
        await ground.make(DEPLOYMENTS, workload_manifest("web", replicas=3))
        await ground.make(HEADROOMS, copying("burst", "apps/v1", "Deployment"))
        key = Key(ground.namespace, "web")
        async with Watching(ground.cluster) as watching:
            await watching.synced()
            before = watching.events[: watching.events.index(Synced())]
            (seen,) = [found for event in before if (found := workload(event, key, "Deployment"))]
            assert (seen.replicas, seen.template.pod.requests["cpu"]) == (3, 100)
            assert seen.uid
            made = await headroom(watching, Key(ground.namespace, "burst"))
            assert Seen(made) in before
            assert made.problems == ()

    ground.run(story())


def test_a_workload_is_told_once_a_headroom_copies_its_kind(ground: Ground) -> None:
    async def story() -> None:
        await ground.make(STATEFUL_SETS, workload_manifest("web", replicas=4))
        async with Watching(ground.cluster) as watching:
            await watching.synced()
            await ground.make(HEADROOMS, copying("late", "apps/v1", "StatefulSet"))
            key = Key(ground.namespace, "web")
            seen = await watching.until(lambda event: workload(event, key, "StatefulSet"))
            assert seen.replicas == 4
            await ground.remove(STATEFUL_SETS, "web")
            await watching.until(lambda event: lost(event, Workload, key))
            await ground.remove(HEADROOMS, "late")
            gone = await watching.until(lambda event: lost(event, Headroom))
            assert gone.parent.name == "late"

    ground.run(story())


def test_a_status_is_written_whole_and_only_on_the_headroom_meant(ground: Ground) -> None:
    async def story() -> None:
        await ground.make(HEADROOMS, headroom_manifest("burst"))
        status = HeadroomStatus(
            desired=2,
            held=1,
            pending=1,
            selector="headroom.dev/for=burst",
            spent=("0",),
            conditions=(Condition("Ready", "False", "Holding", "1 is missing", NOON, 1),),
            observed_generation=1,
        )
        async with Watching(ground.cluster) as watching:
            made = await headroom(watching, Key(ground.namespace, "burst"))
            write = WriteHeadroomStatus(made.parent, status)
            assert isinstance(await ground.cluster.perform(write), Done)

            def find(event: Event) -> HeadroomStatus | None:
                match event:
                    case Seen(Headroom(parent=parent, status=told)) if (
                        parent == made.parent and told.desired
                    ):
                        return told
                return None

            assert await watching.until(find) == status
            stranger = _with_uid(made, OTHER_UID)
            assert isinstance(await ground.cluster.perform(stranger), Stale)
            await ground.remove(HEADROOMS, "burst")
            assert isinstance(await ground.cluster.perform(write), Gone)

    ground.run(story())


def _with_uid(made: Headroom, uid: str) -> WriteHeadroomStatus:
    return WriteHeadroomStatus(replace(made.parent, uid=uid), HeadroomStatus())
