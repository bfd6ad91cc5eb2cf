"""A random scenario: one seed, one world, one long list of things that go wrong.

The seed decides everything: how large the cluster is, how slow its network, what happens when. A
run goes through a rough time, then the trouble ends, and the world is left alone until it is quiet.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from headroom.core.names import CLAIMS_NAMESPACE_LABEL, WAIT_ANNOTATION
from headroom.core.policy import Policy
from headroom.engine.engine import Engine
from headroom.ports import Clock, Cluster
from headroom.runtime.operator import Operator
from headroom.sim.api.values import Json, dig
from headroom.sim.cluster import SimCluster
from headroom.sim.scenarios.invariants import Invariants
from headroom.sim.settings import Settings
from headroom.sim.world import SimWorld
from tests.simulation.noisy import BadLine, Stammering
from tests.stories.things import hold, pod, priority_class

APPS = ("web", "api")
SLOW = Settings(watch_delay=(0.001, 0.1), write_delay=(0.002, 0.15))
STEPS = (15, 40)
QUIET = 400.0
BEYOND = 60.0
Happening = tuple[int, Callable[[], None]]
NEVER = 1_000_000_000


class Scenario:
    """One seed, played."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        settings = SLOW if self.random.random() < 0.4 else Settings()
        self.world = SimWorld(seed=seed, settings=settings)
        self.invariants = Invariants(self.world.store, self.world.clock)
        self.line = BadLine(Random(f"{seed}/line"))
        self.world.faults.decide = self.line
        self.log: list[str] = []
        self._names = 0
        self._rooms: dict[str, Json] = {}
        self._stopped: list[str] = []
        self._connection: SimCluster | None = None
        self._stammer = Random(f"{seed}/stammer")
        self._places = Random(f"{seed}/places")

    def play(self) -> None:
        """The rough time, then quiet."""
        for _ in range(self.random.randint(2, 4)):
            self._add_node()
        if self.random.random() < 0.3:
            self._opt_in()
        self.world.apply(priority_class("important", 1000))
        for _ in range(self.random.choice((0, 0, 3))):
            self._add_rival()
        self._start_operator()
        self.furnish()
        self._pass(self.random.uniform(0, 4))
        for _ in range(self.random.randint(*STEPS)):
            self._step()
            self._pass(self.random.choice((0.0, 0.005, 0.02, 0.1, 0.6, 2.5)))
        self._calm_down()

    def close(self) -> None:
        self.world.close()

    def _calm_down(self) -> None:
        self._note("trouble ends")
        self.line.share = 0.0
        self.world.kill_operator_after(NEVER)
        self._release()
        for node in self._stopped:
            if self.world.get("Node", "", node) is not None:
                self.world.start_kubelet(node)
        self._stopped.clear()
        self._start_operator()
        self._pass(QUIET)

    def furnish(self) -> None:
        """What is wished for at the start."""
        for _ in range(self.random.randint(1, 4)):
            self._add_hold()

    def happenings(self) -> list[Happening]:
        """What may happen, each with how often it does."""
        return [
            (6, self._add_hold),
            (10, self._add_owner),
            (4, self._add_rival),
            (3, self._lose_guardian),
            (3, self._lose_owner),
            (3, self._end_owner),
            (2, self._lose_hold),
            (1, self._stop_kubelet),
            (1, self._start_kubelet),
            (1, self._lose_node),
            (2, self._add_node),
            (1, self._cordon),
            (3, self._kill_operator),
            (3, self._start_operator),
            (2, self._bad_line),
            (2, self._good_line),
            (2, self._hold_back),
            (2, self._release),
        ]

    def _step(self) -> None:
        happenings = self.happenings()
        weights = [weight for weight, _ in happenings]
        happening = self.random.choices([what for _, what in happenings], weights)[0]
        happening()

    def _pass(self, seconds: float) -> None:
        self.world.run_for(seconds)
        self.invariants.operator_is(self.world.operator_alive)

    def _note(self, words: str) -> None:
        self.log.append(f"{self.world.elapsed:9.3f} {words}")

    def _name(self, stem: str) -> str:
        self._names += 1
        return f"{stem}-{self._names}"

    def _pick(self, kind: str, fits: Callable[[Json], bool] = lambda item: True) -> Json | None:
        found = [item for item in self.world.list(kind) if fits(item)]
        return self.random.choice(found) if found else None

    def _add_node(self) -> None:
        gone = [name for name in self._rooms if self.world.get("Node", "", name) is None]
        if gone and self.random.random() < 0.7:
            node = self._rooms[gone[0]]
        else:
            cpu = self.random.choice((1, 2, 4))
            pods = self._places.choice((110, 2 * cpu, cpu + 1))
            room = {"cpu": str(cpu), "memory": "8Gi", "pods": str(pods)}
            node = {
                "apiVersion": "v1",
                "kind": "Node",
                "metadata": {"name": self._name("node")},
                "status": {"capacity": room, "allocatable": room},
            }
        name = node["metadata"]["name"]
        self._rooms[name] = node
        self._note(f"node {name} comes with {node['status']['allocatable']['cpu']} cpu")
        self.world.apply(node)

    def _add_hold(self) -> None:
        random, name = self.random, self._name("hold")
        spec: dict[str, object] = {"allocateOnce": random.random() < 0.6}
        if random.random() < 0.25:
            spec["ttl"] = f"{random.randint(1, 15)}s"
        cpu = random.choice((1, 1, 2, 3))
        app = random.choice(APPS)
        self._note(f"hold {name}: {cpu} cpu for {app}, {spec}")
        self.world.apply(hold(name, cpu=cpu, app=app, **spec))

    def _opt_in(self) -> None:
        """Let owners be gated at admission, and no others."""
        self._note("the namespace opts in")
        labels = {CLAIMS_NAMESPACE_LABEL: "enabled"}
        self.world.patch("Namespace", "", "default", {"metadata": {"labels": labels}})

    def _add_owner(self) -> None:
        random = self.random
        for _ in range(random.choice((1, 1, 1, 2, 4))):
            name, door = self._name("owner"), random.choice(("gated", "ours", "plain"))
            cpu, app = random.choice((1, 1, 2)), random.choice((*APPS, *APPS, "other"))
            more: dict[str, object] = {door: True} if door != "plain" else {}
            if random.random() < 0.1:
                more["annotations"] = {WAIT_ANNOTATION: "true"}
            if random.random() < 0.1:
                more["priorityClassName"] = "important"
            self._note(f"pod {name}: {cpu} cpu, {app}, {more}")
            self.world.apply(pod(name, cpu=cpu, app=app, **more))

    def _add_rival(self) -> None:
        name, cpu = self._name("rival"), self.random.choice((1, 2))
        more = {"priorityClassName": "important"} if self.random.random() < 0.15 else {}
        self._note(f"pod {name}: {cpu} cpu, a rival, {more}")
        self.world.apply(pod(name, cpu=cpu, **more))

    def _lose_guardian(self) -> None:
        self._delete_pod("a stranger deletes", "guardian")

    def _lose_owner(self) -> None:
        self._delete_pod("deleted:", "", self.random.choice((0, None)))

    def _delete_pod(self, words: str, role: str, grace: int | None = 0) -> None:
        found = self._pick("Pod", lambda item: _role(item) == role)
        if found is not None:
            name = found["metadata"]["name"]
            self._note(f"{words} pod {name}")
            self.world.delete("Pod", "default", name, grace)

    def _end_owner(self) -> None:
        found = self._pick("Pod", self._may_end)
        if found is not None:
            name = found["metadata"]["name"]
            self._note(f"pod {name} ends")
            self.world.finish("default", name, self.random.choice(("Succeeded", "Failed")))

    def _may_end(self, item: Json) -> bool:
        node = dig(item, "spec", "nodeName")
        return (
            not _role(item)
            and dig(item, "status", "phase") == "Running"
            and node not in self._stopped
            and self._kubelet_knows(node)
            and not dig(item, "metadata", "deletionTimestamp")
        )

    def _lose_hold(self) -> None:
        found = self._pick("Hold")
        if found is None:
            return
        name = found["metadata"]["name"]
        self._note(f"hold {name} is deleted")
        self.world.delete("Hold", "default", name)
        if self.random.random() < 0.4:
            self._note(f"hold {name} is made anew")
            self.world.apply(hold(name, cpu=1, app=self.random.choice(APPS)))

    def _stop_kubelet(self) -> None:
        found = self._pick("Node", lambda item: item["metadata"]["name"] not in self._stopped)
        if found is not None and self._kubelet_knows(found["metadata"]["name"]):
            name = found["metadata"]["name"]
            self._note(f"kubelet of {name} stops")
            self._stopped.append(name)
            self.world.stop_kubelet(name)

    def _kubelet_knows(self, name: str) -> bool:
        return any(kubelet.node == name for kubelet in self.world.kubelets.all())

    def _start_kubelet(self) -> None:
        if self._stopped and self._kubelet_knows(self._stopped[-1]):
            name = self._stopped.pop()
            self._note(f"kubelet of {name} starts")
            self.world.start_kubelet(name)

    def _lose_node(self) -> None:
        found = self._pick("Node", lambda item: item["metadata"]["name"] not in self._stopped)
        if found is not None:
            name = found["metadata"]["name"]
            self._note(f"node {name} goes")
            self.world.delete("Node", "", name)

    def _cordon(self) -> None:
        found = self._pick("Node")
        if found is not None:
            name, now = found["metadata"]["name"], bool(dig(found, "spec", "unschedulable"))
            self._note(f"node {name} is {'uncordoned' if now else 'cordoned'}")
            self.world.patch("Node", "", name, {"spec": {"unschedulable": not now}})

    def _kill_operator(self) -> None:
        writes = self.random.choice((0, 1, 1, 2, 2, 3, 4, 6))
        self._note(f"the operator is killed after {writes} writes")
        if writes:
            self.world.kill_operator_after(writes)
        else:
            self.world.kill_operator()

    def _start_operator(self) -> None:
        if not self.world.operator_alive:
            self._note("an operator starts")
            self._connection = self.world.start_operator(self._operator)

    def _operator(self, cluster: Cluster, clock: Clock) -> Operator:
        return Operator(Stammering(cluster, self._stammer, 0.2), clock, Engine(Policy()))

    def _bad_line(self) -> None:
        self.line.share = self.random.choice((0.1, 0.3, 0.7))
        self._note(f"{self.line.share:.0%} of the writes fail")

    def _good_line(self) -> None:
        self._note("writes succeed")
        self.line.share = 0.0

    def _hold_back(self) -> None:
        if self._connection is not None and self.world.operator_alive:
            self._note("watches fall silent")
            self._connection.hold_watches()

    def _release(self) -> None:
        if self._connection is not None and self.world.operator_alive:
            self._note("watches speak again")
            self._connection.release_watches()


def _role(item: Json) -> str:
    return str(dig(item, "metadata", "labels", "headroom.dev/role") or "")
