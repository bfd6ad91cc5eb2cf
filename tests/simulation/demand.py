"""A random scenario with placeholders that follow the load, and an autoscaler that serves them.

Real pods belong to a Deployment that grows and shrinks and always fits on two machines: whatever
machine there is beyond those was ordered for placeholders. `Limits` looks at every single change.
"""

from __future__ import annotations

from collections import deque
from typing import Any

from headroom.core.names import ROLE_GUARDIAN, ROLE_LABEL
from headroom.sim.api.store import ObjectChange, Verb
from headroom.sim.api.values import Json, condition_of, dig, ref_of
from headroom.sim.controllers.autoscaler import Autoscaler
from headroom.sim.pools import KARPENTER, Autoscaling, Pool
from tests.simulation.scenario import QUIET, Happening, Scenario
from tests.stories.things import headroom, workload

NAME = "ahead"
APP = "web"
MOST_REAL = 8
MOST_LATE = 1.0  # seconds
POOL = Pool("m", most=20, capacity={"cpu": "4", "memory": "16Gi", "pods": "110"}, boot_delay=5.0)
SCALING = Autoscaling(enabled=True, scale_down_after=60.0, profile=KARPENTER)


class DemandScenario(Scenario):
    """One seed, played with `size.utilization`."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        random = self.random
        self.limits = {
            "slots": random.randint(2, 12),
            "pods": random.randint(MOST_REAL, 2 * MOST_REAL),
            "nodes": random.randint(3, 5),
        }
        self.replicas = random.randint(1, 4)
        self.watch = Limits(self)
        Autoscaler(self.world.stage, [POOL], SCALING)

    def play(self) -> None:
        for number in range(2):
            self.world.apply(POOL.node(number))
        self._start_operator()
        self.furnish()
        for _ in range(self.random.randint(15, 30)):
            self._step()
            self._pass(self.random.choice((0.005, 0.1, 0.6, 2.5, 8.0, 20.0)))
        self._calm_down()

    def furnish(self) -> None:
        threshold = self.random.choice((0.3, 0.5, 0.7))
        size = {"utilization": {"threshold": threshold}}
        self._note(f"threshold {threshold}, limits {self.limits}, {self.replicas} real pods")
        made = headroom(NAME, size=size, limits=self.limits, mode="Preemptible")
        self.world.apply(made)
        self.world.apply(workload("Deployment", APP, replicas=self.replicas))

    def happenings(self) -> list[Happening]:
        return [
            (8, self._scale),
            (3, self._roll),
            (3, self._lose_guardian),
            (4, self._kill_operator),
            (4, self._start_operator),
            (2, self._bad_line),
            (2, self._good_line),
            (2, self._hold_back),
            (2, self._release),
        ]

    def _scale(self) -> None:
        self.replicas = self.random.randint(0, MOST_REAL)
        self._note(f"{self.replicas} real pods")
        self.world.patch("Deployment", "default", APP, {"spec": {"replicas": self.replicas}})

    def _roll(self) -> None:
        """ObjectChange the shape of a slot, and often enough die in the middle of the change."""
        cpu = self.random.choice(("500m", "1", "2"))
        self._note(f"a slot is {cpu} from now on")
        template = {"resources": {"requests": {"cpu": cpu}}}
        self.world.patch("Headroom", "default", NAME, {"spec": {"slot": {"template": template}}})
        if self.random.random() < 0.5:
            self._kill_operator()


class Limits:
    """Breaches of a headroom's limits, at whatever moment, and real pods that were turned away.

    The operator knows the room of nodes by its watch. One whose watch is late by more than
    `MOST_LATE` may make a placeholder for which an autoscaler brings a node: see `known-flaws`.
    """

    def __init__(self, scenario: DemandScenario) -> None:
        self.found: list[str] = []
        self._scenario = scenario
        self._not_shown: deque[tuple[int, float]] = deque()  # changes of pods: version and time
        self._late: dict[str, float] = {}  # of placeholders without a node, when they were made
        self._slots: dict[str, None] = {}
        self._nodes: dict[str, None] = {}
        scenario.world.store.listen("Pod", self._on_pod)
        scenario.world.store.listen("Node", self._on_node)

    def _on_pod(self, change: ObjectChange) -> None:
        name = ref_of(change.obj).name
        self._note_late(change)
        if not is_placeholder(change.obj):
            if dig(change.obj, "status", "phase") == "Failed" and not _lost_its_node(change.obj):
                self._note(f"real pod {name} failed: {dig(change.obj, 'status', 'reason')}")
        elif change.verb is Verb.DELETED or dig(change.obj, "metadata", "deletionTimestamp"):
            self._slots.pop(name, None)
        else:
            self._slots[name] = None
            if len(self._slots) > self._scenario.limits["slots"]:
                self._note(f"{len(self._slots)} placeholders: {sorted(self._slots)}")

    def _on_node(self, change: ObjectChange) -> None:
        name = ref_of(change.obj).name
        if change.verb is Verb.DELETED:
            self._nodes.pop(name, None)
        elif name not in self._nodes:
            self._nodes[name] = None
            late = max(self._late.values(), default=0.0)
            if len(self._nodes) > self._scenario.limits["nodes"] and late <= MOST_LATE:
                self._note(f"node {name} is number {len(self._nodes)}")

    def _note_late(self, change: ObjectChange) -> None:
        """Remember how late the watch of the operator was when it made a placeholder."""
        world, name = self._scenario.world, ref_of(change.obj).name
        self._not_shown.append((int(change.obj["metadata"]["resourceVersion"]), world.elapsed))
        if change.verb is Verb.DELETED or dig(change.obj, "spec", "nodeName"):
            self._late.pop(name, None)
        elif change.verb is Verb.ADDED and is_placeholder(change.obj):
            while self._not_shown[0][0] <= world.server.knows:
                self._not_shown.popleft()
            self._late[name] = world.elapsed - self._not_shown[0][1]

    def _note(self, words: str) -> None:
        self.found.append(f"at {self._scenario.world.elapsed:.3f}: {words}")


def _lost_its_node(pod: Json) -> bool:
    """Whether the autoscaler took a node away in the moment in which the pod was bound to it."""
    return (condition_of(pod, "DisruptionTarget") or {}).get("reason") == "DeletionByPodGC"


def is_placeholder(pod: Json) -> bool:
    return bool(dig(pod, "metadata", "labels", ROLE_LABEL) == ROLE_GUARDIAN)


def ended_well(scenario: DemandScenario) -> list[str]:
    """What is wrong after a long quiet time: pods without a node, figures that are not true."""
    found: list[str] = []
    world, limits = scenario.world, scenario.limits
    pods: list[Any] = [pod for pod in world.list("Pod") if not dig(pod, "status", "reason")]
    real = [pod for pod in pods if dig(pod, "metadata", "labels", "app") == APP]
    running = [pod for pod in real if dig(pod, "status", "phase") == "Running"]
    if len(running) != scenario.replicas:
        found.append(f"{len(running)} of {scenario.replicas} real pods run")
    slots = [pod for pod in pods if is_placeholder(pod)]
    if slots and len(slots) + len(real) > limits["pods"]:
        found.append(f"{len(slots)} placeholders beside {len(real)} real pods")
    told = dig(world.get("Headroom", "default", NAME), "status") or {}
    placed = sum(bool(dig(pod, "spec", "nodeName")) for pod in slots)
    if (told.get("desired", 0), told.get("held", 0)) != (len(slots), placed):
        found.append(
            f"the status says {told.get('held')} of {told.get('desired')}, "
            f"there are {placed} of {len(slots)}"
        )
    return found


QUIET_FOR = 2 * QUIET
