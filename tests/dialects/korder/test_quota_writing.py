"""What we write on a Quota reads back equal, so that it is written once."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from headroom.core.actions import DeletePod, SetFinalizers, WriteQuotaStatus
from headroom.core.objects import Condition, Key, Parent
from headroom.core.resources import Resources
from headroom.dialects.korder.quotas import decode_quota
from headroom.dialects.korder.quotastatus import status_json
from headroom.dialects.korder.rules.limits import Ceiling, QuotaStatus
from headroom.dialects.korder.writes import render
from tests.builders import NOON
from tests.dialects.korder.quota_cases import SOUND, Case

TEAM = Parent("core.korder.dev/v1alpha1", "Quota", "", "team", uid="u1")
STATUS = QuotaStatus(
    hard=Ceiling(
        {"orders": 3, "reserved.cpu": 10_500, "reserved.memory": 2**34, "tickets": 0},
        timedelta(hours=24),
    ),
    used=Resources({"orders": 1, "reserved.cpu": 300, "reserved.nvidia.com/gpu": 2}),
    window="office",
    conditions=(Condition("Ready", "True", "Ready", "", NOON, 4),),
    observed_generation=4,
)


def shown(status: QuotaStatus) -> QuotaStatus:
    return decode_quota.plain({**SOUND[0].quota(), "status": status_json(status)}).status


def test_a_status_reads_back_equal() -> None:
    assert shown(STATUS) == STATUS
    assert shown(QuotaStatus()) == QuotaStatus()


@pytest.mark.parametrize("case", SOUND, ids=lambda case: case.name)
def test_limits_read_back_equal(case: Case) -> None:
    status = replace(STATUS, hard=decode_quota.plain(case.quota()).hard)
    assert shown(status) == status


@pytest.mark.parametrize("longest", ["9223372036854ms", "292000000h", "99999999999999999999"])
def test_the_longest_of_durations_read_back_equal(longest: str) -> None:
    quota = decode_quota.plain(Case("q", {"hard": {"max-duration": longest}}).quota())
    status = replace(STATUS, hard=quota.hard)
    assert shown(status) == status


def test_a_status_is_spelled_in_quantities_and_seconds() -> None:
    written = status_json(STATUS)
    assert written["hard"] == {
        "orders": "3",
        "reserved.cpu": "10500m",
        "reserved.memory": "16Gi",
        "tickets": "0",
        "max-duration": "86400",
    }
    assert written["used"] == {
        "orders": "1",
        "reserved.cpu": "300m",
        "reserved.nvidia.com/gpu": "2",
    }


def test_no_window_is_named_when_none_is_open() -> None:
    assert "activeTimeWindow" not in status_json(replace(STATUS, window=""))


def test_a_status_that_makes_no_sense_counts_as_none() -> None:
    assert decode_quota.plain({**SOUND[0].quota(), "status": [1]}).status == QuotaStatus()


def test_a_status_is_put_in_place_of_the_one_object_that_is_meant() -> None:
    write = render(WriteQuotaStatus(TEAM, STATUS))
    assert write is not None
    assert (write.method, write.path, write.guarded) == (
        "PATCH",
        "/apis/core.korder.dev/v1alpha1/quotas/team/status",
        True,
    )
    assert list(write.body) == [
        {"op": "test", "path": "/metadata/uid", "value": "u1"},
        {"op": "add", "path": "/status", "value": status_json(STATUS)},
    ]


def test_finalizers_are_taken_off_the_version_that_was_read() -> None:
    write = render(SetFinalizers(TEAM, "7", ("other",)))
    assert write is not None
    assert write.path == "/apis/core.korder.dev/v1alpha1/quotas/team"
    assert list(write.body)[1:] == [
        {"op": "replace", "path": "/metadata/resourceVersion", "value": "7"},
        {"op": "add", "path": "/metadata/finalizers", "value": ["other"]},
    ]


def test_what_is_not_about_a_quota_is_left_to_others() -> None:
    other = Parent("example.com/v1", "Quota", "shop", "o")
    assert render(SetFinalizers(other, "7", ())) is None
    assert render(DeletePod(Key("shop", "p"), "u")) is None
