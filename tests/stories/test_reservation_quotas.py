"""Reservations and the quotas of a namespace: as in Koordinator, only the owners use them.

Guardians of Reservations live in a namespace of their own. What an administrator allows is written
on the tenant's namespace, and rules between pods mean what they meant.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from headroom.core.actions import CreateGuardian
from headroom.core.derived_names import guardian_name
from headroom.dialects.koordinator.reservations import decode_reservation
from headroom.wire.guardians import guardian_json
from headroom.wire.objects.reader import to_text
from tests.stories.reservations import EmbeddedReservations, RealReservations, owner, reservation
from tests.stories.things import Json, pod
from tests.stories.world import World

SHOP, OTHERS = "limited", "elsewhere"
APART = "headroom-reservations"
HOSTNAME = "kubernetes.io/hostname"


@pytest.fixture(params=["embedded", pytest.param("real", marks=pytest.mark.e2e)])
def world(request: pytest.FixtureRequest) -> Iterator[World]:
    here: EmbeddedReservations | RealReservations
    if request.param == "embedded":
        here = EmbeddedReservations()
    else:
        here = RealReservations(request.getfixturevalue("story_plane"))
    for name in ("a", "b"):
        here.add_node(name, cpu=8, labels={HOSTNAME: name})
    for name in (SHOP, OTHERS):
        if here.get("Namespace", name) is None:
            here.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    yield here
    limit(here, None)
    here.close()


def limit(world: World, text: str | None) -> None:
    world.patch("Namespace", SHOP, {"metadata": {"annotations": {"headroom.dev/limits": text}}})


def reserved(name: str, cpu: int, namespace: str = SHOP, app: str = "web", **spec: Any) -> Json:
    made = reservation(name, cpu, app, **spec)
    labels = made["metadata"]["labels"]
    made["spec"]["template"]["metadata"] = {
        "namespace": namespace,
        "labels": {"app": app, **labels},
    }
    return made


def limited(kind: str, spec: Json) -> Json:
    metadata = {"name": "limits", "namespace": SHOP}
    return {"apiVersion": "v1", "kind": kind, "metadata": metadata, "spec": spec}


def phase(world: World, name: str) -> str:
    return str(world.status(name, "Reservation").get("phase", ""))


def told(world: World, name: str) -> str:
    conditions = world.status(name, "Reservation").get("conditions", ())
    return " ".join(f"{each['reason']}: {each.get('message', '')}" for each in conditions)


def until_available(world: World, *names: str) -> None:
    world.until(
        f"{', '.join(names)} available",
        lambda: all(phase(world, name) == "Available" for name in names),
    )


def places(world: World) -> dict[str, str]:
    """Where each guardian is, by the name of its Reservation."""
    return {
        item["metadata"]["annotations"]["headroom.dev/parent"].rpartition("/")[2]: item["spec"].get(
            "nodeName", ""
        )
        for item in world.ours("guardian")
    }


def runs(world: World, name: str, namespace: str = SHOP) -> None:
    world.until(f"{name} runs", lambda: world.running(name, namespace))


def test_a_quota_counts_the_owner_and_not_the_reservation(world: World) -> None:
    world.apply(limited("ResourceQuota", {"hard": {"requests.cpu": "4", "pods": "1"}}))
    world.start_operator()
    world.apply(reserved("r", 3))
    until_available(world, "r")
    (guardian,) = world.ours("guardian")
    assert guardian["metadata"]["namespace"] == APART
    assert guardian["metadata"]["labels"]["headroom.dev/namespace"] == SHOP
    world.apply(owner("p", 3, namespace=SHOP))
    runs(world, "p")
    world.until("the owner has it", lambda: phase(world, "r") == "Succeeded")


def test_a_limit_range_refuses_no_guardian(world: World) -> None:
    bounds = {"type": "Container", "max": {"cpu": "1"}, "min": {"cpu": "100m"}}
    world.apply(limited("LimitRange", {"limits": [bounds]}))
    world.start_operator()
    world.apply(reserved("r", 3, allocateOnce=False))
    until_available(world, "r")
    world.apply(owner("p", 1, namespace=SHOP))
    runs(world, "p")


def test_a_limit_of_the_namespace_counts_reservations_also_after_a_restart(world: World) -> None:
    limit(world, "cpu=4")
    world.start_operator()
    world.apply(reserved("r", 3))
    until_available(world, "r")
    world.kill_operator()
    world.apply(reserved("more", 3))
    world.apply(reserved("others", 3, OTHERS))
    world.start_operator()
    until_available(world, "others")
    world.until("it is told", lambda: f"limits of namespace {SHOP}" in told(world, "more"))
    assert sorted(places(world)) == ["others", "r"]
    world.delete("Reservation", "r", "")
    until_available(world, "more")


def test_a_reservation_beyond_the_limit_that_waits_for_a_pod_closes_no_node(world: World) -> None:
    limit(world, "cpu=4")
    for name in ("a", "b"):
        world.apply(pod(f"tiny-{name}", "10m", app="web", namespace=SHOP, nodeName=name))
        runs(world, f"tiny-{name}")
    latches: list[str] = []
    world.on_look(lambda: latches.extend(each["metadata"]["name"] for each in world.ours("latch")))
    world.start_operator()
    world.apply(reserved("r", 8, preAllocation=True, allocatePolicy="Restricted"))
    world.until("it is told", lambda: f"limits of namespace {SHOP}" in told(world, "r"))
    world.apply(pod("stranger", 7))
    world.until_runs("stranger")
    assert (latches, world.ours("guardian")) == ([], [])


def test_a_guardian_that_an_older_version_made_is_kept_and_given_to_its_owner(world: World) -> None:
    world.apply(reserved("r", 3))
    found = world.get("Reservation", "r", "")
    assert found is not None
    hold = replace(decode_reservation(to_text("Reservation", found)), lodging="")
    make = CreateGuardian(guardian_name(hold), hold, hold.template.pod.requests)
    world.apply(guardian_json(make))
    world.until("it runs", lambda: bool(world.ours("guardian")[0]["spec"].get("nodeName")))
    (before,) = world.ours("guardian")
    world.start_operator()
    until_available(world, "r")
    (after,) = world.ours("guardian")
    assert (after["metadata"]["uid"], after["metadata"]["namespace"]) == (
        before["metadata"]["uid"],
        SHOP,
    )
    world.apply(owner("p", 3, namespace=SHOP))
    runs(world, "p")
    world.until("the owner has it", lambda: phase(world, "r") == "Succeeded")
    world.until("no guardian is left", lambda: not world.ours("guardian"))


def apart_from(app: str) -> Json:
    term = {"labelSelector": {"matchLabels": {"app": app}}, "topologyKey": HOSTNAME}
    return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


def test_anti_affinity_of_a_template_means_the_pods_of_its_own_namespace(world: World) -> None:
    world.apply(pod("there", 1, app="web", namespace=SHOP, nodeName="a"))
    world.apply(pod("namesake", 1, app="web", namespace=OTHERS, nodeName="b"))
    runs(world, "there")
    world.start_operator()
    world.apply(reserved("r", 1, template={"affinity": apart_from("web")}))
    until_available(world, "r")
    assert places(world) == {"r": "b"}


def test_a_spread_that_must_be_kept_to_counts_the_pods_of_the_templates_namespace(
    world: World,
) -> None:
    """A spread cannot name a namespace: such a guardian lives with the pods that it counts."""
    world.apply(pod("there", 1, app="web", namespace=SHOP, nodeName="a"))
    runs(world, "there")
    spread = {
        "maxSkew": 1,
        "topologyKey": HOSTNAME,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "web"}},
    }
    world.start_operator()
    world.apply(reserved("r", 1, template={"topologySpreadConstraints": [spread]}))
    until_available(world, "r")
    (guardian,) = world.ours("guardian")
    assert (guardian["metadata"]["namespace"], places(world)) == (SHOP, {"r": "b"})


def test_reservations_of_a_namespace_keep_apart_and_those_of_another_do_not_mind(
    world: World,
) -> None:
    world.start_operator()
    rule = {"affinity": apart_from("web")}
    world.apply(reserved("r-0", 1, template=rule), reserved("r-1", 1, template=rule))
    until_available(world, "r-0", "r-1")
    world.apply(reserved("third", 1, template=rule))
    for name in ("o-0", "o-1"):
        world.apply(reserved(name, 1, OTHERS, template=rule))
    until_available(world, "o-0", "o-1")
    found = places(world)
    assert sorted((found["r-0"], found["r-1"])) == ["a", "b"]
    assert sorted((found["o-0"], found["o-1"])) == ["a", "b"]
    world.pass_time(2)
    assert phase(world, "third") != "Available"


def test_our_scheduler_takes_a_guardian_for_a_pod_of_the_namespace_that_it_is_for(
    world: World,
) -> None:
    world.start_operator()
    world.apply(reserved("r", 1, app="cache", template={"nodeSelector": {HOSTNAME: "a"}}))
    until_available(world, "r")
    rule = {"affinity": apart_from("cache")}
    world.apply(owner("p", 1, "web", namespace=SHOP, placing=rule))
    world.apply(owner("q", 1, "web", namespace=OTHERS, placing=rule))
    runs(world, "p")
    runs(world, "q", OTHERS)
    assert world.node_of("p", SHOP) == "b"
