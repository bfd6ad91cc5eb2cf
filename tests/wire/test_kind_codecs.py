"""One `KindCodecs` for our own kinds and those of dialects: read, said, looked up and granted."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from headroom.core.actions import DeleteObject, DeletePod, WriteHoldStatus
from headroom.core.holds import Hold, HoldStatus
from headroom.core.objects import Key, Parent, Pod
from headroom.wire.decode import decode_watch
from headroom.wire.kind_codecs import NATIVE, KindCodecs
from headroom.wire.kinds import HOLDS, PODS
from headroom.wire.render import render
from headroom.wire.schema.validation import validate
from tests.wire.objects import hold_json, pod_json, read_page
from tests.wire.toydialect import ASKS, SEATS, TOY, seat

BOTH = KindCodecs((TOY,))
PARENT = Parent(SEATS.api_version, "Seat", "default", "front", "u")


def _json(thing: object) -> bytes:
    return json.dumps(thing).encode()


def test_foreign_objects_are_read_as_our_own_nouns() -> None:
    made = BOTH.thing_from(SEATS, seat())
    assert isinstance(made, Hold)
    assert str(made.parent) == "Seat/default/front"
    event = decode_watch(SEATS, _json({"type": "ADDED", "object": seat()}), BOTH.decode)
    page = read_page(SEATS, _json({"items": [seat()]}), BOTH.decode)
    assert isinstance(event.thing, Hold)
    assert event.thing.parent == made.parent
    assert [type(item) for item in page.items] == [Hold]


def test_our_own_kinds_are_read_as_ever() -> None:
    assert BOTH.thing_from(HOLDS, hold_json()) == NATIVE.thing_from(HOLDS, hold_json())


def test_a_dialect_that_is_off_is_not_understood() -> None:
    assert BOTH.reads(SEATS)
    assert not NATIVE.reads(SEATS)
    assert NATIVE.find_kind(SEATS.api_version, "Seat") is None
    assert BOTH.find_kind(SEATS.api_version, "Seat") == SEATS
    assert BOTH.find_kind("v1", "Pod") == PODS


def test_what_a_pod_says_to_a_dialect_is_kept_only_while_it_is_on() -> None:
    thing = pod_json(annotations={ASKS: "front", "headroom.dev/wait": "true", "other/x": "y"})
    kept = [codecs.thing_from(PODS, thing) for codecs in (NATIVE, BOTH)]
    assert [sorted(pod.annotations) for pod in kept if isinstance(pod, Pod)] == [
        ["headroom.dev/wait"],
        ["headroom.dev/wait", ASKS],
    ]


def test_a_dialect_spells_what_is_about_its_objects_and_we_the_rest() -> None:
    theirs = BOTH.render(WriteHoldStatus(PARENT, HoldStatus()))
    assert theirs.path == "/apis/theatre.example.com/v1/namespaces/default/seats/front/status"
    delete = DeletePod(Key("shop", "web-0"), "u")
    assert BOTH.render(delete) == render(delete)
    ours = WriteHoldStatus(
        replace(PARENT, api_version=HOLDS.api_version, kind="Hold"), HoldStatus()
    )
    assert BOTH.render(ours) == render(ours)


def test_an_action_that_nobody_can_spell_is_a_bug_and_told() -> None:
    with pytest.raises(LookupError, match="no dialect that is on"):
        NATIVE.render(DeleteObject(PARENT))


def test_both_sets_of_kinds_are_followed_and_defined() -> None:
    assert BOTH.resources == (*NATIVE.resources, SEATS)
    names = [made["metadata"]["name"] for made in BOTH.definitions()]
    assert names[-1] == "seats.theatre.example.com"
    assert names[:-1] == [made["metadata"]["name"] for made in NATIVE.definitions()]


def test_a_dialect_brings_its_rights_and_the_look_at_its_rivals() -> None:
    assert NATIVE.rules() == []
    rules = BOTH.rules()
    assert rules[:2] == list(TOY.rules)
    assert rules[2]["resources"] == ["leases"]
    assert rules[2]["resourceNames"] == ["theatre-manager"]
    assert rules[2]["verbs"] == ["list"]


def test_owners_may_name_the_schedulers_of_dialects_too() -> None:
    assert NATIVE.schedulers == {"headroom-scheduler"}
    assert BOTH.schedulers == {"headroom-scheduler", "usher"}


def test_foreign_manifests_are_checked_by_their_fields() -> None:
    catalogue = BOTH.catalogue()
    assert catalogue.kinds[f"{SEATS.api_version}/Seat"] == "Seat"
    assert validate(seat(), "Seat", catalogue) == []
    (problem,) = validate(seat(row=5), "Seat", catalogue)
    assert problem.path == "spec.row"
    assert "Seat" not in NATIVE.catalogue().types
