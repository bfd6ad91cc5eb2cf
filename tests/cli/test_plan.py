"""`headroom plan`: what would be held where, worked out without touching anything."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from headroom.cli.views.plan_result import planned
from headroom.cli.views.plan_rows import plan_prose
from headroom.core.headrooms.headrooms import Window
from headroom.core.holds import Problem
from headroom.core.names import SHAPE_ANNOTATION
from headroom.core.objects import Namespace
from headroom.core.sizes.per_node import PerNode
from headroom.core.sizes.replicas import Replicas
from tests.builders import NOON, hold, node, pod, taint
from tests.cli.commands import headroom as command
from tests.cli.slot_builder import keeper, world
from tests.core.headroom_builder import headroom

CLUSTER = """
apiVersion: v1
kind: Node
metadata: {name: a}
status:
  allocatable: {cpu: "4", memory: 16Gi, pods: "110"}
  conditions: [{type: Ready, status: "True"}]
"""
WISH = """
apiVersion: headroom.dev/v1alpha1
kind: Headroom
metadata: {name: burst}
spec:
  slot: {from: {apiVersion: apps/v1, kind: Deployment, name: web}}
  size: {percent: 50}
  owners: [{labelSelector: {matchLabels: {app: web}}}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 4
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: main, image: web, resources: {requests: {cpu: "1.5"}}}]}
"""


def test_slots_are_put_where_there_is_room_and_never_twice_into_the_same() -> None:
    of = headroom(Replicas(3), cpu=3)
    (found,) = planned(world(node("a"), node("b")), [of])
    assert [place.node for place in found.places] == ["a", "b", ""]
    assert found.unplaced[0].why.startswith("0/2 nodes are available: 2 Insufficient cpu")
    assert not found.fits


def test_two_objects_of_one_plan_do_not_share_their_room() -> None:
    first, second = planned(world(node("a")), [headroom(Replicas(1), cpu=3), hold("h", cpu=3)])
    assert (first.fits, second.fits) == (True, False)


def test_what_stands_stays_and_what_is_too_much_is_given_back() -> None:
    before = headroom(Replicas(2), cpu=2)
    there = world(node("a"), before, keeper(before, "0", "a"), keeper(before, "1", "a"))
    (found,) = planned(there, [headroom(Replicas(1), cpu=2)])
    assert [(place.node, place.stands) for place in found.places] == [("a", True)]
    assert found.leaving == ("1",)


def test_a_slot_of_another_shape_is_held_before_the_old_one_goes() -> None:
    before = headroom(Replicas(1), cpu=1)
    old = keeper(before, "0", "a")
    old = replace(old, annotations={**old.annotations, SHAPE_ANNOTATION: "another"})
    (found,) = planned(world(node("a"), before, old), [headroom(Replicas(1), cpu=3)])
    assert [(place.node, place.stands) for place in found.places] == [("a", False)]
    (short,) = planned(world(node("a", cpu=3), before, old), [headroom(Replicas(1), cpu=3)])
    assert not short.fits


def test_slots_per_node_stand_on_their_node_or_nowhere() -> None:
    full = pod("web", cpu=4, node="b", phase="Running")
    there = world(node("a"), node("b"), node("c", taints=(taint("gpu"),)), full)
    (found,) = planned(there, [headroom(PerNode())])
    assert [(place.slot, place.node) for place in found.places] == [("a", "a"), ("b", "")]
    assert "1 of 3 nodes left out: 1 with a taint that the slot does not tolerate" in found.notes
    text = plan_prose([found])
    assert "headroom default/burst: 2 slots wanted; 1 would be held, 1 would find no room." in text


def test_a_plan_can_be_made_for_the_hours_that_count() -> None:
    office = Window("0 8 * * *", timedelta(hours=10), replicas=3)
    of = headroom(Replicas(1), schedule=(office,))
    (at_noon,) = planned(world(node("a"), now=NOON), [of])
    (at_night,) = planned(world(node("a"), now=NOON + timedelta(hours=12)), [of])
    assert (len(at_noon.places), len(at_night.places)) == (3, 0)
    assert at_night.notes == ("no window of spec.schedule is open",)


def test_an_invalid_object_would_promise_nothing() -> None:
    found = planned(world(node("a")), [headroom(problems=(Problem("spec.size", "is missing"),))])
    assert not found[0].fits
    assert "would promise nothing: spec.size: is missing" in plan_prose(found)


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    cluster, wish = tmp_path / "cluster.yaml", tmp_path / "wish.yaml"
    cluster.write_text(CLUSTER)
    wish.write_text(WISH)
    return str(cluster), str(wish)


def test_a_workload_may_come_with_the_headroom_that_copies_it(
    capsys: pytest.CaptureFixture[str], files: tuple[str, str]
) -> None:
    cluster, wish = files
    done = command(capsys, "plan", wish, "-n", "shop", "--from", cluster)
    assert done.code == 0, done.err
    assert "headroom shop/burst: 2 slots wanted; 2 would be held." in done.out
    assert done.out.splitlines()[-1].split() == ["headroom", "shop/burst", "a", "2", "2", "3", "-"]


def test_a_plan_that_does_not_fit_is_a_no_with_the_data_on_stdout(
    capsys: pytest.CaptureFixture[str], files: tuple[str, str]
) -> None:
    cluster, wish = files
    Path(wish).write_text(WISH.replace('"1.5"', '"3"'))
    done = command(capsys, "plan", wish, "-o", "json", "--from", cluster)
    assert done.code == 1
    plan = json.loads(done.out)
    assert (plan["kind"], plan["fits"]) == ("Plan", False)
    assert [slot["node"] for slot in plan["items"][0]["slots"]] == ["a", ""]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("percent: 50", "procent: 50"), "procent"),
        (("kind: Headroom", "kind: Hedroom"), "Hedroom"),
        ((WISH.split("---")[0], ""), "no Headroom and no Hold"),
    ],
)
def test_a_manifest_that_cannot_be_meant_stops_the_plan(
    capsys: pytest.CaptureFixture[str],
    files: tuple[str, str],
    change: tuple[str, str],
    says: str,
) -> None:
    cluster, wish = files
    Path(wish).write_text(WISH.replace(*change))
    done = command(capsys, "plan", wish, "--from", cluster)
    assert (done.code, done.out) == (2, "")
    assert says in done.err


def test_a_time_that_is_none_is_misuse(
    capsys: pytest.CaptureFixture[str], files: tuple[str, str]
) -> None:
    done = command(capsys, "plan", files[1], "--at", "noon", "--from", files[0])
    assert done.code == 2
    assert "--at: 'noon' is not a time" in done.err


def test_the_limits_of_a_namespace_refuse_what_is_beyond_them() -> None:
    limited = Namespace("default", limits="slots=2, locked=yes")
    (found,) = planned(world(node("a"), limited), [headroom(Replicas(3), cpu=1)])
    assert [bool(place.node) for place in found.places] == [True, True, False]
    assert "slots=2, of which 2 are in use" in found.unplaced[0].why
    (locked,) = planned(
        world(node("a"), Namespace("default", limits="locked=no")), [hold("h", cpu=1)]
    )
    assert "locked=no" in locked.unplaced[0].why
    (misread,) = planned(world(node("a"), Namespace("default", limits="slots")), [hold("h", cpu=1)])
    assert "headroom.dev/limits" in misread.unplaced[0].why


def test_what_stands_counts_and_stays_and_what_is_given_back_does_not_count() -> None:
    before = headroom(Replicas(2), cpu=1)
    limited = Namespace("default", limits="slots=2")
    there = world(node("a"), limited, before, keeper(before, "0", "a"), keeper(before, "1", "a"))
    kept, refused = planned(there, [before, hold("h", cpu=1)])
    assert kept.fits
    assert "slots=2, of which 2 are in use" in refused.unplaced[0].why
    shrunk, taken = planned(there, [headroom(Replicas(1), cpu=1), hold("h", cpu=1)])
    assert (shrunk.fits, taken.fits) == (True, True)


def test_a_namespace_in_the_files_brings_its_limits(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cluster, wish = tmp_path / "cluster.yaml", tmp_path / "wish.yaml"
    cluster.write_text(CLUSTER)
    annotated = "metadata: {name: default, annotations: {headroom.dev/limits: slots=1}}"
    wish.write_text(f"{WISH}---\napiVersion: v1\nkind: Namespace\n{annotated}\n")
    done = command(capsys, "plan", str(wish), "--from", str(cluster))
    assert done.code == 1
    assert "slots=1, of which 1 are in use" in done.err


def test_namespaces_without_limits_have_those_of_the_operators_flag(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cluster, wish = tmp_path / "cluster.yaml", tmp_path / "wish.yaml"
    cluster.write_text(CLUSTER)
    wish.write_text(WISH)
    asked = ("plan", str(wish), "--from", str(cluster), "--namespace-limits")
    done = command(capsys, *asked, "slots=1")
    assert done.code == 1
    assert "slots=1, of which 1 are in use" in done.err
    assert command(capsys, *asked, "slots=2").code == 0
    own = "metadata: {name: default, annotations: {headroom.dev/limits: slots=2}}"
    wish.write_text(f"{WISH}---\napiVersion: v1\nkind: Namespace\n{own}\n")
    assert command(capsys, *asked, "slots=1").code == 0
    misread = command(capsys, *asked, "slots")
    assert misread.code == 2
    assert "--namespace-limits" in misread.err


SCENARIO = """
apiVersion: sim.headroom.dev/v1alpha1
kind: Scenario
metadata: {name: two-nodes}
spec:
  start: "2027-01-04T09:00:00Z"
  pools: [{name: g, count: 2, cpu: "4"}]
  steps: [{at: 10s, scale: {kind: Deployment, namespace: default, name: web}, replicas: 8}]
