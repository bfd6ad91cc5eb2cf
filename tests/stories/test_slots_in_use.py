"""Slots that are in use: what their owner does not use stays theirs, and all of it comes back.

`ROUNDS=300 PAUSE=2` plays so many rounds of bursts through each door, two seconds up and two down;
few and short ones are the rule.
"""

from __future__ import annotations

import os
from functools import partial
from itertools import cycle

import pytest

from tests.stories.killing import held
from tests.stories.things import Json, headroom, pod
from tests.stories.world import World

DOORS = pytest.mark.parametrize("door", ["gated", "ours"])
SIZES: dict[str, Json] = {"perNode": {"perNode": {"slots": 1}}, "replicas": {"replicas": 1}}
RIVALS = {"rival-0": 1, "rival-1": 1, "rival-2": 2, "rival-3": 3}
ROUNDS = int(os.environ.get("ROUNDS", "6"))
RETURNS = 6
CHURN = "ROUNDS" in os.environ  # Also while a burst comes and runs: see known-flaws.md.
PAUSE_S = float(os.environ.get("PAUSE", "0.7"))
BESIDE = 1000  # thousandths of a CPU of node a that are not the slot's
ORDINARY = ("250m", "1", "500m", "2", "1500m", "3", "750m")
WAITING = 5
PATIENCE_S = ROUNDS * 30  # A real cluster takes some seconds for a round.


def stage(world: World, size: str) -> None:
    """A node that one slot and a stranger fill, and rivals for every part of it."""
    world.add_node("a", cpu=4)
    world.start_operator()
    world.apply(headroom("room", cpu=3, size=SIZES[size]))
    world.until("the slot is held", lambda: held(world) == [3])
    world.apply(pod("stranger", cpu=1))
    world.until_runs("stranger", on="a")
    world.apply(*(pod(name, cpu=cpu) for name, cpu in RIVALS.items()))
    world.pass_time(1)


def holds(world: World, cpu: int) -> bool:
    return held(world) == [cpu]


def rivals_in(world: World) -> list[str]:
    """Whoever got a node and is neither owner nor stranger."""
    others = [item for item in world.all("Pod") if item["metadata"]["name"].startswith("rival")]
    return [item["metadata"]["name"] for item in others if item["spec"].get("nodeName")]


def end(world: World, name: str, way: str) -> None:
    if way == "deleted":
        world.delete("Pod", name)
    else:
        world.finish(name, way)


@DOORS
@pytest.mark.parametrize("size", SIZES)
def test_what_a_small_owner_does_not_use_stays_held(world: World, size: str, door: str) -> None:
    stage(world, size)
    ways = cycle(["Succeeded", "deleted"])
    for number in range(3):
        world.apply(pod(f"burst-{number}", cpu=1, app="web", **{door: True}))
        world.until_runs(f"burst-{number}", on="a")
        world.until("the rest is held", lambda: held(world) == [2])
        world.pass_time(1.5)
        assert rivals_in(world) == []
        assert held(world) == [2]
        end(world, f"burst-{number}", next(ways))
        world.until("the slot is whole again", lambda: held(world) == [3])
        assert rivals_in(world) == []


@DOORS
def test_two_small_owners_share_one_slot(world: World, door: str) -> None:
    stage(world, "perNode")
    for number, left in enumerate((2, 1)):
        world.apply(pod(f"burst-{number}", cpu=1, app="web", **{door: True}))
        world.until_runs(f"burst-{number}", on="a")
        world.until("the rest is held", partial(holds, world, left))
        world.pass_time(1)
    assert rivals_in(world) == []
    end(world, "burst-0", "Succeeded")
    world.until("its part is held again", lambda: held(world) == [2])
    end(world, "burst-1", "Succeeded")
    world.until("the slot is whole again", lambda: held(world) == [3])
    assert rivals_in(world) == []


@DOORS
def test_what_an_owner_returns_is_the_slots_again(world: World, door: str) -> None:
    """Also when somebody comes in the very moment in which it ends."""
    stage(world, "perNode")
    ways = cycle(["Succeeded", "deleted", "Failed"])
    for number in range(RETURNS):
        world.apply(pod(f"burst-{number}", cpu=3, app="web", **{door: True}))
        world.until_runs(f"burst-{number}", on="a")
        world.pass_time(1.5)
        end(world, f"burst-{number}", next(ways))
        world.apply(pod(f"rival-late-{number}", cpu=1))
        world.until("the slot is held again", lambda: held(world) == [3])
        assert rivals_in(world) == []
    world.pass_time(2)
    assert rivals_in(world) == []
    world.until("no latch is left", lambda: not world.ours("latch"))


