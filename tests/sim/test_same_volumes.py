"""Volumes in the embedded cluster beside the real ones: same places, same words, same bindings."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from headroom.sim.world import SimWorld
from testbed.controlplane import ControlPlane
from tests.sim.beside import Beside, Picture, of_events, of_pods
from tests.sim.test_volumes import ZONE, claim, volume, with_claim
from tests.sim.things import Json, stateful_set


@pytest.fixture
def both(binaries: Path, tmp_path: Path) -> Iterator[Beside]:
    """Two nodes in two zones."""
    with ControlPlane.start(tmp_path, kwok=True) as plane, SimWorld(seed=1) as world:
        found = Beside(plane, world)
        found.add_node("left", "4", **{ZONE: "x"})
        found.add_node("right", "4", **{ZONE: "y"})
        yield found


def of_told_pods(found: list[Json], both: Beside) -> Picture:
    """What was said of pods."""
    pods = [item for item in found if item["involvedObject"]["kind"] == "Pod"]
    return of_events(pods, both)


def of_claims(found: list[Json], both: Beside) -> Picture:
    """Which claim has which volume."""
    shown = [
        (
            item["metadata"]["name"],
            item["spec"].get("volumeName"),
            item["status"].get("phase"),
            sorted(key for key in item["metadata"].get("annotations", {}) if key.startswith("pv.")),
            item["metadata"].get("labels"),
        )
        for item in found
    ]
    return sorted(shown, key=str)


@pytest.mark.e2e
def test_bound_missing_and_unbound_claims_are_the_same(both: Beside) -> None:
    both.apply(volume(zone="y"))
    both.apply(claim())
    both.agree(of_claims, "PersistentVolumeClaim")
    both.apply(with_claim("bound"))
    both.apply(with_claim("astray", nodeSelector={ZONE: "x"}))
    both.apply(with_claim("missing", "nowhere"))
    both.agree(of_pods, "Pod")
    both.agree(of_told_pods, "Event")
    both.apply(claim("nowhere"))
    both.agree(of_claims, "PersistentVolumeClaim")
    both.agree(of_told_pods, "Event")
    both.apply(volume("late", zone="x", claimRef={"namespace": "default", "name": "nowhere"}))
    both.agree(of_pods, "Pod")
    both.agree(of_claims, "PersistentVolumeClaim")


@pytest.mark.e2e
def test_the_claims_of_a_stateful_set_are_the_same(both: Beside) -> None:
    for number, zone in enumerate("xy"):
        name = f"data-db-{number}"
        ref = {"namespace": "default", "name": name}
        both.apply(volume(f"pv-{number}", zone=zone, claimRef=ref))
    template = {"metadata": {"name": "data"}, "spec": claim()["spec"]}
    both.apply(stateful_set("db", 2, "100m", volumeClaimTemplates=[template]))
    both.agree(of_pods, "Pod")
    both.agree(of_claims, "PersistentVolumeClaim")
    both.delete("StatefulSet", "db")
    both.agree(of_pods, "Pod")
    both.agree(of_claims, "PersistentVolumeClaim")


@pytest.mark.e2e
def test_a_volume_for_one_pod_and_one_with_zone_labels_are_the_same(both: Beside) -> None:
    alone: Json = {"accessModes": ["ReadWriteOncePod"]}
    both.apply(volume("single", claimRef={"namespace": "default", "name": "data"}, **alone))
    both.apply(claim(**alone))
    old = volume("old", claimRef={"namespace": "default", "name": "far"})
    old["metadata"]["labels"] = {ZONE: "y"}
    both.apply(old)
    both.apply(claim("far"))
    both.agree(of_claims, "PersistentVolumeClaim")
    # Both nodes are as good, and kube-scheduler draws lots: the pod says which.
    both.apply(with_claim("first", nodeSelector={ZONE: "x"}))
    both.agree(of_pods, "Pod")
    both.apply(with_claim("second", nodeSelector={ZONE: "x"}))
    both.apply(with_claim("astray", "far", nodeSelector={ZONE: "x"}))
    both.agree(of_told_pods, "Event")
    both.apply(with_claim("near", "far"))
    both.delete("Pod", "first")
    both.agree(of_pods, "Pod")
