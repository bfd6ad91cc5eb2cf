"""The real kube-scheduler and ours side by side: the same pod to both, one at a time.

After each step the real choice must be among ours, and is then taken over, so that one tie does not
make all later steps differ. Scores are compared too: kube-scheduler logs them at verbosity 10.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from headroom.core.eviction.budgets import Budget
from headroom.core.objects import Key, Pod
from headroom.scheduling.choose import ChosenNode, Profile, Unschedulable, choose
from headroom.scheduling.preempt import Preemption, explanation, preempt
from headroom.scheduling.scores import Scores
from headroom.scheduling.state import ClusterState
from headroom.wire.objects.pods import pod_from
from testbed.api import Api
from tests.patience import deadline_after, keep_waiting

Json = dict[str, Any]
T = TypeVar("T")
ALL_NODES = Profile(percentage=100)
SCORED = re.compile(
    r'"Plugin scored node for pod" pod="(?P<pod>[^"]+)" plugin="(?P<plugin>[^"]+)" '
    r'node="(?P<node>[^"]+)" score=(?P<score>-?\d+)'
)
SCHEDULER_CONFIG = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
parallelism: 1
percentageOfNodesToScore: 100
profiles:
- schedulerName: default-scheduler
- schedulerName: sampling-scheduler
  percentageOfNodesToScore: 0
leaderElection: {{leaderElect: false}}
clientConnection: {{kubeconfig: {kubeconfig}, qps: 1000, burst: 2000}}
"""


@dataclass(frozen=True)
class Seen:
    """What the real scheduler did with a pod: bound it, or said why not."""

    pod: Json
    node: str = ""
    message: str = ""
    nominated: str = ""


