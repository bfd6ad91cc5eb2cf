"""Every other action as a request: where it goes, what it says, what it makes sure of."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headroom.core.actions import (
    Bind,
    ClaimInPlace,
    DeletePod,
    Disclaim,
    EndPod,
    MarkPreempted,
    MarkUnschedulable,
    MoveLatch,
    Nominate,
    Tell,
    Ungate,
    WriteHeadroomStatus,
    WriteHoldStatus,
    WriteIndex,
)
from headroom.core.headrooms.headrooms import HeadroomStatus
from headroom.core.holds import HoldStatus, OwnerUse
from headroom.core.objects import Condition, Key, Parent
from headroom.core.resources import Resources
from headroom.wire.durations import format_duration, parse_duration
from headroom.wire.events import EventRecorder
from headroom.wire.objects.holds import hold_from
from headroom.wire.objects.statuses import HOLD_STATUS
from headroom.wire.render import render
from headroom.wire.times import format_time, parse_time
from tests.wire.objects import hold_json

POD = Key("shop", "web-0")
PATH = "/api/v1/namespaces/shop/pods/web-0"
PARENT = Parent("headroom.dev/v1alpha1", "Hold", "ml", "nightly", "uid-nightly")
CLAIM = {"headroom.dev/claimed": "Hold/ml/nightly", "headroom.dev/claimed-uid": "uid-nightly"}
NOW = datetime(2027, 1, 4, 8, 0, 0, 250_000, tzinfo=UTC)


def test_a_nomination_and_its_claim_are_one_request() -> None:
    write = render(Nominate(POD, "u", "a", PARENT))
    assert (write.method, write.path) == ("PATCH", f"{PATH}/status")
    assert write.content_type == "application/merge-patch+json"
    assert write.body == {
        "metadata": {"uid": "u", "annotations": CLAIM, "labels": {"headroom.dev/pass": "true"}},
        "status": {"nominatedNodeName": "a"},
    }
    assert write.guarded


def test_a_nomination_of_a_pod_just_made_checks_nothing() -> None:
    write = render(Nominate(POD, "", "a"))
    assert write.body == {"status": {"nominatedNodeName": "a"}}
    assert not write.guarded


def test_a_deletion_is_at_once_and_of_that_pod_only() -> None:
    write = render(DeletePod(POD, "u"))
    assert (write.method, write.path) == ("DELETE", PATH)
    assert write.body == {
        "apiVersion": "v1",
        "kind": "DeleteOptions",
        "gracePeriodSeconds": 0,
        "propagationPolicy": "Background",
        "preconditions": {"uid": "u"},
    }


def test_a_pod_that_gives_way_is_marked_and_ends_with_its_own_grace() -> None:
    mark = render(MarkPreempted(POD, "u", "for another", NOW))
    assert (mark.method, mark.path) == ("PATCH", f"{PATH}/status")
    assert mark.content_type == "application/strategic-merge-patch+json"
    assert isinstance(mark.body, dict)
    (condition,) = mark.body["status"]["conditions"]
    assert (condition["type"], condition["status"]) == ("DisruptionTarget", "True")
    assert condition["reason"] == "PreemptionByScheduler"
    assert mark.guarded
    end = render(EndPod(POD, "u", NOW))
    assert (end.method, end.path) == ("DELETE", PATH)
    assert isinstance(end.body, dict)
    assert "gracePeriodSeconds" not in end.body
    assert end.body["preconditions"] == {"uid": "u"}


def test_a_latch_that_stands_for_its_hold_alone_names_no_owner() -> None:
    body = render(MoveLatch(POD, "u", PARENT, "a", ())).body
    assert isinstance(body, dict)
    assert body["metadata"]["annotations"]["headroom.dev/claims"] is None


def test_a_gate_is_removed_by_its_place_and_tested_by_its_name() -> None:
    write = render(Ungate(POD, "u", "headroom.dev/claim", 1))
    assert (write.method, write.path) == ("PATCH", PATH)
    assert write.content_type == "application/json-patch+json"
    assert write.body == [
        {"op": "test", "path": "/metadata/uid", "value": "u"},
        {"op": "test", "path": "/spec/schedulingGates/1/name", "value": "headroom.dev/claim"},
        {"op": "remove", "path": "/spec/schedulingGates/1"},
    ]
    assert write.guarded


def test_a_binding_records_its_claim() -> None:
    write = render(Bind(POD, "u", "a", PARENT))
    assert (write.method, write.path) == ("POST", f"{PATH}/binding")
    assert write.body == {
        "apiVersion": "v1",
        "kind": "Binding",
        "metadata": {"name": "web-0", "namespace": "shop", "uid": "u", "annotations": CLAIM},
        "target": {"apiVersion": "v1", "kind": "Node", "name": "a"},
    }


def test_a_claim_of_a_slot_names_the_object_and_the_slot_apart() -> None:
    slot = replace(PARENT, kind="Headroom", slot="node-a")
    claim = {**CLAIM, "headroom.dev/claimed": "Headroom/ml/nightly"}
    for action in (Nominate(POD, "u", "a", slot), Bind(POD, "u", "a", slot)):
        body = render(action).body
        assert isinstance(body, dict)
        assert body["metadata"]["annotations"] == {**claim, "headroom.dev/claimed-slot": "node-a"}


def test_a_headrooms_status_is_put_in_place_whole() -> None:
    parent = Parent("headroom.dev/v1alpha1", "Headroom", "ml", "burst", "u")
    write = render(WriteHeadroomStatus(parent, HeadroomStatus(desired=3, held=2)))
    path = "/apis/headroom.dev/v1alpha1/namespaces/ml/headrooms/burst/status"
    assert (write.method, write.path) == ("PATCH", path)
    assert isinstance(write.body, list)
    assert write.body[0] == {"op": "test", "path": "/metadata/uid", "value": "u"}
    assert write.body[1]["value"]["held"] == 2


def test_a_pod_that_grows_in_place_says_what_it_had_without_its_hold() -> None:
    write = render(ClaimInPlace(POD, "u", PARENT, Resources({"cpu": 1500, "memory": 2**30})))
    assert (write.method, write.path, write.guarded) == ("PATCH", PATH, True)
    assert isinstance(write.body, dict)
    annotations = write.body["metadata"]["annotations"]
    assert annotations == {**CLAIM, "headroom.dev/claimed-beside": "cpu=1500m memory=1Gi"}


def test_a_claim_is_taken_off_with_its_nomination() -> None:
    more = ("headroom.dev/claimed-slot", "headroom.dev/claimed-beside")
    nothing = dict.fromkeys((*CLAIM, *more))
    plain = render(Disclaim(POD, "u"))
    assert plain.path == PATH
    labels = {"headroom.dev/pass": None}
    assert plain.body == {"metadata": {"uid": "u", "annotations": nothing, "labels": labels}}
    both = render(Disclaim(POD, "u", nominated=True))
    assert both.path == f"{PATH}/status"
    assert isinstance(both.body, dict)
    assert both.body["status"] == {"nominatedNodeName": None}


def test_an_unschedulable_pod_is_told_so_beside_its_other_conditions() -> None:
    write = render(MarkUnschedulable(POD, "u", "no node has 4 cpu", NOW))
    assert write.path == f"{PATH}/status"
    assert write.content_type == "application/strategic-merge-patch+json"
    assert isinstance(write.body, dict)
    assert write.body["status"]["conditions"] == [
        {
            "type": "PodScheduled",
            "status": "False",
            "reason": "Unschedulable",
            "message": "no node has 4 cpu",
            "lastTransitionTime": "2027-01-04T08:00:00Z",
        }
    ]


def test_an_index_is_applied_whole() -> None:
    write = render(WriteIndex("shop", ("name:b", "label:app=web"), NOW))
    assert write.path == "/apis/headroom.dev/v1alpha1/namespaces/shop/claimindexes/headroom"
    assert write.content_type == "application/apply-patch+yaml"
    assert dict(write.query) == {"fieldManager": "headroom", "force": "true"}
    assert isinstance(write.body, dict)
    assert write.body["spec"] == {
        "keys": {"label:app=web": True, "name:b": True},
        "freshUntil": "2027-01-04T08:00:00Z",
    }


STATUS = HoldStatus(
    phase="Available",
    node="a",
    allocatable=Resources({"cpu": 6000, "memory": 20 * 2**30, "example.com/gpu": 2}),
    allocated=Resources({"cpu": 500}),
    owners=(OwnerUse("ml", "train-0", "u"),),
    conditions=(Condition("Ready", "True", "Available", "", NOW.replace(microsecond=0), 2),),
    observed_generation=2,
)


def test_a_status_replaces_the_whole_old_one_of_that_very_object() -> None:
    write = render(WriteHoldStatus(PARENT, STATUS))
    assert write.path == "/apis/headroom.dev/v1alpha1/namespaces/ml/holds/nightly/status"
    assert write.content_type == "application/json-patch+json"
    assert write.body == [
        {"op": "test", "path": "/metadata/uid", "value": "uid-nightly"},
        {"op": "add", "path": "/status", "value": HOLD_STATUS.write(STATUS)},
    ]
    assert HOLD_STATUS.write(STATUS)["allocatable"] == {
        "cpu": "6",
        "example.com/gpu": "2",
        "memory": "20Gi",
    }


amounts = st.dictionaries(
    st.sampled_from(["cpu", "memory", "ephemeral-storage", "hugepages-2Mi", "example.com/gpu"]),
    st.integers(0, 2**50),
).map(Resources)
texts = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=20)
moments = st.integers(0, 4_000_000_000).map(lambda at: datetime.fromtimestamp(at, UTC))
statuses = st.builds(
    HoldStatus,
    phase=st.sampled_from(["", "Pending", "Available", "Succeeded", "Failed"]),
    node=texts,
    allocatable=amounts,
    allocated=amounts,
    owners=st.lists(st.builds(OwnerUse, texts, texts, texts), max_size=3).map(tuple),
    conditions=st.lists(
        st.builds(Condition, texts, texts, texts, texts, moments, st.integers(0, 9)), max_size=3
    ).map(tuple),
    observed_generation=st.integers(0, 99),
)


@given(statuses)
def test_a_status_reads_back_as_it_was_meant(status: HoldStatus) -> None:
    assert hold_from({**hold_json(), "status": HOLD_STATUS.write(status)}).status == status


def tell(message: str = "room held on a", at: datetime = NOW, about: Key = POD) -> Tell:
    return Tell("v1", "Pod", about, "u", "Normal", "Held", message, at)


def test_an_event_is_told_about_its_object() -> None:
    write = EventRecorder().write(tell())
    assert (write.method, write.path) == ("POST", "/api/v1/namespaces/shop/events")
    assert isinstance(write.body, dict)
    assert write.body["involvedObject"] == {
        "apiVersion": "v1",
        "kind": "Pod",
        "namespace": "shop",
        "name": "web-0",
        "uid": "u",
    }
    assert (write.body["reason"], write.body["count"]) == ("Held", 1)
    assert write.body["reportingComponent"] == "headroom"


def test_the_same_thing_told_again_is_counted_up() -> None:
    recorder = EventRecorder()
    first, second = recorder.write(tell()), recorder.write(tell(at=NOW + timedelta(seconds=9)))
    assert isinstance(first.body, dict)
    assert (second.method, second.name) == ("PATCH", first.body["metadata"]["name"])
    assert second.body == {"count": 2, "lastTimestamp": "2027-01-04T08:00:09Z"}
    other = recorder.write(tell("something else"))
    assert other.verb == "create"


def test_an_event_that_expired_is_made_anew_under_another_name() -> None:
    recorder = EventRecorder()
    first = recorder.write(tell())
    recorder.forget(tell())
    again = recorder.write(tell(at=NOW + timedelta(hours=2)))
    assert isinstance(first.body, dict)
    assert isinstance(again.body, dict)
    assert again.verb == "create"
    assert again.body["metadata"]["name"] != first.body["metadata"]["name"]


def test_a_recorder_forgets_the_oldest_first() -> None:
    recorder = EventRecorder(limit=2)
    for message in ("a", "b", "a", "c"):
        recorder.write(tell(message))
    assert len(recorder) == 2
    assert recorder.write(tell("a")).verb == "patch"
    assert recorder.write(tell("b")).verb == "create"


def test_events_about_cluster_scoped_objects_live_in_default() -> None:
    write = EventRecorder().write(tell(about=Key("", "a")))
    assert write.namespace == "default"
    assert isinstance(write.body, dict)
    assert "namespace" not in write.body["involvedObject"]


def test_names_and_messages_that_are_too_long_are_cut() -> None:
    write = EventRecorder().write(tell("ü" * 2000, about=Key("shop", "x" * 253)))
    assert isinstance(write.body, dict)
    assert len(write.body["message"].encode()) <= 1024
    assert len(write.body["metadata"]["name"]) <= 253


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("0", 0),
        ("0s", 0),
        ("1h30m", 5400),
        ("1.5h", 5400),
        ("-90s", -90),
        ("+1m", 60),
        (".5s", 0.5),
        ("1.s", 1),
        ("300ms", 0.3),
        ("2us", 0.000002),
        ("3µs", 0.000003),
        ("2562047h47m16s", 9223372036),
    ],
)
def test_durations_are_read_as_go_reads_them(text: str, seconds: float) -> None:
    assert parse_duration(text) == timedelta(seconds=seconds)


@pytest.mark.parametrize(
    "text", ["", "-", "1", "h", "1d", "1h 30m", " 1h", "1h-30m", "banana", ".s", "2562048h", "１s"]
)
def test_what_go_refuses_as_a_duration_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="duration"):
        parse_duration(text)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0s"),
        (5400, "1h30m0s"),
        (90, "1m30s"),
        (1.5, "1.5s"),
        (0.25, "250ms"),
        (0.0015, "1.5ms"),
        (0.000002, "2µs"),
        (-60, "-1m0s"),
        (86400, "24h0m0s"),
    ],
)
def test_durations_are_printed_as_go_prints_them(seconds: float, text: str) -> None:
    assert format_duration(timedelta(seconds=seconds)) == text


@given(st.timedeltas(timedelta(days=-100_000), timedelta(days=100_000)))
def test_a_printed_duration_reads_back(duration: timedelta) -> None:
    assert parse_duration(format_duration(duration)) == duration


@given(moments)
def test_a_printed_time_reads_back(moment: datetime) -> None:
    assert parse_time(format_time(moment)) == moment


@pytest.mark.parametrize(
    "text",
    [
        "",
        "tomorrow",
        "2027-01-01",
        "2027-01-01T00:00:00",
        "2027-13-01T00:00:00Z",
        "20270101T000000Z",
    ],
)
def test_what_is_no_rfc_3339_time_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not a time"):
        parse_time(text)
