"""Our scheduling rules against the real kube-scheduler 1.36, pod by pod on random clusters.

The real choice must be among our best, every plugin's score must be equal, and a refusal must be
worded alike. A failure prints the seed; HEADROOM_ORACLE_SEEDS=7,8 runs just those.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from headroom.core.eviction.budgets import Budget
from headroom.core.objects import Key, LabelSelector, Namespace, Requirement
from headroom.scheduling.choose import ChosenNode, choose
from headroom.scheduling.filters import feasible
from headroom.scheduling.preempt import explanation, preempt
from headroom.scheduling.state import ClusterState
from headroom.wire.objects.nodes import node_from
from headroom.wire.objects.pods import pod_from
from testbed.controlplane import ControlPlane
from tests.scheduling.lockstep import SCHEDULER_CONFIG, Lockstep, eventually, pods_path, settle
from tests.scheduling.manifests import APPS, PRIORITIES, TEAMS, Maker

pytestmark = [pytest.mark.e2e, pytest.mark.usefixtures("binaries")]

Json = dict[str, Any]
SEEDS = tuple(int(seed) for seed in os.environ.get("HEADROOM_ORACLE_SEEDS", "1,2,3,4").split(","))
NODES = 12
PODS = 80
START = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture(scope="module")
def plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """An API server and a kube-scheduler that leaves nothing to chance; nodes are mere objects."""
    directory: Path = tmp_path_factory.mktemp("oracle")
    config = directory / "scheduler.yaml"
    kubeconfig = directory / "identities" / "scheduler.kubeconfig"
    config.write_text(SCHEDULER_CONFIG.format(kubeconfig=kubeconfig), encoding="utf-8")
    arguments = (
        f"--config={config}",
        "--feature-gates=OpportunisticBatching=false",
        "--vmodule=schedule_one=10",
    )
    with ControlPlane.start(
        directory, controller_manager=False, scheduler_args=arguments
    ) as control_plane:
        _lay_the_ground(control_plane)
        yield control_plane


@pytest.mark.parametrize("seed", SEEDS)
def test_the_real_scheduler_never_surprises_us(plane: ControlPlane, seed: int) -> None:
    maker = Maker(seed)
    both = Lockstep(plane.api, plane.log("kube-scheduler"))
    _tell_the_ground(both)
    nodes = [f"s{seed}-n{index:02}" for index in range(NODES)]
    for name in nodes:
        manifest = maker.node(name)
        plane.api.create("/api/v1/nodes", manifest)
        # Admission has added the taint of nodes that are not ready; nobody is there to remove it.
        spec = {"spec": {"taints": manifest["spec"]["taints"]}}
        both.state.set_node(node_from(plane.api.patch(f"/api/v1/nodes/{name}", spec)))
    settle()
    try:
        for index in range(PODS):
            _disturb(plane, both, maker, f"s{seed}-l{index:03}")
            manifest = maker.pod(f"s{seed}-p{index:03}")
            try:
                pod = both.step(manifest)
            except AssertionError as failure:
                raise AssertionError(
                    f"seed {seed}, pod {index}: {failure}\n{manifest}"
                ) from failure
            if both.state.pod(pod.key) is not None:
                _start(plane, both.state, pod.key, index)
    finally:
        _clear(plane, nodes)
    print(f"seed {seed}: {both.outcomes}, {both.compared_scores} scores equal")
    assert both.compared_scores > 0


def test_large_clusters_are_sampled_alike(plane: ControlPlane) -> None:
    both = Lockstep(plane.api, plane.log("kube-scheduler"))
    nodes = [f"large-{index:03}" for index in range(130)]
    room = {"cpu": "4", "memory": "8Gi", "pods": "110"}
    for index, name in enumerate(nodes):
        labels = {"topology.kubernetes.io/zone": f"z{index % 7 % 3}"}
        status = {"capacity": room, "allocatable": room}
        plane.api.create(
            "/api/v1/nodes", {"metadata": {"name": name, "labels": labels}, "status": status}
        )
        ready = plane.api.patch(f"/api/v1/nodes/{name}", {"spec": {"taints": []}})
        both.state.set_node(node_from(ready))
    settle()
    try:
        seen = [both.sample(_sampled(index)) for index in range(6)]
    finally:
        _clear(plane, nodes)
    expected = [_samples_from(start, both.state, len(seen)) for start in range(len(nodes))]
    # Where the real scheduler began is not known, but from there on all must agree.
    assert seen in expected


def test_nobody_is_preempted_again_while_a_victim_is_still_ending(plane: ControlPlane) -> None:
    room = {"cpu": "1", "memory": "8Gi", "pods": "110"}
    manifest: Json = {"metadata": {"name": "single"}, "status": {"allocatable": room}}
    plane.api.create("/api/v1/nodes", manifest)
    plane.api.patch("/api/v1/nodes/single", {"spec": {"taints": []}})
    settle()
    path = pods_path("default")

    def high() -> Json:
        return plane.api.get(f"{path}/high")

    def said(word: str) -> str | None:
        told = [one.get("message", "") for one in high()["status"].get("conditions", ())]
        return next((message for message in told if word in message), None)

    try:
        plane.api.create(path, _asking("low", "low", grace=3600))
        eventually(lambda: plane.api.get(f"{path}/low")["spec"].get("nodeName"), "low is bound")
        plane.api.create(path, _asking("high", "high"))
        eventually(lambda: high()["status"].get("nominatedNodeName"), "high is nominated")
        # It evicts in the background, and news that comes meanwhile is lost on it for good (1.36).
        eventually(
            lambda: plane.api.get(f"{path}/low")["metadata"].get("deletionTimestamp"),
            "low is ending",
        )
        settle()
        # More room, but not enough, makes the real scheduler try again.
        sizes = itertools.cycle(("1100m", "1"))

        def tried_again() -> str | None:
            room["cpu"] = next(sizes)
            plane.api.patch("/api/v1/nodes/single/status", {"status": {"allocatable": room}})
            settle()
            return said("terminating")

        message = eventually(tried_again, "high has been tried again")
        changed = plane.api.get("/api/v1/nodes/single")
        low, waiting = pod_from(plane.api.get(f"{path}/low")), pod_from(high())
    finally:
        plane.api.delete(f"{path}/high")
        plane.api.delete(f"{path}/low", {"gracePeriodSeconds": 0})
        plane.remove_nodes(["single"])
    state = ClusterState()
    state.set_node(node_from(changed))
    state.add_pod(low)
    found = feasible(waiting, state)
    assert low.preempted
    assert message == explanation(found, preempt(waiting, state, feasibility=found))


def _asking(name: str, priority: str, grace: int = 0) -> Json:
    container = {"name": "main", "image": "none", "resources": {"requests": {"cpu": "800m"}}}
    return {
        "metadata": {"name": name, "namespace": "default"},
        "spec": {
            "containers": [container],
            "priorityClassName": priority,
            "terminationGracePeriodSeconds": grace,
        },
    }


def _sampled(index: int) -> Json:
    container = {"name": "main", "image": "none", "resources": {"requests": {"cpu": "10m"}}}
    return {
        "metadata": {"name": f"sampled-{index}", "namespace": "default"},
        "spec": {
            "containers": [container],
            "schedulerName": "sampling-scheduler",
            "terminationGracePeriodSeconds": 0,
        },
    }


def _samples_from(start: int, state: ClusterState, times: int) -> list[set[str]]:
    found = []
    for index in range(times):
        answer = choose(pod_from(_sampled(index)), state, start)
        assert isinstance(answer, ChosenNode)
        assert answer.scores is not None
        found.append(set(state.table.names_of(answer.scores.rows)))
        start = answer.next_start
    return found


def _disturb(plane: ControlPlane, both: Lockstep, maker: Maker, latch: str) -> None:
    """Change something besides the pod that comes: a node, a pod that is there, a nomination."""
    name = maker.one_of(maker.nodes)
    there = both.state.pods_on(name)
    if there and maker.happens(0.15):
        both.delete(maker.one_of(there).key)
    if maker.happens(0.1):
        spec = {"taints": maker.taints(), "unschedulable": maker.happens(0.2)}
        changed = plane.api.patch(f"/api/v1/nodes/{name}", {"spec": spec})
        both.state.set_node(node_from(changed))
        settle()
    if maker.happens(0.08):
        path = f"{pods_path('default')}/{latch}"
        plane.api.create(pods_path("default"), maker.latch(latch))
        settle()
        status = {"status": {"nominatedNodeName": name}}
        both.state.nominate(pod_from(plane.api.patch(f"{path}/status", status)), name)
        settle()


def _lay_the_ground(plane: ControlPlane) -> None:
    """Make what random pods refer to: namespaces, priorities, a Service and a budget."""
    for name, team in TEAMS.items():
        body = {"metadata": {"name": name, "labels": {"team": team}}}
        plane.api.ensure("/api/v1/namespaces", body)
        plane.api.patch(f"/api/v1/namespaces/{name}", body)
    for name, value in PRIORITIES.items():
        policy = "Never" if name == "polite" else "PreemptLowerPriority"
        priority = {"metadata": {"name": name}, "value": value, "preemptionPolicy": policy}
        plane.api.create("/apis/scheduling.k8s.io/v1/priorityclasses", priority)
    service = {"selector": {"app": "web"}, "ports": [{"port": 80}]}
    services = "/api/v1/namespaces/default/services"
    plane.api.create(services, {"metadata": {"name": "web"}, "spec": service})
    selected = {"matchLabels": {"app": "job"}}
    template = {
        "metadata": {"labels": {"app": "job"}},
        "spec": {"containers": [{"name": "main", "image": "none"}]},
    }
    replica_set = {"replicas": 0, "selector": selected, "template": template}
    replica_sets = "/apis/apps/v1/namespaces/default/replicasets"
    plane.api.create(replica_sets, {"metadata": {"name": "job"}, "spec": replica_set})
    budgets = "/apis/policy/v1/namespaces/default/poddisruptionbudgets"
    spec = {"minAvailable": 1, "selector": {"matchLabels": {"app": "db"}}}
    plane.api.create(budgets, {"metadata": {"name": "db"}, "spec": spec})


def _tell_the_ground(both: Lockstep) -> None:
    for name, team in TEAMS.items():
        labels = {"team": team, "kubernetes.io/metadata.name": name}
        both.state.set_namespace(Namespace(name, labels))
    both.state.set_service(Key("default", "web"), {"app": "web"})
    job = LabelSelector((Requirement("app", "In", ("job",)),))
    both.state.set_controller("ReplicaSet", Key("default", "job"), job)
    guarded = LabelSelector((Requirement("app", "In", ("db",)),))
    assert "db" in APPS
    both.budgets.append(Budget(Key("default", "db"), guarded, allowed=0))


def _start(plane: ControlPlane, state: ClusterState, key: Key, minutes: int) -> None:
    """Give a bound pod a start time, as its kubelet would: preemption looks at it."""
    at = (START + timedelta(minutes=minutes)).strftime("%Y-%m-%dT%H:%M:%SZ")
    path = f"{pods_path(key.namespace)}/{key.name}/status"
    state.add_pod(pod_from(plane.api.patch(path, {"status": {"startTime": at}})))


def _clear(plane: ControlPlane, nodes: list[str]) -> None:
    for namespace in TEAMS:
        plane.api.delete(pods_path(namespace))
    plane.remove_nodes(nodes)
    settle()
