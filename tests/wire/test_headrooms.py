"""Headrooms: every field, and every way in which a person can get one wrong."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from headroom.core.headrooms.headrooms import Headroom, HeadroomStatus, Limits, Window, WorkloadRef
from headroom.core.holds import OwnerRule
from headroom.core.objects import Condition, Key, Parent
from headroom.core.resources import Resources
from headroom.core.sizes.adaptive import Adaptive
from headroom.core.sizes.follow import Follow
from headroom.core.sizes.per_node import PerNode
from headroom.core.sizes.percent import Percent
from headroom.core.sizes.replicas import Replicas
from headroom.core.sizes.utilization import Utilization
from headroom.wire.errors import DecodeError
from headroom.wire.objects.headrooms import decode_headroom, headroom_from
from headroom.wire.objects.statuses import CONDITION, HEADROOM_STATUS, HOLD_STATUS
from headroom.wire.schema.own import known
from tests.wire.headroom_cases import BAD, EVERYTHING, FROM, GOOD, RIGHT, Case

# A field that does not exist: of a stored object, the CRD may be newer than the operator.
UNKNOWN = {"template-unknown", "unknown-field"}


def read(**spec: Any) -> Headroom:
    return headroom_from(Case("burst", spec).headroom())


def problems(**spec: Any) -> dict[str, str]:
    """What is wrong with a headroom that has this in its spec, by path."""
    return {problem.path: problem.message for problem in read(**spec).problems}


def test_a_headroom_knows_whose_it_is() -> None:
    thing = Case("burst", {}).headroom()
    thing["metadata"] |= {
        "uid": "u",
        "resourceVersion": "7",
        "generation": 3,
        "creationTimestamp": "2027-01-04T08:00:00Z",
    }
    made = headroom_from(thing)
    assert made.parent == Parent("headroom.dev/v1alpha1", "Headroom", "default", "burst")
    assert (made.parent.uid, made.version, made.generation) == ("u", "7", 3)
    assert made.key == Key("default", "burst")
    assert made.created == datetime(2027, 1, 4, 8, tzinfo=UTC)


def test_every_field_is_read() -> None:
    made = read(**EVERYTHING)
    assert made.problems == ()
    assert made.size == Replicas(5)
    assert made.limits == Limits(100, 15000, 5000, (("cpu", 200_000),))
    assert (made.mode, made.refill, made.paused) == ("Locked", "Always", False)
    assert made.owners[1] == OwnerRule(priority_at_least=1_000_000_000)
    assert made.slot_lifetime == timedelta(hours=24)
    assert made.schedule == (
        Window(
            "0 8 * * 1-5", timedelta(hours=10), "Europe/Zurich", timedelta(minutes=5), replicas=20
        ),
        Window("@daily", timedelta(minutes=90), "UTC"),
    )


def test_a_slots_template_is_read_like_a_pods() -> None:
    template = read(**EVERYTHING).slot.template
    assert template is not None
    pod = template.pod
    assert pod.requests == Resources({"cpu": 500, "memory": 512 * 2**20})
    assert pod.key == Key("default", "")
    assert pod.scheduler == "default-scheduler"
    assert pod.placement.node_selector == (("pool", "web"),)
    assert pod.placement.tolerations[0].key == "dedicated"
    assert pod.placement.node_affinity.required is not None
    assert pod.placement.spread[0].topology_key == "zone"


def test_guardians_are_made_from_a_pod_template() -> None:
    template = read(**EVERYTHING).slot.template
    assert template is not None
    given = EVERYTHING["slot"]["template"]
    spec = json.loads(template.raw)["spec"]
    (container,) = spec.pop("containers")
    assert container["resources"] == given["resources"]
    assert spec == {name: value for name, value in given.items() if name != "resources"}


@pytest.mark.parametrize(
    ("spec", "size"),
    [
        ({"size": {"replicas": 0}}, Replicas(0)),
        ({"size": {"percent": 20}, "slot": {"from": FROM}}, Percent(20)),
        ({"size": {"perNode": {"slots": 2}}}, PerNode(slots=2)),
        ({"size": {"perNode": {"percent": 10}}}, PerNode(percent=10)),
        ({"size": {"utilization": {"threshold": 0.8}}}, Utilization(800)),
        ({"size": {"follow": {"gate": "a/b"}}}, Follow("a/b")),
        (
            {"size": {"adaptive": {"startWithin": "2s", "ratio": 0.99}}},
            Adaptive(timedelta(seconds=2), 0.99),
        ),
    ],
)
def test_each_size_is_read(spec: dict[str, Any], size: object) -> None:
    assert read(**spec).size == size


def test_a_workload_to_copy_is_named() -> None:
    made = read(slot={"from": FROM})
    assert made.slot.source == WorkloadRef("apps/v1", "Deployment", "web")
    assert (made.slot.template, made.problems) == (None, ())


@pytest.mark.parametrize("case", RIGHT, ids=lambda case: case.name)
def test_a_sound_headroom_has_no_problems(case: Case) -> None:
    assert headroom_from(case.headroom()).problems == ()


@pytest.mark.parametrize(
    "case", [case for case in BAD if case.name not in UNKNOWN], ids=lambda case: case.name
)
def test_what_the_schema_refuses_is_a_problem_here_too(case: Case) -> None:
    found = headroom_from(case.headroom()).problems
    assert found
    assert all(
        problem.path.startswith(case.blames) or case.blames.startswith(problem.path)
        for problem in found
    )


def test_everything_that_is_wrong_is_told_at_once() -> None:
    found = problems(
        size={"replicas": -1},
        slot={"template": {"resources": {"requests": {"cpu": "lots"}}}},
        limits={"slots": 0},
        mode="Open",
        refill="Sometimes",
        schedule=[{"start": "@daily", "duration": "1d"}],
    )
    assert list(found) == [
        "spec.slot.template.resources.requests.cpu",
        "spec.size.replicas",
        "spec.limits.slots",
        "spec.mode",
        "spec.refill",
        "spec.schedule[0].duration",
    ]


@pytest.mark.parametrize(
    ("template", "path"),
    [
        ({"nodeSelector": {"a b": "c"}}, ".nodeSelector"),
        ({"tolerations": [{"key": "a", "operator": "Is"}]}, ".tolerations[0].operator"),
        ({"tolerations": "all"}, ".tolerations"),
        ({"schedulerName": 5}, ".schedulerName"),
    ],
)
def test_what_would_make_every_guardian_invalid_is_told_before(
    template: dict[str, Any], path: str
) -> None:
    slot = {"template": {"resources": {"requests": {"cpu": 1}}, **template}}
    assert list(problems(slot=slot)) == [f"spec.slot.template{path}"]


def test_problems_name_the_way_out() -> None:
    assert problems(size={"replicas": 1, "perNode": {"slots": 1}})["spec.size"].startswith(
        "has replicas and perNode; exactly one of"
    )
    assert problems(limits={"resources": {"cpu": "100m"}}) == {
        "spec.limits": "cpu is 100m, and a slot asks for 500m; "
        "resources is smaller than one slot, so nothing would ever be held"
    }
    assert "60 has no unit" in problems(slotLifetime=60)["spec.slotLifetime"]


def test_limits_are_compared_with_what_a_slot_asks_for_by_its_limits() -> None:
    slot = {"template": {"resources": {"limits": {"cpu": "2"}}}}
    assert list(problems(slot=slot, limits={"resources": {"cpu": "1"}})) == [
        "spec.limits.resources.cpu"
    ]


def test_a_slot_may_be_held_in_pieces_of_a_whole_node() -> None:
    assert read(slot={"from": FROM, "chunk": "Node"}).slot.chunk == "Node"
    assert read().slot.chunk == "Pod"


def test_a_status_is_written_and_read_back_the_same() -> None:
    since = datetime(2027, 1, 4, 8, tzinfo=UTC)
    status = HeadroomStatus(
        desired=5,
        held=4,
        pending=1,
        claimed=17,
        hits=17,
        misses=2,
        next_start=since,
        selector="headroom.dev/for=burst",
        spent=("0", "3"),
        conditions=(Condition("Ready", "False", "Holding", "1 is missing", since, 2),),
        observed_generation=2,
    )
    for each in (status, HeadroomStatus()):
        assert headroom_from({**GOOD, "status": HEADROOM_STATUS.write(each)}).status == each


def test_a_status_has_its_counts_even_when_they_are_zero() -> None:
    written = HEADROOM_STATUS.write(HeadroomStatus())
    assert written == dict.fromkeys(("desired", "held", "pending", "claimed", "hits", "misses"), 0)


def test_a_status_that_makes_no_sense_counts_as_none() -> None:
    made = headroom_from({**GOOD, "status": {"held": "many"}})
    assert (made.status, made.problems) == (HeadroomStatus(), ())


def test_only_what_no_api_server_sends_is_an_error() -> None:
    for text in (b"{", b"[]", b'{"metadata": {"name": 3}}'):
        with pytest.raises(DecodeError):
            decode_headroom(text)


@pytest.mark.parametrize("spec", [None, 5, [], "x", {"slot": 5, "size": [], "owners": {}}])
def test_no_spec_is_worse_than_a_problem(spec: object) -> None:
    made = headroom_from({**GOOD, "spec": spec})
    assert made.problems
    assert made.key == Key("default", "burst")


@pytest.mark.parametrize(("told", "read"), [(1.5, 1500), (1e308, 10**18), (-1e308, 0)])
def test_growth_in_a_status_is_read_whatever_number_stands_there(told: float, read: int) -> None:
    chosen = [{"kind": "Deployment", "namespace": "default", "name": "web", "growth": told}]
    status = headroom_from({**GOOD, "status": {"auto": {"chosen": chosen}}}).status
    assert status.auto is not None
    assert status.auto.chosen[0].growth == read


def test_a_status_is_written_with_the_fields_that_its_schema_declares() -> None:
    declared = known().types
    for codec, name in (
        (HOLD_STATUS, "HoldStatus"),
        (HEADROOM_STATUS, "HeadroomStatus"),
        (CONDITION, "HoldCondition"),
    ):
        assert set(codec.shape.__struct_fields__) == set(declared[name])
