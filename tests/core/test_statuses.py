"""Statuses and the story they tell: conditions keep their times, events come once."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from headroom.core.holds import Hold, HoldStatus, OwnerUse
from headroom.core.objects import Condition
from headroom.core.statuses import Facts, status_events, status_of, tell_pod
from tests.builders import NOON, hold, pod, resources

H = hold("h", cpu=2, memory=0)
LATER = NOON + timedelta(minutes=5)
USE = OwnerUse("default", "p", "uid-of-p")


def said(phase: str, reason: str, node: str = "", owners: tuple[OwnerUse, ...] = ()) -> HoldStatus:
    return status_of(Facts(H, phase, reason, "words", node), NOON, owners)


def having(status: HoldStatus) -> Hold:
    return replace(H, status=status)


def told(before: HoldStatus, after: HoldStatus) -> list[str]:
    return [
        tell.reason for tell in status_events(having(before), after, {"uid-of-p": pod("p")}, NOON)
    ]


@pytest.mark.parametrize(
    ("phase", "degraded", "conditions"),
    [
        ("Available", False, ["True", "False", "False"]),
        ("Pending", False, ["False", "True", "False"]),
        ("Pending", True, ["False", "False", "True"]),
        ("Failed", False, ["False", "False", "False"]),
    ],
)
def test_conditions_follow_from_the_phase(
    phase: str, degraded: bool, conditions: list[str]
) -> None:
    status = status_of(Facts(H, phase, "Reason", degraded=degraded), NOON)
    assert [item.type for item in status.conditions] == ["Ready", "Progressing", "Degraded"]
    assert [item.status for item in status.conditions] == conditions


def test_a_condition_that_stays_keeps_its_time() -> None:
    first = status_of(Facts(H, "Pending", "WaitingForNode"), NOON)
    second = status_of(Facts(having(first), "Pending", "Unschedulable"), LATER)
    assert [item.since for item in second.conditions] == [NOON, NOON, NOON]
    third = status_of(Facts(having(first), "Available", "Available", node="a"), LATER)
    assert [item.since for item in third.conditions] == [LATER, LATER, NOON]


def test_times_are_whole_seconds_as_the_api_keeps_them() -> None:
    status = status_of(Facts(H, "Pending", "x"), NOON + timedelta(microseconds=7))
    assert status.conditions[0].since == NOON


def test_room_is_shown_only_where_it_is_held() -> None:
    assert said("Pending", "WaitingForNode").allocatable == resources()
    assert said("Available", "Available", "a").allocatable == resources(cpu=2)


def test_the_generation_that_was_looked_at_is_shown() -> None:
    status = status_of(Facts(replace(H, generation=7), "Pending", "x"), NOON)
    assert status.observed_generation == 7
    assert {item.generation for item in status.conditions} == {7}


@pytest.mark.parametrize(
    ("before", "after", "events"),
    [
        (HoldStatus(), said("Available", "Available", "a"), ["Held"]),
        (HoldStatus(), said("Pending", "WaitingForNode"), []),
        (HoldStatus(), said("Pending", "Unschedulable"), ["Unschedulable"]),
        (HoldStatus(), said("Pending", "GuardianRefused"), ["Unschedulable"]),
        (HoldStatus(), said("Pending", "InvalidSpec"), ["InvalidSpec"]),
        (said("Available", "Available", "a"), said("Failed", "Expired"), ["Expired"]),
        (said("Available", "Available", "a"), said("Pending", "WaitingForNode"), ["Replaced"]),
        (
            said("Available", "Available", "a"),
            said("Available", "PartiallyHeld", "a"),
            ["PartiallyHeld"],
        ),
        (said("Available", "Available", "a"), said("Available", "Available", "a"), []),
    ],
)
def test_a_change_is_told_by_its_reason(
    before: HoldStatus, after: HoldStatus, events: list[str]
) -> None:
    assert told(before, after) == events


def test_a_claim_is_told_on_the_hold_and_on_the_pod() -> None:
    after = said("Succeeded", "Succeeded", "a", (USE,))
    tells = status_events(
        having(said("Available", "Available", "a")), after, {USE.uid: pod("p")}, NOON
    )
    assert [(tell.kind, tell.reason) for tell in tells] == [("Hold", "Claimed"), ("Pod", "Claimed")]


def test_a_claim_is_told_once() -> None:
    status = said("Available", "Available", "a", (USE,))
    assert told(status, status) == []


def test_a_share_that_comes_back_is_told_while_the_hold_lasts() -> None:
    before = said("Available", "Available", "a", (USE,))
    assert told(before, said("Available", "Available", "a")) == ["Returned"]
    assert told(before, said("Failed", "Expired")) == ["Expired"]


def test_trouble_is_a_warning() -> None:
    assert tell_pod(pod("p"), "NotMatched", "words", NOON, warn=True).type == "Warning"
    assert tell_pod(pod("p"), "Claimed", "words", NOON).type == "Normal"


def test_a_condition_of_another_kind_does_not_disturb() -> None:
    strange = HoldStatus(phase="Available", conditions=(Condition("Strange", "True", "x"),))
    assert told(strange, said("Available", "Available", "a")) == []
