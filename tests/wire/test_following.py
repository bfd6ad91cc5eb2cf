"""Headrooms that follow pods, on the wire: their size, what they need to see, and their writes."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from headroom.core.actions import LabelPod
from headroom.core.demand.followers import FixedCount, FromAnnotation, PerVolume
from headroom.core.demand.volumes import Volume, VolumeClaim
from headroom.core.objects import Key, LabelSelector, PodTerm, Requirement
from headroom.core.sizes.follow import Follow
from headroom.kube.list_diff import KnownObjects
from headroom.ports import Lost, Seen
from headroom.wire.kinds import (
    DEPLOYMENTS,
    STORAGE_CLASSES,
    VOLUME_CLAIMS,
    VOLUMES,
)
from headroom.wire.node_pin import away_from, next_to
from headroom.wire.objects.headrooms import headroom_from
from headroom.wire.objects.needed import needed_kinds
from headroom.wire.objects.pods import pod_from
from headroom.wire.render import render
from tests.wire.headroom_cases import FROM, GATE, Case

BY_VOLUME = {"driver": "s3.csi.aws.com", "requests": {"cpu": "rc"}, "limits": {"memory": "lm"}}


def size_of(**follow: Any) -> object:
    read = headroom_from(Case("x", {"size": {"follow": {**GATE, **follow}}}).headroom())
    assert read.problems == ()
    return read.size


@pytest.mark.parametrize(
    ("follow", "slots"),
    [
        ({}, FixedCount(1)),
        ({"slots": 3}, FixedCount(3)),
        ({"fromAnnotation": "a.b/c"}, FromAnnotation("a.b/c")),
        (
            {"perVolume": BY_VOLUME},
            PerVolume("s3.csi.aws.com", (("cpu", "rc"),), (("memory", "lm"),)),
        ),
    ],
)
def test_how_many_slots_a_pod_gets(follow: dict[str, Any], slots: object) -> None:
    assert size_of(**follow) == Follow("example.com/gate", slots)  # type: ignore[arg-type]  # any


def test_the_deadline_is_five_minutes_unless_it_is_said() -> None:
    assert size_of() == Follow("example.com/gate", deadline=timedelta(minutes=5))
    assert size_of(deadline="90s") == Follow("example.com/gate", deadline=timedelta(seconds=90))


def test_volumes_are_watched_only_where_a_headroom_goes_by_them() -> None:
    plain = headroom_from(Case("x", {"size": {"follow": GATE}}).headroom())
    by_volume = {"size": {"follow": {**GATE, "perVolume": BY_VOLUME}}}
    volumes = headroom_from(Case("x", by_volume).headroom())
    copied = headroom_from(Case("x", {"slot": {"from": FROM}}).headroom())
    assert needed_kinds(plain) == ()
    assert needed_kinds(volumes) == (VOLUME_CLAIMS, VOLUMES, STORAGE_CLASSES)
    assert needed_kinds(copied) == (DEPLOYMENTS,)


@pytest.mark.parametrize("value", ["u1", None])
def test_a_label_is_written_on_the_very_pod_alone(value: str | None) -> None:
    write = render(LabelPod(Key("shop", "web"), "u1", "headroom.dev/beside-1", value))
    assert (write.method, write.guarded, write.subresource) == ("PATCH", True, "")
    assert write.body == {"metadata": {"uid": "u1", "labels": {"headroom.dev/beside-1": value}}}


def test_every_annotation_of_a_pod_that_may_be_followed_is_read() -> None:
    metadata = {"name": "p", "namespace": "shop", "annotations": {"a.b/c": "2"}}
    gated = {"metadata": metadata, "spec": {"schedulingGates": [{"name": "x/y"}]}}
    released = {"metadata": {**metadata, "labels": {"headroom.dev/beside-12": "u"}}}
    assert pod_from(gated).annotations == {"a.b/c": "2"}
    assert pod_from(released).annotations == {"a.b/c": "2"}
    assert pod_from({"metadata": metadata}).annotations == {}


def test_a_term_joins_the_affinity_that_is_there() -> None:
    selector = LabelSelector((Requirement("k", "In", ("u",)),))
    term = PodTerm(selector, "kubernetes.io/hostname", namespaces=("shop",))
    required = "requiredDuringSchedulingIgnoredDuringExecution"
    there = {"podAffinity": {required: [{"topologyKey": "zone"}]}, "nodeAffinity": {"x": 1}}
    made = next_to(term, there)
    assert made["nodeAffinity"] == {"x": 1}
    assert [each["topologyKey"] for each in made["podAffinity"][required]] == [
        "zone",
        "kubernetes.io/hostname",
    ]


def test_a_term_keeps_away_in_every_namespace() -> None:
    term = PodTerm(LabelSelector((Requirement("k", "In", ("u",)),)), "kubernetes.io/hostname")
    (made,) = away_from(term, {})["podAntiAffinity"][
        "requiredDuringSchedulingIgnoredDuringExecution"
    ]
    assert made["namespaceSelector"] == {}
    assert made["labelSelector"]["matchExpressions"][0]["values"] == ["u"]


def test_claims_and_volumes_come_and_go_like_everything_else() -> None:
    mirror = KnownObjects()
    claim = VolumeClaim(Key("shop", "files"), uid="u1")
    made_anew = VolumeClaim(Key("shop", "files"), uid="u2")
    assert mirror.update(claim) == [Seen(claim)]
    assert mirror.update(made_anew) == [Lost(claim), Seen(made_anew)]
    volumes = KnownObjects()
    volumes.update(Volume("v"))
    assert volumes.remove(Key("", "v")) == [Lost(Volume("v"))]