"""
TAKEN = """
apiVersion: v1
kind: Pod
metadata: {name: taken}
spec: {nodeName: g-0, containers: [{name: main, image: app, resources: {requests: {cpu: "4"}}}]}
"""
OFFICE_HOURS = "  schedule: [{start: '0 8 * * *', duration: 2h, timeZone: UTC}]\n"


def test_a_scenario_among_the_files_says_which_nodes_there_are(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "all.yaml"
    file.write_text("---".join((SCENARIO, WISH, TAKEN)))
    for more in ((), ("-n", "shop"), ("--from", str(file))):
        done = command(capsys, "plan", str(file), "-o", "json", *more)
        assert done.code == 0, done.err
        (found,) = json.loads(done.out)["items"]
        assert [slot["node"] for slot in found["slots"]] == ["g-1", "g-1"]
        assert "only the nodes of a Scenario's pools are used here" in done.err


def test_a_plan_on_a_scenario_is_as_of_its_start(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    wish, file = tmp_path / "wish.yaml", tmp_path / "scenario.yaml"
    wish.write_text(WISH.replace("---", OFFICE_HOURS + "---"))
    for hour, slots in (("09", 2), ("12", 0)):
        file.write_text(SCENARIO.replace("T09", f"T{hour}"))
        done = command(capsys, "plan", str(wish), str(file), "-o", "json")
        assert done.code == 0, done.err
        assert len(json.loads(done.out)["items"][0]["slots"]) == slots


def test_a_dump_among_the_files_is_the_world_of_a_plan(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    cluster, wish, dump = tmp_path / "a.yaml", tmp_path / "wish.yaml", tmp_path / "dump.yaml"
    cluster.write_text(CLUSTER)
    wish.write_text(WISH)
    dump.write_text(command(capsys, "dump", "--from", str(cluster)).out)
    done = command(capsys, "plan", str(wish), str(dump), "-o", "json")
    assert done.code == 0, done.err
    assert [slot["node"] for slot in json.loads(done.out)["items"][0]["slots"]] == ["a", "a"]


def test_what_the_steps_of_a_scenario_make_is_not_planned_but_played(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "scenario.yaml"
    file.write_text(SCENARIO)
    done = command(capsys, "plan", str(file))
    assert done.code == 2
    assert "there is no Headroom and no Hold in these files" in done.err
    assert f"headroom simulate {file}" in done.err


def test_a_plan_reads_standard_input(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("---".join((SCENARIO, WISH))))
    assert command(capsys, "plan", "-").code == 0
