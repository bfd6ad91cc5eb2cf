"""Limits of a namespace: how they are written, and which of them says no to what."""

from __future__ import annotations

from dataclasses import replace

import pytest

from headroom.core.holds import PREEMPTIBLE, Hold, PodTemplate
from headroom.core.names import LIMITS_ANNOTATION
from headroom.core.objects import Key, Parent, Pod
from headroom.core.quotas.namespaces import (
    NO_LIMITS,
    LimitsError,
    Usage,
    parse_limits,
    refusal,
    written,
)
from headroom.core.resources import Resources

PARENT = Parent("headroom.dev/v1alpha1", "Hold", "shop", "nightly", "u1")
TWO_CORES = Resources({"cpu": 2000, "memory": 2**30})
NOTHING = Usage()
HOLD = Hold(PARENT, PodTemplate(Pod(Key("shop", ""), requests=TWO_CORES)))


def said(text: str, hold: Hold = HOLD, used: Usage = NOTHING) -> str:
    return refusal(parse_limits(text), hold, used) or ""


def test_a_line_is_read_as_people_write_it() -> None:
    limits = parse_limits(
        " slots = 10,cpu=8, memory=32Gi, nvidia.com/gpu=2,locked=No,priority=-10,preAllocation=yes,"
    )
    assert limits.slots == 10
    assert limits.resources == (("cpu", 8000), ("memory", 32 * 2**30), ("nvidia.com/gpu", 2))
    assert (limits.locked, limits.priority, limits.pre_allocation) == (False, -10, True)
    assert parse_limits("") == replace(NO_LIMITS, source="--namespace-limits")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("slots", "is not NAME=VALUE"),
        ("slots=", "is not NAME=VALUE"),
        ("slots=-1", "is not between 0"),
        ("slots=1.5", "is not an integer"),
        ("slots=" + "9" * 5000, "is not an integer"),
        ("slots=٣", "is not an integer"),
        ("slots=1,slots=2", "is there twice"),
        ("cpu=lots", "cpu: "),
        ("cpu=-1", "must be greater"),
        ("locked=maybe", "neither yes nor no"),
        ("what is this=1", "nor the name of a resource"),
        (",".join(f"example.com/r{each}=1" for each in range(500)), "8192 are the most"),
    ],
)
def test_a_line_that_makes_no_sense_is_told(text: str, problem: str) -> None:
    with pytest.raises(LimitsError, match=problem):
        parse_limits(text)


def test_without_limits_everything_is_free() -> None:
    assert refusal(NO_LIMITS, HOLD, Usage(10**6, TWO_CORES)) is None


@pytest.mark.parametrize(
    ("text", "fits", "beyond"),
    [
        ("slots=3", Usage(2), Usage(3)),
        ("cpu=8", Usage(1, Resources({"cpu": 6000})), Usage(1, Resources({"cpu": 6001}))),
        ("memory=1Gi", NOTHING, Usage(1, Resources({"memory": 1}))),
    ],
)
def test_a_limit_holds_at_its_very_number(text: str, fits: Usage, beyond: Usage) -> None:
    assert said(text, used=fits) == ""
    assert f"limits of namespace shop (--namespace-limits): {text}" in said(text, used=beyond)


def test_what_a_hold_does_not_ask_for_does_not_matter() -> None:
    assert said("nvidia.com/gpu=0") == ""


def test_locked_priority_and_pre_allocation_can_be_forbidden() -> None:
    placeholder = replace(HOLD, mode=PREEMPTIBLE)
    assert "locked=no" in said("locked=no")
    assert said("locked=no", placeholder) == ""
    assert "priority=0, and its guardian has 1000000000" in said("priority=0")
    assert said("priority=0", placeholder) == ""
    assert "preAllocation=no" in said("preAllocation=no", replace(HOLD, pre_allocation=True))
    assert said("preAllocation=no") == ""


def test_the_annotation_replaces_the_default_and_a_wrong_one_allows_nothing() -> None:
    default = parse_limits("slots=1")
    assert written("", default) is default
    found = written("slots=5", default)
    assert not isinstance(found, LimitsError)
    assert (found.slots, found.source) == (5, f"annotation {LIMITS_ANNOTATION}")
    assert isinstance(written("slots=five", default), LimitsError)
