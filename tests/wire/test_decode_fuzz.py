"""Whatever comes over the wire, decoding ends with a value, with problems or a DecodeError."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from headroom.wire.decode import decode_watch
from headroom.wire.errors import DecodeError
from headroom.wire.kinds import HOLDS, PODS
from headroom.wire.objects.holds import decode_hold, hold_from
from headroom.wire.objects.nodes import namespace_from, node_from
from headroom.wire.objects.pods import decode_pod, pod_from
from tests.wire.objects import hold_json, pod_json, read_page

WORDS = """metadata spec status name namespace uid labels annotations ownerReferences containers
    initContainers resources requests limits cpu memory overhead affinity nodeAffinity podAffinity
    requiredDuringSchedulingIgnoredDuringExecution nodeSelectorTerms matchExpressions matchFields
    labelSelector matchLabels key operator values tolerations topologySpreadConstraints ports
    hostPort volumes persistentVolumeClaim conditions template owners object controller ttl expires
    taints allocateOnce priorityAtLeast nodeSelector schedulingGates containerStatuses type
    creationTimestamp restartPolicy hostNetwork"""
KEYS = st.sampled_from(WORDS.split())
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8)
    | st.sampled_from(["1", "500m", "1Gi", "-1", "0", "In", "Exists", "1h", "2027-01-01T00:00:00Z"])
)
JSON = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=25,
)
OBJECTS = st.dictionaries(KEYS, JSON, max_size=4)
MANY = settings(max_examples=100, deadline=None)


def trouble(read: Callable[[Any], object], data: Any) -> DecodeError | None:
    """The error that reading ends with, if it does; any other exception is a bug."""
    try:
        read(data)
    except DecodeError as error:
        return error
    return None


def places(thing: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place in an object where something could stand instead."""
    found = [path] if path else []
    inner = (
        thing.items()
        if isinstance(thing, dict)
        else enumerate(thing)
        if isinstance(thing, list)
        else ()
    )
    for key, value in inner:
        found += places(value, (*path, key))
    return found


def put(thing: Any, path: tuple[Any, ...], value: Any) -> Any:
    made = json.loads(json.dumps(thing))
    place = made
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return made


RICH_POD = pod_json(
    spec={
        "tolerations": [{"key": "a", "operator": "Exists"}],
        "affinity": {
            "podAntiAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": [
                    {"labelSelector": {"matchLabels": {"a": "b"}}, "topologyKey": "z"}
                ]
            }
        },
        "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}],
        "schedulingGates": [{"name": "g"}],
    },
    labels={"a": "b"},
    annotations={"headroom.dev/claimed": "x"},
    creationTimestamp="2027-01-01T00:00:00Z",
)
RICH_HOLD = hold_json(
    {
        "owners": [
            {"object": {"name": "a"}},
            {"controller": {"kind": "Job", "name": "a"}},
            {
                "labelSelector": {
                    "matchExpressions": [{"key": "a", "operator": "In", "values": ["b"]}]
                }
            },
        ],
        "ttl": "1h",
        "expires": "2027-01-01T00:00:00Z",
        "taints": [{"key": "a", "effect": "NoSchedule"}],
        "allocateOnce": False,
    }
)


@MANY
@given(OBJECTS)
def test_any_object_read_as_anything_is_a_value_or_a_decode_error(thing: dict[str, Any]) -> None:
    for read in (pod_from, node_from, namespace_from, hold_from):
        error = trouble(read, thing)
        assert error is None or error.problem


@MANY
@given(st.sampled_from(places(RICH_POD)), JSON)
def test_a_pod_with_anything_anywhere_is_a_value_or_a_decode_error(
    path: tuple[Any, ...], value: Any
) -> None:
    error = trouble(pod_from, put(RICH_POD, path, value))
    assert error is None or error.subject.startswith("Pod")


@MANY
@given(st.sampled_from(places(RICH_HOLD["spec"])), JSON)
def test_a_hold_with_anything_anywhere_in_its_spec_is_read(
    path: tuple[Any, ...], value: Any
) -> None:
    hold = hold_from({**RICH_HOLD, "spec": put(RICH_HOLD["spec"], path, value)})
    assert all(problem.path.startswith("spec") and problem.message for problem in hold.problems)


@MANY
@given(st.binary(max_size=60) | OBJECTS.map(lambda thing: json.dumps(thing).encode()))
def test_any_bytes_are_a_value_or_a_decode_error(data: bytes) -> None:
    for read in (decode_pod, decode_hold):
        error = trouble(read, data)
        assert error is None or error.problem


@MANY
@given(st.lists(OBJECTS | st.just(pod_json()), max_size=4))
def test_a_list_of_anything_is_a_page_with_every_item_read_or_told(items: list[Any]) -> None:
    page = read_page(PODS, json.dumps({"items": items}).encode())
    assert len(page.items) + len(page.problems) == len(items)


@MANY
@given(st.sampled_from(["ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR", "X"]), JSON)
def test_a_watch_line_about_anything_is_an_event_or_a_decode_error(kind: str, thing: Any) -> None:
    try:
        event = decode_watch(HOLDS, json.dumps({"type": kind, "object": thing}).encode())
    except DecodeError:
        assert kind in ("BOOKMARK", "ERROR")
    else:
        assert event.type == kind
