"""Reservations read as holds: every field, and all that Koordinator takes in silence."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from headroom.core.holds import ControllerMatch, ObjectMatch, OwnerRule, Terms
from headroom.core.objects import OwnerReference, Parent, Taint
from headroom.core.owners import owner_refusal
from headroom.dialects.koordinator.reservations import decode_reservation
from headroom.wire.errors import DecodeError
from tests.builders import pod, resources, selector
from tests.dialects.koordinator.objects import (
    PREFIX,
    annotated,
    container,
    reservation,
    template,
)

Json = dict[str, Any]
NOON = datetime(2027, 1, 4, 12, tzinfo=UTC)
CONTROLLER = {"apiVersion": "", "kind": "", "name": "rs", "uid": ""}
REPLICAS = OwnerReference("apps/v1", "ReplicaSet", "rs", "uid-of-rs", controller=True)


def problems(spec: Json | None = None, **metadata: Any) -> dict[str, str]:
    found = reservation(spec, **metadata).problems
    return {problem.path: problem.message for problem in found}


def remarks(spec: Json | None = None, **metadata: Any) -> dict[str, str]:
    read = reservation(spec, **metadata)
    assert read.problems == ()
    return {remark.path: remark.message for remark in read.remarks}


def test_a_reservation_belongs_to_no_namespace() -> None:
    read = reservation(resourceVersion="7", generation=3)
    wanted = Parent("scheduling.koordinator.sh/v1alpha1", "Reservation", "", "r")
    assert (read.parent, read.parent.uid, str(read.parent)) == (wanted, "uid-r", "Reservation//r")
    assert (read.version, read.generation, read.created) == ("7", 3, NOON)
    assert (read.problems, read.remarks) == ((), ())


def test_its_fields_have_koordinators_defaults() -> None:
    read = reservation()
    assert (read.ttl, read.expires, read.allocate_once) == (timedelta(hours=24), None, True)
    assert (read.allocate_policy, read.pre_allocation, read.unschedulable) == ("", False, False)
    assert read.terms == Terms(binds_all=False, tells_all=True, ends_with_node=True)


def test_every_field_is_read() -> None:
    read = reservation(
        {
            "template": template({"nodeName": "node-1", "nodeSelector": {"disk": "ssd"}}),
            "owners": [
                {"object": {"name": "p", "namespace": "shop", "kind": "Pod", "apiVersion": "v1"}},
                {"controller": {"apiVersion": "", "kind": "", "name": "rs", "uid": ""}},
            ],
            "ttl": "1h",
            "expires": "2027-01-04T12:30:00Z",
            "preAllocation": True,
            "preAllocationPolicy": {"mode": "Default", "enableMultiple": True},
            "allocateOnce": False,
            "allocatePolicy": "Restricted",
            "unschedulable": True,
            "taints": [{"key": "k", "value": "v", "effect": "NoSchedule"}],
        }
    )
    assert read.template.node == "node-1"
    assert read.template.pod.placement.node_selector == (("disk", "ssd"),)
    assert read.template.pod.requests == resources(4, "8Gi")
    assert read.owners == (
        OwnerRule(object=ObjectMatch("p", "shop")),
        OwnerRule(controller=ControllerMatch(name="rs")),
    )
    assert (read.ttl, read.expires) == (timedelta(hours=1), NOON + timedelta(minutes=30))
    assert (read.pre_allocation, read.terms.takes_several) == (True, True)
    assert (read.allocate_once, read.allocate_policy, read.unschedulable) == (
        False,
        "Restricted",
        True,
    )
    assert read.taints == (Taint("k", "v", "NoSchedule"),)
    assert (read.problems, read.remarks) == ((), ())


def test_pods_that_are_marked_are_taken_only_by_one_that_takes_the_place_of_pods() -> None:
    marked = {"preAllocationPolicy": {"mode": "Cluster"}}
    assert not reservation(marked).terms.takes_marked
    taking = {**marked, "preAllocation": True, "allocatePolicy": "Restricted"}
    assert reservation(taking).terms.takes_marked


@pytest.mark.parametrize(("metadata", "home"), [({}, "default"), ({"namespace": "ml"}, "ml")])
def test_it_is_for_the_templates_namespace_and_its_guardian_lives_apart(
    metadata: Json, home: str
) -> None:
    read = reservation({"template": template(**metadata)})
    assert (read.home, read.guardian_namespace) == (home, "headroom-reservations")


def test_the_guardian_is_left_to_kube_scheduler() -> None:
    assert "koord-scheduler" not in reservation().template.raw


def test_labels_of_the_reservation_win_over_those_of_its_template() -> None:
    read = reservation(
        {"template": template(labels={"a": "template", "b": "template"})},
        labels={"a": "own", f"{PREFIX}/operating-mode": "Reservation"},
    )
    assert read.template.pod.labels == {"a": "own", "b": "template"}
    assert read.labels["a"] == "own"


def test_a_guardian_is_never_taken_for_a_reserve_pod_of_koordinator() -> None:
    read = reservation({"template": template(annotations={f"{PREFIX}/reserve-pod": "true"})})
    assert "reserve-pod" not in read.template.raw


def test_labels_and_annotations_make_the_small_print() -> None:
    read = reservation(
        labels={f"{PREFIX}/reservation-order": "7", f"{PREFIX}/pre-allocation-required": "true"},
        annotations={
            **annotated(reservation_restricted_options={"resources": ["cpu"]}),
            "node.koordinator.sh/reservation": '{"resources": {"cpu": "1"}, "reservedCPUs": ""}',
        },
    )
    assert read.terms.order == 7
    assert read.terms.counted == ("cpu",)
    assert read.terms.withheld == resources(cpu=1)
    assert read.terms.needs_candidate
    assert read.problems == ()


def test_an_annotation_resizes_what_is_reserved_and_may_limit_the_owners() -> None:
    resize = annotated(reservation_resize_allocatable={"resources": {"cpu": "6", "pods": "2"}})
    read = reservation(annotations=resize)
    assert read.template.pod.requests == resources(6, "8Gi")
    assert read.terms.most_owners == 2


@pytest.mark.parametrize(
    ("spec", "path", "says"),
    [
        ({"template": "x"}, "spec.template", "Expected `object`"),
        ({"template": None}, "spec.template", "is missing"),
        (
            {"template": template({"containers": [container(cpu="lots")]})},
            "spec.containers[0].resources.requests.cpu",
            "lots",
        ),
        ({"template": template({"containers": []})}, "spec.template.spec.containers", "nothing"),
        ({"ttl": "banana"}, "spec.ttl", "'banana' is not a duration"),
        ({"ttl": ""}, "spec.ttl", "is not a duration"),
        ({"expires": "tomorrow"}, "spec.expires", "not the string 'tomorrow'"),
        ({"owners": []}, "spec.owners", "is empty, so no pod"),
        ({"owners": None}, "spec.owners", "is missing"),
        (
            {"owners": [{"labelSelector": {"matchExpressions": [{"key": "a", "operator": "Is"}]}}]},
            "spec.owners[0].labelSelector",
            "operator 'Is' is not one of",
        ),
        ({"allocatePolicy": "Default"}, "spec.allocatePolicy", "choose from Aligned, Restricted"),
        ({"preAllocation": True}, "spec.preAllocation", "with allocatePolicy Restricted only"),
        (
            {"preAllocationPolicy": {"mode": "Node"}},
            "spec.preAllocationPolicy.mode",
            "choose from Default, Cluster",
        ),
        (
            {"template": template({"schedulerName": ""})},
            "spec.template.spec.schedulerName",
            "is default-scheduler, which keeps no reservations; set koord-scheduler",
        ),
    ],
)
def test_what_cannot_be_held_is_told_with_its_path(spec: Json, path: str, says: str) -> None:
    found = problems(spec)
    assert any(place.endswith(path) for place in found), found
    assert says in " ".join(found.values())


@pytest.mark.parametrize(
    "name",
    ["reservation_restricted_options", "reservation_resize_allocatable"],
)
def test_an_annotation_that_cannot_be_read_is_a_problem(name: str) -> None:
    for text in ("no json", '{"resources": 7}'):
        found = problems(annotations=annotated(**{name: text}))
        assert [path.partition("]")[0] for path in found] == [
            f"metadata.annotations[{PREFIX}/{name.replace('_', '-')}"
        ]


@pytest.mark.parametrize(
    ("spec", "path", "says"),
    [
        (
            {"expires": "2027-01-06T12:00:00Z"},
            "spec.expires",
            "is after the end of ttl 24h: ends 2027-01-05T12:00:00Z",
        ),
        (
            {"ttl": "0", "expires": "2027-01-06T12:00:00Z"},
            "spec.expires",
            "has no effect beside ttl 0, which means never",
        ),
        (
            {"template": {**template(), "namespace": "default"}},
            "spec.template.namespace",
            "no such field",
        ),
        (
            {"template": template({"nodeselector": {"a": "b"}})},
            "spec.template.spec.nodeselector",
            "no such field; did you mean nodeSelector?",
        ),
        (
            {"taints": [{"key": "k", "effect": "PreferNoSchedule"}]},
            "spec.taints[0].effect",
            "'PreferNoSchedule' has no effect; use NoSchedule or NoExecute",
        ),
    ],
)
def test_what_is_odd_is_remarked_on_and_held_all_the_same(spec: Json, path: str, says: str) -> None:
    assert remarks(spec) == {path: says}


def test_an_order_that_is_no_number_is_none() -> None:
    read = reservation(labels={f"{PREFIX}/reservation-order": "first"})
    assert read.terms.order == 0
    assert [remark.message for remark in read.remarks] == [
        "'first' is not an integer: it has no order"
    ]


def test_a_negative_ttl_is_taken_as_written() -> None:
    read = reservation({"ttl": "-1s"})
    assert (read.ttl, read.problems) == (-timedelta(seconds=1), ())


def test_an_object_that_no_api_server_made_is_refused_by_name() -> None:
    with pytest.raises(DecodeError, match="Reservation/r"):
        decode_reservation(b'{"metadata": {"name": "r", "generation": "x"}}')


@pytest.mark.parametrize(
    ("owner", "matching", "other"),
    [
        (
            {"object": {"name": "p", "namespace": "default"}},
            pod("p"),
            pod("p", namespace="shop"),
        ),
        (
            {"labelSelector": {"matchLabels": {"a": "b"}}},
            pod("p", labels={"a": "b", "c": "d"}),
            pod("p", labels={"a": "x"}),
        ),
        (
            {"object": {"name": "p-2"}, "labelSelector": {"matchLabels": {"a": "b"}}},
            pod("p-2", labels={"a": "b"}),
            pod("p-1", labels={"a": "b"}),
        ),
        (
            {"controller": {**CONTROLLER, "controller": True, "namespace": "shop"}},
            pod("p", namespace="shop", owners=(REPLICAS,)),
            pod("p", namespace="default", owners=(REPLICAS,)),
        ),
        (
            {"controller": {**CONTROLLER, "controller": True}},
            pod("p", owners=(REPLICAS,)),
            pod("p", owners=(replace(REPLICAS, controller=False),)),
        ),
    ],
)
def test_owners_are_told_from_others(owner: Json, matching: Any, other: Any) -> None:
    read = reservation({"owners": [owner]})
    assert owner_refusal(read, matching) is None
    assert owner_refusal(read, other) is not None


def test_one_owner_of_several_is_enough() -> None:
    read = reservation(
        {"owners": [{"object": {"name": "x"}}, {"labelSelector": {"matchLabels": {"a": "b"}}}]}
    )
    assert read.owners[1] == OwnerRule(selector=selector(a="b"))
    assert owner_refusal(read, pod("p", labels={"a": "b"})) is None


def test_what_keeps_a_reservation_from_being_held_is_said_once() -> None:
    read = reservation(spec={"template": template({"containers": [container(cpu="lots")]})})
    told = [str(each) for each in (*read.problems, *read.remarks)]
    assert sum("lots" in each for each in told) == 1
