"""Tickets: kept by a guardian, claimed by who asks for them, over when their time is."""

from __future__ import annotations

from datetime import timedelta

from headroom.wire.times import parse_time
from tests.stories.embedded import EmbeddedWorld
from tests.stories.korder.things import asking, guardians, phases, ticket, until_phases
from tests.stories.world import World


def test_a_ticket_is_kept_by_its_guardian_and_says_where(world: World) -> None:
    world.add_node("a")
    world.start_operator()
    world.apply(ticket())
    until_phases(world, solo="Ready")
    status = world.status("solo", "Ticket")
    assert status["nodeName"] == "a"
    assert status["guardianPod"] == "default/korder-guardian-solo"
    assert guardians(world) == {"korder-guardian-solo": "a"}
    made = world.get("Ticket", "solo") or {}
    assert made["metadata"]["finalizers"] == ["korder.dev/ticket-finalizer"]


def test_a_ticket_is_pending_and_nowhere_while_there_is_no_room(world: World) -> None:
    world.add_node("a", cpu=2)
    world.start_operator()
    world.apply(ticket(cpu=50))
    world.until(
        "the ticket says why",
        lambda: "Unschedulable" in str(world.status("solo", "Ticket").get("message", "")),
    )
    status = world.status("solo", "Ticket")
    assert (status["phase"], status["reason"]) == ("Pending", "Failed")
    assert "nodeName" not in status


def test_a_guardian_that_is_lost_is_made_again_and_the_end_stays(world: World) -> None:
    world.add_node("a")
    world.start_operator()
    world.apply(ticket())
    until_phases(world, solo="Ready")
    before = world.status("solo", "Ticket")["expirationTime"]
    lost = world.ours("guardian")[0]["metadata"]["uid"]
    world.delete("Pod", "korder-guardian-solo")
    world.until(
        "another guardian stands",
        lambda: [each["metadata"]["uid"] for each in world.ours("guardian")] not in ([], [lost]),
    )
    until_phases(world, solo="Ready")
    assert world.status("solo", "Ticket")["expirationTime"] == before


def test_a_guardian_that_has_failed_is_replaced(world: World) -> None:
    world.add_node("a")
    world.start_operator()
    world.apply(ticket())
    until_phases(world, solo="Ready")
    lost = world.ours("guardian")[0]["metadata"]["uid"]
    world.finish("korder-guardian-solo", "Failed")
    world.until(
        "another guardian stands",
        lambda: [each["metadata"]["uid"] for each in world.ours("guardian")] not in ([], [lost]),
    )
    until_phases(world, solo="Ready")


def test_a_ticket_that_is_deleted_takes_its_guardian_along(world: World) -> None:
    world.add_node("a")
    world.start_operator()
    world.apply(ticket())
    until_phases(world, solo="Ready")
    world.delete("Ticket", "solo")
    world.until("all is gone", lambda: not phases(world) and not guardians(world))


def test_a_pod_that_asks_gets_the_tickets_room_and_the_ticket_says_so(world: World) -> None:
    world.add_node("a", cpu=1)
    world.add_node("b", cpu=1)
    world.start_operator()
    world.apply(ticket(nodeName="b"))
    until_phases(world, solo="Ready")
    world.apply(asking("p", "name:solo"))
    world.until_runs("p", on="b")
    until_phases(world, solo="Claimed")
    status = world.status("solo", "Ticket")
    owner = world.get("Pod", "p") or {}
    assert status["claimedPod"] == "default/p"
    assert status["claimedPodUID"] == owner["metadata"]["uid"]
    assert "guardianPod" not in status
    annotations = owner["metadata"]["annotations"]
    assert annotations["korder.dev/ticket-claimed"] == "solo"
    assert annotations["korder.dev/ticket-node"] == "b"


def test_a_claimed_ticket_is_closed_when_its_pod_has_ended(world: World) -> None:
    world.add_node("a")
    world.start_operator()
    world.apply(ticket(lifecycle={"cleanupPolicy": "Retain"}))
    until_phases(world, solo="Ready")
    world.apply(asking("p", "solo"))
    world.until_runs("p")
    until_phases(world, solo="Claimed")
    world.finish("p")
    until_phases(world, solo="Expired")
    status = world.status("solo", "Ticket")
    assert status["claimedPod"] == "default/p"
    assert status["reason"] == "Finished"


