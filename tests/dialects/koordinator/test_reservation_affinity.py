"""What a pod says about holds in its annotations, read; and every way to get that wrong."""

from __future__ import annotations

import json
from typing import Any

import pytest

from headroom.core.objects import NO_WISH, NodeTerm, Pod, Requirement, Toleration, Wish
from headroom.wire.kinds import PODS
from tests.dialects.koordinator.objects import CODECS
from tests.wire.objects import pod_json

AFFINITY = "scheduling.koordinator.sh/reservation-affinity"
EXACT = "scheduling.koordinator.sh/exact-match-reservation"
IGNORED = "scheduling.koordinator.sh/reservation-ignored"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def read_pod(made: dict[str, Any]) -> Pod:
    thing = CODECS.thing_from(PODS, made)
    assert isinstance(thing, Pod)
    return thing


def wish(**annotations: Any) -> Wish:
    """The wish of a pod with `affinity` or `exact` in its annotations, as JSON unless text."""
    keys = {"affinity": AFFINITY, "exact": EXACT}
    texts = {
        keys[name]: value if isinstance(value, str) else json.dumps(value)
        for name, value in annotations.items()
    }
    return read_pod(pod_json(annotations=texts)).wish


def test_most_pods_have_no_wish() -> None:
    assert read_pod(pod_json()).wish is NO_WISH
    assert read_pod(pod_json(annotations={"headroom.dev/wait": "true"})).wish is NO_WISH


def test_every_part_of_an_affinity_is_read() -> None:
    terms = [{"matchExpressions": [{"key": "pool", "operator": "In", "values": ["a"]}]}]
    read = wish(
        affinity={
            "name": "r-1",
            REQUIRED: {"reservationSelectorTerms": terms},
            "reservationSelector": {"pool": "a"},
            "tolerations": [{"key": "k", "operator": "Exists", "effect": "NoSchedule"}],
        }
    )
    assert read == Wish(
        needs_hold=True,
        name="r-1",
        selector=(("pool", "a"),),
        terms=(NodeTerm((Requirement("pool", "In", ("a",)),)),),
        tolerations=(Toleration("k", "Exists", "", "NoSchedule"),),
    )


@pytest.mark.parametrize("text", ["", "{}"])
def test_an_annotation_that_says_nothing_still_asks_for_a_hold(text: str) -> None:
    assert wish(affinity=text) == Wish(needs_hold=True)


def test_terms_left_out_and_terms_that_are_none_are_two_things() -> None:
    assert wish(affinity={}).terms is None
    assert wish(affinity={REQUIRED: {}}).terms == ()


def test_an_exact_match_names_resources_and_asks_for_no_hold() -> None:
    assert wish(exact={"resourceNames": ["cpu", "memory"]}) == Wish(exact=("cpu", "memory"))


@pytest.mark.parametrize(("value", "avoids_holds"), [("true", True), ("false", False), ("", False)])
def test_a_label_keeps_a_pod_out_of_holds(value: str, avoids_holds: bool) -> None:
    assert read_pod(pod_json(labels={IGNORED: value})).wish.avoids_holds is avoids_holds


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("no json", "malformed"),
        ("[]", "Expected `object`"),
        ('{"name": 7}', "reservation-affinity.name"),
        ('{"tolerations": [{"operator": "Maybe", "key": "k"}]}', "'Maybe' is not one of"),
        (
            json.dumps(
                {REQUIRED: {"reservationSelectorTerms": [{"matchExpressions": [{"key": "x"}]}]}}
            ),
            "operator '' is not one of",
        ),
    ],
)
def test_what_is_wrong_is_part_of_the_wish_and_the_pod_is_known(text: str, told: str) -> None:
    read = wish(affinity=text)
    assert read.needs_hold
    assert read.problem.startswith("annotation scheduling.koordinator.sh/reservation-affinity")
    assert told in read.problem


def test_a_bad_exact_match_is_told_too() -> None:
    assert "exact-match-reservation" in wish(exact='{"resourceNames": "cpu"}').problem
