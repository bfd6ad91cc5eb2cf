"""A Quota from its JSON: everything that a person may write, and what is wrong with it."""

from __future__ import annotations

from datetime import timedelta
from fractions import Fraction
from typing import Any

import pytest

from headroom.dialects.korder.quotas import decode_quota
from headroom.dialects.korder.rules.limits import Ceiling, Scope
from headroom.dialects.korder.rules.quota import KorderQuota
from headroom.wire.errors import DecodeError
from tests.builders import selector
from tests.dialects.korder.quota_cases import ODD, REFUSED, SOUND, Case

BY_NAME = {case.name: case for case in SOUND}
WEEK = timedelta(days=7)


def read(name: str) -> KorderQuota:
    return decode_quota.plain(BY_NAME[name].quota())


def with_hard(**hard: Any) -> KorderQuota:
    return decode_quota.plain(
        Case("q", {"hard": {key.replace("_", "-"): hard[key] for key in hard}}).quota()
    )


@pytest.mark.parametrize("case", SOUND, ids=lambda case: case.name)
def test_a_sound_quota_is_read_without_a_word(case: Case) -> None:
    quota = decode_quota.plain(case.quota())
    assert (quota.problems, quota.warnings) == ((), ())
    assert quota.parent.name == case.name


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case.name)
def test_what_korder_refuses_keeps_a_quota_out_of_force(case: Case) -> None:
    quota = decode_quota.plain(case.quota())
    assert quota.problems
    assert case.blames.partition("[")[0] in str(quota.problems[0])


@pytest.mark.parametrize("case", ODD, ids=lambda case: case.name)
def test_what_is_odd_is_told_and_the_rest_is_in_force(case: Case) -> None:
    quota = decode_quota.plain(case.quota())
    assert quota.problems == ()
    (told,) = quota.warnings
    assert case.blames in told.path
    assert case.says in told.message


def test_limits_that_are_not_said_are_korders_own() -> None:
    expected = Ceiling(
        {
            "orders": 100,
            "tickets": 1000,
            "reserved.cpu": 1_000_000,
            "reserved.memory": 2000 * 2**30,
        },
        WEEK,
    )
    assert read("no-limits-said").hard == expected
    assert read("empty-limits").hard == expected
    assert read("whole-cluster").hard == expected


def test_a_week_is_the_longest_where_nothing_is_said() -> None:
    assert read("three-namespaces").hard.longest == WEEK
    assert read("three-namespaces").shares[0].ceiling.longest is None


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("24h", timedelta(hours=24)),
        ("1h30m", timedelta(minutes=90)),
        ("30m", timedelta(minutes=30)),
        ("604800", WEEK),
        (604800, WEEK),
        ("1k", timedelta(seconds=1000)),
        ("3600s", timedelta(hours=1)),
        ("1500ms", timedelta(seconds=1)),
        ("0", timedelta()),
    ],
)
def test_a_longest_duration_is_in_seconds_or_in_gos_words(
    written: str | int, meant: timedelta
) -> None:
    assert with_hard(max_duration=written).hard.longest == meant


def test_a_longest_duration_that_is_neither_is_refused() -> None:
    (problem,) = with_hard(max_duration="a week").problems
    assert str(problem) == (
        "spec.hard[max-duration]: 'a week' is neither a duration such as 24h nor seconds"
    )


def test_counts_come_whole() -> None:
    assert with_hard(tickets="1k").hard.amounts == {"tickets": 1000}
    (problem,) = with_hard(tickets="1500m").problems
    assert "an integer" in problem.message


@pytest.mark.parametrize("written", [True, None, [], {}])
def test_a_limit_that_is_no_quantity_is_refused(written: object) -> None:
    (problem,) = with_hard(tickets=written).problems
    assert problem.path == "spec.hard[tickets]"


def test_each_scope_is_read() -> None:
    assert read("no-type-said").scope == Scope("Cluster")
    assert read("three-namespaces").scope.namespaces == ("dev", "staging", "production")
    assert read("one-team").scope == Scope(
        "NamespaceSelector", selector=selector(team="backend-team")
    )
    assert read("machine-learning").scope.selector == selector(**{"workload-type": "ml-training"})


def test_a_selector_that_kubernetes_would_not_take_is_refused() -> None:
    bad = {"matchExpressions": [{"key": "team", "operator": "Like", "values": ["a"]}]}
    scope = {"type": "ObjectSelector", "objectSelector": bad}
    (problem,) = decode_quota.plain(Case("q", {"scope": scope}).quota()).problems
    assert problem.path == "spec.scope.objectSelector"


def test_windows_are_hours_and_exact_multipliers() -> None:
    windows = read("by-the-clock").windows
    assert [window.name for window in windows] == ["office", "night", "upkeep"]
    assert [window.multiplier for window in windows] == [2, Fraction(1, 2), Fraction(1, 10)]


def test_a_deleted_quota_keeps_every_finalizer_but_korders() -> None:
    thing = BY_NAME["whole-cluster"].quota()
    thing["metadata"] |= {
        "deletionTimestamp": "2027-01-01T00:00:00Z",
        "finalizers": ["korder.dev/quota-finalizer", "example.com/other"],
    }
    assert decode_quota.plain(thing).freed == ("example.com/other",)
    thing["metadata"]["finalizers"] = ["example.com/other"]
    assert decode_quota.plain(thing).freed is None


def test_a_quota_that_lives_is_not_freed() -> None:
    thing = BY_NAME["whole-cluster"].quota()
    thing["metadata"]["finalizers"] = ["korder.dev/quota-finalizer"]
    assert decode_quota.plain(thing).freed is None


@pytest.mark.parametrize("spec", [None, [], "x", {"scope": 3, "hard": 4, "timeWindows": 5}])
def test_no_spec_stops_the_decoder(spec: object) -> None:
    assert decode_quota.plain({"metadata": {"name": "q"}, "spec": spec}).problems


def test_broken_metadata_is_an_error_that_names_the_object() -> None:
    with pytest.raises(DecodeError, match="Quota"):
        decode_quota.plain({"metadata": {"name": 3}})
