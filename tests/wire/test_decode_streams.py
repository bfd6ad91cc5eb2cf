"""Lists and watches: one odd object never hides the others, and bookmarks are no objects."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from msgspec import Raw

from headroom.core.headrooms.headrooms import Headroom, Workload
from headroom.core.holds import Hold
from headroom.core.objects import Key, Namespace, Node, Pod
from headroom.ports import Thing
from headroom.wire.decode import decode_deletion, decode_thing, decode_watch, thing_from
from headroom.wire.errors import DecodeError, Unreadable
from headroom.wire.kinds import (
    HEADROOMS,
    HOLDS,
    NAMESPACES,
    NODES,
    PODS,
    WORKLOADS,
    Resource,
    find_kind,
)
from headroom.wire.objects.intern import Interned
from tests.wire.headroom_cases import GOOD
from tests.wire.objects import hold_json, pod_json, read_page
from tests.wire.test_headroom_workloads import workload


def text(thing: Any) -> bytes:
    return json.dumps(thing).encode()


def line(event: str, thing: Any) -> bytes:
    return text({"type": event, "object": thing})


def test_a_page_gives_its_objects_and_the_way_on() -> None:
    metadata = {"resourceVersion": "7", "continue": "next"}
    page = read_page(PODS, text({"metadata": metadata, "items": [pod_json("a"), pod_json("b")]}))
    assert [item.key.name for item in page.items if isinstance(item, Pod)] == ["a", "b"]
    assert (page.page.version, page.page.continue_token) == ("7", "next")
    assert page.problems == ()


def test_the_last_page_leads_nowhere() -> None:
    page = read_page(PODS, b'{"metadata": {"resourceVersion": "7"}, "items": null}')
    assert (page.items, page.page.continue_token) == ((), "")


def test_an_odd_object_on_a_page_does_not_hide_the_others() -> None:
    odd = pod_json("odd", spec={"nodeName": 3})
    page = read_page(PODS, text({"items": [pod_json("a"), odd, pod_json("b"), 7]}))
    assert [item.key.name for item in page.items if isinstance(item, Pod)] == ["a", "b"]
    assert [str(problem) for problem in page.problems] == [
        "Pod/shop/odd: spec.nodeName: Expected `str | null`, got `int`",
        "Pod: Expected `object`, got `int`",
    ]


def test_a_page_that_is_no_page_is_an_error() -> None:
    for body in (b"<html>", b"[]", b'{"items": {}}', b""):
        with pytest.raises(DecodeError, match="list of pods"):
            read_page(PODS, body)


@pytest.mark.parametrize(
    ("resource", "thing", "kind"),
    [
        (PODS, pod_json(), Pod),
        (NODES, {"metadata": {"name": "a"}}, Node),
        (NAMESPACES, {"metadata": {"name": "a"}}, Namespace),
        (HOLDS, hold_json(), Hold),
        (HEADROOMS, GOOD, Headroom),
        *((resource, workload(resource.kind), Workload) for resource in WORKLOADS),
    ],
)
def test_every_kind_that_we_watch_is_read_as_itself(
    resource: Resource, thing: dict[str, Any], kind: type
) -> None:
    assert isinstance(thing_from(resource, thing), kind)
    event = decode_watch(resource, line("ADDED", thing))
    assert isinstance(event.thing, kind)


def test_a_watch_line_gives_the_object_and_its_version() -> None:
    event = decode_watch(PODS, line("DELETED", pod_json(resourceVersion="99")))
    assert (event.type, event.version) == ("DELETED", "99")
    assert isinstance(event.thing, Pod)
    assert event.thing.key == Key("shop", "web-0")


def test_a_deletion_needs_no_more_than_the_name() -> None:
    odd = pod_json("odd", spec={"containers": 3}, resourceVersion="5")
    event = decode_deletion(msgspec.json.encode({"type": "DELETED", "object": odd}))
    assert event is not None
    assert (event.type, event.thing, event.problem) == ("DELETED", None, None)
    assert (event.key, event.uid, event.version) == (Key("shop", "odd"), "uid-odd", "5")


def test_what_is_no_deletion_of_a_named_object_is_read_as_a_whole() -> None:
    for event in (
        {"type": "MODIFIED", "object": pod_json()},
        {"type": "DELETED", "object": {"metadata": {}}},
        {"type": "DELETED", "object": 3},
        {"type": "DELETED"},
    ):
        assert decode_deletion(msgspec.json.encode(event)) is None
    assert decode_deletion(b'{"type":"DELETED", "object": {') is None


def test_a_bookmark_is_only_a_version() -> None:
    pod = {"kind": "Pod", "metadata": {"resourceVersion": "12", "creationTimestamp": None}}
    event = decode_watch(PODS, line("BOOKMARK", {**pod, "spec": {"containers": None}}))
    assert (event.type, event.version, event.thing) == ("BOOKMARK", "12", None)
    assert not event.initial_end


def test_the_bookmark_that_ends_the_first_list_is_known() -> None:
    metadata = {"resourceVersion": "12", "annotations": {"k8s.io/initial-events-end": "true"}}
    assert decode_watch(PODS, line("BOOKMARK", {"metadata": metadata})).initial_end


def test_an_error_in_the_stream_has_its_code() -> None:
    status = {"kind": "Status", "code": 410, "reason": "Expired", "message": "too old"}
    event = decode_watch(PODS, line("ERROR", status))
    assert (event.type, event.code, event.message) == ("ERROR", 410, "too old")


def test_an_odd_object_in_a_stream_is_told_and_still_named() -> None:
    odd = pod_json("odd", spec={"containers": 3}, resourceVersion="5")
    event = decode_watch(PODS, line("MODIFIED", odd))
    assert event.thing is None
    assert event.problem is not None
    assert event.problem.path == "spec.containers"
    assert (event.key, event.uid, event.version) == (Key("shop", "odd"), "uid-odd", "5")


def test_a_line_that_is_no_event_is_an_error() -> None:
    for body in (b"{", b"{}", b'{"type": 3}', b'{"type": "BOOKMARK", "object": 1}'):
        with pytest.raises(DecodeError, match="watch of pods"):
            decode_watch(PODS, body)


def test_paths_are_those_of_the_api() -> None:
    assert PODS.path() == "/api/v1/pods"
    assert PODS.path("shop", "web-0", "binding") == "/api/v1/namespaces/shop/pods/web-0/binding"
    assert NODES.path("ignored", "a") == "/api/v1/nodes/a"
    assert HOLDS.path("ml") == "/apis/headroom.dev/v1alpha1/namespaces/ml/holds"
    assert PODS.path("a/b", "c?d") == "/api/v1/namespaces/a%2Fb/pods/c%3Fd"


def test_a_kind_is_found_by_what_an_object_says_of_itself() -> None:
    assert find_kind("headroom.dev/v1alpha1", "Hold") is HOLDS
    assert find_kind("v1", "Pod") is PODS
    assert find_kind("v1", "Hold") is None


def test_what_is_shared_is_bounded_and_what_is_used_stays() -> None:
    made: list[int] = []

    def make(number: int) -> str:
        made.append(number)
        return str(number)

    table = Interned(make, limit=10)
    for number in range(1000):
        table(number)
        table(-1)
        assert len(table) <= 20
    assert made.count(-1) == 1


def test_an_object_that_breaks_our_reading_is_reported_beside_the_others() -> None:
    def breaking(resource: Resource, data: bytes | Raw) -> Thing:
        pod = decode_thing(resource, data)
        if isinstance(pod, Pod) and pod.key.name == "odd":
            raise ZeroDivisionError("nobody thought of this")
        return pod

    items = [pod_json(name=name) for name in ("a", "odd", "b")]
    page = read_page(PODS, text({"items": items}), breaking)
    assert [item.key.name for item in page.items if isinstance(item, Pod)] == ["a", "b"]
    (problem,) = page.problems
    assert isinstance(problem, Unreadable)
    assert "odd" in str(problem)
    assert "ZeroDivisionError" in str(problem)
    event = decode_watch(PODS, line("ADDED", pod_json(name="odd")), breaking)
    assert isinstance(event.problem, Unreadable)
    assert event.key is not None
    assert event.key.name == "odd"
