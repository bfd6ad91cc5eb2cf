"""Whatever an Order or a Ticket says, reading it ends with a value; its problems name a field."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.dialects.korder.things import order, read_order, read_ticket, ticket
from tests.samples import examples
from tests.wire.test_decode_fuzz import JSON, OBJECTS, places, put, trouble

FEW = examples(30)

TICKET: dict[str, Any] = {
    "lifecycle": {"ttlSecondsAfterFinished": 10, "cleanupPolicy": "Delete"},
    "duration": "1h",
    "startTime": "2027-01-04T08:00:00Z",
    "window": {"startTime": "2027-01-04T08:00:00Z", "timeZone": "UTC", "duration": "1h"},
    "schedulerName": "default-scheduler",
    "resources": {"requests": {"cpu": "1"}, "limits": {"cpu": "2"}},
    "nodeName": "a",
    "nodeSelector": {"a": "b"},
    "tolerations": [{"key": "a", "operator": "Exists", "effect": "NoSchedule"}],
}
ORDER: dict[str, Any] = {
    "paused": False,
    "replicas": 2,
    "daemonSet": False,
    "strategy": {"type": "Recurring", "schedule": "@daily", "refreshPolicy": "Always"},
    "refreshPolicy": "Always",
    "template": {"metadata": {"labels": {"a": "b"}, "annotations": {"c": "d"}}, "spec": TICKET},
}
STATUS: dict[str, Any] = {
    "phase": "Ready",
    "replicas": 2,
    "activationTime": "2027-01-04T08:00:00Z",
    "nodeName": "a",
    "guardianPod": "shop/g",
    "claimedPod": "shop/p",
    "allocated": {"cpu": "1"},
    "spentReplicas": ["0"],
    "conditions": [{"type": "Ready", "status": "True", "reason": "Failed", "message": "a: b"}],
}


@FEW
@given(st.data(), JSON)
def test_an_order_with_anything_anywhere_in_its_spec_is_read(
    data: st.DataObject, value: Any
) -> None:
    path = data.draw(st.sampled_from(places(ORDER)))
    made = read_order({**order(), "spec": put(ORDER, path, value)})
    assert all(problem.path.startswith("spec") and problem.message for problem in made.problems)


@FEW
@given(st.data(), JSON)
def test_a_ticket_with_anything_anywhere_in_its_spec_is_read(
    data: st.DataObject, value: Any
) -> None:
    path = data.draw(st.sampled_from(places(TICKET)))
    made = read_ticket({**ticket(), "spec": put(TICKET, path, value)})
    assert all(problem.path.startswith("spec") and problem.message for problem in made.problems)


@FEW
@given(st.data(), JSON)
def test_a_status_with_anything_anywhere_is_read(data: st.DataObject, value: Any) -> None:
    path = data.draw(st.sampled_from(places(STATUS)))
    status = put(STATUS, path, value)
    read_order({**order(), "status": status})
    read_ticket({**ticket(), "status": status})


@FEW
@given(OBJECTS)
def test_any_object_read_as_either_is_a_value_or_a_decode_error(thing: dict[str, Any]) -> None:
    for read in (read_order, read_ticket):
        error = trouble(read, thing)
        assert error is None or error.problem
