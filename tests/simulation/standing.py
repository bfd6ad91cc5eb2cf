"""A random scenario with standing headrooms among the holds; they change as people change them."""

from __future__ import annotations

from typing import Any

from headroom.sim.api.values import Json
from tests.simulation.scenario import APPS, Happening, Scenario
from tests.stories.things import headroom

CHANGES: tuple[dict[str, Any], ...] = (
    {"size": {"replicas": 0, "perNode": None}},
    {"size": {"replicas": 1, "perNode": None}},
    {"size": {"replicas": 3, "perNode": None}},
    {"size": {"perNode": {"slots": 1}, "replicas": None}},
    {"slot": {"template": {"resources": {"requests": {"cpu": "1"}}}}},
    {"slot": {"template": {"resources": {"requests": {"cpu": "2"}}}}},
    {"paused": True},
    {"paused": False},
    {"limits": {"slots": 2}},
    {"limits": None},
)


class StandingScenario(Scenario):
    """One seed, played with headrooms."""

    def furnish(self) -> None:
        self._add_headroom()
        self._add_headroom()
        self._add_hold()

    def happenings(self) -> list[Happening]:
        return [
            *super().happenings(),
            (4, self._add_headroom),
            (8, self._change_headroom),
            (2, self._lose_headroom),
        ]

    def _calm_down(self) -> None:
        for item in self.world.list("Headroom"):
            self.world.patch("Headroom", "default", _name(item), {"spec": {"paused": False}})
        super()._calm_down()

    def _add_headroom(self) -> None:
        if len(self.world.list("Headroom")) >= 4:
            return
        random, name = self.random, self._name("room")
        spec: dict[str, Any] = {"refill": random.choice(("OnClaim", "OnClaim", "Never"))}
        draw = random.random()
        if draw < 0.4:
            spec["size"] = {"perNode": {"slots": random.choice((1, 1, 2))}}
        else:
            spec["replicas"] = random.randint(1, 3)
        if draw > 0.85:
            spec |= {"chunk": "Node", "refill": "OnClaim"}
        if random.random() < 0.15:
            spec["mode"] = "Preemptible"
        cpu, app = random.choice((1, 1, 2)), random.choice(APPS)
        self._note(f"headroom {name}: {cpu} cpu for {app}, {spec}")
        self.world.apply(headroom(name, cpu=cpu, app=app, **spec))

    def _change_headroom(self) -> None:
        found = self._pick("Headroom")
        if found is None:
            return
        change = self.random.choice(CHANGES)
        if "size" in change and "chunk" in found["spec"]["slot"]:
            return  # Pieces of a node go with a number only.
        self._note(f"headroom {_name(found)} is changed: {change}")
        self.world.patch("Headroom", "default", _name(found), {"spec": change})

    def _lose_headroom(self) -> None:
        found = self._pick("Headroom")
        if found is not None:
            self._note(f"headroom {_name(found)} is deleted")
            self.world.delete("Headroom", "default", _name(found))


def _name(item: Json) -> str:
    return str(item["metadata"]["name"])
