"""Days of a cluster's life: ordinary use, faults, and tenants who wish nobody well.

One seed, one world. Three kinds of people live in it: a calm tenant whose holds nobody claims, on
nodes of its own, and who must never lose a guardian; the rough life of the other scenarios in
namespace `default`; and hostile tenants with a quota for two pods. Every day ends with quiet, and
the world is judged. In the end everything is deleted, and what the operator still remembers is
compared with what one knows that has just been started.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from headroom.core.policy import Policy
from headroom.engine.engine import Engine
from headroom.ports import Clock, Cluster
from headroom.runtime.operator import Operator
from headroom.sim.api.values import Json, dig
from headroom.sim.errors import ApiError
from headroom.sim.world import SimWorld
from tests.simulation.checks import breaches
from tests.simulation.footprint import footprint, left_over
from tests.simulation.noisy import Stammering
from tests.simulation.scenario import NEVER, Happening
from tests.simulation.standing import StandingScenario
from tests.simulation.standing_checks import standing_breaches
from tests.stories.things import headroom, hold, pod, priority_class

CALM = "calm"
HOSTILE = ("mallory", "eve")
CALM_HOLDS = 4
DAY_S = 86_400.0
EPISODES = 3  # a day
STEPS = (2, 8)  # of ordinary life in an episode
ATTACKS = (1, 5)
MOST_HOSTILE = 60  # things of one hostile tenant at a time
MOST_BETWEEN = 1  # the same between two episodes: a refused try every two minutes, for days
SETTLED_S = 900.0
EMPTY_S = 1800.0
ROOM = {"cpu": "8", "memory": "32Gi", "pods": "110"}


class Ordinary:
    """The world without what hostile tenants have: their forgeries break no promise of ours."""

    def __init__(self, world: SimWorld) -> None:
        self._world = world
        self.clock = world.clock

    def list(self, kind: str) -> list[Json]:
        found = self._world.list(kind)
        return [each for each in found if each["metadata"].get("namespace") not in HOSTILE]


class Soak(StandingScenario):
    """One seed, played for so many days; shorter days have as many happenings and less quiet."""

    def __init__(self, seed: int, days: float, day_s: float = DAY_S) -> None:
        super().__init__(seed)
        self.days = days
        self.day_s = day_s
        self.found: list[str] = []
        self.engine: Engine | None = None
        self._kept: dict[str, str] = {}
        self._killing = True

    def play(self) -> None:
        """Live through the days, then empty the world and see what is left."""
        for name in (CALM, *HOSTILE):
            self.world.apply(_thing("Namespace", name))
        for name in HOSTILE:
            quota = _thing("ResourceQuota", "q", name)
            self.world.apply({**quota, "spec": {"hard": {"pods": "2", "requests.cpu": "300m"}}})
        self.world.apply(priority_class("important", 1000))
        self._move_in()
        for _ in range(3):
            self._add_node()
        self._start_operator()
        self.furnish()
        self._pass(30)
        self._kept = self._calm_guardians()
        if len(self._kept) != 2 * CALM_HOLDS:
            self.found.append(f"only {sorted(self._kept)} of the calm tenant are held")
        episodes = max(1, round(self.days * EPISODES))
        for number in range(episodes):
            self._killing = number < episodes // 2  # The last operator lives for days.
            self._episode()
            if number % EPISODES == EPISODES - 1 or number == episodes - 1:
                self._judge()
            self._pass(self.days * self.day_s / episodes - SETTLED_S / EPISODES)
        self._empty()

    def _episode(self) -> None:
        for _ in range(self.random.randint(*STEPS)):
            self._step()
            self._pass(self.random.choice((0.0, 0.02, 0.1, 0.6, 2.5)))
        self._end_trouble()
        for _ in range(self.random.randint(*ATTACKS)):
            self._attack()
            self._pass(self.random.choice((0.0, 0.1, 5, 60)))
        self._look_after_calm()
        self._thin_out()
        for namespace in HOSTILE:
            self._leave(namespace, MOST_BETWEEN)
        self.world.writes.clear()  # Nobody reads them here, and there are millions.

    def _end_trouble(self) -> None:
        """What goes wrong in an episode goes on for seconds: latches cannot go meanwhile."""
        self._good_line()
        self.world.kill_operator_after(NEVER)
        self._release()
        self._start_operator()

    def happenings(self) -> list[Happening]:
        skipped = () if self._killing else (self._kill_operator,)
        return [each for each in super().happenings() if each[1] not in skipped]

    def _move_in(self) -> None:
        """The calm tenant comes, with a node of its own that nobody touches."""
        node = _thing("Node", "calm-node")
        node["metadata"]["labels"] = {"pool": CALM}
        taint = [{"key": "pool", "value": CALM, "effect": "NoSchedule"}]
        room = {"capacity": ROOM, "allocatable": ROOM}
        self.world.apply({**node, "spec": {"taints": taint}, "status": room})
        where: Json = {
            "nodeSelector": {"pool": CALM},
            "tolerations": [{"key": "pool", "operator": "Exists"}],
        }
        for n in range(CALM_HOLDS):
            made = hold(f"kept-{n}", app=f"nobody-{n}", namespace=CALM, template=where, ttl="0s")
            self.world.apply(made)
        slots = headroom("kept", app="nobody", replicas=CALM_HOLDS, namespace=CALM, template=where)
        self.world.apply(slots)

    def _calm_guardians(self) -> dict[str, str]:
        return {
            str(dig(item, "metadata", "name")): str(dig(item, "metadata", "uid"))
            for item in self.world.list("Pod", CALM)
            if dig(item, "spec", "nodeName") and not dig(item, "metadata", "deletionTimestamp")
        }

    def violations(self) -> list[str]:
        """Invariants that were broken; a forged latch of a hostile tenant is none of ours."""
        own = tuple(f"Pod/{name}/forged-" for name in HOSTILE)
        return [each for each in self.invariants.violations if not any(x in each for x in own)]

    def _look_after_calm(self) -> None:
        now = self._calm_guardians()
        if now != self._kept:
            self.found.append(f"at {self.world.elapsed:.0f}: the calm tenant has {now}")
            self._kept = now

    def _pick(self, kind: str, fits: Callable[[Json], bool] = lambda item: True) -> Json | None:
        """Nothing of the calm tenant, and nothing of the hostile ones."""

        def ordinary(item: Json) -> bool:
            metadata = item["metadata"]
            strange = metadata.get("namespace") in (CALM, *HOSTILE)
            return not strange and metadata["name"] != "calm-node" and fits(item)

        return super()._pick(kind, ordinary)

    def _thin_out(self) -> None:
        """Ordinary people clean up: what has ended goes, and so does the oldest of too many."""
        for kind, most in (("Pod", 25), ("Hold", 12)):
            own = [each for each in self.world.list(kind, "default") if not _is_ours(each)]
            for item in own[: max(0, len(own) - most)]:
                self.world.delete(kind, "default", item["metadata"]["name"], 0)

    def _attack(self) -> None:
        namespace = self.random.choice(HOSTILE)
        attacks = (
            self._be_greedy,
            self._ask_for_much,
            self._never_fit,
            self._contest_a_port,
            self._forge,
            self._say_nonsense,
            self._withdraw,
        )
        self.random.choice(attacks)(namespace)
        self._leave(namespace, MOST_HOSTILE)

    def _leave(self, namespace: str, most: int) -> None:
        """Delete what a hostile tenant has beyond so many things."""
        mine = [
            (kind, item["metadata"]["name"])
            for kind in ("Hold", "Headroom", "Pod")
            for item in self.world.list(kind, namespace)
            if not _is_ours(item)
        ]
        self.random.shuffle(mine)
        for kind, name in mine[most:]:
            self.world.delete(kind, namespace, name, 0)

    def _try(self, namespace: str, thing: Json) -> None:
        thing["metadata"]["namespace"] = namespace
        self._note(f"{namespace}: {thing['kind']} {thing['metadata']['name']}")
        try:
            self.world.apply(thing)
        except ApiError as refused:
            self._note(f"refused: {refused}")

    def _be_greedy(self, namespace: str) -> None:
        slots = self.random.choice((3, 200, 100_000))
        self._try(namespace, headroom(self._name("greedy"), "10m", replicas=slots))

    def _ask_for_much(self, namespace: str) -> None:
        for _ in range(self.random.choice((1, 20, 40))):
            cpu = self.random.choice(("10m", f"{self.random.randint(1, 999)}m", "5000"))
            once = self.random.random() < 0.5
            self._try(namespace, hold(self._name("asked"), cpu, allocateOnce=once))

    def _never_fit(self, namespace: str) -> None:
        door = self.random.choice(("gated", "ours"))
        more: dict[str, Any] = {door: True}
        self._try(namespace, pod(self._name("stuck"), "200m", "web", memory="900Ti", **more))

    def _contest_a_port(self, namespace: str) -> None:
        for _ in range(2):
            made = pod(self._name("port"), "10m")
            made["spec"]["containers"][0]["ports"] = [{"containerPort": 80, "hostPort": 8080}]
            self._try(namespace, made)

    def _forge(self, namespace: str) -> None:
        made = pod(self._name("forged"), "10m", "web")
        made["metadata"]["annotations"] = {
            "headroom.dev/parent": f"Hold/{CALM}/kept-0",
            "headroom.dev/claimed": f"Hold/{CALM}/kept-0",
            "headroom.dev/claimed-uid": "uid-1",
        }
        made["metadata"]["labels"]["headroom.dev/role"] = self.random.choice(
            ("guardian", "latch", "fence")
        )
        self._try(namespace, made)

    def _say_nonsense(self, namespace: str) -> None:
        made = pod(self._name("absurd"), "1m", nodeName="no-such-node")
        asked = made["spec"]["containers"][0]["resources"]["requests"]
        asked["ephemeral-storage"] = "9000000000000000000"
        self._try(namespace, made)
        far = hold(self._name("far"), "1m", app="x" * 63, ttl="87600h")
        self._try(namespace, far)

    def _withdraw(self, namespace: str) -> None:
        for kind in ("Headroom", "Hold", "Pod"):
            for item in self.world.list(kind, namespace):
                if not _is_ours(item) and self.random.random() < 0.6:
                    self.world.delete(kind, namespace, item["metadata"]["name"], 0)

    def _judge(self) -> None:
        """End the trouble of the day, wait until it is quiet, and look."""
        for item in self.world.list("Headroom", "default"):
            change: Json = {"spec": {"paused": False}}
            self.world.patch("Headroom", "default", item["metadata"]["name"], change)
        for node in self._stopped:
            if self.world.get("Node", "", node) is not None:
                self.world.start_kubelet(node)
        self._stopped.clear()
        self._pass(SETTLED_S)
        ordinary: Any = Ordinary(self.world)
        at = f"day {self.world.elapsed / self.day_s:.1f}"
        self.found += [f"{at}: {words}" for words in breaches(ordinary)]
        self.found += [f"{at}: {words}" for words in standing_breaches(ordinary)]
        self._look_after_calm()

    def _empty(self) -> None:
        """Delete all that anybody made, and compare what is remembered with a new operator."""
        self._note("the world is emptied")
        for kind in ("Headroom", "Hold", "Pod", "ResourceQuota"):
            for item in self.world.list(kind):
                metadata = item["metadata"]
                if not _is_ours(item):
                    self.world.delete(kind, metadata.get("namespace", ""), metadata["name"], 0)
        self._pass(EMPTY_S)
        self.found += [
            f"left after all is deleted: {item['metadata']['name']}"
            for item in self.world.list("Pod")
            if not dig(item, "metadata", "deletionTimestamp")
        ]
        old = footprint(self.engine)
        self.world.kill_operator()
        self._start_operator()
        self._pass(EMPTY_S)
        self.found += [f"still remembered: {words}" for words in left_over(old, self.engine)]

    def _operator(self, cluster: Cluster, clock: Clock) -> Operator:
        self.engine = Engine(Policy())
        return Operator(Stammering(cluster, self._stammer, 0.2), clock, self.engine)


def _thing(kind: str, name: str, namespace: str = "") -> Json:
    metadata: Json = {"name": name} | ({"namespace": namespace} if namespace else {})
    return {"apiVersion": "v1", "kind": kind, "metadata": metadata}


def _is_ours(item: Json) -> bool:
    """Whether the operator made it: forgeries have no owner of ours."""
    owners = dig(item, "metadata", "ownerReferences") or ()
    return any(str(each.get("apiVersion", "")).startswith("headroom.dev/") for each in owners)
