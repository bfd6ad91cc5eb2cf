"""Kinds of a dialect in the embedded cluster: served by their definition while it is on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from headroom.core.actions import Done, WriteHoldStatus
from headroom.core.holds import Hold, HoldStatus, OwnerUse
from headroom.core.objects import Pod
from headroom.ports import Seen
from headroom.sim.api.values import Json, dig
from headroom.sim.errors import ApiError
from headroom.sim.scenarios.loader import ScenarioError, load_scenario
from headroom.sim.scenarios.play import run_scenario
from headroom.sim.world import SimWorld
from headroom.wire.kind_codecs import KindCodecs
from headroom.wire.yamls import dump
from tests.sim.test_headroom_kind import told
from tests.sim.things import pod
from tests.wire.toydialect import ASKS, TOY, seat

BOTH = KindCodecs((TOY,))


@pytest.fixture
def theatre() -> Iterator[SimWorld]:
    with SimWorld(seed=1, codecs=BOTH) as made:
        yield made


def test_a_kind_of_a_dialect_that_is_off_is_unknown(world: SimWorld) -> None:
    with pytest.raises(ApiError, match="kind 'Seat' is unknown"):
        world.apply(seat())


def test_it_is_checked_and_filled_in_by_its_definition(theatre: SimWorld) -> None:
    assert theatre.apply(seat())["spec"]["row"] == "A"
    with pytest.raises(ApiError, match=r"spec\.row"):
        theatre.apply(seat("bad", row=5))


def test_its_status_is_a_subresource(theatre: SimWorld) -> None:
    assert "status" not in theatre.apply({**seat(), "status": {"taken": True}})


def test_the_operator_hears_of_it_and_answers_in_its_words(theatre: SimWorld) -> None:
    theatre.apply(seat())
    listener = told(theatre)
    (hold,) = [
        event.thing
        for event in listener.events
        if isinstance(event, Seen) and isinstance(event.thing, Hold)
    ]
    status = HoldStatus(owners=(OwnerUse("default", "web", "u"),))
    write = WriteHoldStatus(hold.parent, status)
    written = theatre.loop.create_task(listener.cluster.perform(write))
    theatre.run_for(1)
    assert written.result() == Done()
    assert dig(theatre.get("Seat", "default", "front"), "status") == {"taken": True}


def test_what_pods_say_to_a_dialect_reaches_the_operator(theatre: SimWorld) -> None:
    listener = told(theatre)
    made = pod("web")
    made["metadata"]["annotations"] = {ASKS: "front", "other": "x"}
    theatre.apply(made)
    theatre.run_for(1)
    (seen, *_) = [
        event.thing
        for event in listener.events
        if isinstance(event, Seen) and isinstance(event.thing, Pod)
    ]
    assert seen.annotations == {ASKS: "front"}


def test_a_scenario_may_hold_it_only_while_the_dialect_is_on(tmp_path: Path) -> None:
    file = tmp_path / "seat.yaml"
    file.write_text(dump(seat()), encoding="utf-8")
    with pytest.raises(ScenarioError, match="is not known here, and is not simulated"):
        load_scenario([file], strict=True)
    result = run_scenario(load_scenario([file], BOTH), None, codecs=BOTH)
    assert result.failures == ()
    assert [entry["what"] for entry in result.journal][:1] == ["seat_created"]


def test_deleting_its_namespace_takes_it_along(theatre: SimWorld) -> None:
    made = seat()
    made["metadata"]["namespace"] = "stage"
    theatre.apply(made)
    theatre.delete("Namespace", "", "stage")
    theatre.run_for(10)
    assert theatre.list("Seat") == []


def asking(namespace: str = "default") -> dict[str, Any]:
    made = pod("web")
    made["metadata"] |= {"namespace": namespace, "annotations": {ASKS: "front"}}
    return made


def gates(made: Json) -> list[str]:
    return [gate["name"] for gate in dig(made, "spec", "schedulingGates") or ()]


def write_index(world: SimWorld, namespace: str, *keys: str, until: str = "2030") -> None:
    world.apply(
        {
            "apiVersion": "headroom.dev/v1alpha1",
            "kind": "ClaimIndex",
            "metadata": {"name": "headroom", "namespace": namespace},
            "spec": {
                "keys": dict.fromkeys(keys, True),
                "freshUntil": f"{until}-01-01T00:00:00Z",
            },
        }
    )


def test_a_pod_that_asks_waits_at_our_gate_in_any_namespace(theatre: SimWorld) -> None:
    write_index(theatre, "shop", f"asks:{ASKS}")
    assert gates(theatre.apply(asking("shop"))) == ["headroom.dev/claim"]


@pytest.mark.parametrize("namespace", ["kube-system", "headroom-system"])
def test_no_annotation_stops_a_pod_of_the_cluster_or_of_ours(
    theatre: SimWorld, namespace: str
) -> None:
    write_index(theatre, namespace, f"asks:{ASKS}")
    assert gates(theatre.apply(asking(namespace))) == []


def test_a_pod_does_not_wait_where_there_is_nothing_to_ask_for(theatre: SimWorld) -> None:
    assert gates(theatre.apply(asking())) == []
    write_index(theatre, "shop", "label:app=web")
    assert gates(theatre.apply(asking("shop"))) == []
    write_index(theatre, "stale", f"asks:{ASKS}", until="2020")
    assert gates(theatre.apply(asking("stale"))) == []


def test_a_pod_does_not_wait_for_a_dialect_that_is_off(world: SimWorld) -> None:
    write_index(world, "shop", f"asks:{ASKS}")
    assert gates(world.apply(asking("shop"))) == []
