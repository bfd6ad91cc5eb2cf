"""Who does not get in, and what a mistake costs: nobody else's room, told where its author looks.

Each story is told of the three kinds that hold room. The room fills the node but for a little, so
that whoever gets in by mistake is seen to.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.stories.reservations import (
    PREFIX,
    EmbeddedReservations,
    RealReservations,
    owner,
    reservation,
)
from tests.stories.things import NAMESPACE, Json, headroom, hold, pod
from tests.stories.world import World

ALLOCATED = f"{PREFIX}/reservation-allocated"
OTHERS = "elsewhere"
APART = "headroom-reservations"  # where guardians of Reservations live
HELD_CPU = 3
KINDS = pytest.mark.parametrize("kind", ["Hold", "Headroom", "Reservation"])


@pytest.fixture(params=["embedded", pytest.param("real", marks=pytest.mark.e2e)])
def world(request: pytest.FixtureRequest) -> Iterator[World]:
    here: EmbeddedReservations | RealReservations
    if request.param == "embedded":
        here = EmbeddedReservations()
    else:
        here = RealReservations(request.getfixturevalue("story_plane"))
    here.add_node("a", cpu=HELD_CPU + 1)
    if here.get("Namespace", OTHERS) is None:
        here.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": OTHERS}})
    here.start_operator()
    yield here
    here.close()


def promise(kind: str, name: str = "r", cpu: int = HELD_CPU, **spec: Any) -> Json:
    """Room for pods labelled `app: web` of namespace default."""
    if kind == "Hold":
        return hold(name, cpu, **spec)
    if kind == "Reservation":
        return reservation(name, cpu, **spec)
    return headroom(name, cpu, **spec)


def asking(kind: str, name: str, cpu: int = HELD_CPU, app: str = "web", **spec: Any) -> Json:
    """A pod that comes by the door of this kind."""
    if kind == "Reservation":
        return owner(name, cpu, app, **spec)
    return pod(name, cpu, app, gated=True, **spec)


def kept(world: World, kind: str, name: str = "r") -> bool:
    status = world.status(name, kind)
    if kind == "Headroom":
        return (status.get("desired"), status.get("held")) == (1, 1)
    return bool(status.get("phase") == "Available")


def until_kept(world: World, kind: str, name: str = "r") -> None:
    world.until(f"{kind} {name} is kept", lambda: kept(world, kind, name))


def told(world: World, kind: str, name: str = "r") -> str:
    """All that an object says of itself, a condition a line."""
    return "\n".join(
        f"{each['type']}={each['status']} {each.get('reason', '')}: {each.get('message', '')}"
        for each in world.status(name, kind).get("conditions", ())
    )


def guardians(world: World, name: str = "r") -> list[Json]:
    """The living guardians of an object."""
    return [
        each
        for each in world.ours("guardian")
        if each["metadata"]["namespace"] in (NAMESPACE, APART)
        and "deletionTimestamp" not in each["metadata"]
        and each["metadata"]["annotations"]["headroom.dev/parent"].endswith(f"/{name}")
    ]


def until_turned_away(world: World, name: str, namespace: str = NAMESPACE) -> None:
    def so() -> bool:
        found = world.get("Pod", name, namespace) or {}
        conditions = found.get("status", {}).get("conditions", ())
        refused = any(
            each["type"] == "PodScheduled" and each.get("reason") == "Unschedulable"
            for each in conditions
        )
        return refused and not found["spec"].get("nodeName")

    world.until(f"{namespace}/{name} finds no room", so)


def the_owner_gets_in(world: World, kind: str) -> None:
    """Whoever else came, the room is there for whom it is kept."""
    world.apply(asking(kind, "rightful"))
    world.until_runs("rightful", on="a")
    home = "" if kind == "Reservation" else NAMESPACE
    assert world.claim_of("rightful") == f"{kind}/{home}/r"
    if kind != "Headroom":
        world.until("it is used", lambda: world.status("r", kind).get("phase") == "Succeeded")


@KINDS
def test_a_pod_of_another_namespace_does_not_get_in(world: World, kind: str) -> None:
    world.apply(promise(kind))
    until_kept(world, kind)
    world.apply(asking(kind, "intruder", namespace=OTHERS))
    until_turned_away(world, "intruder", OTHERS)
    the_owner_gets_in(world, kind)
    assert world.node_of("intruder", OTHERS) == ""
    assert world.claim_of("intruder", OTHERS) == ""


@KINDS
def test_a_pod_with_borrowed_labels_does_not_get_in(world: World, kind: str) -> None:
    """Labels are half of the rule: the pod must belong to the workload as well."""
    world.apply(workload := {**parent(), "metadata": {"name": "mine", "namespace": NAMESPACE}})
    found = world.get("ReplicaSet", "mine") or {}
    reference = {
        "apiVersion": workload["apiVersion"],
        "kind": workload["kind"],
        "name": "mine",
        "uid": found["metadata"]["uid"],
    }
    both = [{"controller": reference, "labelSelector": {"matchLabels": {"app": "web"}}}]
    world.apply(promise(kind, owners=both))
    until_kept(world, kind)
    world.apply(asking(kind, "borrower"))
    until_turned_away(world, "borrower")
    mine = asking(kind, "rightful-one")
    mine["metadata"]["ownerReferences"] = [reference]
    world.apply(mine)
    world.until_runs("rightful-one", on="a")
    assert world.node_of("borrower") == ""
    assert world.claim_of("rightful-one") != ""


def parent() -> Json:
    """A workload that makes no pods."""
    labels = {"app": "nobody"}
    template = {"metadata": {"labels": labels}, "spec": pod("x")["spec"]}
    template["spec"].pop("terminationGracePeriodSeconds")
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "spec": {"replicas": 0, "selector": {"matchLabels": labels}, "template": template},
    }


@KINDS
def test_a_pod_with_a_guardians_labels_is_no_guardian(world: World, kind: str) -> None:
    world.add_node("b", cpu=1)
    world.apply(promise(kind))
    until_kept(world, kind)
    (true,) = guardians(world)
    forged = pod(true["metadata"]["name"], "100m", namespace=OTHERS, nodeName="b")
    for part in ("labels", "annotations"):
        forged["metadata"][part] = true["metadata"][part]
    world.apply(forged)
    world.pass_time(3)
    (still,) = guardians(world)
    assert still["metadata"]["uid"] == true["metadata"]["uid"]
    assert kept(world, kind)
    the_owner_gets_in(world, kind)


@pytest.mark.parametrize("kind", ["Hold", "Reservation"])
def test_a_forged_guardian_does_not_move_room_that_is_in_use(world: World, kind: str) -> None:
    """While all of it is in use there is no true guardian that would give the lie."""
    world.add_node("b", cpu=HELD_CPU + 1)
    world.apply(promise(kind, allocateOnce=False))
    until_kept(world, kind)
    (true,) = guardians(world)
    here = true["spec"]["nodeName"]
    world.apply(asking(kind, "p"))
    world.until_runs("p", on=here)
    world.until("all is in use", lambda: bool(world.status("r", kind).get("currentOwners")))
    world.until("nobody guards it", lambda: guardians(world) == [])
    there = "b" if here == "a" else "a"
    forged = pod(true["metadata"]["name"], "100m", namespace=OTHERS, nodeName=there)
    for part in ("labels", "annotations"):
        forged["metadata"][part] = true["metadata"][part]
    world.apply(forged)
    world.pass_time(3)
    assert [each["name"] for each in world.status("r", kind)["currentOwners"]] == ["p"]
    assert world.status("r", kind)["nodeName"] == here
    assert guardians(world) == []


@KINDS
@pytest.mark.parametrize("where", [OTHERS, NAMESPACE])
def test_a_forged_claim_makes_nobody_an_owner(world: World, kind: str, where: str) -> None:
    more: Json = {"refill": "Never"} if kind == "Headroom" else {}
    world.apply(promise(kind, **more))
    until_kept(world, kind)
    uid = (world.get(kind, "r") or {})["metadata"]["uid"]
    home = "" if kind == "Reservation" else NAMESPACE
    forged = {
        "headroom.dev/claimed": f"{kind}/{home}/r",
        "headroom.dev/claimed-uid": uid,
        ALLOCATED: json.dumps({"name": "r", "uid": uid}),
        **({"headroom.dev/claimed-slot": "0"} if kind == "Headroom" else {}),
    }
    app = "web" if where == OTHERS else "other"
    world.apply(pod("liar", 1, app, namespace=where, annotations=forged))
    world.until("it runs on free room", lambda: world.running("liar", where))
    world.patch("Pod", "liar", {"metadata": {"annotations": forged}}, where)
    world.pass_time(1)
    world.kill_operator()
    guardian = guardians(world)[0]["metadata"]
    world.delete("Pod", guardian["name"], guardian["namespace"])
    world.start_operator()
    world.until("it is held again", lambda: len(guardians(world)) == 1 and kept(world, kind))
    assert not world.status("r", kind).get("currentOwners")
    assert not world.status("r", kind).get("claimed")
    the_owner_gets_in(world, kind)


@KINDS
def test_a_guardians_name_that_somebody_took_is_told_and_costs_nobody_else(
    world: World, kind: str
) -> None:
    world.apply(promise(kind, cpu=1))
    until_kept(world, kind)
    (guardian,) = guardians(world)
    name, there = guardian["metadata"]["name"], guardian["metadata"]["namespace"]
    world.kill_operator()
    world.delete("Pod", name, there)
    world.until("it is gone", lambda: world.get("Pod", name, there) is None)
    world.apply(pod(name, "100m", namespace=there))
    world.start_operator()
    said = f"pod {there}/{name} has the guardian's name"
    world.until("it is told", lambda: said in told(world, kind))
    assert not kept(world, kind)
    world.apply(promise(kind, "good", cpu=1))
    until_kept(world, kind, "good")
    world.until("it is left alone", lambda: world.running(name, there))
    world.delete("Pod", name, there)
    until_kept(world, kind)


@pytest.mark.parametrize("kind", ["Hold", "Headroom"])
def test_room_beyond_the_namespaces_quota_is_not_held_and_told_so(world: World, kind: str) -> None:
    world.apply(quota("2"))
    world.until("the quota counts", lambda: "used" in world.status("q", "ResourceQuota"))
    world.pass_time(1)  # Admission learns of a quota by a way of its own.
    world.apply(promise(kind, cpu=3), promise(kind, "small", cpu=1))
    until_kept(world, kind, "small")
    world.until("it is told", lambda: "exceeded quota: q" in told(world, kind))
    assert guardians(world) == []
    world.patch("ResourceQuota", "q", {"spec": {"hard": {"requests.cpu": "4"}}})
    world.until("it is held", lambda: kept(world, kind), seconds=60)


def quota(cpu: str) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "q", "namespace": NAMESPACE},
        "spec": {"hard": {"requests.cpu": cpu}},
    }


@KINDS
def test_room_that_a_more_important_pod_took_is_told_and_held_again(
    world: World, kind: str
) -> None:
    """Of what the cluster itself needs nobody is spared."""
    world.apply(promise(kind))
    until_kept(world, kind)
    world.apply(pod("critical", 4, priorityClassName="system-node-critical"))
    world.until_runs("critical", on="a")
    world.until("it says so", lambda: "Insufficient cpu" in told(world, kind))
    assert not kept(world, kind)
    world.delete("Pod", "critical")
    world.until("it is held again", lambda: kept(world, kind), seconds=60)


@KINDS
def test_room_that_a_pod_took_past_all_schedulers_is_told(world: World, kind: str) -> None:
    """A kubelet turns such a pod away; where it does not, the object says what is lost."""
    world.apply(promise(kind))
    until_kept(world, kind)
    world.apply(pod("thief", 2, nodeName="a"))
    said = "other pods took held room: those on a ask for 1 cpu more than it has"

    def turned_away() -> bool:
        return bool((world.get("Pod", "thief") or {})["status"].get("phase") == "Failed")

    world.until("it says so", lambda: turned_away() or said in told(world, kind))
    if not turned_away():
        assert "Degraded=True" in told(world, kind)
    world.delete("Pod", "thief")
    world.until("it is whole", lambda: "took held room" not in told(world, kind))
    the_owner_gets_in(world, kind)


def bad_reservation(**spec: Any) -> Json:
    made = reservation("r", 1)
    made["spec"].update(spec)
    return made


LOTS = {"containers": [{"name": "m", "resources": {"requests": {"cpu": "lots"}}}]}
NEAR = {"matchExpressions": [{"key": "app", "operator": "Near", "values": ["web"]}]}


@pytest.mark.parametrize(
    ("bad", "where"),
    [
        ({"template": "x"}, "spec.template: "),
        ({"template": {"spec": 7}}, "spec.template.spec: "),
        ({"template": {"spec": LOTS}}, "spec.template.spec.containers[0].resources.requests"),
        ({"ttl": "banana"}, "spec.ttl: "),
        ({"owners": [{"labelSelector": NEAR}]}, "spec.owners[0].labelSelector"),
    ],
    ids=["text", "number", "amount", "ttl", "selector"],
)
def test_what_makes_no_sense_is_told_and_nothing_is_held_by_mistake(
    world: World, bad: Json, where: str
) -> None:
    world.apply(bad_reservation(**bad), reservation("good", 1, app="good"))
    until_kept(world, "Reservation", "good")
    world.until("it is told", lambda: where in told(world, "Reservation"))
    assert "Scheduled=False InvalidSpec" in told(world, "Reservation")
    assert guardians(world) == []
    world.apply(owner("p", 1, app="good"), owner("q", HELD_CPU))
    world.until_runs("p", on="a")
    world.until_runs("q", on="a")  # Nothing is kept from it either.
    assert ALLOCATED not in (world.get("Pod", "q") or {})["metadata"].get("annotations", {})


def test_a_selector_that_is_mended_makes_the_reservation_usable(world: World) -> None:
    world.apply(bad_reservation(owners=[{"labelSelector": NEAR}]))
    world.until("it is told", lambda: "InvalidSpec" in told(world, "Reservation"))
    good = reservation("r")["spec"]["owners"]
    world.patch("Reservation", "r", {"spec": {"owners": good}}, "")
    until_kept(world, "Reservation")
    the_owner_gets_in_small(world)


def the_owner_gets_in_small(world: World) -> None:
    world.apply(owner("p", 1))
    world.until_runs("p", on="a")
    world.until("it is used", lambda: world.status("r", "Reservation")["phase"] == "Succeeded")


def test_a_field_in_the_wrong_place_is_told_and_exactly_the_rest_is_held(world: World) -> None:
    made = reservation("r", 1)
    made["spec"]["template"]["namespace"] = "lost"
    world.apply(made)
    until_kept(world, "Reservation")
    assert "spec.template.namespace: no such field" in told(world, "Reservation")
    (guardian,) = guardians(world)
    assert guardian["spec"]["containers"][0]["resources"]["requests"] == {"cpu": "1"}
    the_owner_gets_in_small(world)


def test_an_end_in_the_past_holds_nothing_whatever_the_ttl_says(world: World) -> None:
    world.apply(reservation("r", 1, ttl="1h", expires="2020-01-01T00:00:00Z"))
    world.until("it is over", lambda: world.status("r", "Reservation").get("phase") == "Failed")
    assert "Ready=False Expired: expired at 2020-01-01" in told(world, "Reservation")
    assert guardians(world) == []


@pytest.mark.parametrize(
    ("ttl", "expires", "says"),
    [
        ("1h", "2999-01-01T00:00:00Z", "spec.expires: is after the end of ttl 1h"),
        ("0s", "2020-01-01T00:00:00Z", "spec.expires: has no effect beside ttl 0"),
    ],
)
def test_an_end_that_has_no_effect_is_told(world: World, ttl: str, expires: str, says: str) -> None:
    world.apply(reservation("r", 1, ttl=ttl, expires=expires))
    until_kept(world, "Reservation")
    assert says in told(world, "Reservation")
