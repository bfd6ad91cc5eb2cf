"""What a manifest of a Headroom may say, and the CRD that is made from it."""

from __future__ import annotations

import pytest

from headroom.wire.crds import headroom_crd
from headroom.wire.kinds import HEADROOMS, find_kind
from headroom.wire.schema.own import known
from headroom.wire.schema.validation import validate
from tests.wire.headroom_cases import BAD, RIGHT, Case


@pytest.mark.parametrize("case", RIGHT, ids=lambda case: case.name)
def test_a_sound_headroom_passes(case: Case) -> None:
    assert validate(case.headroom(), "Headroom", known()) == []


@pytest.mark.parametrize("case", BAD, ids=lambda case: case.name)
def test_a_headroom_that_is_wrong_is_refused_at_the_field_to_blame(case: Case) -> None:
    problems = validate(case.headroom(), "Headroom", known())
    assert [problem.path for problem in problems] == [case.blames]


def test_it_can_be_scaled_by_its_replicas() -> None:
    made = headroom_crd()
    (version,) = made["spec"]["versions"]
    assert version["subresources"] == {
        "status": {},
        "scale": {
            "specReplicasPath": ".spec.size.replicas",
            "statusReplicasPath": ".status.held",
            "labelSelectorPath": ".status.selector",
        },
    }
    assert made["spec"]["names"]["shortNames"] == ["hr"]


def test_the_kind_is_found_by_what_objects_say_of_themselves() -> None:
    assert find_kind("headroom.dev/v1alpha1", "Headroom") == HEADROOMS
    assert HEADROOMS.path("shop", "burst", "scale").endswith("/headrooms/burst/scale")
