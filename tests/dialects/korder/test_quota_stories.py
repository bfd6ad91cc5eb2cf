"""Quotas at work: Orders and Tickets in a cluster in memory, from the manifest to the guardians."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from tests.dialects.korder.quota_world import world

MONDAY_8 = datetime(2027, 1, 4, 8, tzinfo=UTC)
CPU_10 = {"reserved.cpu": "10"}


def test_of_six_slots_of_two_cores_ten_cores_hold_five() -> None:
    with world() as w:
        w.quota(hard=CPU_10)
        w.order("web", replicas=6)
        w.settle()
        assert w.tickets("Ready") == [f"web-{number}" for number in range(5)]
        assert w.guardians() == 5
        assert w.used() == {"orders": "1", "tickets": "5", "reserved.cpu": "10"}
        told = w.condition("Order", "web", "Failure")
        assert (told["status"], told["reason"]) == ("True", "QuotaExceeded")
        assert told["message"] == (
            "5 of 6 slots held; Quota team: spec.hard[reserved.cpu]: "
            "used 10, wanted 2 more, at most 10"
        )


def test_orders_that_come_at_once_share_the_room_and_do_not_oversell_it() -> None:
    with world() as w:
        w.quota(hard=CPU_10)
        for number in range(7):
            w.order(f"order-{number}")
        w.settle()
        assert len(w.tickets()) == w.guardians() == 5
        assert w.used()["reserved.cpu"] == "10"


def test_tenths_of_a_core_add_up_to_cores() -> None:
    with world() as w:
        w.quota(hard={"reserved.cpu": "1"})
        w.order("web", cpu="100m", replicas=11)
        w.settle()
        assert len(w.tickets("Ready")) == 10
        assert w.used()["reserved.cpu"] == "1"


def test_a_ticket_without_room_waits_and_is_held_when_there_is_some() -> None:
    with world() as w:
        w.quota(hard={"reserved.cpu": "3"})
        w.ticket("first")
        w.settle()
        w.ticket("second")
        w.settle()
        waiting = w.get("Ticket", "second")["status"]
        assert (waiting["phase"], waiting["reason"]) == ("Pending", "QuotaExceeded")
        assert "expirationTime" not in waiting
        assert w.guardians() == 1
        w.sim.delete("Ticket", "shop", "first")
        w.settle()
        assert w.tickets("Ready") == ["second"]
        assert w.condition("Ticket", "second", "Failure")["status"] == "False"
        assert w.condition("Quota", "team", "Exceeded")["status"] == "False"


def test_a_larger_quota_lets_a_waiting_order_go_on() -> None:
    with world() as w:
        w.quota(hard={"tickets": 1})
        w.order("web", replicas=3)
        w.settle()
        assert w.tickets() == ["web-0"]
        w.sim.patch("Quota", "", "team", {"spec": {"hard": {"tickets": 3}}})
        w.settle()
        assert len(w.tickets("Ready")) == 3
        assert w.condition("Order", "web", "Failure")["status"] == "False"


def test_a_smaller_quota_takes_nothing_away() -> None:
    with world() as w:
        w.quota(hard={"tickets": 3})
        w.order("web", replicas=3)
        w.settle()
        w.sim.patch("Quota", "", "team", {"spec": {"hard": {"tickets": 1}}})
        w.settle()
        assert len(w.tickets("Ready")) == 3
        assert w.condition("Quota", "team", "Exceeded")["reason"] == "Exceeded"
        w.sim.patch("Quota", "", "team", {"spec": {"hard": {"tickets": 5}}})
        w.settle()
        assert w.condition("Quota", "team", "Exceeded")["status"] == "False"


def test_a_slot_on_every_node_counts_the_eligible_nodes() -> None:
    with world(nodes=5) as w:
        w.quota(hard=CPU_10)
        w.order("agents", cpu="3", daemonSet=True)
        w.settle()
        assert len(w.tickets("Ready")) == 3
        assert w.used()["reserved.cpu"] == "9"
        assert w.condition("Order", "agents", "Failure")["reason"] == "QuotaExceeded"


def test_namespaces_are_limited_by_their_labels() -> None:
    scope = {"type": "NamespaceSelector", "namespaceSelector": {"matchLabels": {"team": "a"}}}
    with world() as w:
        w.quota(hard={"tickets": 1}, scope=scope)
        w.sim.patch("Namespace", "", "shop", {"metadata": {"labels": {"team": "a"}}})
        w.settle(1)
        w.order("web", replicas=2)
        w.order("grain", replicas=2, namespace="mill")
        w.settle()
        assert w.tickets("Ready") == ["grain-0", "grain-1", "web-0"]
        w.sim.patch("Namespace", "", "shop", {"metadata": {"labels": {"team": "b"}}})
        w.settle()
        assert len(w.tickets("Ready")) == 4


def test_objects_are_limited_by_their_own_labels_before_they_are_made() -> None:
    kind = {"workload-type": "ml-training"}
    scope = {"type": "ObjectSelector", "objectSelector": {"matchLabels": kind}}
    with world() as w:
        w.quota(hard={"tickets": 1}, scope=scope)
        w.order("train", replicas=3, ticket_labels=kind)
        w.order("web", replicas=2)
        w.settle()
        w.ticket("by-hand", labels=kind)
        w.settle()
        assert w.tickets("Ready") == ["train-0", "web-0", "web-1"]
        assert w.tickets("Pending") == ["by-hand"]


def test_a_namespace_of_the_list_has_its_share() -> None:
    share = [{"namespace": "shop", "limits": {"reserved.cpu": "4"}}]
    with world() as w:
        scope = {"type": "NamespaceList", "namespaces": ["shop", "mill"]}
        w.quota(hard=CPU_10, scope=scope, allocation=share)
        w.order("web", replicas=3)
        w.order("grain", replicas=2, namespace="mill")
        w.settle()
        assert w.tickets("Ready") == ["grain-0", "grain-1", "web-0", "web-1"]
        told = w.condition("Order", "web", "Failure")["message"]
        assert "spec.allocation[shop].limits[reserved.cpu]: used 4, wanted 2 more" in told


def test_no_ticket_may_last_longer_than_the_quota_says() -> None:
    with world() as w:
        w.quota(hard={"max-duration": "24h"})
        w.order("day", template={"duration": "24h"})
        w.order("month", template={"duration": "720h"})
        w.settle()
        assert w.tickets() == ["day-0"]
        told = w.condition("Order", "month", "Failure")["message"]
        assert "spec.hard[max-duration]: wanted 720h, at most 24h" in told


@pytest.mark.slow
def test_windows_open_and_close_by_the_clock() -> None:
    windows = [
        {"name": "office", "schedule": "0 9-17 * * 1-5", "multiplier": "2.0"},
        {"name": "lunch", "schedule": "0 12 * * *", "multiplier": "0.1"},
    ]
    with world(at=MONDAY_8) as w:
        w.quota(hard={"reserved.cpu": "4"}, timeWindows=windows)
        w.order("web", replicas=5, template={"duration": "48h"})
        w.settle()
        assert len(w.tickets("Ready")) == 2
        assert "activeTimeWindow" not in w.get("Quota", "team")["status"]
        w.settle(3600)
        assert len(w.tickets("Ready")) == 4
        status = w.get("Quota", "team")["status"]
        assert status["activeTimeWindow"] == "office"
        assert status["hard"]["reserved.cpu"] == "8"
        w.settle(9 * 3600)
        assert len(w.tickets("Ready")) == 4
        status = w.get("Quota", "team")["status"]
        assert "activeTimeWindow" not in status
        assert status["hard"]["reserved.cpu"] == "4"
        assert w.condition("Quota", "team", "Exceeded")["reason"] == "Exceeded"


def test_extended_resources_are_limited() -> None:
    with world() as w:
        w.quota(hard={"reserved.example.com/gpu": 1})
        for name in ("a", "b"):
            w.ticket(name, more={"example.com/gpu": "1"})
        w.settle()
        assert (w.tickets("Ready"), w.tickets("Pending")) == (["a"], ["b"])
        assert w.used()["reserved.example.com/gpu"] == "1"


def test_a_ticket_whose_time_is_over_makes_room() -> None:
    with world() as w:
        w.quota(hard={"tickets": 1})
        w.ticket("short", duration="60s", lifecycle={"cleanupPolicy": "Retain"})
        w.ticket("next")
        w.settle(30)
        assert w.tickets("Pending") == ["next"]
        w.settle(40)
        assert (w.tickets("Expired"), w.tickets("Ready")) == (["short"], ["next"])
        assert w.used()["tickets"] == "1"


def test_usage_is_shown_within_two_seconds() -> None:
    with world() as w:
        w.quota(hard={"tickets": 5})
        w.settle()
        w.ticket("a")
        w.settle(2)
        assert w.used()["tickets"] == "1"
        w.sim.delete("Ticket", "shop", "a")
        w.settle(2)
        assert w.used() == {}


def test_of_two_quotas_for_the_cluster_the_older_is_in_force() -> None:
    with world() as w:
        w.quota("one", hard={"tickets": 2})
        w.settle(2)
        w.quota("another", hard={"tickets": 0})
        w.order("web", replicas=3)
        w.settle()
        assert len(w.tickets("Ready")) == 2
        assert w.condition("Quota", "another", "Enforced")["reason"] == "AnotherInForce"
        w.sim.delete("Quota", "", "one")
        w.settle()
        assert w.condition("Quota", "another", "Enforced")["status"] == "True"
        assert w.used("another")["tickets"] == "2"


def test_orders_beyond_the_limit_wait_for_a_seat() -> None:
    with world() as w:
        w.quota(hard={"orders": 1})
        w.order("first")
        w.settle(2)
        w.order("second")
        w.settle()
        assert w.tickets() == ["first-0"]
        told = w.condition("Order", "second", "Failure")
        assert told["reason"] == "QuotaExceeded"
        assert "spec.hard[orders]: used 1, wanted 1 more, at most 1" in told["message"]
        w.sim.delete("Order", "shop", "first")
        w.settle()
        assert w.tickets("Ready") == ["second-0"]


def test_a_restart_changes_nobodys_place() -> None:
    with world() as w:
        w.quota(hard={"orders": 2, "tickets": 3})
        w.order("z-first", replicas=2)
        w.settle(2)
        w.order("m-second", replicas=2)
        w.settle(2)
        w.order("a-third")
        w.ticket("hand")
        w.settle()
        before = (w.tickets("Ready"), w.tickets("Pending"))
        assert before == (["m-second-0", "z-first-0", "z-first-1"], ["hand"])
        w.restart()
        assert (w.tickets("Ready"), w.tickets("Pending")) == before
        assert w.used() == {"orders": "2", "tickets": "3", "reserved.cpu": "6"}
        assert w.condition("Order", "a-third", "Failure")["reason"] == "QuotaExceeded"


def test_a_claimed_ticket_counts_until_its_pod_ends() -> None:
    with world() as w:
        w.quota(hard={"tickets": 1})
        w.ticket("t")
        w.settle()
        container = {"name": "main", "image": "app", "resources": {"requests": {"cpu": "2"}}}
        annotations = {"korder.dev/ticket-request": "name:t"}
        gates = [{"name": "headroom.dev/claim"}]
        w.sim.apply(
            {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {"name": "p", "namespace": "shop", "annotations": annotations},
                "spec": {"containers": [container], "schedulingGates": gates},
            }
        )
        w.ticket("next")
        w.settle()
        assert (w.tickets("Claimed"), w.tickets("Pending")) == (["t"], ["next"])
        w.sim.finish("shop", "p")
        w.settle()
        assert w.tickets("Ready") == ["next"]


def test_nothing_is_written_while_nothing_changes() -> None:
    with world() as w:
        w.quota(hard={"tickets": 1})
        w.order("web", replicas=2)
        w.settle(60)
        before = [each for each in w.sim.writes if each[1].resource.kind != "ClaimIndex"]
        w.settle(600)
        after = [each for each in w.sim.writes if each[1].resource.kind != "ClaimIndex"]
        assert len(after) == len(before)


def test_what_korders_own_controller_left_does_not_keep_a_deleted_quota() -> None:
    with world() as w:
        w.quota(hard={"tickets": 1})
        left = {"metadata": {"finalizers": ["korder.dev/quota-finalizer"]}}
        w.sim.patch("Quota", "", "team", left)
        w.sim.delete("Quota", "", "team")
        w.settle()
        assert w.sim.get("Quota", "", "team") is None
