"""What Koordinator's status says, written and read back without loss of what decides."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from headroom.core.findings.doors import with_remark
from headroom.core.holds import Hold, HoldStatus, OwnerUse
from headroom.core.resources import EMPTY, Resources
from headroom.core.statuses import Facts, status_of
from headroom.dialects.koordinator.statuses import status_json
from tests.builders import resources
from tests.dialects.koordinator.objects import Json, reservation

NOON = datetime(2027, 1, 4, 12, tzinfo=UTC)
LATER = NOON + timedelta(minutes=5)
STAMP = "2027-01-04T12:05:00Z"
OWNERS = (OwnerUse("default", "p", "uid-p"),)
HELD = {"type": "Scheduled", "status": "True", "reason": "Scheduled"}


def written(hold: Hold, facts: tuple[Any, ...], owners: tuple[OwnerUse, ...] = ()) -> HoldStatus:
    phase, reason, message, node, used, degraded = facts
    return status_of(Facts(hold, phase, reason, message, node, used, degraded), LATER, owners)


def state(
    phase: str,
    reason: str,
    message: str = "",
    node: str = "node-1",
    used: Resources = EMPTY,
    degraded: bool = False,
) -> tuple[Any, ...]:
    return phase, reason, message, node, used, degraded


STATES = [
    state("Pending", "WaitingForNode", node=""),
    state("Pending", "WaitingForNode", "spec.expires: is odd", node=""),
    state("Pending", "Unschedulable", "0/1 nodes are available", node="", degraded=True),
    state("Pending", "GuardianRefused", "exceeded quota", node="", degraded=True),
    state("Pending", "InvalidSpec", "spec.ttl: bad", node=""),
    state("Waiting", "WaitingForRoom", "until pod x ends"),
    state("Available", "Available"),
    state("Available", "Available", "spec.expires: is odd"),
    state("Available", "FullyUsed", "all of it is in use", used=resources(4, "8Gi")),
    state("Available", "PartiallyHeld", "part is used by other pods", degraded=True),
    state("Available", "PartiallyHeld", "part is used by other pods"),
    state("Succeeded", "Succeeded", used=resources(1)),
    state("Failed", "Expired", "expired at noon"),
    state("Failed", "Expired", "expired at noon", node=""),
]


@pytest.mark.parametrize("facts", STATES)
def test_what_is_written_asks_for_no_second_write(facts: tuple[Any, ...]) -> None:
    fresh = reservation(generation=2)
    meant = written(fresh, facts, OWNERS if facts[4] else ())
    seen = reservation(status=status_json(meant), generation=2)
    assert replace(seen.status, conditions=()) == replace(meant, conditions=())
    assert written(seen, facts, OWNERS if facts[4] else ()) == seen.status


@pytest.mark.parametrize("facts", STATES)
def test_the_reading_is_about_the_generation_that_is_seen(facts: tuple[Any, ...]) -> None:
    seen = reservation(status=status_json(written(reservation(), facts)), generation=9)
    assert {condition.generation for condition in seen.status.conditions} == {9}


@pytest.mark.parametrize("facts", STATES)
def test_what_is_told_of_doors_reads_back(facts: tuple[Any, ...]) -> None:
    about = (2, LATER)
    meant = written(reservation(generation=2), facts)
    told = replace(meant, conditions=with_remark(meant.conditions, (), "no door", about))
    seen = reservation(status=status_json(told), generation=2).status
    assert seen.conditions[-1] == told.conditions[-1]
    assert with_remark(seen.conditions, seen.conditions, "no door", about) == seen.conditions


def test_a_new_object_has_no_status() -> None:
    assert reservation().status == HoldStatus()


def test_while_nothing_is_to_say_only_the_phase_is_written() -> None:
    assert status_json(written(reservation(), STATES[0])) == {"phase": "Pending"}


def test_an_attempt_that_failed_is_told_as_koordinator_tells_it() -> None:
    facts = state("Pending", "Unschedulable", "0/1 nodes", node="", degraded=True)
    assert status_json(written(reservation(), facts)) == {
        "phase": "Pending",
        "conditions": [
            {
                "type": "Scheduled",
                "status": "False",
                "reason": "Unschedulable",
                "message": "0/1 nodes",
                "lastProbeTime": STAMP,
                "lastTransitionTime": STAMP,
            }
        ],
    }


def test_a_reservation_that_is_held_has_two_conditions_and_its_numbers() -> None:
    facts = state("Available", "Available", used=resources("200m", "400Mi"))
    told = status_json(written(reservation(), facts, OWNERS))
    assert told["phase"] == "Available"
    assert told["nodeName"] == "node-1"
    assert told["allocatable"] == {"cpu": "4", "memory": "8Gi"}
    assert told["allocated"] == {"cpu": "200m", "memory": "400Mi"}
    assert told["currentOwners"] == [{"namespace": "default", "name": "p", "uid": "uid-p"}]
    assert told["conditions"] == [with_times(HELD), with_times(ready("True", "Available"))]


@pytest.mark.parametrize(("phase", "reason"), [("Succeeded", "Succeeded"), ("Failed", "Expired")])
def test_an_ended_reservation_is_not_ready_and_says_why(phase: str, reason: str) -> None:
    told = status_json(written(reservation(), state(phase, reason)))
    assert told["conditions"] == [with_times(HELD), with_times(ready("False", reason))]


def test_one_that_never_had_a_node_was_never_scheduled() -> None:
    told = status_json(written(reservation(), state("Failed", "Expired", node="")))
    assert told["conditions"] == [with_times(ready("False", "Expired"))]


def test_room_that_was_lost_to_others_is_told_beside_koordinators_conditions() -> None:
    facts = state("Available", "PartiallyHeld", "1 cpu is used by others", degraded=True)
    conditions = status_json(written(reservation(), facts))["conditions"]
    assert conditions[:2] == [with_times(HELD), with_times(ready("True", "Available"))]
    assert conditions[2]["type"] == "Degraded"
    assert conditions[2]["reason"] == "PartiallyHeld"


@pytest.mark.parametrize("status", [{"phase": 7}, {"conditions": "x"}, {"allocated": {"cpu": "?"}}])
def test_a_status_that_makes_no_sense_counts_as_none(status: Json) -> None:
    assert reservation(status=status).status == HoldStatus()


def ready(status: str, reason: str) -> Json:
    return {"type": "Ready", "status": status, "reason": reason}


def with_times(condition: Json) -> Json:
    return {**condition, "lastProbeTime": STAMP, "lastTransitionTime": STAMP}
