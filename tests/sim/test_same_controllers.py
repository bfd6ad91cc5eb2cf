"""The embedded controllers beside kube-controller-manager: the same pods, places, words, counts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from headroom.sim.world import SimWorld
from testbed.controlplane import ControlPlane
from tests.sim.beside import Beside, of_events, of_pods, of_statuses
from tests.sim.things import budget, daemon_set, deployment, job, pod, priority_class, stateful_set

pytestmark = pytest.mark.e2e

SOON = {
    "sim.headroom.dev/complete-after": "1s",
    "testbed.headroom.dev/complete-after": "1s",
}


@pytest.fixture
def both(binaries: Path, tmp_path: Path, world: SimWorld) -> Iterator[Beside]:
    """A control plane with fake nodes, and an embedded cluster with the same ones."""
    with ControlPlane.start(tmp_path, kwok=True) as plane:
        yield Beside(plane, world)


def test_daemon_sets_are_the_same(both: Beside) -> None:
    for name in ("plain", "cordoned", "tainted", "labelled"):
        both.add_node(name, "4", **({"tier": "web"} if name == "labelled" else {}))
    plain, cordoned, tainted, labelled = (both.node(index) for index in range(4))
    own = {"key": "own", "effect": "NoSchedule"}
    both.patch("Node", cordoned, {"spec": {"unschedulable": True}})
    both.patch("Node", tainted, {"spec": {"taints": [own]}})
    terms = [{"matchExpressions": [{"key": "tier", "operator": "Exists"}]}]
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    both.apply(daemon_set("everywhere"))
    both.apply(daemon_set("selecting", nodeSelector={"tier": "web"}))
    both.apply(daemon_set("affine", affinity={"nodeAffinity": required}))
    both.apply(daemon_set("tolerant", tolerations=[{"key": "own", "operator": "Exists"}]))
    both.agree(of_pods, "Pod")
    both.agree(of_statuses, "DaemonSet")
    both.patch("Node", labelled, {"metadata": {"labels": {"tier": None}}})
    both.patch("Node", plain, {"spec": {"taints": [own]}})
    change = {"spec": {"template": {"metadata": {"labels": {"v": "2"}}}}}
    both.patch("DaemonSet", "everywhere", change)
    both.agree(of_pods, "Pod")
    both.agree(of_statuses, "DaemonSet")
    both.agree(of_events, "Event")
    # Here two controllers delete the same pods; whoever is first tells of it.
    both.patch("Node", tainted, {"spec": {"taints": [{"key": "hot", "effect": "NoExecute"}]}})
    both.agree(of_pods, "Pod")
    both.agree(of_statuses, "DaemonSet")


def test_stateful_sets_jobs_and_budgets_are_the_same(both: Beside) -> None:
    both.add_node("only", "16")
    claim = {
        "metadata": {"name": "data"},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}},
        },
    }
    both.apply(stateful_set("ordered", 3))
    both.apply(stateful_set("claiming", 0, volumeClaimTemplates=[claim]))
    both.apply(deployment("web", 4))
    both.apply(deployment("api", 3))
    both.apply(job("work", SOON, completions=3, parallelism=2))
    both.apply(job("queue", SOON, parallelism=2))
    both.apply(job("waiting", suspend=True))
    kinds = ("StatefulSet", "PodDisruptionBudget", "Job")
    both.agree(of_pods, "Pod")
    both.apply(budget("number", "web", minAvailable=3))
    both.apply(budget("share", "api", maxUnavailable="30%"))
    for kind in kinds:
        both.agree(of_statuses, kind)
    both.patch("StatefulSet", "ordered", {"spec": {"replicas": 2}})
    both.patch("Job", "waiting", {"spec": {"suspend": False}})
    both.delete("Job", "queue")
    both.agree(of_pods, "Pod")
    for kind in kinds:
        both.agree(of_statuses, kind)
    both.agree(of_events, "Event")


def test_jobs_whose_pods_fail_or_make_room_are_the_same(both: Beside) -> None:
    both.add_node("only", "2")
    both.apply(priority_class("high", 1000))
    both.apply(job("failing", completions=1, backoffLimit=1))
    both.apply(job("pushed", completions=1, backoffLimit=3))
    both.agree(of_pods, "Pod")
    both.finish("failing", "Failed")
    both.agree(of_pods, "Pod")
    both.agree(of_statuses, "Job")
    both.apply(pod("urgent", "1", priorityClassName="high"))
    both.agree(of_pods, "Pod")
    both.agree(of_statuses, "Job")
    both.delete("Pod", "urgent")
    both.agree(of_pods, "Pod")
    both.finish("failing", "Failed")
    both.finish("pushed", "Succeeded")
    both.agree(of_pods, "Pod")
    both.agree(of_statuses, "Job")
    both.agree(of_events, "Event")
