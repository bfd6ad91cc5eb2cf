"""Stories in which the operator dies: the same work cut after its first write, its second, and on.

A `Work` says how the stage is set, what happens then, and what must be true in the end. `play` lets
the operator die right after its n-th write from that moment on, lets something happen while nobody
is there, starts another one, and waits for the end. It says whether there was an n-th write at all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tests.stories.things import Json, pod
from tests.stories.world import World

Step = Callable[[World], None]
LONGEST_WORK = 60
NODE = "a"
RIVALS = 5


@dataclass(frozen=True)
class Work:
    """What the operator is killed in the middle of; `rivals` is how much each of them wants."""

    name: str
    set_stage: Step
    happens: Step
    settled: Callable[[World], bool]
    cpu: int = 2
    rivals: int = 2

    def __str__(self) -> str:
        return self.name


def nothing(world: World) -> None:
    """What usually happens while no operator is there."""


def play(world: World, work: Work, writes: int, backwards: bool, meanwhile: Step = nothing) -> bool:
    """Cut the work after so many writes and let another operator go on; False: it ended before."""
    work.set_stage(world)
    world.until_nothing_is_left()
    for number in range(RIVALS if work.rivals else 0):
        world.apply(pod(f"rival-{number}", cpu=work.rivals))
    world.until("every rival was refused", lambda: rivals_refused(world, work))
    world.cut_operator_after(writes, backwards)
    work.happens(world)
    world.until("cut, or done", lambda: world.operator_is_cut() or at_rest(world, work))
    cut = world.operator_is_cut()
    world.kill_operator()
    world.pass_time(0.5)
    if cut:
        meanwhile(world)
    world.start_operator()
    world.pass_time(0.1)
    return cut


def rivals_refused(world: World, work: Work) -> bool:
    """Whether kube-scheduler has tried each rival, so that they wait for exactly this room."""
    return not work.rivals or all(
        any(
            item["type"] == "PodScheduled" and item["status"] == "False"
            for item in (world.get("Pod", f"rival-{number}") or {})
            .get("status", {})
            .get("conditions", ())
        )
        for number in range(RIVALS)
    )


def at_rest(world: World, work: Work) -> bool:
    return work.settled(world) and nothing_left(world)


def nothing_left(world: World) -> bool:
    """No latch stands and no gate of ours waits."""
    return not world.ours("latch") and not any(
        gate["name"].startswith("headroom.dev/")
        for item in world.all("Pod")
        for gate in item["spec"].get("schedulingGates", ())
    )


def rivals_in(world: World) -> list[str]:
    """Rivals that got a node."""
    return [f"rival-{number}" for number in range(RIVALS) if world.node_of(f"rival-{number}")]


def cpu_of(item: Json) -> int:
    """How many processors a pod asks for; stories deal in whole ones."""
    return sum(
        int(each["resources"]["requests"].get("cpu", "0")) for each in item["spec"]["containers"]
    )


def cpu_on_node(world: World) -> int:
    """What all pods on the node ask for together."""
    return sum(
        cpu_of(item)
        for item in world.all("Pod")
        if item["spec"].get("nodeName")
        and item.get("status", {}).get("phase") not in ("Succeeded", "Failed")
    )


def owners_of(world: World, name: str = "h") -> list[str]:
    """The owners that a hold's status names."""
    status = (world.get("Hold", name) or {}).get("status", {})
    return sorted(owner["name"] for owner in status.get("currentOwners", ()))


def claimants(world: World, name: str = "h") -> list[str]:
    """Pods that carry a claim on a hold."""
    return sorted(
        item["metadata"]["name"]
        for item in world.all("Pod")
        if item["metadata"].get("annotations", {}).get("headroom.dev/claimed")
        == f"Hold/default/{name}"
    )


def held(world: World) -> list[int]:
    """What guardians keep on the node."""
    return sorted(cpu_of(item) for item in world.ours("guardian") if item["spec"].get("nodeName"))
