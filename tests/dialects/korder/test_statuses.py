"""Statuses in korder's words: what is written reads back as it was meant, and says what it says."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from headroom.core.headrooms.headrooms import HeadroomStatus
from headroom.core.headrooms.slot_values import Chronicle
from headroom.core.holds import HoldStatus, OwnerUse
from headroom.core.objects import Condition
from headroom.core.resources import EMPTY
from headroom.dialects.korder.statuses import (
    order_status_json,
    order_status_of,
    ticket_status_json,
    ticket_status_of,
)
from headroom.wire.objects.reader import to_text
from tests.builders import resources
from tests.dialects.korder.things import order, refusals, ticket

NOON = datetime(2027, 1, 4, 12, tzinfo=UTC)
ROOM = resources(cpu=2, memory="1Gi")


def conditions(reason: str, message: str, *true: str) -> tuple[Condition, ...]:
    return tuple(
        Condition(
            kind, "True" if kind in true else "False", reason, message, NOON + number * HOUR, 3
        )
        for number, kind in enumerate(("Ready", "Progressing", "Degraded"))
    )


HOUR = timedelta(hours=1)
OWNER = (OwnerUse("shop", "web-7f9c-x", "uid-of-pod"),)
CLOCK = Chronicle(NOON, NOON + HOUR, guardian="korder-guardian-web-0")
WAITING = HoldStatus(
    "Pending",
    conditions=conditions("WaitingForNode", "", "Progressing"),
    observed_generation=3,
    chronicle=CLOCK,
)
READY = HoldStatus(
    "Available",
    "node-a",
    ROOM,
    conditions=conditions("Available", "", "Ready"),
    observed_generation=3,
    chronicle=CLOCK,
)
CLAIMED = HoldStatus(
    "Succeeded",
    "node-a",
    ROOM,
    resources(cpu=1, memory="1Gi"),
    OWNER,
    conditions("Succeeded", ""),
    3,
    replace(CLOCK, claimed=NOON + HOUR / 2, guardian=""),
)
EXPIRED = HoldStatus(
    "Failed",
    "node-a",
    ROOM,
    conditions=conditions("Expired", "expired at 13:00"),
    observed_generation=3,
    chronicle=replace(CLOCK, ended=NOON + HOUR, guardian=""),
)
FAILED = HoldStatus(
    "Pending",
    conditions=conditions("Unschedulable", "0/3 nodes: no cpu", "Degraded"),
    observed_generation=3,
    chronicle=Chronicle(),
)


def read_back(status: HoldStatus) -> HoldStatus:
    return ticket_status_of(to_text("Ticket", ticket_status_json(status, "shop")), ROOM)


def by_type(written: dict[str, Any]) -> dict[str, tuple[str, str]]:
    return {each["type"]: (each["status"], each["reason"]) for each in written["conditions"]}


@pytest.mark.parametrize(
    "status", [WAITING, READY, CLAIMED, EXPIRED, FAILED], ids=lambda s: s.phase
)
def test_a_tickets_status_reads_back_as_it_was_meant(status: HoldStatus) -> None:
    assert read_back(status) == status
    written = {**ticket(), "status": ticket_status_json(status, "shop")}
    assert refusals(written) == []


def test_a_ready_ticket_names_its_guardian_in_both_spellings_and_its_node() -> None:
    written = ticket_status_json(READY, "shop")
    assert (written["phase"], written["reason"], written["nodeName"]) == (
        "Ready",
        "Ready",
        "node-a",
    )
    assert written["guardianPod"] == "shop/korder-guardian-web-0"
    assert (written["podNamespace"], written["podName"]) == ("shop", "korder-guardian-web-0")
    assert written["activationTime"] == "2027-01-04T12:00:00Z"
    assert written["expirationTime"] == "2027-01-04T13:00:00Z"
    assert by_type(written)["Ready"] == by_type(written)["GuardianReady"] == ("True", "Ready")


def test_a_pending_ticket_has_no_node_at_all() -> None:
    assert "nodeName" not in ticket_status_json(WAITING, "shop")
    assert ticket_status_json(WAITING, "shop")["reason"] == "Activated"


def test_a_claimed_ticket_says_by_whom_and_names_no_guardian() -> None:
    written = ticket_status_json(CLAIMED, "shop")
    assert (written["phase"], written["reason"]) == ("Claimed", "Claimed")
    assert written["claimedPod"] == "shop/web-7f9c-x"
    assert written["claimedPodUID"] == "uid-of-pod"
    assert written["claimedTime"] == "2027-01-04T12:30:00Z"
    assert written["utilizationRate"] == "100%"
    assert "guardianPod" not in written
    assert by_type(written)["Ready"] == ("True", "Claimed")
    assert by_type(written)["GuardianReady"] == ("False", "Claimed")


def test_an_expired_ticket_is_not_ready_any_more() -> None:
    written = ticket_status_json(EXPIRED, "shop")
    assert (written["phase"], written["reason"]) == ("Expired", "Expired")
    assert by_type(written)["Ready"] == ("False", "Expired")
    assert by_type(written)["Expiring"] == ("True", "Expired")


def test_what_went_wrong_is_failed_with_our_word_before_the_message() -> None:
    written = ticket_status_json(FAILED, "shop")
    assert written["reason"] == "Failed"
    assert written["message"] == "Unschedulable: 0/3 nodes: no cpu"
    assert by_type(written)["Failure"] == ("True", "Failed")


def test_a_ticket_of_korders_first_version_is_read() -> None:
    older = {"phase": "Reserved", "podName": "korder-guardian-web-0", "nodeName": ""}
    status = ticket_status_of(to_text("Ticket", older), ROOM)
    assert (status.phase, status.node, status.allocatable) == ("Available", "", EMPTY)
    assert status.chronicle == Chronicle(guardian="korder-guardian-web-0")


def test_a_status_that_makes_no_sense_counts_as_none() -> None:
    assert ticket_status_of(b'{"phase": 7}', ROOM) == HoldStatus()
    assert ticket_status_of(b"", ROOM) == HoldStatus()
    assert order_status_of(b'{"replicas": "many"}') == HeadroomStatus()


ORDER = HeadroomStatus(
    desired=5,
    held=3,
    pending=1,
    claimed=7,
    hits=7,
    misses=2,
    next_start=NOON + HOUR,
    last_start=NOON,
    objects=6,
    ended=1,
    updated=4,
    selector="a=b",
    spent=("3", "node-a"),
    conditions=conditions("Held", "3 of 5 slots held", "Progressing"),
    observed_generation=3,
)


@pytest.mark.parametrize(
    "status",
    [
        ORDER,
        replace(ORDER, conditions=conditions("Paused", "spec.paused", "Ready")),
        replace(ORDER, conditions=conditions("InvalidSpec", "spec.x: is missing", "Degraded")),
        replace(ORDER, conditions=conditions("NothingToHold", "", "Degraded")),
        HeadroomStatus(),
    ],
    ids=lambda status: status.conditions[0].reason if status.conditions else "none",
)
def test_an_orders_status_reads_back_as_it_was_meant(status: HeadroomStatus) -> None:
    written = order_status_json(status)
    assert order_status_of(to_text("Order", written)) == status
    assert refusals({**order(), "status": written}) == []


def test_an_orders_counts_stand_under_korders_names() -> None:
    written = order_status_json(ORDER)
    assert written["replicas"] == 6
    assert written["availableReplicas"] == 3
    assert written["unavailableReplicas"] == 1
    assert written["terminalReplicas"] == 1
    assert written["updatedReplicas"] == 4
    assert written["claimedReplicas"] == 7
    assert written["lastScheduleTime"] == "2027-01-04T12:00:00Z"
    assert order_status_json(HeadroomStatus())["availableReplicas"] == 0


def test_failure_is_true_only_while_something_is_wrong() -> None:
    wrong = replace(ORDER, conditions=conditions("InvalidSpec", "spec.x", "Degraded"))
    assert by_type(order_status_json(wrong))["Failure"] == ("True", "Failed")
    assert by_type(order_status_json(wrong))["Ready"] == ("False", "Failed")
    right = replace(ORDER, conditions=conditions("Held", "", "Ready"))
    assert by_type(order_status_json(right)) == {
        "Ready": ("True", "Ready"),
        "Progressing": ("False", "Ready"),
        "Failure": ("False", "Ready"),
    }
    paused = replace(ORDER, conditions=conditions("Paused", "", "Ready"))
    assert by_type(order_status_json(paused))["Ready"] == ("True", "Paused")