class Crowd:
    """Ordinary pods of several sizes that come and go, and what they had at most together."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.most = 0
        self.sizes = cycle(ORDINARY)
        self.made = 0

    def comes(self) -> None:
        self.world.apply(pod(f"ordinary-{self.made}", cpu=next(self.sizes)))
        self.made += 1

    def there(self) -> list[Json]:
        """All of them, the oldest first."""
        found = [item for item in self.world.all("Pod") if is_ordinary(item)]
        return sorted(found, key=lambda item: int(item["metadata"]["name"].split("-")[1]))

    def look(self) -> None:
        placed = [item for item in self.there() if item["spec"].get("nodeName")]
        self.most = max(self.most, sum(map(milli, placed)))

    def goes(self) -> None:
        """One that runs goes, and the one that waits longest; others come for them."""
        self.look()
        there = self.there()
        runs = [item for item in there if item["spec"].get("nodeName")][:1]
        waits = [item for item in there if not item["spec"].get("nodeName")][:1]
        for item in (*runs, *waits):
            self.world.delete("Pod", item["metadata"]["name"])
        while len(self.there()) < WAITING + 1:
            self.comes()


def is_ordinary(item: Json) -> bool:
    return bool(item["metadata"]["name"].startswith("ordinary-"))


def milli(item: Json) -> int:
    """What a pod asks for, in thousandths of a CPU."""
    asked = str(item["spec"]["containers"][0]["resources"]["requests"]["cpu"])
    return int(asked[:-1]) if asked.endswith("m") else int(asked) * 1000


@DOORS
@pytest.mark.timeout(PATIENCE_S + 120)
def test_ordinary_pods_that_come_and_go_never_get_the_slot(world: World, door: str) -> None:
    """Bursts of the slot's size and smaller ones, while ordinary pods of all sizes come and go."""
    world.add_node("a", cpu=4)
    world.start_operator()
    world.apply(headroom("room", cpu=3, size=SIZES["perNode"]))
    world.until("the slot is held", lambda: held(world) == [3])
    crowd = Crowd(world)
    world.on_look(crowd.look)
    crowd.goes()
    ways, sizes = cycle(["Succeeded", "deleted", "Failed"]), cycle([3, 1, 3, 2])
    for number in range(ROUNDS):
        world.apply(pod(f"burst-{number}", cpu=next(sizes), app="web", **{door: True}))
        world.pass_time(PAUSE_S / 10)
        if CHURN:
            crowd.goes()
        world.until_runs(f"burst-{number}", on="a")
        world.pass_time(PAUSE_S / 2)
        if CHURN:
            crowd.goes()
        world.pass_time(PAUSE_S / 2)
        end(world, f"burst-{number}", next(ways))
        crowd.goes()
        world.until("the slot is held again, or lost", lambda: held(world) == [3] or lost(crowd))
        world.pass_time(PAUSE_S / 2)
        crowd.goes()
        world.pass_time(PAUSE_S / 2)
        crowd.look()
        assert crowd.most <= BESIDE, f"round {number}\n{world.picture()}"
    assert crowd.most > 0


def lost(crowd: Crowd) -> bool:
    return crowd.most > BESIDE


def test_where_there_is_room_the_slot_is_refilled_at_once(world: World) -> None:
    """A slot in use does not wait for its owner: what is free on its node is held."""
    world.add_node("a", cpu=8)
    world.start_operator()
    world.apply(headroom("room", cpu=3, size=SIZES["perNode"]))
    world.until("the slot is held", lambda: held(world) == [3])
    world.apply(pod("burst", cpu=1, app="web", gated=True))
    world.until_runs("burst", on="a")
    world.until("a whole slot is held beside it", lambda: held(world) == [3])
    world.until("no latch is left", lambda: not world.ours("latch"))


@DOORS
def test_a_slot_in_use_is_in_no_others_way(world: World, door: str) -> None:
    """Two slots on one full node: the owner of one runs, the other is handed over all the same."""
    world.add_node("a", cpu=4)
    world.start_operator()
    world.apply(headroom("room", cpu=2, size={"perNode": {"slots": 2}}))
    world.until("both are held", lambda: held(world) == [2, 2])
    world.apply(*(pod(f"rival-{number}", cpu=1) for number in range(3)))
    world.apply(pod("first", cpu=2, app="web", **{door: True}))
    world.until_runs("first", on="a")
    world.pass_time(2)
    world.apply(pod("second", cpu=2, app="web", **{door: True}))
    world.until_runs("second", on="a")
    world.pass_time(1.5)
    for name in ("first", "second"):
        world.delete("Pod", name)
    world.until("both are held again", lambda: held(world) == [2, 2])
    assert rivals_in(world) == []


@DOORS
@pytest.mark.parametrize("later", [0.0, 0.02, 0.04])
def test_a_guardian_that_waits_beside_an_owner_is_no_claim(
    world: World, later: float, door: str
) -> None:
    """Room is free beside the owner for a moment: a guardian comes for it, others are quicker."""
    world.add_node("a", cpu=4)
    world.start_operator()
    world.apply(headroom("room", cpu=2, size=SIZES["perNode"]))
    world.until("the slot is held", lambda: held(world) == [2])
    world.apply(pod("ordinary-0", cpu=2))
    world.until_runs("ordinary-0", on="a")
    world.apply(pod("burst", cpu=2, app="web", **{door: True}))
    world.delete("Pod", "ordinary-0")
    world.pass_time(later)
    world.apply(*(pod(f"ordinary-{number}", cpu=1) for number in range(1, 5)))
    world.until_runs("burst", on="a")
    crowd = Crowd(world)
    world.on_look(crowd.look)
    world.until("the slot is held beside it, or claims its room", lambda: is_kept(world))
    world.delete("Pod", "burst")
    world.apply(pod("ordinary-9", cpu=1))
    world.until("the slot is held", lambda: held(world) == [2])
    assert crowd.most <= 2000


