"""Something is changed or deleted between two writes of a handover, whatever it is and whichever.

A node is full: a hold or a slot, a stranger beside it, and rivals of several sizes that wait for
any of its room. An owner comes through one of the doors. After the operator's n-th write one field
of an object is changed, or one object is deleted; the operator learns of it before it goes on
(`seen`), or only after its next writes. In the end nobody has room that is not theirs, and no owner
is left at a door.

What cannot be kept is written in `Change.free`: through the gate an owner's nomination alone keeps
the room once the guardian is gone, and goes with the owner. `MEDDLE=all` plays every change after
every write, seen and unseen; by default a part of them, and a smaller part with `SAMPLES=few`.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import pytest

from headroom.core.actions import Action, CreateLatch, Nominate
from tests.samples import stride
from tests.stories.embedded import EmbeddedWorld
from tests.stories.killing import cpu_of
from tests.stories.things import GATE, Json, headroom, hold, pod
from tests.stories.world import ROLE

Step = Callable[[EmbeddedWorld, "Keeper"], None]
ALL = os.environ.get("MEDDLE") == "all"
LONGEST = 12
SEEN_S = 0.3
NODE_CPU, ROOM, BESIDE = 6, 4, 2
RIVALS = (1, 2, 4)
OWNER = "owner"
NOBODY: Json = {"spec": {"owners": [{"labelSelector": {"matchLabels": {"app": "nobody"}}}]}}
INVALID: Json = {"spec": {"owners": [{"controller": {"kind": "Job", "namespace": "others"}}]}}
PREEMPTIBLE: Json = {"spec": {"mode": "Preemptible", "owners": None}}


@dataclass(frozen=True)
class Keeper:
    """What keeps the room; `rest` says whether what its owner leaves stays its own."""

    kind: str
    make: Json = field(hash=False)
    rest: bool

    @property
    def name(self) -> str:
        return str(self.make["metadata"]["name"])


KEEPERS = {
    "once": Keeper("Hold", hold("h", cpu=ROOM), rest=False),
    "reusable": Keeper("Hold", hold("h", cpu=ROOM, allocateOnce=False), rest=True),
    "per-node": Keeper("Headroom", headroom("h", ROOM, size={"perNode": {"slots": 1}}), rest=True),
    "replicas": Keeper("Headroom", headroom("h", ROOM, size={"replicas": 1}), rest=True),
}


def patched(change: Json) -> Step:
    def step(world: EmbeddedWorld, keeper: Keeper) -> None:
        world.patch(keeper.kind, keeper.name, change)

    return step


def smaller(world: EmbeddedWorld, keeper: Keeper) -> None:
    template(world, keeper, {"cpu": str(ROOM - 1)})


def larger(world: EmbeddedWorld, keeper: Keeper) -> None:
    template(world, keeper, {"cpu": str(ROOM + 1)})


def template(world: EmbeddedWorld, keeper: Keeper, requests: Json) -> None:
    container = {"name": "main", "image": "app", "resources": {"requests": requests}}
    if keeper.kind == "Hold":
        change: Json = {"template": {"spec": {"containers": [container]}}}
    else:
        change = {"slot": {"template": {"resources": {"requests": requests}}}}
    world.patch(keeper.kind, keeper.name, {"spec": change})


def labelled(world: EmbeddedWorld, keeper: Keeper) -> None:
    if keeper.kind == "Hold":
        change: Json = {"template": {"metadata": {"labels": {"team": "one"}}}}
        world.patch(keeper.kind, keeper.name, {"spec": change})
    else:
        change = {"slot": {"template": {"nodeSelector": {"kubernetes.io/os": "linux"}}}}
        world.patch(keeper.kind, keeper.name, {"spec": change})


def owner_relabelled(world: EmbeddedWorld, keeper: Keeper) -> None:
    world.patch("Pod", OWNER, {"metadata": {"labels": {"app": "other"}}})


def owner_goes(world: EmbeddedWorld, keeper: Keeper) -> None:
    if world.get("Pod", OWNER) is not None:
        world.delete("Pod", OWNER)


def keeper_goes(world: EmbeddedWorld, keeper: Keeper) -> None:
    world.delete(keeper.kind, keeper.name)


def node_goes(world: EmbeddedWorld, keeper: Keeper) -> None:
    world.delete("Node", "a")


def ours_go(role: str) -> Step:
    def step(world: EmbeddedWorld, keeper: Keeper) -> None:
        for item in world.ours(role):
            metadata = item["metadata"]
            world.delete("Pod", metadata["name"], metadata["namespace"])

    return step


def namespace_shut(world: EmbeddedWorld, keeper: Keeper) -> None:
    world.patch("Namespace", "default", {"metadata": {"labels": {"headroom.dev/claims": "no"}}})


@dataclass(frozen=True)
class Moment:
    """When something happens: after which write, through which door, seen by the operator or not.

    `kept` says whether the operator can still stop before it gives the guardian's room up.
    """

    after: Action
    door: str
    seen: bool
    keeper: Keeper

    @property
    def kept(self) -> bool:
        if self.door == "ours":  # A latch keeps the room until the owner has it.
            return type(self.after).__name__ != "Bind" and not self.ended
        if isinstance(self.after, CreateLatch) and self.after.users:
            return False  # The claim of a slot whose owner has its room since a moment.
        early = not isinstance(self.after, Nominate) or self.after.key.name != OWNER
        return isinstance(self.after, CreateLatch | Nominate) and (early or self.seen)

    @property
    def ended(self) -> bool:
        """Whether the owner may be bound by then, which ends a hold for one."""
        return not self.keeper.rest and not isinstance(self.after, CreateLatch | Nominate)


def nothing_if_kept(moment: Moment) -> int:
    return 0 if moment.kept else ROOM


def nothing(moment: Moment) -> int:
    return 0


def rest_at_the_gate(moment: Moment) -> int:
    """A hold that cannot be read holds nothing anew, also not what its owner leaves."""
    return ROOM - BESIDE if moment.door == "gated" and moment.keeper.kind == "Hold" else 0


def one(moment: Moment) -> int:
    return 1


def everything(moment: Moment) -> int:
    return ROOM


@dataclass(frozen=True)
class Change:
    """What happens, to which kinds of keeper; `free` is how much of the room others may get."""

    name: str
    happens: Step
    keepers: tuple[str, ...] = tuple(KEEPERS)
    free: Callable[[Moment], int] = nothing
    breaks: bool = False  # It takes away what keeps the room: the books see that.

    def __str__(self) -> str:
        return self.name


HOLDS = ("once", "reusable")
SLOTS = ("per-node", "replicas")
CHANGES = (
    Change("owners", patched(NOBODY)),
    Change("owner-relabelled", owner_relabelled),
    Change("smaller", smaller, free=one),
    Change("larger", larger),
    Change("labelled", labelled),
    Change("ttl", patched({"spec": {"ttl": "1s"}}), HOLDS, free=everything),
    Change("longer", patched({"spec": {"ttl": "48h"}}), HOLDS),
    Change(
        "expires", patched({"spec": {"expires": "2020-01-01T00:00:00Z"}}), HOLDS, free=everything
    ),
    Change("policy", patched({"spec": {"allocatePolicy": "Restricted"}}), HOLDS),
    Change("reusable-now", patched({"spec": {"allocateOnce": False}}), ("once",), nothing_if_kept),
    Change("once-now", patched({"spec": {"allocateOnce": True}}), ("reusable",), free=everything),
    Change("unschedulable", patched({"spec": {"unschedulable": True}}), HOLDS),
    Change("pre-allocation", patched({"spec": {"preAllocation": True}}), HOLDS),
    Change("taints", patched({"spec": {"taints": [{"key": "k", "effect": "NoSchedule"}]}}), HOLDS),
    Change("invalid", patched(INVALID), free=rest_at_the_gate, breaks=True),
    Change("none", patched({"spec": {"size": {"replicas": 0}}}), ("replicas",), free=everything),
    Change("more", patched({"spec": {"size": {"replicas": 2}}}), ("replicas",)),
    Change("two-each", patched({"spec": {"size": {"perNode": {"slots": 2}}}}), ("per-node",)),
    Change("lifetime", patched({"spec": {"slotLifetime": "10m"}}), SLOTS),
    Change("preemptible", patched(PREEMPTIBLE), SLOTS, free=everything),
    Change("paused", patched({"spec": {"paused": True}}), SLOTS, free=everything),
    Change("owner-goes", owner_goes, free=nothing_if_kept, breaks=True),
    Change("keeper-goes", keeper_goes, free=everything, breaks=True),
    Change("node-goes", node_goes),
    Change("guardian-goes", ours_go("guardian"), free=everything, breaks=True),
    Change("latch-goes", ours_go("latch"), free=everything, breaks=True),
    Change("namespace-shut", namespace_shut),
)
DOORS = ("gated", "ours")
CASES = [(change, kind) for change in CHANGES for kind in change.keepers]


def closed(world: EmbeddedWorld, change: Change) -> None:
    """End a world; what a change itself broke is no breach of the operator's."""
    world.sim.may_contain = change.breaks
    world.close()


