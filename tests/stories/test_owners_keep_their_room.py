"""An owner that has its room keeps it until it ends, whatever is changed of what made it one."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from tests.stories.killing import held
from tests.stories.reservations import EmbeddedReservations, RealReservations
from tests.stories.test_tenants import OTHERS, asking, parent, promise, until_kept
from tests.stories.things import NAMESPACE, Json, headroom, pod
from tests.stories.world import World

Change = Callable[[World, str], None]
KINDS = pytest.mark.parametrize("kind", ["Hold", "Reservation"])
OPERATOR = pytest.mark.parametrize("away", [False, True], ids=["operator-there", "operator-killed"])
NOBODY: Json = {"spec": {"owners": [{"labelSelector": {"matchLabels": {"app": "nobody"}}}]}}
INVALID: Json = {"spec": {"owners": [{"controller": {"kind": "Job", "namespace": OTHERS}}]}}
DELAYS = (0.0, 0.003, 0.006, 0.009, 0.012, 0.016, 0.02, 0.03)  # after the owner has come


@pytest.fixture(params=["embedded", pytest.param("real", marks=pytest.mark.e2e)])
def world(request: pytest.FixtureRequest) -> Iterator[World]:
    here: EmbeddedReservations | RealReservations
    if request.param == "embedded":
        here = EmbeddedReservations()
    else:
        here = RealReservations(request.getfixturevalue("story_plane"))
    here.add_node("a", cpu=8)
    if here.get("Namespace", OTHERS) is None:
        here.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": OTHERS}})
    yield here
    here.close()


def new_labels(world: World, _: str) -> None:
    world.patch("Pod", "p", {"metadata": {"labels": {"app": "other"}}})


def new_rules(world: World, kind: str) -> None:
    world.patch(kind, "r", NOBODY, "" if kind == "Reservation" else NAMESPACE)


def changed(world: World, change: Change, kind: str, away: bool) -> None:
    """Make a change, with the operator there or dead, and give it time to be taken badly."""
    if away:
        world.kill_operator()
    change(world, kind)
    if away:
        world.start_operator()
    world.pass_time(3)


def owners(world: World, kind: str) -> list[str]:
    return [each["name"] for each in world.status("r", kind).get("currentOwners", ())]


@KINDS
@OPERATOR
@pytest.mark.parametrize("change", [new_labels, new_rules])
def test_an_owner_stays_one_when_its_labels_or_the_rules_change(
    world: World, kind: str, change: Change, away: bool
) -> None:
    world.start_operator()
    world.apply(promise(kind, cpu=4, allocateOnce=False))
    until_kept(world, kind)
    world.apply(asking(kind, "p"))
    world.until_runs("p", on="a")
    world.until("it is told", lambda: owners(world, kind) == ["p"] and held(world) == [1])
    changed(world, change, kind, away)
    assert held(world) == [1]
    assert owners(world, kind) == ["p"]
    world.finish("p")
    world.until("all of it is held again", lambda: held(world) == [4])
    world.until("nobody owns it", lambda: owners(world, kind) == [])


@OPERATOR
def test_a_changed_owner_lets_nobody_else_in(world: World, away: bool) -> None:
    """Neither does it make others owners who look as it looks now."""
    kind = "Reservation"
    world.start_operator()
    world.apply(promise(kind, cpu=8, allocateOnce=False))
    until_kept(world, kind)
    world.apply(asking(kind, "p", cpu=4))
    world.until_runs("p", on="a")
    world.until("it is told", lambda: owners(world, kind) == ["p"] and held(world) == [4])
    changed(world, new_labels, kind, away)
    world.apply(asking(kind, "twin", cpu=4, app="other"))
    world.pass_time(3)
    assert world.node_of("twin") == ""
    assert (held(world), owners(world, kind)) == ([4], ["p"])


def test_an_owner_stays_one_while_the_rules_are_invalid(world: World) -> None:
    world.start_operator()
    world.apply(promise("Hold", cpu=4, allocateOnce=False))
    until_kept(world, "Hold")
    world.apply(asking("Hold", "p"))
    world.until_runs("p", on="a")
    world.until("it is told", lambda: owners(world, "Hold") == ["p"] and held(world) == [1])
    world.patch("Hold", "r", INVALID)
    world.until(
        "it is told", lambda: world.condition_of("r", "Degraded").get("reason") == "InvalidSpec"
    )
    changed(world, new_rules, "Hold", away=True)
    world.until("the rules are taken", lambda: world.condition_of("r").get("status") == "True")
    assert (held(world), owners(world, "Hold")) == ([1], ["p"])


def test_an_owner_stays_one_without_its_owner_reference(world: World) -> None:
    world.apply({**parent(), "metadata": {"name": "mine", "namespace": NAMESPACE}})
    uid = (world.get("ReplicaSet", "mine") or {})["metadata"]["uid"]
    world.start_operator()
    rules = [{"controller": {"kind": "ReplicaSet", "name": "mine"}}]
    world.apply(promise("Hold", cpu=4, allocateOnce=False, owners=rules))
    until_kept(world, "Hold")
    mine = asking("Hold", "p", app="")
    reference = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "mine", "uid": uid}
    mine["metadata"]["ownerReferences"] = [reference]
    world.apply(mine)
    world.until_runs("p", on="a")
    world.until("it is told", lambda: owners(world, "Hold") == ["p"] and held(world) == [1])
    gone: Json = {"metadata": {"ownerReferences": None}}
    changed(world, lambda world, _: world.patch("Pod", "p", gone), "Hold", away=True)
    assert (held(world), owners(world, "Hold")) == ([1], ["p"])


def test_an_owner_of_another_namespace_stays_one_when_the_flag_goes(world: World) -> None:
    world.start_operator(across_namespaces=True)
    rules = [{"object": {"namespace": OTHERS}}, {"labelSelector": {"matchLabels": {"app": "web"}}}]
    world.apply(promise("Hold", cpu=4, allocateOnce=False, owners=rules))
    until_kept(world, "Hold")
    world.apply(asking("Hold", "p", namespace=OTHERS))
    world.until("it runs", lambda: world.running("p", OTHERS))
    world.until("it is told", lambda: owners(world, "Hold") == ["p"] and held(world) == [1])
    world.kill_operator()
    world.start_operator()
    world.pass_time(3)
    assert (held(world), owners(world, "Hold")) == ([1], ["p"])


@pytest.mark.parametrize("door", ["gated", "ours"])
@pytest.mark.parametrize("change", [new_labels, new_rules])
def test_a_change_in_the_middle_of_a_handover_lets_nobody_else_in(
    world: World, door: str, change: Change
) -> None:
    """It comes too late, and the owner has its room, or in time, and the room stays held."""
    world.start_operator()
    for delay in DELAYS:
        world.apply(promise("Hold", cpu=8, allocateOnce=False))
        until_kept(world, "Hold")
        world.apply(*(pod(f"rival-{number}", cpu=1) for number in range(2)))
        world.pass_time(1)
        world.apply(pod("p", cpu=5, app="web", **{door: True}))
        world.pass_time(delay)
        change(world, "Hold")
        world.until(
            "one or the other", lambda: held(world) == ([3] if world.claim_of("p") else [8])
        )
        world.pass_time(2)
        got = bool(world.claim_of("p"))
        assert (held(world), owners(world, "Hold")) == (([3], ["p"]) if got else ([8], [])), delay
        assert [world.node_of(f"rival-{number}") for number in range(2)] == ["", ""], delay
        for name in ("p", "rival-0", "rival-1"):
            world.delete("Pod", name)
        world.delete("Hold", "r")
        world.until("all is gone", lambda: not world.all("Hold") and not world.ours("guardian"))


@OPERATOR
@pytest.mark.parametrize(("door", "change"), [("gated", new_labels), ("ours", new_rules)])
def test_a_slots_owner_stays_one(world: World, door: str, change: Change, away: bool) -> None:
    """The slot keeps its claim on what its owner uses, and has all of it back."""
    world.start_operator()
    world.apply(headroom("r", cpu=6, size={"perNode": {"slots": 1}}))
    world.until("the slot is held", lambda: held(world) == [6])
    world.apply(pod("stranger", cpu=2))
    world.until_runs("stranger", on="a")
    world.apply(*(pod(f"rival-{number}", cpu=number + 1) for number in range(3)))
    world.apply(pod("p", cpu=4, app="web", **{door: True}))
    world.until_runs("p", on="a")
    world.until("a claim stands", lambda: bool(world.ours("latch")) and held(world) == [2])
    world.pass_time(1.5)
    changed(world, change, "Headroom", away)
    world.pass_time(4)  # That is how long a latch without a use is kept for the next one.
    assert held(world) == [2]
    assert world.ours("latch"), "the slot gave its claim up"
    world.finish("p")
    world.until("the slot is whole again", lambda: held(world) == [6])
    assert [world.node_of(f"rival-{number}") for number in range(3)] == ["", "", ""]