@dataclass
class Lockstep:
    api: Api
    log: Path
    state: ClusterState = field(default_factory=ClusterState)
    budgets: list[Budget] = field(default_factory=list)
    compared_scores: int = 0
    outcomes: dict[str, int] = field(default_factory=dict)
    _read: int = 0

    def step(self, manifest: Json) -> Pod:
        """Give a pod to both and compare; the pod is returned as it ended, bound or not."""
        path = pods_path(manifest["metadata"]["namespace"])
        created = self.api.create(path, manifest)
        pod = pod_from(created)
        ours = choose(pod, self.state, profile=ALL_NODES)
        seen = self._watch(f"{path}/{pod.key.name}")
        if seen.node and isinstance(ours, ChosenNode):
            self._note("bound")
            self._compare_scores(pod, ours)
            assert seen.node in ours.maxima, f"chose {seen.node}, ours {ours.maxima}"
            return self._adopt(seen.pod)
        assert isinstance(ours, Unschedulable), f"said {seen.message!r}, ours chose {ours}"
        outcome = preempt(pod, self.state, self.budgets, ours.feasibility)
        if seen.node or seen.nominated:
            assert isinstance(outcome, Preemption), f"preempted {seen}, ours {outcome}"
            return self._adopt_preemption(pod, outcome)
        assert seen.message == explanation(ours.feasibility, outcome)
        self._note("unschedulable")
        self.delete(pod.key)
        return pod

    def delete(self, key: Key) -> None:
        self.api.delete(f"{pods_path(key.namespace)}/{key.name}")
        self.state.remove_pod(key)
        self.state.unnominate(key)
        settle()

    def _watch(self, path: str) -> Seen:
        """Wait until the real scheduler has dealt with a pod."""

        def look() -> Seen | None:
            pod = self.api.get(path)
            node = pod["spec"].get("nodeName", "")
            if node:
                return Seen(pod, node)
            for condition in pod["status"].get("conditions", ()):
                if condition["type"] == "PodScheduled" and condition["status"] == "False":
                    nominated = pod["status"].get("nominatedNodeName", "")
                    return Seen(pod, "", condition.get("message", ""), nominated)
            return None

        return eventually(look, f"{path} is scheduled or not")

    def _adopt(self, bound: Json) -> Pod:
        pod = pod_from(bound)
        self.state.add_pod(pod)
        return pod

    def _adopt_preemption(self, pod: Pod, ours: Preemption) -> Pod:
        path = f"{pods_path(pod.key.namespace)}/{pod.key.name}"
        final = self._after_preemption(path)
        node = final["spec"].get("nodeName") or final["status"].get("nominatedNodeName", "")
        assert node in ours.minima, f"preempted on {node}, ours on {ours.minima}"
        left = {
            Key(one["metadata"]["namespace"], one["metadata"]["name"])
            for one in self.api.items("/api/v1/pods")
        }
        gone = [one.key for one in self.state.pods_on(node) if one.key not in left]
        if node == ours.node:
            assert sorted(gone) == sorted(one.key for one in ours.victims)
        self._note("preempted" if node == ours.node else "preempted elsewhere, as good")
        for key in gone:
            self.state.remove_pod(key)
        for one in [*self.state.nominated_on(node)]:
            if one.priority < pod.priority:
                self.state.unnominate(one.key)
        settle()
        if final["spec"].get("nodeName"):
            return self._adopt(final)
        self._note("not tried again")
        self.delete(pod.key)
        return pod

    def _after_preemption(self, path: str) -> Json:
        """Wait for a pod to be bound, but not for ever.

        kube-scheduler 1.36 does not try a pod with two anti-affinity terms again when its victim
        matched but one of them; only the sweep every five minutes would.
        """
        deadline = time.monotonic() + 10.0
        while True:
            found = self.api.get(path)
            if found["spec"].get("nodeName") or time.monotonic() > deadline:
                return found
            time.sleep(0.005)

    def sample(self, manifest: Json) -> set[str]:
        """Give a pod to the real scheduler alone and say which nodes it has scored for it."""
        path = pods_path(manifest["metadata"]["namespace"])
        pod = pod_from(self.api.create(path, manifest))
        self._adopt(self._watch(f"{path}/{pod.key.name}").pod)
        return {node for _, node in self._scores_of(pod)}

    def _compare_scores(self, pod: Pod, ours: ChosenNode) -> None:
        real = self._scores_of(pod)
        if ours.scores is None:
            assert real == {}, f"scored {real}, ours had one node only"
            return
        mine = by_name(ours.scores, self.state)
        for (plugin, node), score in sorted(real.items()):
            assert mine.get((plugin, node), 0) == score, (
                f"{plugin} of {node}: real {score}, ours {mine.get((plugin, node), 0)}"
            )
            self.compared_scores += 1
        assert {node for _, node in real} == {node for _, node in mine}

    def _scores_of(self, pod: Pod) -> dict[tuple[str, str], int]:
        """Read what the real scheduler has logged since the last step."""
        with self.log.open(encoding="utf-8", errors="replace") as lines:
            lines.seek(self._read)
            text = lines.read()
            self._read = lines.tell()
        return {
            (found["plugin"], found["node"]): int(found["score"])
            for found in SCORED.finditer(text)
            if found["pod"] == str(pod.key)
        }

    def _note(self, outcome: str) -> None:
        self.outcomes[outcome] = self.outcomes.get(outcome, 0) + 1


def by_name(scores: Scores, state: ClusterState) -> dict[tuple[str, str], int]:
    """Give each plugin's weighted score by the node's name."""
    names = [state.table.name(row) for row in scores.rows.tolist()]
    return {
        (plugin, name): score
        for plugin, part in scores.parts.items()
        for name, score in zip(names, part.tolist(), strict=True)
    }


def pods_path(namespace: str) -> str:
    return f"/api/v1/namespaces/{namespace}/pods"


def eventually(look: Callable[[], T | None], what: str, timeout_s: float = 30.0) -> T:
    """Look again and again until there is something to see."""
    deadline = deadline_after(timeout_s)
    while (found := look()) is None:
        keep_waiting(deadline, what)
        time.sleep(0.005)
    return found


def settle() -> None:
    """Let the real scheduler hear of a change that it does not make itself."""
    time.sleep(0.05)