def test_a_ticket_expires_at_its_time_and_is_deleted_after_its_ttl(world: World) -> None:
    world.add_node("a")
    world.start_operator()
    world.apply(ticket(duration="5s", lifecycle={"ttlSecondsAfterFinished": 3}))
    until_phases(world, solo="Ready")
    world.pass_time(2)
    until_phases(world, solo="Ready", seconds=1)
    until_phases(world, solo="Expired", seconds=10)
    world.until("the guardian is gone", lambda: not guardians(world))
    world.until("the ticket is gone", lambda: not phases(world), seconds=8)


def test_a_ticket_with_no_ttl_goes_at_once_and_one_that_is_retained_stays(world: World) -> None:
    world.add_node("a")
    world.start_operator()
    world.apply(
        ticket("gone", duration="3s", lifecycle={"ttlSecondsAfterFinished": 0}),
        ticket("kept", duration="3s", lifecycle={"cleanupPolicy": "Retain"}),
    )
    until_phases(world, gone="Ready", kept="Ready")
    until_phases(world, kept="Expired", seconds=10)
    world.pass_time(2)
    assert phases(world) == {"kept": "Expired"}
    assert guardians(world) == {}


def test_nothing_happens_for_an_hour_and_the_ticket_still_ends_on_time(
    embedded: EmbeddedWorld,
) -> None:
    embedded.add_node("a")
    embedded.start_operator()
    embedded.apply(ticket(duration="1h", lifecycle={"cleanupPolicy": "Retain"}))
    until_phases(embedded, solo="Ready")
    status = embedded.status("solo", "Ticket")
    ends = parse_time(status["expirationTime"])
    assert (ends - parse_time(status["activationTime"])).total_seconds() == 3600
    embedded.pass_time((ends - embedded.sim.clock.now()).total_seconds() - 1)
    assert phases(embedded) == {"solo": "Ready"}
    embedded.pass_time(3)
    assert phases(embedded) == {"solo": "Expired"}


def test_a_ticket_that_starts_later_is_pending_until_then(embedded: EmbeddedWorld) -> None:
    embedded.add_node("a")
    embedded.start_operator()
    start = embedded.sim.clock.now().replace(microsecond=0)
    local = start + timedelta(minutes=20)
    text = local.strftime("%Y-%m-%dT%H:%M:%S")
    embedded.apply(ticket(window={"startTime": f"{text}Z", "duration": "30m"}))
    embedded.pass_time(60)
    assert phases(embedded) == {"solo": "Pending"}
    assert guardians(embedded) == {}
    embedded.pass_time((local - embedded.sim.clock.now()).total_seconds() + 5)
    assert phases(embedded) == {"solo": "Ready"}
    status = embedded.status("solo", "Ticket")
    assert status["activationTime"] == f"{text}Z"
    ends = parse_time(status["expirationTime"])
    assert ends - local == timedelta(minutes=30)


def test_a_claimed_ticket_is_its_pods_for_as_long_as_it_runs(embedded: EmbeddedWorld) -> None:
    embedded.add_node("a")
    embedded.start_operator()
    embedded.apply(ticket(duration="10m"))
    until_phases(embedded, solo="Ready")
    embedded.apply(asking("p", "solo"))
    until_phases(embedded, solo="Claimed")
    embedded.pass_time(1200)
    assert phases(embedded) == {"solo": "Claimed"}
    assert embedded.running("p")


def test_a_guardian_that_is_refused_starts_no_clock_and_is_tried_again(
    embedded: EmbeddedWorld,
) -> None:
    embedded.add_node("a")
    quota = {"hard": {"pods": "0"}}
    embedded.apply(
        {
            "apiVersion": "v1",
            "kind": "ResourceQuota",
            "metadata": {"name": "none", "namespace": "default"},
            "spec": quota,
        }
    )
    embedded.start_operator()
    embedded.apply(ticket(duration="1m"))
    embedded.pass_time(300)
    status = embedded.status("solo", "Ticket")
    assert (status["phase"], status["reason"]) == ("Pending", "Failed")
    assert "quota" in status["message"]
    assert "activationTime" not in status
    embedded.patch("ResourceQuota", "none", {"spec": {"hard": {"pods": "10"}}})
    until_phases(embedded, solo="Ready", seconds=180)


def test_an_operator_that_was_gone_finds_the_guardian_that_it_made(embedded: EmbeddedWorld) -> None:
    embedded.add_node("a")
    embedded.start_operator()
    embedded.cut_operator_after(2)  # The finalizer and the guardian, not the status.
    embedded.apply(ticket())
    embedded.until("the operator is cut off", embedded.operator_is_cut)
    embedded.pass_time(5)
    before = guardians(embedded)
    assert before == {"korder-guardian-solo": "a"}
    embedded.kill_operator()
    embedded.start_operator()
    until_phases(embedded, solo="Ready")
    assert guardians(embedded) == before