def is_kept(world: World) -> bool:
    """Whether a guardian stands, or a latch that has stood for long enough."""
    nominated = [item["status"].get("nominatedNodeName") for item in world.ours("latch")]
    world.pass_time(1.2)  # Latches of the handover itself are gone by then.
    return held(world) == [2] or ("a" in nominated and bool(world.ours("latch")))


def test_without_an_operator_nobody_takes_what_is_returned(world: World) -> None:
    stage(world, "perNode")
    world.apply(pod("burst", cpu=3, app="web", gated=True))
    world.until_runs("burst", on="a")
    world.pass_time(2)
    world.kill_operator()
    world.finish("burst")
    world.pass_time(5)
    assert rivals_in(world) == []
    world.start_operator()
    world.until("the slot is held again", lambda: held(world) == [3])
    assert rivals_in(world) == []


@DOORS
def test_a_claim_is_no_proof_that_there_is_room(world: World, door: str) -> None:
    """A part of the slot was lost; its claim asks for all of it, and the guardian must not."""
    world.add_node("a", cpu=2)
    world.start_operator()
    world.apply(headroom("room", cpu=2, size=SIZES["perNode"]))
    world.until("the slot is held", lambda: held(world) == [2])
    world.apply(pod("first", cpu=1, app="web", **{door: True}))
    world.until("the rest is held", lambda: held(world) == [1])
    world.patch("Headroom", "room", {"spec": {"paused": True}})
    world.until("the pause is seen", lambda: "spec.paused" in said(world))
    world.until("a paused slot has no claim", lambda: not world.ours("latch"))
    world.finish("first")
    world.apply(pod("stranger", cpu=1))
    world.until_runs("stranger", on="a")
    world.patch("Headroom", "room", {"spec": {"paused": False}})
    world.pass_time(1)
    beyond: list[str] = []
    world.on_look(lambda: beyond.extend(asked_beyond(world, 2)))
    world.apply(pod("second", cpu=1, app="web", **{door: True}))
    world.until_runs("second", on="a")
    world.until("the slot claims what its owner has", lambda: bool(world.ours("latch")))
    world.pass_time(4)
    assert beyond == []


def said(world: World) -> str:
    """What the Headroom says of itself."""
    return str(world.condition_of("room", of="Headroom").get("message"))


def asked_beyond(world: World, cpu: int) -> list[str]:
    """The pods on node a, if they ask for more than it has."""
    pods = [item for item in world.all("Pod") if item["spec"].get("nodeName") == "a"]
    there = [item for item in pods if item["status"].get("phase") != "Succeeded"]
    names = [item["metadata"]["name"] for item in there]
    amounts = [item["spec"]["containers"][0]["resources"]["requests"]["cpu"] for item in there]
    return [" ".join(names)] if sum(map(int, amounts)) > cpu else []


def test_room_for_one_of_two_slots_in_use_is_given_once(world: World) -> None:
    """A stranger ends beside two slots in use: one of them gets its room, and not both."""
    world.add_node("a", cpu=3)
    world.start_operator()
    world.apply(headroom("room", cpu=1, size={"perNode": {"slots": 2}}))
    world.until("both are held", lambda: held(world) == [1, 1])
    world.apply(pod("stranger", cpu=1))
    world.until_runs("stranger", on="a")
    for name in ("first", "second"):
        world.apply(pod(name, cpu=1, app="web", gated=True))
        world.until_runs(name, on="a")
        world.pass_time(1)
    world.until("both claim their room", lambda: len(world.ours("latch")) == 2)
    beyond: list[str] = []
    world.on_look(lambda: beyond.extend(asked_beyond(world, 3)))
    world.pass_time(1)
    world.finish("stranger")
    world.until("one of them is held again", lambda: held(world) == [1])
    world.pass_time(2)
    assert beyond == []
    assert held(world) == [1]


def test_what_is_left_of_a_slot_in_use_takes_its_new_shape(world: World) -> None:
    """A new template, while an owner has a part and the node is full."""
    world.add_node("a", cpu=2)
    world.start_operator()
    world.apply(headroom("room", cpu=2, size=SIZES["perNode"]))
    world.until("the slot is held", lambda: held(world) == [2])
    world.apply(pod("burst", cpu=1, app="web", gated=True))
    world.until("the rest is held", lambda: held(world) == [1])
    world.until("the slot claims what its owner has", lambda: bool(world.ours("latch")))
    labelled = {"slot": {"template": {"nodeSelector": {"kubernetes.io/hostname": "a"}}}}
    world.patch("Headroom", "room", {"spec": labelled})

    def renewed() -> bool:
        return any("nodeSelector" in item["spec"] for item in world.ours("guardian"))

    world.until("the rest has the new shape", renewed)
    assert held(world) == [1]
    world.finish("burst")
    world.until("the slot is whole again", lambda: held(world) == [2])
