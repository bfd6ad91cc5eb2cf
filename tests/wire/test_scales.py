"""Kinds that are known by their scale alone: found, read, and turned into a workload."""

from __future__ import annotations

import json
from typing import Any

from headroom.core.objects import Key
from headroom.wire.kinds import Resource
from headroom.wire.objects.scales import (
    ForeignKind,
    preferred_version,
    scaled,
    selector_of,
    served_as,
    unread,
    unusable,
)
from tests.builders import resources

WIDGET = ForeignKind("x.com", "Widget")


def text(thing: dict[str, Any]) -> bytes:
    return json.dumps(thing).encode()


def served(*names: str, namespaced: bool = True) -> bytes:
    found = [
        {"name": name, "kind": "Scale" if "/" in name else "Widget", "namespaced": namespaced}
        for name in names
    ]
    return text({"resources": found})


def pod(name: str, cpu: str, second: int, **more: Any) -> dict[str, Any]:
    created = f"2026-01-01T00:00:{second:02}Z"
    asked = {"resources": {"requests": {"cpu": cpu}}}
    return {
        "metadata": {"name": name, "creationTimestamp": created},
        "spec": {"nodeName": "a", "containers": [{"name": "m", "image": "x", **asked}]},
        **more,
    }


SCALE = text({"spec": {"replicas": 9}, "status": {"replicas": 4, "selector": "app=w,tier in (a)"}})
FOUND = unread(WIDGET, text({"metadata": {"name": "w", "namespace": "shop", "uid": "u"}}))


def test_a_kind_is_found_by_what_its_group_serves() -> None:
    assert preferred_version(text({"preferredVersion": {"version": "v2"}})) == "v2"
    found = served_as(WIDGET, "v2", served("widgets", "widgets/status", "widgets/scale"))
    assert found == Resource("x.com", "v2", "widgets", "Widget")


def test_a_kind_that_is_not_there_or_has_no_scale_is_told_in_words() -> None:
    assert "no scale subresource" in str(served_as(WIDGET, "v2", served("widgets")))
    assert "has no Widget of x.com" in str(served_as(WIDGET, "v2", served()))
    everywhere = served("widgets", "widgets/scale", namespaced=False)
    assert "in namespaces" in str(served_as(WIDGET, "v2", everywhere))


def test_there_are_as_many_as_the_scale_says_and_they_are_like_the_newest_pod() -> None:
    pods = [
        pod("old", "1", 1),
        pod("new", "2", 3),
        pod("ended", "3", 5, status={"phase": "Succeeded"}),
        pod("young", "2500m", 2),
    ]
    read = scaled(WIDGET, FOUND, SCALE, text({"items": pods}))
    assert selector_of(SCALE) == "app=w,tier in (a)"
    assert read.replicas == 4  # Those that are there, not those that are to come.
    assert read.template.pod.requests == resources(cpu=2)
    assert read.template.node == ""  # Where the pod happens to run is no wish.
    assert (read.key, read.uid, read.problems) == (Key("shop", "w"), "u", ())


def test_one_without_pods_and_one_that_cannot_be_read_say_so() -> None:
    bare = scaled(WIDGET, FOUND, SCALE, text({"items": []}))
    assert "no pod yet" in str(bare.problems[0])
    refused = unusable(WIDGET, Key("shop", "w"), "no right")
    assert (refused.ref, refused.key) == (FOUND.ref, FOUND.key)
    assert str(refused.problems[0]) == "Widget of x.com: no right"
