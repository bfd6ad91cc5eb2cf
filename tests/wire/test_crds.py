"""Our kinds: what a manifest of them may say, and the CRDs that are made from it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from headroom.wire.crds import crds
from headroom.wire.schema.own import known
from headroom.wire.schema.validation import validate
from headroom.wire.yamls import dump_all, load
from tests.wire.hold_cases import BAD, BAD_AT_THE_DOOR, RIGHT, Case

COMMITTED = Path(__file__).parent.parent.parent / "deploy/crds"


@pytest.mark.parametrize("case", RIGHT, ids=lambda case: case.name)
def test_a_sound_hold_passes(case: Case) -> None:
    assert validate(case.hold(), "Hold", known()) == []


@pytest.mark.parametrize("case", [*BAD, *BAD_AT_THE_DOOR], ids=lambda case: case.name)
def test_a_hold_that_is_wrong_is_refused_at_the_field_to_blame(case: Case) -> None:
    problems = validate(case.hold(), "Hold", known())
    assert [problem.path for problem in problems] == [case.blames]


def test_the_committed_crds_are_those_of_the_code() -> None:
    for made in crds():
        path = COMMITTED / f"{made['metadata']['name']}.yaml"
        (document,) = load(path.read_text(encoding="utf-8"), path.name)
        assert document.data == made, "run: python -m tools.manifests"


def test_the_yaml_holds_every_crd_and_reads_back_the_same() -> None:
    assert [document.data for document in load(dump_all(crds()), "crds.yaml")] == crds()


def test_the_crds_stay_small_enough_for_a_plain_kubectl_apply() -> None:
    # Client-side apply keeps a copy in an annotation, and annotations end at 256 KiB.
    assert all(len(json.dumps(made)) < 200_000 for made in crds())


def test_every_rule_belongs_to_a_type_and_blames_a_field_of_it() -> None:
    catalogue = known()
    for name, rules in catalogue.rules.items():
        assert all(not rule.at or rule.at in catalogue.types[name] for rule in rules)


def test_our_kinds_are_known_by_what_objects_say_of_themselves() -> None:
    made = [each["spec"]["names"]["kind"] for each in crds()]
    assert made == ["Hold", "Headroom", "SlotSet", "ClaimIndex"]
    assert [known().kinds[f"headroom.dev/v1alpha1/{kind}"] for kind in made] == made