def stage(world: EmbeddedWorld, keeper: Keeper) -> None:
    labels = {"kubernetes.io/hostname": "a", "kubernetes.io/os": "linux"}
    world.add_node("a", cpu=NODE_CPU, labels=labels)
    world.start_operator()
    world.apply(keeper.make)
    world.until("it is held", lambda: any(map(on_a, world.ours("guardian"))))
    world.apply(pod("stranger", cpu=BESIDE))
    world.until_runs("stranger", on="a")
    world.apply(*(pod(f"rival-{number}", cpu=cpu) for number, cpu in enumerate(RIVALS)))
    world.pass_time(2)


def on_a(item: Json) -> bool:
    return bool(item["spec"].get("nodeName") == "a")


def rivals_have(world: EmbeddedWorld) -> int:
    """How much of node a the rivals have."""
    rivals = (item for item in world.all("Pod") if item["metadata"]["name"].startswith("rival"))
    return sum(cpu_of(item) for item in rivals if on_a(item))


def at_a_door(world: EmbeddedWorld) -> list[str]:
    """Pods that wait for us at the gate."""
    return [
        item["metadata"]["name"]
        for item in world.all("Pod")
        if any(gate["name"] == GATE for gate in item["spec"].get("schedulingGates", ()))
        and ROLE not in item["metadata"].get("labels", {})
    ]


