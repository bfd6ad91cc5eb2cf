"""Tickets as holds: what they keep, for how long, whose they are and what their guardians carry."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from headroom.core.actions import CreateGuardian
from headroom.core.derived_names import guardian_name
from headroom.core.headrooms.slot_values import Membership
from headroom.core.objects import Parent
from headroom.dialects.korder.kinds import API_VERSION
from headroom.dialects.korder.rules.requests import Asks
from headroom.dialects.korder.rules.tenure import TicketTenure
from headroom.wire.guardians import guardian_json
from tests.builders import resources
from tests.dialects.korder.things import of_order, read_ticket, refusals, ticket

HOUR = timedelta(hours=1)


def asks(thing: dict[str, Any]) -> Asks:
    found = read_ticket(thing).owners[0].asks
    assert isinstance(found, Asks)
    return found


def test_a_ticket_that_asks_for_nothing_keeps_what_korder_would() -> None:
    hold = read_ticket(ticket())
    assert hold.problems == ()
    assert hold.template.pod.requests == resources("100m", "128Mi")
    assert hold.tenure == TicketTenure(timedelta(hours=24), timedelta(seconds=3600))
    assert hold.allocate_once
    assert (hold.ttl, hold.expires, hold.starts) == (None, None, None)


def test_limits_stand_for_requests_that_are_left_out() -> None:
    hold = read_ticket(ticket(resources={"limits": {"cpu": "2"}}))
    assert hold.template.pod.requests == resources(2)


@pytest.mark.parametrize(
    ("lifecycle", "cleanup"),
    [
        ({}, timedelta(seconds=3600)),
        ({"cleanupPolicy": "Delete"}, timedelta(seconds=3600)),
        ({"ttlSecondsAfterFinished": 10}, timedelta(seconds=10)),
        ({"cleanupPolicy": "Delete", "ttlSecondsAfterFinished": 0}, timedelta()),
        ({"cleanupPolicy": "Retain", "ttlSecondsAfterFinished": 10}, None),
    ],
    ids=str,
)
def test_what_becomes_of_a_ticket_that_is_over(
    lifecycle: dict[str, Any], cleanup: timedelta | None
) -> None:
    hold = read_ticket(ticket(duration="1h", lifecycle=lifecycle))
    assert hold.tenure == TicketTenure(HOUR, cleanup)


@pytest.mark.parametrize(
    ("spec", "starts"),
    [
        ({"startTime": "2027-01-04T08:00:00Z"}, datetime(2027, 1, 4, 8, tzinfo=UTC)),
        (
            {"window": {"startTime": "2027-01-04T08:00:00+01:00"}},
            datetime(2027, 1, 4, 7, tzinfo=UTC),
        ),
        (
            {"window": {"startTime": "2027-07-04T08:00:00", "timeZone": "Europe/Zurich"}},
            datetime(2027, 7, 4, 6, tzinfo=UTC),
        ),
        ({"window": {"startTime": "2027-07-04T08:00:00"}}, datetime(2027, 7, 4, 8, tzinfo=UTC)),
        ({"window": {"startTime": "", "timeZone": "", "duration": "3600s"}}, None),
        ({"startTime": None}, None),
    ],
    ids=str,
)
def test_a_start_is_read_in_its_time_zone(spec: dict[str, Any], starts: datetime | None) -> None:
    assert refusals(ticket(**spec)) == []
    assert read_ticket(ticket(**spec)).starts == starts


def test_a_ticket_of_an_order_says_which_slot_it_is() -> None:
    metadata = {
        "ownerReferences": [of_order()],
        "annotations": {"headroom.dev/slot": "node-a/1", "headroom.dev/shape": "abc"},
    }
    order = Parent(API_VERSION, "Order", "shop", "web", "uid-web")
    assert read_ticket(ticket("web-x", metadata)).member == Membership(order, "node-a/1", "abc")


def test_a_ticket_that_korder_made_tells_its_slot_by_its_name() -> None:
    member = read_ticket(ticket("web-3", {"ownerReferences": [of_order()]})).member
    assert member is not None
    assert (member.slot, member.revision) == ("3", "")


def test_a_label_alone_makes_a_ticket_answer_for_an_order_but_not_belong_to_it() -> None:
    thing = ticket("mine", {"labels": {"korder.dev/order": "web"}})
    assert read_ticket(thing).member is None
    assert asks(thing).order == "web"


def test_an_owner_that_is_no_controller_or_no_order_does_not_count() -> None:
    other = {**of_order(), "kind": "Deployment", "apiVersion": "apps/v1"}
    second = {**of_order(), "controller": False}
    assert read_ticket(ticket("t", {"ownerReferences": [other, second]})).member is None


def test_a_ticket_answers_to_its_name_labels_group_and_order() -> None:
    metadata = {
        "labels": {"tier": "front", "app": "web"},
        "annotations": {"korder.dev/ticket-group": "g"},
        "ownerReferences": [of_order("shop")],
    }
    assert asks(ticket("web-0", metadata)) == Asks(
        "web-0", "shop", "g", (("app", "web"), ("tier", "front"))
    )


def guardian(thing: dict[str, Any]) -> dict[str, Any]:
    hold = read_ticket(thing)
    create = CreateGuardian(guardian_name(hold), hold, hold.template.pod.requests)
    return guardian_json(create)


def test_a_guardian_has_the_name_and_the_labels_that_korder_gives_it() -> None:
    pod = guardian(ticket("web-0", {"labels": {"app": "web", "korder.dev/node": "node-a"}}))
    metadata = pod["metadata"]
    assert metadata["name"] == "korder-guardian-web-0"
    assert metadata["namespace"] == "shop"
    assert {key: value for key, value in metadata["labels"].items() if "korder.dev" in key} == {
        "korder.dev/ticket": "web-0",
        "korder.dev/ticket-uid": "uid-web-0",
        "korder.dev/guardian": "true",
        "korder.dev/component": "guardian-pod",
        "korder.dev/role": "guardian",
        "korder.dev/node": "node-a",
    }
    assert "app" not in metadata["labels"]
    assert [(owner["kind"], owner["name"]) for owner in metadata["ownerReferences"]] == [
        ("Ticket", "web-0")
    ]


def test_a_guardian_has_all_scheduling_fields_of_its_ticket() -> None:
    spec: dict[str, Any] = {
        "resources": {"requests": {"cpu": "500m", "nvidia.com/gpu": 1}},
        "schedulerName": "other-scheduler",
        "nodeName": "node-a",
        "nodeSelector": {"kubernetes.io/os": "linux"},
        "tolerations": [{"key": "dedicated", "operator": "Equal", "value": "gpu"}],
        "topologySpreadConstraints": [
            {
                "maxSkew": 1,
                "topologyKey": "topology.kubernetes.io/zone",
                "whenUnsatisfiable": "ScheduleAnyway",
            }
        ],
    }
    pod = guardian(ticket(**spec))["spec"]
    for field in ("schedulerName", "nodeSelector", "tolerations", "topologySpreadConstraints"):
        assert pod[field] == spec[field]
    assert "nodeName" not in pod  # Pinned, never bound: the scheduler still judges.
    assert "node-a" in json.dumps(pod["affinity"])
    assert pod["containers"][0]["resources"]["requests"] == {"cpu": "500m", "nvidia.com/gpu": "1"}


def test_tickets_of_one_spec_share_what_is_read_of_it() -> None:
    first, second = (read_ticket(ticket(f"web-{n}", duration="1h")) for n in range(2))
    assert first.template.shape == second.template.shape
    assert first.template.pod.placement is second.template.pod.placement
    assert first.template.raw != second.template.raw


def test_names_that_are_too_long_for_a_label_are_hashed() -> None:
    name = "t" * 80
    pod = guardian(ticket(name, {"uid": "u"}))["metadata"]
    assert len(pod["name"]) <= 63
    assert pod["name"].startswith("korder-guardian-ttt")
    assert all(len(value) <= 63 for value in pod["labels"].values())


def test_what_is_wrong_in_a_ticket_is_told_where_its_author_looks() -> None:
    hold = read_ticket(
        ticket(
            duration="0",
            resources={"requests": {"cpu": "much"}},
            tolerations=[{"operator": "Equal", "value": "x"}],
            lifecycle={"cleanupPolicy": "Archive", "ttlSecondsAfterFinished": -1},
        )
    )
    assert sorted(problem.path for problem in hold.problems) == [
        "spec.duration",
        "spec.lifecycle.cleanupPolicy",
        "spec.lifecycle.ttlSecondsAfterFinished",
        "spec.resources.requests.cpu",
    ]


def test_a_request_above_its_limit_is_told_for_every_resource() -> None:
    resources = {
        "requests": {"cpu": "1", "example.com/fpga": 3, "example.com/nic": 1},
        "limits": {"cpu": "2", "example.com/fpga": "2"},
    }
    hold = read_ticket(ticket(resources=resources))
    assert [str(problem) for problem in hold.problems] == [
        "spec.resources.requests.example.com/fpga: a request is larger than its limit"
    ]
