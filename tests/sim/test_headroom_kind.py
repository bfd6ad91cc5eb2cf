"""Headrooms in the embedded cluster: checked and scaled as by their CRD, told with workloads."""

from __future__ import annotations

from pathlib import Path

import pytest

from headroom.core.headrooms.headrooms import Headroom, Workload
from headroom.ports import Event, Seen, Synced
from headroom.sim.api.values import Ref, dig
from headroom.sim.errors import ApiError
from headroom.sim.scenarios.loader import load_scenario
from headroom.sim.scenarios.play import run_scenario
from headroom.sim.world import SimWorld
from tests.sim.test_cluster_port import Listener, listening
from tests.sim.things import deployment
from tests.wire.headroom_cases import BAD, FROM, GOOD, RIGHT, Case

BURST = Ref("Headroom", "default", "burst")


@pytest.mark.parametrize("case", BAD, ids=lambda case: case.name)
def test_a_bad_headroom_is_refused_with_the_field_named(world: SimWorld, case: Case) -> None:
    with pytest.raises(ApiError) as refused:
        world.server.create(case.headroom())
    assert refused.value.code == 422
    assert case.blames in refused.value.message


@pytest.mark.parametrize("case", RIGHT, ids=lambda case: case.name)
def test_a_sound_headroom_is_taken(world: SimWorld, case: Case) -> None:
    assert world.apply(case.headroom())["metadata"]["generation"] == 1


def test_what_is_left_out_gets_its_default(world: SimWorld) -> None:
    windows = [{"start": "@daily", "duration": "1h"}]
    spec = world.apply(Case("burst", {"schedule": windows}).headroom())["spec"]
    assert (spec["mode"], spec["refill"], spec["slot"]["chunk"]) == ("Locked", "OnClaim", "Pod")
    assert spec["schedule"][0]["timeZone"] == "UTC"
    assert spec["slot"]["template"]["schedulerName"] == "default-scheduler"


def test_a_headroom_is_scaled_by_its_replicas(world: SimWorld) -> None:
    world.apply(GOOD)
    scaled = world.server.scale(BURST, 7)
    assert scaled["spec"]["size"] == {"replicas": 7}
    assert scaled["metadata"]["generation"] == 2


def test_what_has_no_replicas_is_not_scaled(world: SimWorld) -> None:
    world.apply(Case("burst", {"size": {"perNode": {"slots": 1}}}).headroom())
    with pytest.raises(ApiError, match=r"spec\.size\.replicas"):
        world.server.scale(BURST, 7)
    with pytest.raises(ApiError, match="no scale subresource"):
        world.server.scale(Ref("Namespace", "", "default"), 7)


def test_a_status_is_checked_as_well(world: SimWorld) -> None:
    world.apply(GOOD)
    world.server.merge_patch(BURST, {"status": {"held": 2}}, "status")
    with pytest.raises(ApiError, match=r"status\.held"):
        world.server.merge_patch(BURST, {"status": {"held": "many"}}, "status")
    assert dig(world.get(*BURST), "status", "held") == 2


def told(world: SimWorld) -> Listener:
    """An operator that has listened for a while."""
    listener = listening(world)
    world.run_for(1)
    return listener


def names(events: list[Event]) -> list[str]:
    found = []
    for event in events:
        match event:
            case Synced():
                found.append("synced")
            case Seen(Workload() as workload):
                found.append(str(workload.ref))
            case Seen(Headroom() as headroom):
                found.append(headroom.key.name)
    return found


def test_a_workload_is_told_from_when_a_headroom_copies_its_kind(world: SimWorld) -> None:
    world.apply(deployment("web", 2))
    listener = told(world)
    assert names(listener.events) == ["synced"]
    world.apply(Case("burst", {"slot": {"from": FROM}}).headroom())
    world.run_for(1)
    assert names(listener.events)[:3] == ["synced", "burst", "Deployment/web"]
    world.server.scale(Ref("Deployment", "default", "web"), 5)
    world.run_for(1)
    sizes = [
        event.thing.replicas
        for event in listener.events
        if isinstance(event, Seen) and isinstance(event.thing, Workload)
    ]
    assert (sizes[0], sizes[-1]) == (2, 5)


def test_what_a_headroom_copies_at_the_start_is_told_before_synced(world: SimWorld) -> None:
    world.apply(deployment("web", 2))
    world.apply(Case("burst", {"slot": {"from": FROM}}).headroom())
    assert names(told(world).events)[:3] == ["burst", "Deployment/web", "synced"]


def test_a_scenario_scales_a_headroom(tmp_path: Path) -> None:
    file = tmp_path / "s.yaml"
    file.write_text(
        """
apiVersion: headroom.dev/v1alpha1
kind: Headroom
metadata: {name: burst}
spec:
  slot: {template: {resources: {requests: {cpu: 500m}}}}
  size: {replicas: 2}
  owners: [{labelSelector: {matchLabels: {app: web}}}]
---
apiVersion: sim.headroom.dev/v1alpha1
kind: Scenario
metadata: {name: scaled}
spec:
  until: 10s
  steps:
    - {at: 1s, scale: {kind: Headroom, name: burst}, replicas: 7}
    - {at: 2s, expect: {kind: Headroom, where: {spec.size.replicas: 7}, count: 1}}
""",
        encoding="utf-8",
    )
    result = run_scenario(load_scenario([file]), None)
    assert result.failures == ()
    assert [entry["what"] for entry in result.journal][:1] == ["headroom_created"]