def play(world: EmbeddedWorld, case: tuple[Change, str, str, bool], writes: int) -> str | None:
    """Let a change happen after so many writes; None: the handover had fewer.

    Otherwise what went wrong, empty if nothing did.
    """
    change, kind, door, seen = case
    keeper = KEEPERS[kind]
    stage(world, keeper)
    size = ROOM - 2 if keeper.rest or change.name == "reusable-now" else ROOM
    world.meddle_after(writes, lambda: change.happens(world, keeper), SEEN_S if seen else 0.0)
    world.apply(pod(OWNER, cpu=size, app="web", **{door: True}))
    world.pass_time(8)
    after = world.meddled_after()
    if after is None:
        return None
    world.pass_time(12)
    got = rivals_have(world)
    wrong = []
    moment = Moment(after, door, seen, keeper)
    if got > change.free(moment):
        wrong.append(f"rivals have {got}")
    world.add_node("b", cpu=8)  # From here on there is room for everybody.
    for name in ("rival-0", "rival-1", "rival-2", "stranger"):
        if world.get("Pod", name) is not None:
            world.delete("Pod", name)
    world.pass_time(30)
    owner = world.get("Pod", OWNER)
    lost = change.name == "latch-goes" and not seen  # bound before anybody could know
    if owner is not None and not world.running(OWNER) and not lost:
        wrong.append(f"the owner is {owner['status'].get('phase')} {at_a_door(world)}")
    if not wrong:
        return ""
    return f"{'; '.join(wrong)} (after {type(after).__name__})"


def moments(*case: str) -> Iterator[tuple[bool, int]]:
    """Whether a change is seen, and after how many writes: all of them, or some of the seen.

    Some are every third one from a start that depends on the case, so that cases differ.
    """
    if ALL:
        yield from ((seen, writes) for seen in (False, True) for writes in range(1, LONGEST))
    else:
        first = zlib.crc32(" ".join(case).encode()) % 3
        yield from ((True, writes) for writes in range(1 + first, LONGEST, 3 * stride()))


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize(("change", "kind"), CASES, ids=str)
def test_nobody_gets_in_and_nobody_is_left(change: Change, kind: str, door: str) -> None:
    failures, ended = [], dict.fromkeys((False, True), LONGEST)
    for seen, writes in moments(change.name, kind, door):
        if writes >= ended[seen]:
            continue
        world = EmbeddedWorld()
        answer = play(world, (change, kind, door, seen), writes)
        closed(world, change)
        if answer is None:
            ended[seen] = writes
        elif answer:
            failures.append(f"write {writes}, {'seen' if seen else 'unseen'}: {answer}")
    assert not failures, "\n".join(failures)
